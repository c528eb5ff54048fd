"""The arithmetic of the comparison, and what refuses."""

from __future__ import annotations

import math

import pytest

from dcplan.accuracy.compare import Comparison, Figures, Row, comparisons, names
from dcplan.accuracy.workloads import model, share, work
from dcplan.errors import DcplanError, UsageError

ROWS = (Row("a", 10, 11, calculon=9), Row("b", 10, 8), Row("c", 4, 5, fitted=True))


def made(unit: str = "s", *, at_least: bool = False) -> Comparison:
    return Comparison("x", "X", "step time", unit, "source", "high", "", ROWS, at_least)


def test_relative_errors() -> None:
    tested, fitted = made().figures(fitted=False), made().figures(fitted=True)
    assert tested is not None
    assert (tested.n, tested.mean, tested.bias, tested.worst) == pytest.approx((2, 15, -5, -20))
    assert fitted == Figures(1, 25, 25, 25)


def test_points_where_the_measure_is_in_percent() -> None:
    assert made("%").figures(fitted=True) == Figures(1, 1, 1, 1)
    assert (made("%").error_unit, made().error_unit) == ("pt", "%")


def test_calculon_counts_only_rows_that_it_ran() -> None:
    found = made().calculon(fitted=False)
    assert found is not None
    assert (found.n, found.worst) == (1, pytest.approx(-10))
    assert made().calculon(fitted=True) is None


def test_a_bound_is_missed_by_more_than_two_points_or_above_all() -> None:
    rows = (Row("kept", 96, 94), Row("less", 96, 93.9), Row("more", 96, 100.1))
    bound = Comparison("x", "X", "efficiency", "%", "source", "low", "", rows, at_least=True)
    assert bound.missed() == ("less", "more")
    assert Comparison("x", "X", "efficiency", "%", "source", "low", "", rows).missed() == ()


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean `a100-vtrain`"):
        comparisons(["a100-vtrian"])
    with pytest.raises(UsageError, match="there are a100-korthikanti, "):
        comparisons(["zzz"])


def test_named_sets_come_once_and_in_order() -> None:
    found = comparisons(["palm-two-pods", "a100-vtrain", "palm-two-pods"])
    assert [one.name for one in found] == ["a100-vtrain", "palm-two-pods"]
    assert set(names()) == {one.name for one in comparisons()}


def test_all_figures_are_finite() -> None:
    for one in comparisons():
        assert one.source
        assert one.confidence in {"high", "medium", "low"}
        for row in one.rows:
            assert math.isfinite(row.predicted)
            assert row.predicted > 0
            assert row.measured > 0


def test_a_row_may_change_a_model_of_the_catalog_or_give_its_own() -> None:
    assert model({"model": "llama3-70b", "layers": 12}).layers == 12
    own = model({"layers": 2, "hidden": 64, "heads": 4, "vocab": 100})
    assert (own.ffn, own.glu, own.tied) == (256, False, True)


def test_a_share_has_its_own_calibration_or_the_one_that_is_named() -> None:
    own, named = share("a", "gb200-nvl72", 8, "fp8"), share("a", "gb200-nvl72", 8, "fp8", "gb200-2025-fp8")
    assert own.calibration.software_year > named.calibration.software_year
    assert own.bf16 == named.bf16 == share("a", "gb200-nvl72", 8).calibration
    with pytest.raises(DcplanError, match="no calibration ascend-fp8"):
        share("a", "ascend-910b", 8, "fp8")


def test_sites_share_what_a_row_has() -> None:
    row = {"layers": 2, "hidden": 64, "heads": 4, "vocab": 100, "accelerator": "h100-sxm", "dp": 16, "batch": 32,
           "sequence_length": 128}  # fmt: skip
    load, plan = work("x", row, sites=4)
    assert [part.count for part in load.shares] == [4] * 4
    assert plan.microbatches == 2
