"""Streaming DiLoCo against the simulated tables of its authors, a node-by-node simulation, and measured runs."""

from __future__ import annotations

import tomllib
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.streaming import Passes, fragments, waits_s

from .records import DATA

quiet = settings(derandomize=True, deadline=None, max_examples=80)
RUNS = tomllib.loads((DATA / "diloco.toml").read_text())
GRID = [10 ** (-1 + 4 * i / 49) for i in range(50)]
"""Bandwidths that the authors tried [Gb/s]: numpy.logspace(-1, 3, 50)."""
TARGETS = (0.5, 0.8, 0.9, 0.95, 0.99)
TABLES = [name for name in RUNS if name.startswith(("streaming_diloco_t4", "diloco_scaling_t6"))]


def how(method: str, layers: int) -> tuple[int, int, int, int]:
    """Steps between two sends of a fragment, fragments, steps of overlap, bits; as the papers say for each method."""
    if method in {"data_parallel", "dp"}:
        return 1, 1, 0, 16
    if method.startswith(("diloco_H", "H")):
        return int(method.rpartition("H")[2]), 1, 0, 16
    return 100, layers // 3, int("overlap" in method), 4 if "fp4" in method else 16


def utilisation(name: str, gbps: float, pattern: str = "strided", later: int = 0) -> float:
    """H T / (H T + waits): a third of a step forward, two thirds back, all parameters once over the link."""
    row = RUNS[name]
    layers, step_s = row["layers"], row["step_s"]
    every, count, overlap, bits = how(row["method"], layers)
    overlap += later if overlap else 0
    passes = Passes(layers, step_s / 3, 2 * step_s / 3, step_s)
    layer_s = bits * row["parameters"] / layers / (gbps * 1e9)
    parts = fragments(layers, count, pattern)
    return every * step_s / (every * step_s + waits_s(passes, every, parts, overlap, layer_s, 0.0))


def grid_steps_off(name: str, pattern: str = "strided", later: int = 0) -> list[int]:
    """Steps of the grid between each published bandwidth and the last one at which the target is not yet reached."""
    reached, found = [utilisation(name, gbps, pattern, later) for gbps in GRID], []
    for target, published in zip(TARGETS, RUNS[name]["gbps"], strict=False):
        nearest = min(GRID, key=lambda gbps: abs(gbps - published))
        found.append(sum(value < target for value in reached) - 1 - GRID.index(nearest))
    return found


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_streaming_diloco_and_scaling_laws_within_a_grid_step(name: str) -> None:
    """No constant is fitted: 16 (4) bits of every parameter, τ = 1, strided fragments of three layers, nothing else.

    The tables are read as the last bandwidth that falls short of a target: read as the first that reaches it, all of
    them are one grid step (21 %) too high, and the sketch of the research needed a factor of 0.72 to 0.84 on all bytes.
    Hours in table 1 of Streaming DiLoCo, which have no grid, agree with a factor of 1 (below).
    Of 108 cells one is two steps off: 10 billion parameters in the scaling laws, whose step of 0.8 s is rounded.
    Sequential fragments, τ of 2 or 5, and a window that stops at the end of the step do not fit (below).
    """
    off = grid_steps_off(name)
    allowed = 1 if name.startswith("diloco_scaling_t6_10B") else 0
    assert sum(abs(steps) > 1 for steps in off) <= allowed, off
    assert max(map(abs, off)) <= 2


def test_most_cells_are_exact() -> None:
    off = [steps for name in TABLES if name.startswith("streaming") for steps in grid_steps_off(name)]
    assert sum(steps == 0 for steps in off) >= 40
    assert len(off) == 50


@pytest.mark.parametrize(("pattern", "later"), [("sequential", 0), ("strided", 1), ("strided", 4)])
def test_another_method_does_not_fit(pattern: str, later: int) -> None:
    """The check can fail: sequential fragments, or τ of 2 or 5, leave streaming rows far off."""
    off = [steps for name in TABLES if "_streaming" in name for steps in grid_steps_off(name, pattern, later)]
    assert max(map(abs, off)) > 1


def test_hours_of_table_1() -> None:
    """1 billion parameters: 0.67 h at infinite rate; at 1 Gb/s 109 h data parallel, 0.88 h streaming in 4 bits.

    The step of 0.1 s is rounded, hours are to two digits: within 5 %.
    """
    for name, hours in (("data_parallel", 109), ("streaming_overlap_fp4", 0.88)):
        assert 0.67 / utilisation(f"streaming_diloco_t4_1B_{name}", 1.0) == pytest.approx(hours, rel=0.05)


def measured_utilisation(run: dict[str, float], wire_bytes: float) -> float:
    """Percent, of four replicas with 31 million parameters and steps of 26.5 ms."""
    every, step_s = int(run["every_steps"]), 0.0265
    exchange_s = 8 * wire_bytes * 30_846_720 / (run["link_mbps"] * 1e6)
    waited_s = waits_s(Passes(1, step_s / 3, 2 * step_s / 3, step_s), every, ((0,),), 0, exchange_s, 0.0)
    computed_s = run["steps"] * step_s
    return 100 * computed_s / (computed_s + run["exchanges"] * waited_s)


@pytest.mark.parametrize("method", ["diloco_measured", "localsgd_measured"])
def test_measured_runs_within_15_percent(method: str) -> None:
    """One constant from H = 128, the bytes per parameter that a link is busy with; H = 1, 8, 32 are tested.

    A ring of four sends 2 (4 − 1)/4 × 4 = 6 bytes of an fp32 parameter; what the constant is above is TCP and the rig.
    Runs are short: 180 steps and one exchange at H = 128, which taken for 128 steps would make links 30 % faster.
    """
    runs = [RUNS[name] for name in RUNS if name.startswith(method)]

    def errors(wire_bytes: float, *, fitted: bool) -> list[float]:
        mine = [run for run in runs if (run["every_steps"] == 128) == fitted]
        return [abs(measured_utilisation(run, wire_bytes) / run["utilisation_percent"] - 1) for run in mine]

    wire_bytes = min(
        (i / 100 for i in range(300, 1300)), key=lambda size: sum(e * e for e in errors(size, fitted=True))
    )
    assert 6 <= wire_bytes < 9
    assert len(errors(wire_bytes, fitted=False)) == 6
    assert mean(errors(wire_bytes, fitted=False)) <= 0.15


@pytest.mark.parametrize("name", [name for name in RUNS if name.startswith("intellect1")])
def test_intellect_1_within_5_points(name: str) -> None:
    """100 steps in 38 minutes, then an exchange of known length that nothing hides."""
    step_s = 38 * 60 / 100
    passes = Passes(1, step_s / 3, 2 * step_s / 3, step_s)
    waited_s = waits_s(passes, 100, ((0,),), 0, RUNS[name]["exchange_s"], 0.0)
    assert 100 * 38 * 60 / (38 * 60 + waited_s) == pytest.approx(RUNS[name]["utilisation_percent"], abs=5)


def by_nodes(
    passes: Passes, every: int, parts: tuple[tuple[int, ...], ...], overlap: int, layer_s: float, delay_s: float
) -> float:
    """Every node of the schedule, one after the other, for 40 periods; what the last ten take beyond compute."""
    now = link = mark = 0.0
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
    found = waits_s(passes, every, parts, overlap, layer_s, delay_s)
    assert found == pytest.approx(by_nodes(passes, every, parts, overlap, layer_s, delay_s), rel=1e-6, abs=1e-7)


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
