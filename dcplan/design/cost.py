"""What is bought and what it costs: the same items make the coefficients of the ILP and the bill of materials."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.existing import counts, pairs_lit, stands
from dcplan.design.result import BillItem
from dcplan.model.states import HEALTHY
from dcplan.optics.allowed import terminal as optics_terminal
from dcplan.optics.ends import line_at
from dcplan.optics.existing import existing_routes
from dcplan.units import HOURS_PER_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.catalog.parts import Amplifier, Appliance, Equipment, Transponder
    from dcplan.design.result import Owned, Routing, Wavelengths
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.optics.budget import Lightpath, Line

HUT_PUE = 1.5
"""Power usage effectiveness assumed for amplifier huts: small rooms cooled by their own units."""
L_BAND_FACTOR = 2.0
"""Price of L-band terminal gear over that for the C band, an estimate; L-band amplifiers have prices of their own."""
UNPRICED = "no price known, counted as 0"
"""The source of a bill item whose price nobody stated."""


def wavelength_items(
    network: Network, lightpath: Lightpath, transponder: str, count: int, existing: int = 0
) -> list[BillItem]:
    """Two transponders per wavelength, one at each end, and their energy over the horizon.

    existing: of the wavelengths, those that are lit already, of which only the energy is paid.
    """
    return [_ends(network, transponder, 2 * count, 2 * existing)] + [
        _end_energy(network, transponder, count, end) for end in lightpath.route.ends
    ]


def end_items(network: Network, site: SiteId, transponder: str, count: int, existing: int = 0) -> list[BillItem]:
    """Transponders at one site and their energy over the horizon; of `existing` ones only the energy is paid."""
    return [_ends(network, transponder, count, existing), _end_energy(network, transponder, count, site)]


def _ends(network: Network, transponder: str, count: int, existing: int) -> BillItem:
    """Transponders; of an appliance long-haul ports, each with its share of the price.

    Whole boxes are for the reader to round up to.
    """
    appliance = network.catalog.appliances.get(transponder)
    if appliance is None:
        part = network.catalog.transponders[transponder]
        return _free(_priced(network, transponder, part, "transponder", count), existing)
    ports = appliance.long_haul_ports
    whole = _free(_priced(network, transponder, appliance, f"long-haul port, {ports} in an appliance", count), existing)
    unit = whole.unit_usd / ports
    return replace(whole, unit_usd=unit, total_usd=unit * whole.quantity)


def _end_energy(network: Network, transponder: str, count: int, site: SiteId) -> BillItem:
    appliance = network.catalog.appliances.get(transponder)
    if appliance is not None:
        power_w = appliance.power_w / appliance.long_haul_ports
        return _energy(network, "appliances", power_w * count, _pue(network, site))
    power_w = network.catalog.transponders[transponder].power_w
    return _energy(network, "transponders", power_w * count, _pue(network, site))


def pair_items(network: Network, line: Line, pairs: int, existing: int = 0) -> list[BillItem]:
    """Amplifiers in both directions, terminal gear at both ends, their energy, and the lease of lit pairs.

    Each direction has one booster at its head and one amplifier behind each span; the last of these stands at the far
    site, the others in huts. All of it once for each band. Lease = US$/(km year) × km × years per pair.
    existing: of the pairs, those that are lit already, of which only energy and lease are paid.
    """
    items = [item for each in line.in_bands for item in _band_items(network, each, pairs, existing)]
    fiber, years = network.fibers[line.fiber], network.policy.years
    what = f"lease of one pair, {fiber.total_km:g} km, {years:g} years"
    lease = fiber.lease_usd_per_km_year
    unit = (lease or 0.0) * fiber.total_km * years
    source = UNPRICED if lease is None else "topology file"
    trust = "low" if lease is None else "high"
    items.append(BillItem(line.fiber, what, pairs, unit, unit * pairs, source, trust, running=True))
    return items


def _band_items(network: Network, line: Line, pairs: int, existing: int) -> list[BillItem]:
    """Amplifiers and terminal gear of one band on lit pairs."""
    a, b = network.fibers[line.fiber].ends
    items: list[BillItem] = []
    for site in (a, b):
        if line.booster:
            items += _amplifier(network, line.booster, pairs, existing, _pue(network, site))
        gear = _terminal(network, line, site)
        if gear is None:
            continue
        equipment = network.catalog.equipment[gear]
        new = _free(_priced(network, gear, equipment, "terminal gear", pairs), existing)
        items.append(_in_band(new, line.band))
        if existing and gear == "roadm" and site not in _passed_already(network):
            items.append(_in_band(_in_place_of_mux(network, existing), line.band))
        items.append(_energy(network, "terminal gear", equipment.power_w * pairs, _pue(network, site)))
    for site, rows in ((b, line.spans), (a, line.back or line.spans[::-1])):
        for place, row in enumerate(rows, 1):
            if row.amplifier:
                pue = _pue(network, site) if place == len(rows) else HUT_PUE
                items += _amplifier(network, row.amplifier, pairs, existing, pue)
    return items


def _passed_already(network: Network) -> frozenset[SiteId]:
    """The sites where pairs that are lit already end in ROADMs: as the file says, and where light passes."""
    existing = network.topology.existing
    said = existing.roadms if existing else ()
    return frozenset((*said, *(site for route in existing_routes(network) for site in route.through)))


def _in_place_of_mux(network: Network, count: int) -> BillItem:
    """ROADMs at pairs that were lit between multiplexers, for what they cost more: a ROADM holds a multiplexer."""
    roadm, mux = (
        _priced(network, name, network.catalog.equipment[name], "terminal gear in place of multiplexers", count)
        for name in ("roadm", "mux")
    )
    unit = max(0.0, roadm.unit_usd - mux.unit_usd)
    return replace(roadm, unit_usd=unit, total_usd=unit * count)


def _in_band(item: BillItem, band: str) -> BillItem:
    """Terminal gear for the L band at twice the price, an estimate; other bands as they are."""
    if band != "l":
        return item
    unit = item.unit_usd * L_BAND_FACTOR
    source = f"{item.source}, times {L_BAND_FACTOR:g} for the L band (newDATAmagazine assumption)"
    what = f"{item.what}, L band"
    return replace(item, what=what, unit_usd=unit, total_usd=unit * item.quantity, source=source, confidence="low")


def module_items(network: Network, circuit: FiberId, module: str, count: int, existing: int = 0) -> list[BillItem]:
    """Modules of a circuit at the price of the file; nothing for those that are there already."""
    about = network.circuits[circuit].modules.get(module)
    if about is None:
        return []
    what = f"leased {module}, {about.gbps:g} Gb/s"
    item = BillItem(circuit, what, count, about.usd, about.usd * count, "topology file", "high")
    return [_free(_at_price(network, item), existing)]


def build_items(network: Network, edge: FiberId) -> list[BillItem]:
    """Once, whatever the number of pairs or modules: building a route, US$/km × km, or setting up a circuit.

    Nothing where it stands already.
    """
    if stands(network, edge):
        return []
    if edge in network.circuits:
        usd = network.circuits[edge].build_usd
        item = BillItem(edge, "set-up of the circuit", 1, usd, usd, "topology file", "high")
        return [_at_price(network, item)] if usd else []
    about = network.fibers[edge]
    if not about.build_usd_per_km:
        return []
    unit = about.build_usd_per_km * about.total_km
    item = BillItem(edge, f"building the route, {about.total_km:g} km", 1, unit, unit, "topology file", "high")
    return [_at_price(network, item)]


def traffic_items(
    network: Network, lightpaths: Mapping[str, Lightpath], carried: Sequence[Routing]
) -> Iterator[BillItem]:
    """The healthy traffic on circuits whose traffic has a price."""
    gbps: dict[FiberId, float] = {}
    for flow in (flow for routing in carried if routing.state == HEALTHY.name for flow in routing.flows):
        for edge in (lightpaths[one].route.fibers[0] for one in flow.lightpaths if one in lightpaths):
            gbps[edge] = gbps.get(edge, 0.0) + flow.gbps
    for name, circuit in network.circuits.items():
        if circuit.usd_per_gbps and gbps.get(name):
            unit = circuit.usd_per_gbps
            yield BillItem(name, "traffic [Gb/s]", gbps[name], unit, unit * gbps[name], "topology file", "high")


def bill(
    network: Network,
    lines: Mapping[FiberId, Line],
    lightpaths: Mapping[str, Lightpath],
    wavelengths: Sequence[Wavelengths],
    pairs: Mapping[FiberId, int],
    carried: Sequence[Routing] = (),
    owned: Sequence[Owned] = (),
) -> tuple[BillItem, ...]:
    """The bill of materials of what is lit and of what traffic costs, equal items added up, dearest first.

    network: with the ROADMs of the design. owned: transponders by site, where they are bought for more than what is lit
    when healthy.
    """
    items: list[BillItem] = []
    leased: dict[FiberId, None] = {}
    there, lit_pairs = counts(network), pairs_lit(network)
    for lit in wavelengths:
        path = lightpaths[lit.lightpath]
        old = min(lit.count, there.get((path.route.fibers, lit.transponder, lit.mode), 0))
        if lit.transponder not in network.circuits:
            items += [] if owned else wavelength_items(network, path, lit.transponder, lit.count, old)
        elif modules := module_items(network, lit.transponder, lit.mode, lit.count, old):
            items += modules
            leased[lit.transponder] = None
    for stock in owned:
        items += end_items(network, stock.site, stock.transponder, stock.count, stock.existing)
    for circuit in leased:
        items += build_items(network, circuit)
    items += traffic_items(network, lightpaths, carried)
    for fiber, count in pairs.items():
        if count:
            old = min(count, lit_pairs.get(fiber, 0))
            line = line_at(lines[fiber], (network.roadms or frozenset()).intersection(network.fibers[fiber].ends))
            items += pair_items(network, line, count, old) + build_items(network, fiber)
    return _merged(items)


def total(items: Iterable[BillItem]) -> float:
    """Sum of the items [US$]."""
    return math.fsum(item.total_usd for item in items)


def terminal(network: Network, site: SiteId) -> str:
    """Terminal gear of a lit pair at a site: `roadm` where light may pass to another site, else `mux`."""
    return optics_terminal(network, site)[0]


def _terminal(network: Network, line: Line, site: SiteId) -> str | None:
    """Of a line without amplifiers, a multiplexer, or nothing where each wavelength has a pair to itself."""
    if line.booster:
        return terminal(network, site)
    return "mux" if network.fibers[line.fiber].multiplexed else None


def assumptions(network: Network, items: Sequence[BillItem]) -> tuple[str, ...]:
    """What the cost rests on, in words; each part without a price is named."""
    horizon = (
        f"energy over {network.policy.years:g} years at US$ {network.policy.energy_usd_per_mwh:g} per MWh, "
        f"times the PUE of the site, {HUT_PUE:g} in amplifier huts"
    )
    horizons = (horizon,) if network.fibers or not network.circuits else ()
    missing = sorted({f"{item.part} ({item.what})" for item in items if item.source == UNPRICED})
    return (*horizons, *(f"{part}: {UNPRICED}" for part in missing))


def _amplifier(network: Network, name: str, count: int, existing: int, pue: float) -> list[BillItem]:
    part = network.catalog.amplifiers[name]
    new = _free(_priced(network, name, part, "amplifier", count), existing)
    return [new, _energy(network, "amplifiers", part.power_w * count, pue)]


def _free(item: BillItem, existing: int) -> BillItem:
    """The item without what is there already, which is counted beside it."""
    if not existing:
        return item
    quantity = item.quantity - existing
    return replace(item, quantity=quantity, total_usd=quantity * item.unit_usd, existing=existing)


def _priced(
    network: Network, name: str, part: Transponder | Amplifier | Equipment | Appliance, what: str, quantity: float
) -> BillItem:
    own = network.topology.gear.prices_usd.get(name)
    if own is not None:
        return _at_price(network, BillItem(name, what, quantity, own, own * quantity, "topology file", "high"))
    usd = part.price_usd
    if usd is None:
        return BillItem(name, what, quantity, 0.0, 0.0, UNPRICED, "low")
    confidence = "low" if "price_usd" in part.estimates else part.confidence
    item = BillItem(name, what, quantity, usd, usd * quantity, part.price_source or part.source, confidence)
    return _at_price(network, item)


def _at_price(network: Network, item: BillItem) -> BillItem:
    """The item at the price of its time: times `policy.price_percent`."""
    percent = network.policy.price_percent
    if percent == 100:
        return item
    unit = item.unit_usd * percent / 100
    return replace(item, unit_usd=unit, total_usd=unit * item.quantity, source=f"{item.source}, times {percent:g} %")


def _energy(network: Network, what: str, power_w: float, pue: float) -> BillItem:
    policy = network.policy
    mwh = power_w * pue * HOURS_PER_YEAR * policy.years / 1e6
    price = policy.energy_usd_per_mwh
    name = f"energy of {what} [MWh]"
    return BillItem("energy", name, mwh, price, price * mwh, "policy", "medium", running=True)


def _pue(network: Network, site: SiteId) -> float:
    return network.sites[site].pue


def _merged(items: Iterable[BillItem]) -> tuple[BillItem, ...]:
    found: dict[tuple[str, str, float], BillItem] = {}
    for item in items:
        key = (item.part, item.what, item.unit_usd)
        before = found.get(key)
        if before is not None:
            quantity = before.quantity + item.quantity
            there = before.existing + item.existing
            found[key] = replace(before, quantity=quantity, total_usd=quantity * item.unit_usd, existing=there)
        elif item.quantity or item.existing:
            found[key] = item
    return tuple(sorted(found.values(), key=lambda item: (-item.total_usd, item.part, item.what)))
