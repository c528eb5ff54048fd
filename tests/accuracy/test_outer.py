"""Sites that train by themselves against simulated tables of bandwidths and measured runs."""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest

from dcplan.accuracy.compare import comparisons
from dcplan.accuracy.outer import GRID_GBPS, exchange_s, measured_s, short_of, utilisation
from dcplan.accuracy.runs import data

TABLES = ("streaming-diloco-table-4", "scaling-laws-table-6")
MEASURED = ("diloco-measured", "local-sgd-measured")


def runs(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a set as they stand in its file."""
    table = data("outer")[name]
    return {run: {**table.get("common", {}), **row} for run, row in table["runs"].items()}


def grid_steps_off(row: dict[str, Any], pattern: str = "strided", **other: int) -> list[int]:
    """Steps of the grid between each published bandwidth and ours."""
    ours = short_of({**row, **other}, pattern)
    nearest = [min(GRID_GBPS, key=lambda gbps: abs(gbps - one)) for one in row["gbps"]]
    return [GRID_GBPS.index(mine) - GRID_GBPS.index(one) for mine, one in zip(ours, nearest, strict=False)]


@pytest.mark.parametrize("run", [pytest.param(row, id=run) for name in TABLES for run, row in runs(name).items()])
def test_tables_within_a_step_of_their_grid(run: dict[str, Any]) -> None:
    """No constant is fitted: 16 (4) bits of every parameter, τ = 1, strided fragments of three layers, nothing else.

    The tables are read as the last bandwidth that falls short of a target: read as the first that reaches it, all of
    them are one grid step (21 %) too high, and the sketch of the research needed a factor of 0.72 to 0.84 on all bytes.
    Hours in table 1 of Streaming DiLoCo, which have no grid, agree with a factor of 1 (below).
    Of 108 cells one is two steps off: 10 billion parameters in the scaling laws, whose step of 0.8 s is rounded: with
    0.84 s it is one step off as well (below).
    """
    off = grid_steps_off(run)
    known = run["parameters_b"] == 10 and run["every_steps"] == 50
    assert sum(abs(steps) > 1 for steps in off) == known, off
    assert max(map(abs, off)) <= 1 + known


def test_the_one_cell_that_is_two_steps_off_is_within_the_rounding_of_its_step() -> None:
    row = runs("scaling-laws-table-6")["diloco_scaling_t6_10B_H50"]
    assert max(map(abs, grid_steps_off(row))) == 2
    assert max(map(abs, grid_steps_off({**row, "step_s": 0.84}))) == 1


def test_most_cells_of_streaming_diloco_are_exact() -> None:
    off = [steps for row in runs("streaming-diloco-table-4").values() for steps in grid_steps_off(row)]
    assert sum(steps == 0 for steps in off) >= 40
    assert len(off) == 50


@pytest.mark.parametrize(("pattern", "overlap"), [("sequential", 1), ("strided", 2), ("strided", 5)])
def test_another_method_does_not_fit(pattern: str, overlap: int) -> None:
    """The check can fail: sequential fragments, or τ of 2 or 5, leave streaming rows far off."""
    streamed = [row for row in runs("streaming-diloco-table-4").values() if "fragments" in row]
    later = [{"overlap_steps": overlap} if row["overlap_steps"] else {} for row in streamed]
    off = [steps for row, more in zip(streamed, later, strict=True) for steps in grid_steps_off(row, pattern, **more)]
    assert max(map(abs, off)) > 1


def test_hours_of_table_1_of_streaming_diloco() -> None:
    """1 billion parameters: 0.67 h at infinite rate; at 1 Gb/s 109 h data parallel, 0.88 h streaming in 4 bits.

    The step of 0.1 s is rounded, hours are to two digits: within 5 %.
    """
    rows = runs("streaming-diloco-table-4")
    for method, hours in (("data_parallel", 109), ("streaming_overlap_fp4", 0.88)):
        assert 0.67 / utilisation(rows[f"streaming_diloco_t4_1B_{method}"], 1.0) == pytest.approx(hours, rel=0.05)


@pytest.mark.parametrize("name", MEASURED)
def test_measured_exchanges_within_15_percent_with_one_constant_of_other_rows(name: str) -> None:
    """The bytes per parameter that a link is busy with, fitted at H = 128; H = 1, 8 and 32 are tested.

    A ring of four sends 2 (4 − 1)/4 × 4 = 6 bytes of an fp32 parameter; what the constant is above is TCP and the rig.
    Taken for exchanges every 128 steps, the one exchange of the 180 steps of these runs would be 30 % too fast.
    """
    rows = list(runs(name).values())
    fitted = [row for row in rows if row.get("fitted")]
    assert {row["every_steps"] for row in fitted} == {128}
    assert all(row["exchanges"] == 1 and row["steps"] == 180 for row in fitted)

    def cost(wire_bytes: float) -> float:
        """Of the utilisation that was published."""
        busy = [row["steps"] * row["step_s"] for row in fitted]
        ours = [100 * own / (own + exchange_s(row, wire_bytes)) for own, row in zip(busy, fitted, strict=True)]
        return sum((mine / row["utilisation_percent"] - 1) ** 2 for mine, row in zip(ours, fitted, strict=True))

    best = min((i / 100 for i in range(300, 1300)), key=cost)
    assert best == pytest.approx(rows[0]["wire_bytes"], abs=0.005)
    assert 6 < best < 9
    (one,) = comparisons([name])
    tested = one.figures(fitted=False)
    assert tested is not None
    assert (tested.n, one.unit) == (6, "s")
    assert tested.mean <= 15


@pytest.mark.parametrize("name", MEASURED)
def test_measured_utilisation_within_15_percent(name: str) -> None:
    errors = []
    for row in runs(name).values():
        if not row.get("fitted"):
            own_s = row["steps"] * row["step_s"]
            ours = 100 * own_s / (own_s + row["exchanges"] * exchange_s(row, row["wire_bytes"]))
            errors.append(abs(ours / row["utilisation_percent"] - 1))
            assert measured_s(row) > 0
    assert mean(errors) <= 0.15


@pytest.mark.parametrize(("name", "n"), [("intellect-1", 3), ("covenant-72b", 1)])
def test_utilisation_within_5_points(name: str, n: int) -> None:
    (one,) = comparisons([name])
    figures = one.figures(fitted=False)
    assert figures is not None
    assert (figures.n, one.unit) == (n, "%")
    assert abs(figures.worst) <= 5
