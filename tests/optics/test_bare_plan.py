"""Plans over fibers without amplifiers: a pair for each wavelength, appliances by price, all verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api
from dcplan.api import optical, written
from dcplan.planfile import Plan

FILE = """\
dcplan: 1
name: bare
sites:
  a: {lat: 41.07, lon: -96.11, power_mw: 100, accelerators: {h100-sxm: 1024}}
  b: {lat: 40.99, lon: -96.30, power_mw: 100, accelerators: {h100-sxm: 1024}}
fibers:
  north: {ends: [a, b], length_km: 28, type: g652d, pairs: 8, lease_usd_per_km_year: 1, amplified: false,
    multiplexed: M}
  south: {ends: [a, b], length_km: 30, type: g652d, pairs: 8, lease_usd_per_km_year: 1, amplified: false,
    multiplexed: M}
gear:
  allow: {transponders: [400zr], appliances: [box]}
  appliances:
    box: {long_haul_ports: 2, rate_gbps: 100, reach_km: 40, price_usd: PRICE, power_w: 200}
demands:
  checkpoints: {between: [a, b], gbps: 700}
"""


def planned(tmp_path: Path, *, price: int, multiplexed: bool = False, change: tuple[str, str] = ("", "")) -> Plan:
    text = FILE.replace("PRICE", str(price)).replace("multiplexed: M", f"multiplexed: {str(multiplexed).lower()}")
    path = tmp_path / "bare.yaml"
    path.write_text(text.replace(*change) if change[0] else text)
    network = api.load(path)
    found = api.plan(network)
    assert isinstance(found, Plan)
    assert api.verify(network, found) == ()
    return found


@pytest.mark.parametrize(("price", "part", "count"), [(1_000_000, "400zr", 2), (1_000, "box", 7)])
def test_each_wavelength_has_a_pair_and_the_cheaper_gear_wins(
    tmp_path: Path, price: int, part: str, count: int
) -> None:
    """700 Gb/s on each of two fibers, since either may fail: two of 400 Gb/s or seven ports of 100."""
    plan = planned(tmp_path, price=price)
    assert {(lit.transponder, lit.count) for lit in plan.design.wavelengths} == {(part, count)}
    assert {(lit.fiber, lit.pairs, lit.channels) for lit in plan.design.lit} == {
        ("north", count, count),
        ("south", count, count),
    }
    kinds = {item.what for item in plan.design.bill}
    assert not {"amplifier", "terminal gear"} & kinds
    (gear,) = [item for item in plan.design.bill if item.part == part]
    assert gear.quantity == 4 * count
    assert gear.unit_usd == (60_000 if part == "400zr" else price / 2)


def test_with_multiplexers_they_share_a_pair(tmp_path: Path) -> None:
    strong = ("allow: {transponders: [400zr], appliances: [box]}", "allow: {transponders: [strong]}")
    mode = (
        "{rate_gbps: 400, baud_gbd: 59.84, width_ghz: 75, required_osnr_db: 26, rx_min_dbm: -12, tx_dbm: 5,"
        " tx_osnr_db: 36, unamplified: {rx_min_dbm: -20, required_osnr_db: 34}}"
    )
    own = f"  transponders:\n    strong: {{price_usd: 60000, modes: {{m: {mode}}}}}\n"
    text = FILE[FILE.index("gear:") : FILE.index("demands:")]
    changed = "gear:\n  " + strong[1] + "\n" + own
    plan = planned(tmp_path, price=1, multiplexed=True, change=(text.replace("PRICE", "1"), changed))
    assert {(lit.fiber, lit.pairs, lit.channels) for lit in plan.design.lit} == {("north", 1, 2), ("south", 1, 2)}
    (gear,) = [item for item in plan.design.bill if item.what == "terminal gear"]
    assert (gear.part, gear.quantity) == ("mux", 4)


def test_the_report_says_that_there_are_no_amplifiers(tmp_path: Path) -> None:
    from dcplan.report import optics as report
    from dcplan.report.render import draw

    path = tmp_path / "bare.yaml"
    path.write_text(FILE.replace("PRICE", "1000").replace("multiplexed: M", "multiplexed: false"))
    network = api.load(path)
    found = optical.optics(network)
    whole = written.whole(network, found.fibers, found.lightpaths, lambda _: True)
    text = draw(report.view("bare", found.fibers.values(), whole), "text", 100, colour=False)
    assert "no amplifiers" in text
    assert "no multiplexer: a pair for each wavelength" in text
    assert "power over the least" in text
