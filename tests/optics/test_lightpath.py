"""Budgets of lightpaths: they add up, they fall with what makes light worse, and limits are limits."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.network import Route
from dcplan.optics.budget import Budget
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from dcplan.units import from_db
from tests.optics.networks import budget_of, chain, flat, network_of, own, whole

steady = settings(derandomize=True, deadline=None, max_examples=25)
CLEAN: dict[str, Any] = {"equipment": {"mux": {"loss_db": 0}, "roadm": {"loss_db": 0, "express_loss_db": 0}}}
GLASS = {"attenuation_db_per_km": 0.2, "dispersion_ps_nm_km": 16.7, "effective_area_um2": 83, "group_index": 1.468}
NO_LIMITS = {"repair_db_per_span": 0, "connector_db": 0, "margin_db": 0, "ageing_db": 0}


def spans(*lengths: float) -> dict[str, Any]:
    return {"spans": [{"length_km": km} for km in lengths]}


def gear_of(**mode: Any) -> dict[str, Any]:
    return {**flat(), **CLEAN, "transponders": own(**mode)}


MIXED = chain(
    {"length_km": 170},
    {"spans": [{"length_km": 61, "loss_db": 13.4}, {"length_km": 55}], "type": "g654e"},
    {"length_km": 40, "type": "hollow-core"},
    {"length_km": 90, "type": "g655"},
)


@pytest.fixture(scope="module")
def mixed() -> tuple[Budget, ...]:
    return evaluate(MIXED, design_lines(MIXED), [whole(MIXED)])[0].budgets


def test_items_add_up(mixed: tuple[Budget, ...]) -> None:
    """The printed lines give the printed margin: noise adds as 1/OSNR, the rest in dB."""
    assert len(mixed) > 20
    for budget in mixed:
        by_kind: dict[str, list[float]] = {}
        for item in budget.items:
            value = math.inf if item.value_db is None else item.value_db
            by_kind.setdefault(item.kind, []).append(value)
        gsnr, margin = by_kind["sum"]
        noise = math.fsum(from_db(-value) for value in by_kind["noise"])
        assert -10 * math.log10(noise) == pytest.approx(gsnr, abs=1e-9)
        assert gsnr == budget.gsnr_db
        left = gsnr - by_kind["required"][0] - sum(by_kind["penalty"]) - sum(by_kind["margin"])
        if budget.margin_db is None:
            assert left == -math.inf
        else:
            assert left == pytest.approx(margin, abs=1e-9)
            assert margin == pytest.approx(budget.margin_db, abs=1e-9)
            assert budget.penalties_db == pytest.approx(sum(by_kind["penalty"]))
        assert sum(by_kind["margin"]) == budget.margins_db


def test_parts_of_the_noise_are_named(mixed: tuple[Budget, ...]) -> None:
    names = [item.name for item in mixed[0].items if item.kind == "noise"]
    assert [name for name in names if name.startswith("booster")] == [f"booster at s{i}" for i in (0, 1, 2, 3)] or [
        name for name in names if name.startswith("booster")
    ] == [f"booster at s{i}" for i in (4, 3, 2, 1)]
    assert {"transmitter", "nonlinearity of f1", "amplifiers of f4", "pass s2"} <= set(names)
    hollow = [item.value_db for item in mixed[0].items if item.name == "nonlinearity of f3"]
    assert hollow == [None]


def test_order_closing_first_fastest_first_widest_margin_first(mixed: tuple[Budget, ...]) -> None:
    keys = [(not b.closes, -b.rate_gbps, -(-math.inf if b.margin_db is None else b.margin_db)) for b in mixed]
    assert keys == sorted(keys)
    assert {b.closes for b in mixed} == {True, False}


def test_contributions_enter_once() -> None:
    """Transmitter, add and drop of 30 dB each and nothing else of weight: 30 − 10 log10 3."""
    quiet = {"loss_db": 0, "add_drop_osnr_db": 30}
    gear = {**flat(nf_db=0), "equipment": {"mux": quiet}, "transponders": own(tx_osnr_db=30)}
    budget = budget_of(chain(spans(1), gear=gear, **NO_LIMITS), "m")
    assert budget.gsnr_db == pytest.approx(30 - 10 * math.log10(3), abs=0.02)


def test_express_counts_at_each_passed_site_only() -> None:
    roadm = {"loss_db": 0, "express_loss_db": 0, "express_osnr_db": 25, "express_pdl_db": 1.5, "pass_pmd_ps": 3.0}
    gear = {**flat(nf_db=-60), "equipment": {"mux": {"loss_db": 0}, "roadm": roadm}, "transponders": own()}
    for count in (1, 2, 3, 4):
        network = chain(*[{**spans(1), "type": "hollow-core"}] * count, gear=gear, **NO_LIMITS)
        budget = budget_of(network, "m")
        passes = count - 1
        if passes:
            assert budget.gsnr_db == pytest.approx(25 - 10 * math.log10(passes), abs=0.01)
            (pdl,) = [item.why for item in budget.items if item.name == "PDL"]
            assert pdl.startswith(f"{1.5 * passes**0.5:.4g} dB")
        else:
            assert budget.gsnr_db > 60


def test_express_loss_is_made_up_by_the_booster_behind_it() -> None:
    """58-rule at the pass: OSNR = 58 + input − NF."""
    roadm = {"loss_db": 0, "express_loss_db": 16.5}
    gear = {**flat(nf_db=5), "equipment": {"mux": {"loss_db": 0}, "roadm": roadm}, "transponders": own()}
    budget = budget_of(chain(spans(80), spans(80), gear=gear, **NO_LIMITS), "m")
    (booster,) = [item.value_db for item in budget.items if item.name == "booster at s1"]
    assert booster == pytest.approx(58 + budget.launch_dbm - 16.5 - 5, abs=0.13)


def test_bandwidths_are_not_mixed_up() -> None:
    """NLI quoted in 0.1 nm is 10 log10(63.1 / 12.5) = 7.03 dB above the signal bandwidth, where ASE = 2 NLI."""
    budget = budget_of(chain(spans(80, 80), gear=gear_of(), **NO_LIMITS), "m")
    spans_osnr = sum(from_db(-i.value_db) for i in budget.items if i.name.startswith("amplifiers") and i.value_db)
    assert budget.osnr_nli_db is not None
    assert spans_osnr == pytest.approx(2 * from_db(-budget.osnr_nli_db), rel=0.06)
    assert 10 * math.log10(63.1 / 12.5) == pytest.approx(7.03, abs=0.005)


@steady
@given(st.integers(1, 12), st.floats(20, 110), st.floats(4, 8))
def test_gsnr_falls_with_spans_loss_and_noise_figure(count: int, km: float, nf: float) -> None:
    def gsnr(n: int, length: float, figure: float) -> float:
        gear = {**flat(nf_db=figure), **CLEAN, "transponders": own()}
        return budget_of(chain(spans(*[length] * n), gear=gear), "m").gsnr_db

    here = gsnr(count, km, nf)
    assert gsnr(count + 1, km, nf) < here
    assert gsnr(count, km + 1, nf) < here
    assert gsnr(count, km, nf + 0.5) < here


def test_halving_the_spans_gains_three_decibels() -> None:
    """At the same launch (the output limit, hollow core), amplifier noise is proportional to spans."""
    found = [
        budget_of(
            chain({**spans(*[60] * n), "type": "hollow-core"}, gear={**gear_of(tx_dbm=30), **flat(output_max_dbm=15)}),
            "m",
        )
        for n in (16, 8, 4)
    ]
    osnr = [
        -10 * math.log10(sum(from_db(-i.value_db) for i in b.items if i.name == "amplifiers of f1" and i.value_db))
        for b in found
    ]
    assert [b - a for a, b in pairwise(osnr)] == pytest.approx([3.0103, 3.0103], abs=1e-6)


@steady
@given(st.integers(2, 60))
def test_adding_a_channel_never_helps(channels: int) -> None:
    def gsnr(count: int) -> float:
        band = {"band_start_thz": 193.0, "band_end_thz": 193.0 + count * 0.075}
        return budget_of(chain(spans(80, 80), gear={**gear_of(), **band}), "m").gsnr_db

    assert gsnr(channels + 1) <= gsnr(channels) + 0.002  # frequency of the worst channel shifts noise by 1e-3 dB


@steady
@given(st.lists(st.floats(20, 110), min_size=1, max_size=5))
def test_directions_of_a_symmetric_line_are_the_same(lengths: list[float]) -> None:
    symmetric = [*lengths, *lengths[::-1]]
    network = chain(spans(*symmetric))
    back = Route(whole(network).sites[::-1], whole(network).fibers)
    lines = design_lines(network)
    there, again = evaluate(network, lines, [whole(network), back])
    assert len(there.budgets) > 20
    for one, two in zip(there.budgets, again.budgets, strict=True):
        assert one.gsnr_db == pytest.approx(two.gsnr_db, abs=1e-9)
        assert (one.mode, one.limit) == (two.mode, two.limit)


def test_route_and_its_reverse_have_the_same_worse_direction(mixed: tuple[Budget, ...]) -> None:
    route = whole(MIXED)
    back = Route(route.sites[::-1], route.fibers[::-1])
    other = evaluate(MIXED, design_lines(MIXED), [back])[0].budgets
    assert [(b.mode, b.direction, b.gsnr_db) for b in other] == [(b.mode, b.direction, b.gsnr_db) for b in mixed]


def test_the_worse_direction_is_reported() -> None:
    """A noisy amplifier allowed only as preamplifier meets the longer span one way, the shorter the other way."""
    parts = {
        "hut": {"gain_min_db": 0, "gain_max_db": 40, "nf_db": [[0, 4]], "output_max_dbm": 30, "role": "line"},
        "end": {"gain_min_db": 0, "gain_max_db": 40, "nf_db": [[0, 9]], "output_max_dbm": 30, "role": "preamp"},
        "head": {"gain_min_db": 0, "gain_max_db": 60, "nf_db": [[0, 4]], "output_max_dbm": 30, "role": "booster"},
    }
    gear = {**CLEAN, "allow": {"amplifiers": list(parts)}, "amplifiers": parts, "transponders": own()}
    assert budget_of(chain(spans(40, 100), gear=gear), "m").direction == "s0 -> s1"
    assert budget_of(chain(spans(100, 40), gear=gear), "m").direction == "s1 -> s0"


@steady
@given(st.floats(100, 3000))
def test_no_mode_closes_beyond_its_last_dispersion_point(km: float) -> None:
    network = chain({"length_km": km})
    for budget in evaluate(network, design_lines(network), [whole(network)])[0].budgets:
        mode = network.catalog.transponders[budget.transponder].modes[budget.mode]
        if mode.cd_penalty and 16.7 * km > mode.cd_penalty[-1][0]:
            assert not budget.closes
            assert budget.margin_db is None
            assert budget.penalties_db is None
            assert budget.limit == "dispersion"


@pytest.mark.parametrize(
    ("mode", "limit"),
    [
        ({"cd_penalty": [[100, 0.5]]}, "dispersion"),
        ({"pmd_penalty": [[0.1, 0.5]]}, "PMD"),
        ({"rx_min_dbm": 10}, "power"),
        ({"required_osnr_db": 60}, "OSNR"),
        ({"cd_penalty": [[1480, 0.5]], "required_osnr_db": 5}, "dispersion"),
        ({"required_osnr_db": 5}, "OSNR"),
    ],
)
def test_limits_are_named(mode: dict[str, Any], limit: str) -> None:
    budget = budget_of(chain(spans(80), gear=gear_of(**mode)), "m")
    assert budget.limit == limit
    assert budget.closes == (mode.get("required_osnr_db") == 5)


def test_pdl_is_a_limit() -> None:
    roadm = {"loss_db": 0, "express_loss_db": 0, "express_pdl_db": 1.5}
    gear = {**flat(), "equipment": {"mux": {"loss_db": 0}, "roadm": roadm}, "transponders": own(pdl_penalty=[[2, 1]])}
    assert budget_of(chain(spans(50), spans(50), gear=gear), "m").closes
    three = budget_of(chain(*[spans(50)] * 3, gear=gear), "m")
    assert (three.closes, three.limit) == (False, "PDL")


def test_too_much_power_is_attenuated_and_said() -> None:
    budget = budget_of(chain(spans(80), gear=gear_of(rx_max_dbm=-3)), "m")
    assert budget.rx_dbm == -3
    (item,) = [item for item in budget.items if item.name == "received"]
    assert "attenuated by" in item.why
    assert budget.limit == "OSNR"


def test_launch_is_clipped_by_the_weakest_amplifier_and_says_so() -> None:
    free = budget_of(chain(spans(80), gear=gear_of()), "m")
    assert free.launch_limit == "optimum"
    tight = budget_of(chain(spans(80), gear={**gear_of(), **flat(output_max_dbm=15)}), "m")
    assert tight.launch_limit == "amplifier output"
    assert tight.launch_dbm == pytest.approx(15 - 10 * math.log10(64))
    assert tight.gsnr_db < free.gsnr_db
    hollow = budget_of(chain({**spans(80), "type": "hollow-core"}, gear={**gear_of(), **flat(output_max_dbm=20)}), "m")
    assert (hollow.launch_limit, hollow.osnr_nli_db) == ("amplifier output", None)
    starved = budget_of(chain(spans(80), gear={**gear_of(tx_dbm=-90)}), "m")
    assert starved.launch_limit == "booster gain"
    assert starved.launch_dbm == pytest.approx(-30)


def test_more_transmit_power_means_less_booster_noise() -> None:
    found = [budget_of(chain(spans(80), gear=gear_of(tx_dbm=level)), "m").gsnr_db for level in (-20, -10, 0)]
    assert found == sorted(found)
    assert found[2] - found[0] > 1


def test_margins_and_allowances_of_the_policy() -> None:
    base = budget_of(chain(spans(80), gear=gear_of()), "m")
    assert base.margin_db is not None
    more = budget_of(chain(spans(80), gear=gear_of(), margin_db=3.0), "m")
    assert more.margin_db == pytest.approx(base.margin_db - 1)
    assert budget_of(chain(spans(80), gear=gear_of(), repair_db_per_span=2.0), "m").gsnr_db < base.gsnr_db
    assert budget_of(chain(spans(80), gear=gear_of(), connector_db=1.0), "m").gsnr_db < base.gsnr_db


def test_routes_that_light_cannot_take_have_no_budgets() -> None:
    sites = {name: {"lat": 0, "lon": i} for i, name in enumerate("abc")}
    fibers = {
        "ab": {"ends": ["a", "b"], "length_km": 50, "type": "g652d", "pairs": 1},
        "bc": {"ends": ["b", "c"], "spans": [{"length_km": 50}], "type": "g652d", "pairs": 1},
    }
    ab, abc = Route(("a", "b"), ("ab",)), Route(("a", "b", "c"), ("ab", "bc"))
    closed = network_of({"sites": sites | {"b": {"lat": 0, "lon": 1, "express": False}}, "fibers": fibers})
    one, two = evaluate(closed, design_lines(closed), [abc, ab])
    assert (one.id, one.budgets, two.id) == ("L1", (), "L2")
    assert two.closing
    broken = {**fibers, "bc": {**fibers["bc"], "spans": [{"length_km": 50, "loss_db": 60}]}}
    cut = network_of({"sites": sites, "fibers": broken})
    one, two = evaluate(cut, design_lines(cut), [ab, abc])
    assert one.closing
    assert two.budgets == ()
    assert two.length_km == 100
    assert evaluate(cut, design_lines(cut), []) == ()


def test_latency_of_a_lightpath() -> None:
    network = chain({"length_km": 80}, {"length_km": 80})
    (path,) = evaluate(network, design_lines(network), [whole(network)])
    assert path.latency_ms == pytest.approx(160 * 1.468 / 299792.458 * 1e3 + (4 + 1) * 1e-4)


def test_a_mode_wider_than_the_band_is_left_out() -> None:
    gear = {"band_start_thz": 196.0, "band_end_thz": 196.1}
    network = chain({"length_km": 50}, gear=gear)
    (path,) = evaluate(network, design_lines(network), [whole(network)])
    assert {budget.width_ghz for budget in path.budgets} == {50.0, 75.0, 87.5, 100.0}
    assert all(budget.channels >= 1 for budget in path.budgets)


def test_many_routes_at_once_are_each_as_alone() -> None:
    """Caching and arrays change nothing: bytes are those of one route evaluated alone."""
    lines = design_lines(MIXED)
    full = whole(MIXED)
    routes = [Route(full.sites[i : j + 1], full.fibers[i:j]) for i in range(4) for j in range(i + 1, 5)]
    together = evaluate(MIXED, lines, routes)
    for number, route in enumerate(routes):
        (alone,) = evaluate(MIXED, lines, [route])
        assert together[number].budgets == alone.budgets
    bare = evaluate(MIXED, lines, routes, itemise=False)
    assert all(not budget.items for path in bare for budget in path.budgets)
    assert [[b.margin_db for b in p.budgets] for p in bare] == [[b.margin_db for b in p.budgets] for p in together]


def amounts(budget: Budget) -> list[float]:
    """Dispersion, PMD and PDL that a budget states."""
    names = ("chromatic dispersion", "PMD", "PDL")
    return [float(item.why.split()[0]) for item in budget.items if item.name in names]


def test_dispersion_pmd_and_pdl_of_fibers_amplifiers_and_nodes() -> None:
    """Two lines of two spans: 6 amplifiers, add, pass, drop. Dispersion adds up, PMD and PDL in quadrature."""
    nodes = {"pass_pmd_ps": 3.0, "pass_dispersion_ps_nm": 25.0, "add_drop_pdl_db": 1.2, "loss_db": 0}
    roadm = {**nodes, "express_loss_db": 0, "express_pdl_db": 1.5}
    gear = {
        **flat(pmd_ps=2.0, pdl_db=0.7),
        "equipment": {"mux": nodes, "roadm": roadm},
        "transponders": own(),
        "fibers": {"glass": {**GLASS, "pmd_ps_sqrt_km": 0.5}},
    }
    line = {**spans(40, 60), "type": "glass"}
    found = amounts(budget_of(chain(line, line, gear=gear), "m"))
    assert found == pytest.approx(
        [
            200 * 16.7 + 3 * 25,
            math.sqrt(0.5**2 * 200 + 6 * 2.0**2 + 3 * 3.0**2),
            math.sqrt(6 * 0.7**2 + 2 * 1.2**2 + 1.5**2),
        ],
        rel=2e-3,
    )


def test_dispersion_of_unlike_fibers_cancels() -> None:
    gear = {**gear_of(), "fibers": {"plus": GLASS, "minus": {**GLASS, "dispersion_ps_nm_km": -16.7}}}
    network = chain({**spans(60), "type": "plus"}, {**spans(40), "type": "minus"}, gear=gear)
    assert amounts(budget_of(network, "m"))[0] == pytest.approx(20 * 16.7, rel=1e-3)


def test_a_booster_below_its_least_gain_is_padded() -> None:
    """Transmitter 0 dBm, launch about 0 dBm: a booster of 25 dB at least works at 25 dB, behind 25 dB of padding."""
    booster = {"gain_min_db": 25, "gain_max_db": 60, "nf_db": [[0, 5]], "output_max_dbm": 40, "role": "booster"}
    rest = {"gain_min_db": 0, "gain_max_db": 60, "nf_db": [[0, 5]], "output_max_dbm": 40, "role": "preamp"}
    parts = {"booster": booster, "rest": rest}
    gear = {**CLEAN, "allow": {"amplifiers": list(parts)}, "amplifiers": parts, "transponders": own()}
    budget = budget_of(chain(spans(80), gear=gear), "m")
    (osnr,) = [item.value_db for item in budget.items if item.name == "booster at s0"]
    assert osnr == pytest.approx(58 + budget.launch_dbm - 25 - 5, abs=0.13)
