"""Batch and layers by speed against every way to split them."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.across.split import cuts, microbatches, of_batch

quiet = settings(derandomize=True, deadline=None, max_examples=60)
TIME = st.sampled_from((0.5, 1.0, 1.3, 2.0)) | st.floats(0.3, 4)


@given(
    parts=st.lists(st.tuples(st.integers(1, 5), TIME, st.floats(0, 3)), min_size=1, max_size=3),
    rounds=st.integers(1, 6), step=st.integers(1, 3),
)  # fmt: skip
@quiet
def test_no_split_of_a_batch_ends_sooner(parts: list[tuple[int, float, float]], rounds: int, step: int) -> None:
    ranks, each_s, once_s = zip(*parts, strict=True)
    total = rounds * sum(ranks)
    found = microbatches(total, ranks, each_s, once_s, step)
    assert all(n % step == 0 for n in found)
    assert sum(count * n for count, n in zip(ranks, found, strict=True)) >= total

    def ends(split: tuple[int, ...]) -> float:
        return max(once + n * each for n, each, once in zip(split, each_s, once_s, strict=True) if n)

    enough = [
        split
        for split in product(range(0, total + step, step), repeat=len(parts))
        if sum(count * n for count, n in zip(ranks, split, strict=True)) >= total
    ]
    assert ends(found) <= min(map(ends, enough)) * (1 + 1e-9)
    times = [once + n * each for n, each, once in zip(found, each_s, once_s, strict=True)]
    whole = of_batch(total, ranks, found, times)
    assert sum(whole) == total
    assert all(0 <= have <= count * n for have, count, n in zip(whole, ranks, found, strict=True))


@given(
    stages=st.lists(st.tuples(TIME, st.floats(0, 2), st.integers(1, 8)), min_size=1, max_size=4),
    layers=st.integers(1, 10),
)  # fmt: skip
@quiet
def test_no_row_of_layers_is_shorter(stages: list[tuple[float, float, int]], layers: int) -> None:
    def time_s(stage: int, first: int, end: int) -> float:
        return stages[stage][1] + (end - first) * stages[stage][0]

    def holds(stage: int, first: int, end: int) -> bool:
        return end - first <= stages[stage][2]

    found = cuts(layers, len(stages), time_s, holds)
    ways = [(0, *inner, layers) for inner in combinations(range(1, layers), len(stages) - 1)]
    whole = [way for way in ways if all(holds(i, a, b) for i, (a, b) in enumerate(pairwise(way)))]
    if not whole:
        assert found is None
        return
    assert found in whole

    def longest(way: tuple[int, ...]) -> float:
        return max(time_s(i, a, b) for i, (a, b) in enumerate(pairwise(way)))

    assert longest(found) == pytest.approx(min(map(longest, whole)))


def test_equal_parts_stay_equal() -> None:
    assert microbatches(64, (4, 4), (1.0, 1.0), (0.5, 0.5)) == (8, 8)
    assert microbatches(64, (4, 4), (1.0, 3.0), (0.0, 0.0)) == (12, 4)
    assert cuts(8, 4, lambda _, a, b: float(b - a), lambda *_: True) == (0, 2, 4, 6, 8)
