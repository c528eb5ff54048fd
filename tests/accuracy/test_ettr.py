"""Effective training time against what was published: within 3 points."""

from __future__ import annotations

import pytest

from dcplan.accuracy.compare import comparisons
from dcplan.accuracy.ettr import ettr_sets
from dcplan.training.goodput.renewal import by_hand, efficiency


def test_metas_table() -> None:
    """By their own first-order form."""
    (table,) = comparisons(["ettr-meta"])
    for row in table.rows:
        assert row.predicted == pytest.approx(row.measured, abs=3)


def test_long_runs() -> None:
    """By the exact form: above what they passed, ByteRobust near its own."""
    (table,) = comparisons(["ettr-runs"])
    assert table.missed() == ()
    found = {row.id: row.predicted for row in table.rows}
    assert 90 <= found["llama3_reliability"] <= 93
    assert found["byterobust"] == pytest.approx(97, abs=3)


def test_the_exact_form_parts_from_metas_only_where_much_is_lost() -> None:
    for run in ettr_sets()["ettr-meta"].runs:
        lost = run.cycle.rate_per_s * (run.cycle.restart_s + run.cycle.interval_s / 2)
        apart = abs(by_hand(run.cycle) - efficiency(run.cycle))
        assert (apart < 0.005) if lost < 0.2 else (apart > 0.03)
