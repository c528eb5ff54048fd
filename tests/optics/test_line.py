"""Design of lines: spans within the limits, an amplifier behind each, and a reason where there is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.optics.budget import Line
from dcplan.optics.line import NoLine, design_line, design_lines
from tests.optics.networks import chain, flat

steady = settings(derandomize=True, deadline=None, max_examples=40)


def line_of(**fiber: object) -> Line:
    line = design_line(chain(fiber), "f1")
    assert isinstance(line, Line)
    return line


@steady
@given(st.floats(1, 3000), st.floats(40, 150), st.floats(12, 34))
def test_designed_spans_are_the_fewest_within_the_limits(km: float, max_km: float, max_db: float) -> None:
    network = chain({"length_km": km}, max_span_km=max_km, max_span_loss_db=max_db)
    line = design_line(network, "f1")
    assert isinstance(line, Line)
    count = len(line.spans)
    assert line.huts == count - 1
    assert math.fsum(row.length_km for row in line.spans) == pytest.approx(km)
    row = line.spans[0]
    assert row.length_km <= max_km * (1 + 1e-9)
    assert row.loss_db <= max_db + 1e-6
    assert row.loss_db == pytest.approx(row.length_km * 0.2 + 2 * 0.25 + 0.5)
    if count > 1:  # one span less would break a limit: of the policy, or the gain of every amplifier (32 dB in a hut)
        longer = km / (count - 1)
        most = min(max_db, 35 if count == 2 else 32)
        assert longer > max_km * (1 - 1e-9) or longer * 0.2 + 1.0 > most - 1e-6


def test_designed_spans_keep_to_the_gain_of_the_allowed_amplifiers() -> None:
    weak = {"allow": {"amplifiers": ["gnpy-low-gain"]}}
    line = design_line(chain({"length_km": 300}, gear=weak), "f1")
    assert isinstance(line, Line)
    assert len(line.spans) == 4
    assert all(row.amplifier == "gnpy-low-gain" and row.gain_db <= 16 for row in line.spans)


def test_spans_as_built_and_measured_losses() -> None:
    line = line_of(spans=[{"length_km": 61, "loss_db": 13.4}, {"length_km": 55}])
    first, second = line.spans
    assert (first.measured, first.fiber_loss_db) == (True, 13.4)
    assert first.loss_db == pytest.approx(14.4)
    assert (second.measured, second.fiber_loss_db) == (False, pytest.approx(11.0))
    assert line.length_km == 116
    assert [row.loss_db for row in line.back] == [second.loss_db, first.loss_db]
    assert [row.number for row in line.back] == [1, 2]


def test_hollow_core_has_splices_at_both_ends_of_a_span() -> None:
    (row,) = line_of(length_km=50, type="hollow-core").spans
    assert row.fiber_loss_db == pytest.approx(50 * 0.2 + 2 * 0.5)


def test_a_short_span_is_padded() -> None:
    (row,) = line_of(length_km=5).spans
    assert row.padding_db > 0
    assert row.gain_db == pytest.approx(row.loss_db + row.padding_db)
    assert "padded" in row.why


def test_latency_counts_fiber_and_amplifiers() -> None:
    line = line_of(length_km=400)
    assert len(line.spans) == 4
    assert line.latency_ms == pytest.approx(400 * 1.468 / 299792.458 * 1e3 + 5 * 1e-4)


def test_amplifiers_of_a_pair() -> None:
    line = line_of(length_km=400)
    assert len(line.amplifiers) == 2 * (4 + 1)
    assert line.amplifiers[0] == line.amplifiers[-1] == line.booster


def test_both_directions_have_the_role_that_the_place_asks_for() -> None:
    """With one amplifier for huts and another for ends, the preamplifier stands behind the last span each way."""
    parts = {
        name: {"gain_min_db": 0, "gain_max_db": 40, "nf_db": [[0, 5]], "output_max_dbm": 23, "role": name}
        for name in ("booster", "line", "preamp")
    }
    gear = {"allow": {"amplifiers": list(parts)}, "amplifiers": parts}
    line = design_line(chain({"spans": [{"length_km": k} for k in (30, 60, 90)]}, gear=gear), "f1")
    assert isinstance(line, Line)
    assert line.booster == "booster"
    for rows in (line.spans, line.back):
        assert [row.amplifier for row in rows] == ["line", "line", "preamp"]
    assert [row.length_km for row in line.back] == [90, 60, 30]


@pytest.mark.parametrize(
    ("fiber", "gear", "policy", "number", "reason"),
    [
        ({"spans": [{"length_km": 60}, {"length_km": 60, "loss_db": 45}]}, None, {}, 2, "46.0 dB is beyond"),
        ({"length_km": 60}, flat(role="line"), {}, 1, "no allowed amplifier may stand as a preamplifier"),
        ({"length_km": 60}, flat(role="preamp"), {}, None, "booster"),
        ({"length_km": 300}, flat(role="preamp"), {}, 1, "amplifier in a hut"),
        ({"length_km": 60}, None, {"connector_db": 15}, 1, "connectors, splices and repairs alone"),
    ],
)
def test_no_line(fiber: dict[str, object], gear: object, policy: dict[str, float], number: int, reason: str) -> None:
    line = design_line(chain(fiber, gear=gear, **policy), "f1")  # type: ignore[arg-type]
    assert isinstance(line, NoLine)
    assert line.span_number == number
    assert reason in line.reason


def test_estimates_are_used_only_by_name() -> None:
    assert "generic" not in line_of(length_km=300).amplifiers
    named = design_line(chain({"length_km": 300}, gear={"allow": {"amplifiers": ["generic"]}}), "f1")
    assert isinstance(named, Line)
    assert set(named.amplifiers) == {"generic"}


def test_lines_of_all_fibers_in_file_order() -> None:
    network = chain({"length_km": 10}, {"spans": [{"length_km": 60, "loss_db": 45}]})
    lines = design_lines(network)
    assert list(lines) == ["f1", "f2"]
    assert isinstance(lines["f1"], Line)
    assert isinstance(lines["f2"], NoLine)


def test_spans_before_a_hut_keep_to_the_gain_of_hut_amplifiers() -> None:
    """One span may use the 40 dB preamplifier; with huts, the 20 dB of the amplifier in them sets the length."""
    parts = {
        name: {"gain_min_db": 0, "gain_max_db": gain, "nf_db": [[0, 5]], "output_max_dbm": 23, "role": name}
        for name, gain in (("booster", 30), ("line", 20), ("preamp", 40))
    }
    gear = {"allow": {"amplifiers": list(parts)}, "amplifiers": parts}
    limits = {"max_span_km": 1000.0, "max_span_loss_db": 40.0}
    for km, count in ((190, 1), (200, 3), (285, 3), (286, 4)):  # 0.2 dB/km and 1 dB beside
        line = design_line(chain({"length_km": km}, gear=gear, **limits), "f1")
        assert isinstance(line, Line)
        assert len(line.spans) == count


def test_the_booster_is_chosen_for_the_line() -> None:
    quiet = {"gain_min_db": 0, "gain_max_db": 40, "nf_db": [[0, 5]], "output_max_dbm": 23}
    parts = {"noisy": {**quiet, "nf_db": [[0, 9]]}, "weak": {**quiet, "output_max_dbm": 5}, "quiet": quiet}
    named = {name: {**part, "role": "booster"} for name, part in parts.items()} | {"rest": quiet}
    allow = [*parts, "rest"]
    gear = {"allow": {"amplifiers": allow}, "amplifiers": named}
    line = design_line(chain({"length_km": 80}, gear=gear), "f1")
    assert isinstance(line, Line)
    assert line.booster == "quiet"
