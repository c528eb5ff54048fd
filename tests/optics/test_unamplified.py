"""Links without amplifiers against GNPy and by hand, appliances, and what they cost in a plan."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Appliance, Transponder
from dcplan.design import cost
from dcplan.design.candidates import routes
from dcplan.model.network import Network, Route
from dcplan.optics.budget import Budget, Lightpath, Line
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import NoLine, design_line, design_lines
from tests.optics.networks import chain, flat, network_of, own, whole

DCI = json.loads((Path(__file__).parent / "data" / "gnpy_dci.json").read_text())
steady = settings(derandomize=True, deadline=None, max_examples=60)
BARE = {"amplified": False, "multiplexed": False}
ZR = {"unamplified": {"rx_min_dbm": -20, "required_osnr_db": 34}, "tx_dbm": -10, "tx_osnr_db": 34, "rx_min_dbm": -12}


def lightpath_of(network: Network) -> Lightpath:
    (found,) = evaluate(network, design_lines(network), [whole(network)])
    return found


def one(network: Network, transponder: str = "own") -> Budget:
    return next(budget for budget in lightpath_of(network).budgets if budget.transponder == transponder)


def link(km: float, mode: dict[str, Any], policy: dict[str, Any] | None = None, **fiber: Any) -> Budget:
    gear = {"transponders": own(**mode), "allow": {"transponders": ["own"]}}
    return one(chain({"length_km": km, **BARE, **fiber}, gear=gear, **(policy or {})))


def test_400zr_without_amplifiers_against_gnpy() -> None:
    """The case that the amplified ones leave out: 40 km, 0.5 dB connectors, one channel alone."""
    (case,) = [case for case in DCI["cases"] if case["booster_nf"] is None]
    glass = DCI["fibers"][case["fiber"]]
    kind = {
        "attenuation_db_per_km": glass["loss_coef"],
        "dispersion_ps_nm_km": glass["dispersion"] * 1e6,
        "effective_area_um2": glass["effective_area"] * 1e12,
        "group_index": 1.468,
    }
    mode = ZR | {"baud_gbd": case["baud_gbd"], "tx_dbm": case["tx_power_dbm"], "tx_osnr_db": case["tx_osnr_0p1nm_db"]}
    gear = {"transponders": own(**mode), "fibers": {"glass": kind}}
    policy = {"repair_db_per_span": 0, "connector_db": case["connector_db_per_end"], "margin_db": 0, "ageing_db": 0}
    budget = one(chain({"length_km": case["km"], "type": "glass", **BARE}, gear=gear, **policy))
    assert budget.gsnr_db == pytest.approx(case["centre_gsnr_db"], abs=0.001)
    assert budget.rx_dbm == pytest.approx(-19.0)
    assert budget.osnr_ase_db is None
    assert budget.margin_db == pytest.approx(1.0)
    assert budget.closes


def test_the_margin_is_that_of_power() -> None:
    """−10 dBm − 30 km × 0.2 − 2 × 0.25 − 0.5 over −20 dBm, less the reserve of 2.5 dB."""
    budget = link(30, ZR)
    assert budget.rx_dbm == pytest.approx(-17)
    assert budget.margin_db == pytest.approx(3.0 - 2.5)
    assert budget.limit == "power"
    far = link(40, ZR)
    assert far.margin_db == pytest.approx(1.0 - 2.5)
    assert not far.closes


def test_multiplexers_take_their_loss_twice() -> None:
    network = {"tx_dbm": 0.0}
    direct, through = link(25, ZR | network), link(25, ZR | network, multiplexed=True)
    assert direct.rx_dbm is not None
    assert through.rx_dbm == pytest.approx(direct.rx_dbm - 2 * 6.0)
    assert (direct.channels, through.channels) == (1, 64)
    assert (direct.width_ghz, through.width_ghz) == (4800, 75)
    assert direct.osnr_nli_db is not None
    assert through.osnr_nli_db is not None
    assert through.osnr_nli_db < direct.osnr_nli_db + 2 * 6.0  # 6 dB less launch, but 64 channels


def test_the_ordinary_window_counts_where_no_other_is_known() -> None:
    """At −12 dBm or more the ordinary sensitivity holds; without any sensitivity a mode closes on no bare fiber."""
    usual = {"tx_dbm": 0.0, "rx_min_dbm": -12.0, "tx_osnr_db": 34}
    near = link(25, usual)
    assert near.margin_db == pytest.approx(-6 + 12 - 2.5)
    assert near.required_osnr_db == 20
    unknown = link(5, usual | {"rx_min_dbm": None})
    assert (unknown.margin_db, unknown.limit) == (None, "power: no sensitivity known")
    noisy = link(5, usual | {"tx_osnr_db": 22.0})
    assert (noisy.margin_db, noisy.limit) == (None, "OSNR")


def test_between_the_two_sensitivities_the_osnr_decides() -> None:
    """−12 dBm at 20 dB and 2.5 dB of reserve, −20 dBm at 34 dB: 33 dB of a transmitter asks −19.3 dBm by hand."""
    budget = link(25, ZR | {"tx_osnr_db": 33.0})
    assert budget.gsnr_db is not None
    least = -12 - 8 * (budget.gsnr_db - 22.5) / 11.5
    assert least == pytest.approx(-19.3, abs=0.01)
    assert budget.margin_db == pytest.approx(-16 - least - 2.5)
    assert budget.required_osnr_db == budget.gsnr_db


@steady
@given(st.floats(15, 40), st.floats(0, 10))
def test_a_better_transmitter_never_asks_more_power(osnr: float, more: float) -> None:
    worse, better = (link(25, ZR | {"tx_osnr_db": value}).margin_db for value in (osnr, osnr + more))
    assert worse is None or (better is not None and better >= worse - 1e-9)


def test_dispersion_and_too_much_light() -> None:
    tight = link(30, ZR | {"cd_penalty": [[400.0, 0.5]]})
    assert (tight.margin_db, tight.penalties_db, tight.limit) == (None, None, "dispersion")
    paid = link(30, ZR | {"cd_penalty": [[1000.0, 1.0]]})
    assert paid.penalties_db == pytest.approx(0.501, abs=0.006)
    assert paid.margin_db == pytest.approx(0.5 - 0.501, abs=0.006)
    strong = link(5, ZR | {"tx_dbm": 5.0, "rx_max_dbm": 0.0})
    assert strong.rx_dbm == 0.0
    assert "attenuated by 3.0 dB" in " ".join(item.why for item in strong.items)


@steady
@given(st.floats(1, 120), st.floats(1, 119), st.booleans())
def test_a_longer_link_never_has_more_margin(km: float, more: float, multiplexed: bool) -> None:
    mode = ZR | {"tx_dbm": 6.0, "cd_penalty": [[2400.0, 0.5]]}
    near, far = (link(length, mode, multiplexed=multiplexed) for length in (km, km + more))
    margins = [-math.inf if budget.margin_db is None else budget.margin_db for budget in (near, far)]
    assert margins[1] < margins[0] or margins == [-math.inf, -math.inf]


@pytest.mark.parametrize("multiplexed", [False, True])
def test_the_items_add_up(multiplexed: bool) -> None:
    budget = link(28, ZR | {"tx_dbm": 3.0, "cd_penalty": [[2400.0, 0.5]]}, multiplexed=multiplexed)
    items = budget.items

    def total(kind: str) -> float:
        return math.fsum(item.value_db or 0.0 for item in items if item.kind == kind)

    levels = {item.name: item.value_db for item in items if item.kind == "level"}
    assert levels["transmitter"] is not None
    assert levels["received"] == pytest.approx(levels["transmitter"] - total("loss"))
    assert budget.rx_dbm == levels["received"]
    sums = {item.name: item.value_db for item in items if item.kind == "sum"}
    assert levels["least received"] is not None
    assert sums["power over the least"] == pytest.approx(budget.rx_dbm - levels["least received"])
    assert sums["margin"] == pytest.approx(sums["power over the least"] - total("penalty") - total("margin"))
    assert budget.margin_db == sums["margin"]
    noise = math.fsum(10 ** (-item.value_db / 10) for item in items if item.kind == "noise" and item.value_db)
    assert sums["GSNR"] == pytest.approx(-10 * math.log10(noise))


def test_hollow_core_loses_more_at_an_edge() -> None:
    budget = link(30, ZR, multiplexed=True, type="hollow-core")
    (item,) = [item for item in budget.items if item.name == "wavelength-dependent loss"]
    kind = shipped("fibers")["hollow-core"]
    assert item.value_db == pytest.approx(kind.wdl_db_per_km * 30 / 2, rel=0.02)  # type: ignore[attr-defined]


def test_the_line_is_glass_alone() -> None:
    line = design_line(chain({"length_km": 30, **BARE}), "f1")
    assert isinstance(line, Line)
    assert (line.booster, line.amplifiers, line.huts) == ("", (), 0)
    assert [row.amplifier for row in line.spans] == [""]
    assert line.latency_ms == pytest.approx(30 * 1.468 / 299.792458)


def test_no_light_goes_further() -> None:
    """A lightpath over a bare fiber ends with it: none over both, none in the candidates, and no ROADM between."""
    network = chain({"length_km": 30, **BARE}, {"length_km": 60})
    whole_route, first, second = whole(network), Route(("s0", "s1"), ("f1",)), Route(("s1", "s2"), ("f2",))
    found = evaluate(network, design_lines(network), [whole_route, first, second])
    assert [bool(lightpath.closing) for lightpath in found] == [False, True, True]
    assert found[0].budgets == ()
    assert first in routes(network)
    assert whole_route not in routes(network)
    both = chain({"length_km": 60}, {"length_km": 60})
    assert whole(both) in routes(both)
    assert cost.terminal(network, "s1") == "mux"
    assert cost.terminal(both, "s1") == "roadm"


def test_two_bands_need_a_multiplexer() -> None:
    line = design_line(chain({"length_km": 30, **BARE}, gear={"band": "c+l"}), "f1")
    assert isinstance(line, NoLine)
    assert line.at == ("multiplexed",)


def appliances(*names: str, **part: Any) -> dict[str, Any]:
    own_part = {"own": {"long_haul_ports": 2, "rate_gbps": 100, "reach_km": 40, **part}}
    return {"allow": {"appliances": list(names)}, "appliances": own_part if "own" in names else {}}


@pytest.mark.parametrize(("km", "closes"), [(1, True), (39.9, True), (40, True), (40.1, False), (80, False)])
def test_an_appliance_closes_up_to_its_reach(km: float, closes: bool) -> None:
    budget = one(chain({"length_km": km, **BARE}, gear=appliances("metrox-3-xc")), "metrox-3-xc")
    assert budget.closes is closes
    assert budget.rate_gbps == 100
    assert budget.margin_db == pytest.approx((40 - km) * 0.2)
    assert (budget.gsnr_db, budget.rx_dbm, budget.limit) == (None, None, "reach")


def test_appliances_only_where_named_and_on_a_pair_of_their_own() -> None:
    def kinds(gear: dict[str, Any], **fiber: Any) -> set[str]:
        return {budget.transponder for budget in lightpath_of(chain({"length_km": 20, **fiber}, gear=gear)).budgets}

    assert "metrox-3-xc" not in kinds({}, **BARE)
    assert "metrox-3-xc" in kinds(appliances("metrox-3-xc"), **BARE)
    assert "metrox-3-xc" not in kinds(appliances("metrox-3-xc"), amplified=False)
    assert "metrox-3-xc" not in kinds(appliances("metrox-3-xc"))


def test_a_port_costs_its_share_and_the_fiber_no_amplifiers() -> None:
    gear = appliances("own", price_usd=50_000, power_w=300, latency_us=7)
    network = chain({"length_km": 20, **BARE}, gear=gear)
    lightpath = lightpath_of(network)
    ports, *energy = cost.wavelength_items(network, lightpath, "own", 3)
    assert (ports.quantity, ports.unit_usd, ports.total_usd) == (6, 25_000, 150_000)
    assert "2 in an appliance" in ports.what
    years_h = 5 * 8760
    assert math.fsum(item.quantity for item in energy) == pytest.approx(6 * 150 * 1.25 * years_h / 1e6)
    line = design_line(network, "f1")
    assert isinstance(line, Line)
    assert [item.what for item in cost.pair_items(network, line, 2)] == ["lease of one pair, 20 km, 5 years"]
    assert network.catalog.latency_us("own") == 7
    assert network.catalog.latency_us("400zr") == 4


def test_a_bare_fiber_with_multiplexers_pays_for_these() -> None:
    network = chain({"length_km": 20, "amplified": False})
    line = design_line(network, "f1")
    assert isinstance(line, Line)
    gear = [item for item in cost.pair_items(network, line, 1) if item.part == "mux"]
    assert [(item.what, item.quantity) for item in gear] == [("terminal gear", 1), ("terminal gear", 1)]


def test_shipped_figures() -> None:
    zr = shipped("transponders")["400zr"]
    assert isinstance(zr, Transponder)
    bare = zr.modes["400g"].unamplified
    assert bare is not None
    assert zr.modes["400g"].tx_dbm - bare.rx_min_dbm == 10  # budget of the data sheets: 10 to 11 dB
    reach = {name: part.reach_km for name, part in shipped("appliances").items() if isinstance(part, Appliance)}
    assert reach == {"metrox-2-tq8100": 10, "metrox-2-tq8200": 40, "metrox-3-xc": 40}


def test_given_parts_stay_out_of_other_fibers() -> None:
    """A bare fiber beside an amplified one changes nothing for the latter."""
    sites = {"a": {"lat": 0, "lon": 0}, "b": {"lat": 0, "lon": 1}}
    far = {"ends": ["a", "b"], "type": "g652d", "pairs": 1, "length_km": 90}
    gear = {**flat(), "transponders": own()}
    alone = network_of({"sites": sites, "fibers": {"far": far}, "gear": gear})
    beside = network_of({"sites": sites, "fibers": {"near": far | {"length_km": 20, **BARE}, "far": far}, "gear": gear})
    route = [Route(("a", "b"), ("far",))]
    first, second = (evaluate(network, design_lines(network), route)[0] for network in (alone, beside))
    assert first.budgets == second.budgets
