"""Spans on huts, standing amplifiers, mixed fiber, padding and the allowance for ripple."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dcplan.optics.budget import Line
from dcplan.optics.line import NoLine, design_line
from tests.optics.networks import budget_of, chain, flat, own

steady = settings(derandomize=True, deadline=None, max_examples=60)
CLEAN = {"equipment": {"mux": {"loss_db": 0}}}


def line_of(fiber: dict[str, Any], gear: dict[str, Any] | None = None, **policy: Any) -> Line:
    line = design_line(chain(fiber, gear=gear, **policy), "f1")
    assert isinstance(line, Line)
    return line


def roles(line_db: float, preamp_db: float) -> dict[str, Any]:
    gains = {"booster": 30.0, "line": line_db, "preamp": preamp_db}
    parts = {
        name: {"gain_min_db": 0, "gain_max_db": gain, "nf_db": [[0, 5]], "output_max_dbm": 23, "role": name}
        for name, gain in gains.items()
    }
    return {"allow": {"amplifiers": list(parts)}, "amplifiers": parts}


@st.composite
def huts(draw: st.DrawFn) -> tuple[float, list[float]]:
    steps = draw(st.lists(st.integers(5, 90), min_size=2, max_size=8))
    stops = [float(sum(steps[: i + 1])) for i in range(len(steps))]
    return stops[-1], stops[:-1]


def fewest(total: float, stops: list[float], most_km: float, most_db: float, line: float, preamp: float) -> Any:
    """(spans, largest loss) of the best choice among all subsets of the huts; none where none fits."""
    best = None
    for count in range(len(stops) + 1):
        for chosen in combinations(stops, count):
            edges = [0.0, *chosen, total]
            spans = [b - a for a, b in pairwise(edges)]
            losses = [km * 0.2 + 1.0 for km in spans]
            gains = [preamp] if count == 0 else [min(line, preamp), *[line] * (count - 1), min(line, preamp)]
            fits = all(km <= most_km + 1e-9 for km in spans) and all(
                loss <= min(gain, most_db) + 1e-9 for loss, gain in zip(losses, gains, strict=True)
            )
            if fits and (best is None or (len(spans), max(losses)) < best):
                best = (len(spans), max(losses))
        if best is not None:
            return best
    return best


@steady
@given(huts(), st.integers(50, 130), st.integers(12, 30), st.integers(12, 30), st.integers(12, 30))
def test_huts_are_chosen_as_by_trying_all(
    fiber: tuple[float, list[float]], most_km: float, most_db: float, line_db: float, preamp_db: float
) -> None:
    total, stops = fiber
    network = chain(
        {"length_km": total, "huts_km": stops},
        gear=roles(line_db, preamp_db),
        max_span_km=most_km,
        max_span_loss_db=most_db,
    )
    found, expected = (
        design_line(network, "f1"),
        fewest(total, stops, most_km, most_db, float(line_db), float(preamp_db)),
    )
    if expected is None:
        assert isinstance(found, NoLine)
        assert found.at == ("huts_km",)
        return
    assert isinstance(found, Line)
    assert (len(found.spans), max(row.loss_db for row in found.spans)) == (expected[0], pytest.approx(expected[1]))
    ends = [sum(row.length_km for row in found.spans[: i + 1]) for i in range(len(found.spans) - 1)]
    assert all(any(abs(end - stop) < 1e-9 for stop in stops) for end in ends)


@pytest.mark.parametrize(
    ("stops", "reason"),
    [
        ([60.0, 200.0], "before the end at 200 km"),
        ([60.0, 50.0], "huts must rise"),
        ([10.0, 120.0], "from 10 km the next stop is 110 km"),
    ],
)
def test_huts_that_do_not_help_are_refused(stops: list[float], reason: str) -> None:
    line = design_line(chain({"length_km": 200, "huts_km": stops}), "f1")
    assert isinstance(line, NoLine)
    assert reason in line.reason


def test_no_more_huts_are_used_than_needed() -> None:
    line = line_of({"length_km": 160, "huts_km": [20, 40, 70, 85, 120]})
    assert [row.length_km for row in line.spans] == [85, 75]


def test_standing_amplifiers_are_kept_each_way() -> None:
    """An amplifier that would never be chosen stays behind its span, both ways; ends have the preamplifier given."""
    gear = flat("good", nf_db=4)
    bad = {"gain_min_db": 0, "gain_max_db": 30, "nf_db": [[0, 12]], "output_max_dbm": 20}
    gear["amplifiers"] |= dict.fromkeys(("hut", "end", "head"), bad)
    spans = [{"length_km": 60, "amplifier": "hut"}, {"length_km": 70}, {"length_km": 80, "amplifier": "hut"}]
    line = line_of({"spans": spans, "preamp": "end", "booster": "head"}, gear)
    assert line.booster == "head"
    assert [row.amplifier for row in line.spans] == ["hut", "good", "end"]
    assert [row.amplifier for row in line.back] == ["hut", "good", "end"]
    assert "stands there: gain 0 to 30 dB" in line.spans[0].why
    assert "best GSNR" in line.spans[1].why


def test_a_standing_amplifier_is_padded_and_costs_reach() -> None:
    strong = {"gain_min_db": 20, "gain_max_db": 30, "nf_db": [[20, 5]], "output_max_dbm": 20}
    gear = flat("good", nf_db=4)
    gear["amplifiers"]["strong"] = strong
    (row,) = line_of({"spans": [{"length_km": 50, "amplifier": "strong"}]}, gear).spans
    assert (row.gain_db, row.padding_db) == (20, pytest.approx(20 - row.loss_db))
    assert "padded by 9.0 dB" in row.why


@pytest.mark.parametrize(
    ("fiber", "at"),
    [
        ({"spans": [{"length_km": 60}, {"length_km": 90, "amplifier": "gnpy-low-gain"}]}, ("spans", 1, "amplifier")),
        ({"length_km": 90, "preamp": "gnpy-low-gain", "huts_km": [5]}, ("huts_km",)),
        ({"spans": [{"length_km": 90}], "preamp": "gnpy-low-gain"}, ("preamp",)),
        ({"spans": [{"length_km": 60, "amplifier": "gnpy-hybrid-raman"}]}, ("spans", 0, "amplifier")),
        ({"length_km": 60, "booster": "gnpy-hybrid-raman"}, ("booster",)),
        ({"length_km": 60, "booster": "alibaba-preamp-25"}, ("booster",)),
    ],
)
def test_a_standing_amplifier_that_cannot_reach_is_refused(fiber: dict[str, Any], at: tuple[Any, ...]) -> None:
    line = design_line(chain(fiber), "f1")
    assert isinstance(line, NoLine)
    assert line.at == at


def test_raman_only_where_it_is_named() -> None:
    """On 26.5 dB it beats every plain amplifier, and is used when named, in `gear.allow` or as standing there."""
    fiber = {"length_km": 127.5}
    policy = {"max_span_km": 130}
    assert line_of(fiber, **policy).spans[0].amplifier != "gnpy-hybrid-raman"
    gear = {"allow": {"amplifiers": ["gnpy-medium-gain", "gnpy-high-gain", "gnpy-hybrid-raman"]}}
    (named,) = line_of(fiber, gear, **policy).spans
    assert named.amplifier == "gnpy-hybrid-raman"
    assert "Raman pumps" in named.why
    (kept,) = line_of(fiber | {"preamp": "gnpy-hybrid-raman"}, **policy).spans
    assert kept.amplifier == "gnpy-hybrid-raman"


def test_mixed_fiber_in_one_line() -> None:
    """Each span has its own loss, dispersion, PMD, splices and nonlinearity; order does not matter for the sum."""
    gear = {**flat(nf_db=5), **CLEAN, "transponders": own()}
    solid, hollow = {"length_km": 60}, {"length_km": 40, "type": "hollow-core"}
    mixed = chain({"spans": [solid, hollow]}, gear=gear)
    line = design_line(mixed, "f1")
    assert isinstance(line, Line)
    assert line.spans[1].fiber_loss_db == pytest.approx(40 * 0.2 + 2 * 0.5)
    assert [row.type for row in line.spans] == ["", "hollow-core"]
    assert line.dispersion_ps_nm == pytest.approx(60 * 16.7 + 40 * 3.0)
    assert line.latency_ms == pytest.approx((60 * 1.468 + 40 * 1.003) / 299.792458 + 3e-4)
    budget = budget_of(mixed, "m")
    all_solid = budget_of(chain({"spans": [solid, {"length_km": 40, "loss_db": 9.0}]}, gear=gear), "m")
    assert budget.osnr_nli_db is not None
    assert all_solid.osnr_nli_db is not None
    turned = budget_of(chain({"spans": [hollow, solid]}, gear=gear), "m")
    assert turned.gsnr_db == pytest.approx(budget.gsnr_db, abs=1e-9)
    given = [budget_of(chain({"spans": s, "launch_dbm": 0.0}, gear=gear), "m") for s in ([solid, hollow], [solid])]
    assert given[0].osnr_nli_db == pytest.approx(given[1].osnr_nli_db, abs=0.03)  # of another worst channel
    named = chain({"spans": [{"length_km": 60, "type": "g652d"}, hollow]}, gear=gear)
    assert budget_of(named, "m").gsnr_db == pytest.approx(budget.gsnr_db, abs=1e-12)


@steady
@given(st.floats(5, 60), st.floats(0, 20))
def test_a_short_span_is_padded_to_the_least_loss(km: float, least: float) -> None:
    (row,) = line_of({"length_km": km}, flat(), min_span_loss_db=least).spans
    assert row.gain_db == pytest.approx(max(row.loss_db, least))
    assert row.padding_db == pytest.approx(row.gain_db - row.loss_db)


def test_ripple_and_equalisation_are_an_item_of_their_own() -> None:
    gear = {**flat(nf_db=5), "transponders": own()}
    fibers = ({"length_km": 250}, {"length_km": 90})
    plain = budget_of(chain(*fibers, gear=gear), "m")
    policy = {"ripple_db_per_span": 0.15, "equalisation_db_per_line": 0.4}
    careful = budget_of(chain(*fibers, gear=gear, **policy), "m")
    (item,) = [item for item in careful.items if item.name == "ripple and equalisation"]
    assert item.kind == "margin"
    assert item.value_db == pytest.approx(4 * 0.15 + 2 * 0.4)
    assert plain.margin_db is not None
    assert careful.margin_db == pytest.approx(plain.margin_db - 1.4)
    assert careful.margins_db == pytest.approx(plain.margins_db + 1.4)
    assert not [item for item in plain.items if item.name == "ripple and equalisation"]


@pytest.mark.parametrize(
    ("fiber", "reason"),
    [
        ({"spans": [{"length_km": 60}], "huts_km": [30]}, "huts_km goes with length_km"),
        ({"length_km": 60, "multiplexed": False}, "asks for amplified: false"),
        ({"length_km": 60, "amplified": False, "booster": "gnpy-low-gain"}, "no huts and no amplifiers"),
        ({"spans": [{"length_km": 30}, {"length_km": 30}], "amplified": False}, "is one span"),
        ({"spans": [{"length_km": 60, "amplifier": "x"}], "preamp": "y"}, "behind the only span"),
    ],
)
def test_keys_that_contradict_are_refused(fiber: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        chain(fiber)
