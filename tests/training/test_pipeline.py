"""The pipeline against discrete-event simulation: one from another program, one written for these tests."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.training.pipeline import Boundary, boundary_delay_s, bubble_s, divides, stage_layers, to_hide

from .one_f_one_b import Edge, simulate
from .records import DATA, model

CASES = tomllib.loads((DATA / "pipeline.toml").read_text())["case"]
quiet = settings(derandomize=True, deadline=None, max_examples=60)


def predicted(p: int, m: int, period: float, edges: tuple[Edge, ...]) -> float:
    boundaries = tuple(
        Boundary(edge.upstream, edge.latency + edge.transfer, edge.transfer, edge.extra) for edge in edges
    )
    return (m + p - 1) * period + boundary_delay_s(period, boundaries, p, m)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle_within_three_percent(case: dict[str, float]) -> None:
    edge = Edge(int(case["cross"]) + 1, case["one_way"], 0.0, int(case["extra"]))
    assert predicted(int(case["p"]), int(case["m"]), 3.0, (edge,)) == pytest.approx(case["steps"], rel=0.03)


def test_our_simulator_agrees_with_the_oracle() -> None:
    for case in CASES:
        edge = Edge(int(case["cross"]) + 1, case["one_way"], 0.0, int(case["extra"]))
        assert simulate(int(case["p"]), int(case["m"]), 1.0, 2.0, (edge,)) == case["steps"]


@given(
    p=st.integers(2, 10), rounds=st.integers(3, 12), forward=st.sampled_from((0.8, 1.0, 1.5)), data=st.data(),
    latency=st.floats(0, 15), transfer=st.floats(0, 2.7), extra=st.integers(0, 6),
)  # fmt: skip
@quiet
def test_one_boundary_within_three_percent(
    p: int, rounds: int, forward: float, data: st.DataObject, latency: float, transfer: float, extra: int
) -> None:
    edge = Edge(data.draw(st.integers(1, p - 1)), latency, transfer, extra)
    m = p * rounds
    expected = simulate(p, m, forward, 2.0, (edge,))
    assert predicted(p, m, forward + 2.0, (edge,)) == pytest.approx(expected, rel=0.03)


@given(p=st.integers(4, 9), first=st.floats(0, 6), second=st.floats(0, 6), data=st.data())
@quiet
def test_two_boundaries_with_as_many_extra_as_hide_the_delay(
    p: int, first: float, second: float, data: st.DataObject
) -> None:
    a = data.draw(st.integers(1, p - 2))
    b = data.draw(st.integers(a + 1, p - 1))
    edges = tuple(Edge(at, delay, 0.1, to_hide(delay + 0.1, 3.0)) for at, delay in ((a, first), (b, second)))
    m = 8 * p
    assert predicted(p, m, 3.0, edges) == pytest.approx(simulate(p, m, 1.0, 2.0, edges), rel=0.03)


@given(p=st.integers(4, 9), delays=st.tuples(*[st.floats(0, 12)] * 2), extras=st.tuples(*[st.integers(0, 5)] * 2))
@quiet
def test_two_boundaries_with_any_number_in_flight(p: int, delays: tuple[float, float], extras: tuple[int, int]) -> None:
    edges = tuple(Edge(at, delay, 0.1, e) for at, delay, e in zip((p // 3, 2 * p // 3), delays, extras, strict=True))
    assert predicted(p, 6 * p, 3.0, edges) == pytest.approx(simulate(p, 6 * p, 1.0, 2.0, edges), rel=0.06)


@given(p=st.integers(2, 8), rounds=st.integers(6, 12), transfer=st.floats(3.0, 8.0), data=st.data())
@quiet
def test_a_link_busier_than_a_stage_sets_the_pace(p: int, rounds: int, transfer: float, data: st.DataObject) -> None:
    edge = Edge(data.draw(st.integers(1, p - 1)), 1.0, transfer, to_hide(1.0 + transfer, 3.0))
    m = p * rounds
    expected = simulate(p, m, 1.0, 2.0, (edge,))
    found = predicted(p, m, 3.0, (edge,))
    assert m * transfer <= found <= expected * 1.03
    assert found >= 0.9 * expected


def test_plain_1f1b_pays_one_delay_per_microbatch_and_extra_in_flight_hides_it() -> None:
    plain = boundary_delay_s(3.0, (Boundary(4, 20.0, 0.0, 0),), 8, 256)
    hidden = boundary_delay_s(3.0, (Boundary(4, 20.0, 0.0, to_hide(20.0, 3.0)),), 8, 256)
    assert plain == pytest.approx(256 * 20, rel=0.03)
    assert hidden == 40.0


@given(p=st.integers(1, 12), m=st.integers(1, 40))
@quiet
def test_bubble_of_plain_1f1b(p: int, m: int) -> None:
    assert m * 3.0 + bubble_s(p * 3.0, 3.0, 1) == pytest.approx(simulate(p, m, 1.0, 2.0))


@given(pp=st.integers(1, 64), name=st.sampled_from(("llama3-405b", "deepseek-v3-671b", "gpt3-175b", "kimi-k2-1t")))
@quiet
def test_every_layer_stands_in_one_stage(pp: int, name: str) -> None:
    shape = model(name)
    assume(divides(shape, pp, 1))
    kinds = stage_layers(shape, pp)
    assert sum(kind.stages for kind in kinds) == pp
    assert sum(kind.stages * (kind.dense + kind.moe) for kind in kinds) == pytest.approx(shape.layers)
    assert sum(kind.stages * kind.moe for kind in kinds) == pytest.approx(
        shape.layers - shape.dense_layers if shape.experts else 0
    )
    assert sum(kind.embedding for kind in kinds) == sum(kind.head for kind in kinds) == 1


def test_llama3_405b_runs_on_16_stages_as_published() -> None:
    first, inner, last = stage_layers(model("llama3-405b"), 16)
    assert (first.dense, inner.dense, last.dense) == (7, 8, 7)
