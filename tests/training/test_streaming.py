"""Streaming DiLoCo against a simulation of every node; published tables and runs stand in tests/accuracy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.outer.streaming import Passes, fragments, waits_s

quiet = settings(derandomize=True, deadline=None, max_examples=80)


def by_nodes(
    passes: Passes,
    every: int,
    parts: tuple[tuple[int, ...], ...],
    overlap: int,
    layer_s: float,
    delay_s: float,
    link: float,
) -> float:
    """Every node of the schedule, one after the other, for 40 periods; what the last ten take beyond compute.

    link: how long the links are busy with something else at the start.
    """
    now = mark = 0.0
    arrives: dict[tuple[int, int], float] = {}  # (step that needs it, layer) -> time
    for step in range(40 * every):
        if step == 30 * every:
            mark = now
        begun = waited = 0.0
        begun = now
        for layer in range(passes.layers):  # forward nodes
            wait = max(0.0, arrives.pop((step, layer), 0.0) - now)
            waited, now = waited + wait, now + wait + passes.forward_s / passes.layers
        ends = begun + waited + passes.step_s
        sent = [p for p in range(len(parts)) if p * every // len(parts) == step % every]
        for layer in reversed(range(passes.layers)):  # backward nodes, the last ends with the step
            ready = ends - layer * passes.backward_s / passes.layers
            if any(layer in parts[p] for p in sent):
                link = max(link, ready) + layer_s
                arrives[step + 1 + overlap, layer] = link + delay_s
        now = ends
    return (now - mark) / 10 - every * passes.step_s


cases = {
    "layers": st.integers(1, 12), "every": st.integers(1, 12), "count": st.integers(1, 12),
    "overlap": st.integers(0, 11), "layer_s": st.floats(0.001, 3), "delay_s": st.floats(0, 2),
    "idle": st.floats(0, 2), "pattern": st.sampled_from(["strided", "sequential"]),
}  # fmt: skip


@given(**cases)
@quiet
def test_waits_are_what_a_simulation_of_every_node_gives(
    layers: int, every: int, count: int, overlap: int, layer_s: float, delay_s: float, idle: float, pattern: str
) -> None:
    overlap, passes = min(overlap, every - 1), Passes(layers, 1 / 3, 2 / 3, 1 + idle)
    parts = fragments(layers, min(count, layers, every), pattern)
    """From links that start idle, waits grow to what they are in the long run; from busy ones, they fall to it."""
    found = waits_s(passes, every, parts, overlap, layer_s, delay_s)
    least, most = (by_nodes(passes, every, parts, overlap, layer_s, delay_s, busy) for busy in (0.0, 100.0))
    assert least - 1e-6 <= found <= most + 1e-6
    links_s = layer_s * layers
    if not 0.8 < links_s / (every * passes.step_s) < 1.2:  # they meet within 40 periods
        assert least == pytest.approx(most, rel=1e-6, abs=1e-6)


@given(layers=st.integers(1, 200), count=st.integers(1, 200), pattern=st.sampled_from(["strided", "sequential"]))
@quiet
def test_fragments_hold_each_layer_once_and_are_even(layers: int, count: int, pattern: str) -> None:
    parts = fragments(layers, min(count, layers), pattern)
    assert sorted(layer for part in parts for layer in part) == list(range(layers))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(**cases)
@quiet
def test_waits_never_fall_with_bytes_or_latency_nor_rise_with_overlap(
    layers: int, every: int, count: int, overlap: int, layer_s: float, delay_s: float, idle: float, pattern: str
) -> None:
    overlap, passes = min(overlap, every - 1), Passes(layers, 1 / 3, 2 / 3, 1 + idle)
    parts = fragments(layers, min(count, layers, every), pattern)
    found = waits_s(passes, every, parts, overlap, layer_s, delay_s)
    assert waits_s(passes, every, parts, overlap, 1.1 * layer_s, delay_s) >= found - 1e-9
    assert waits_s(passes, every, parts, overlap, layer_s, delay_s + 0.1) >= found - 1e-9
    assert found >= 0
    if every % len(parts) == 0:
        assert waits_s(passes, every, parts, max(0, overlap - 1), layer_s, delay_s) >= found - 1e-9


@given(per=st.integers(1, 4), count=st.integers(1, 4), layer_s=st.floats(0.001, 3), overlap=st.integers(0, 3))
@quiet
def test_more_fragments_never_make_a_site_wait_longer(per: int, count: int, layer_s: float, overlap: int) -> None:
    """Every fragment has a window of its own, as long as no two are under way at a time."""
    layers = 2 * count * per
    passes, every = Passes(layers, 1 / 3, 2 / 3, 1.0), 2 * count * (overlap + 1)
    few, many = (fragments(layers, n, "strided") for n in (count, 2 * count))
    assert (
        waits_s(passes, every, many, overlap, layer_s, 0.0) <= waits_s(passes, every, few, overlap, layer_s, 0.0) + 1e-9
    )
