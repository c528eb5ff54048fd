"""Which modes close on which routes, and with what margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.optics import unamplified
from dcplan.optics.allowed import load_of, terminal, usable_modes
from dcplan.optics.budget import Lightpath, Line
from dcplan.optics.journey import NODE_LATENCY_MS, journey, passable, ways_of
from dcplan.optics.ledger import Ledger, Named
from dcplan.optics.loading import Loading, load
from dcplan.optics.penalty import judge
from dcplan.optics.tilt import Lit, Shape, tilted
from dcplan.optics.walk import Loads, noise_along

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.bands import NamedBand
    from dcplan.catalog.parts import Equipment, FiberType, Mode
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.optics.budget import Budget
    from dcplan.optics.journey import Journey, Way
    from dcplan.optics.line import NoLine
    from dcplan.optics.nonlinear import Comb


def evaluate(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    routes: Sequence[Route],
    *,
    modes: Sequence[tuple[str, str, Mode]] | None = None,
    itemise: bool = True,
) -> tuple[Lightpath, ...]:
    """The lightpath of each route, in the order of the routes and named L1, L2, … by it.

    Each has the budget of every allowed mode whose OSNR is published and whose width fits the band, or of the `modes`
    given (transponder, mode name, mode): at full load, on its worst channel, in its worse direction; those that close
    first, fastest first, then widest margin. A route over a fiber without a line, through a site that lets no light
    pass, or over a fiber without amplifiers and further, has no budgets. Without `itemise` budgets have no items: for thousands of candidates, of which few
    are shown.
    1/GSNR = 1/OSNR_tx + 1/OSNR_add + Σ_lines (1/OSNR_booster + 1/OSNR_spans + 1/OSNR_NLI) + Σ_passes 1/OSNR +
    1/OSNR_drop, all in 0.1 nm. Source: GNPy; Poggiolini, arXiv:1209.0394.
    """
    whole = {fiber: line for fiber, line in lines.items() if isinstance(line, Line)}
    amplified = {fiber for fiber, line in whole.items() if line.booster}
    lit = [
        number
        for number, route in enumerate(routes)
        if route.fibers and amplified.issuperset(route.fibers) and passable(network, route)
    ]
    budgets: dict[int, list[Budget]] = {number: [] for number in lit}
    for number, route in enumerate(routes):
        if len(route.fibers) == 1 and (bare := whole.get(route.fibers[0])) is not None and not bare.booster:
            budgets[number] = unamplified.budgets(network, bare, modes=modes, itemise=itemise)
    if lit:
        used = {fiber for number in lit for fiber in routes[number].fibers}
        there_and_back = [
            _Lit.of(network, {fiber: line for fiber, line in whole.items() if fiber in used}, place)
            for place in range(len(network.topology.gear.bands))
        ]
        chosen = [routes[number] for number in lit]
        journeys = [
            [journey(network, chosen, one.ways, back=direction, band=one.band) for one in there_and_back]
            for direction in (False, True)
        ]
        gear = {site: terminal(network, site)[1] for site in network.sites}
        for transponder, name, mode in usable_modes(network) if modes is None else modes:
            loads = _in_bands(network, there_and_back, mode)
            channels = sum(load.comb.channels for load in loads if load is not None)
            named = Named(transponder, name, mode)
            ledgers = [
                [_ledger(network, named, way, load, gear) for way, load in zip(ways, loads, strict=True) if load]
                for ways in journeys
            ]
            for row, number in enumerate(lit):
                worst = [min(bands, key=lambda ledger: _badness(ledger, row)) for bands in ledgers]
                worse, better = sorted(worst, key=lambda ledger: _badness(ledger, row))
                budget = worse.budget(row, itemise=itemise, other=better.other_way(row))
                budgets[number].append(budget if len(loads) == 1 else replace(budget, channels=channels))
    return tuple(
        _lightpath(network, whole, number, route, budgets.get(number, [])) for number, route in enumerate(routes)
    )


@dataclass(frozen=True, slots=True)
class _Lit:
    """The lines in one band, both ways."""

    band: NamedBand
    ways: Mapping[tuple[FiberId, SiteId], Way]

    @classmethod
    def of(cls, network: Network, lines: Mapping[FiberId, Line], place: int) -> _Lit:
        """The band at a place in the network's bands; glass without amplifiers serves all of them."""
        own = {fiber: line.in_bands[min(place, len(line.further))] for fiber, line in lines.items()}
        return cls(network.topology.gear.bands[place], ways_of(network, own))


def _in_bands(network: Network, bands: Sequence[_Lit], mode: Mode) -> list[Loads | None]:
    """The loads of one mode in each band, all lit at once; none where no channel fits."""
    combs = [load_of(network, mode, each.band) for each in bands]
    if len(bands) == 1:
        return [loads_of(network, list(bands[0].ways.values()), combs[0])]
    lit = [
        [Lit(comb, _plain(network, way, comb).launch_dbm) for way in each.ways.values()] if comb.channels else []
        for each, comb in zip(bands, combs, strict=True)
    ]
    found: list[Loads | None] = []
    for place, (each, comb) in enumerate(zip(bands, combs, strict=True)):
        others = [levels for other, levels in enumerate(lit) if other != place and levels]
        beside = [tuple(levels[number] for levels in others) for number in range(len(each.ways))]
        found.append(loads_of(network, list(each.ways.values()), comb, beside) if comb.channels else None)
    return found


def _badness(ledger: Ledger, row: int) -> tuple[float, float]:
    return ledger.margin[row], -ledger.total[row]


def _lightpath(
    network: Network, lines: Mapping[FiberId, Line], number: int, route: Route, budgets: list[Budget]
) -> Lightpath:
    latency = sum(
        lines[fiber].latency_ms if fiber in lines else network.fiber_latency_ms(fiber) for fiber in route.fibers
    )
    return Lightpath(
        id=f"L{number + 1}",
        route=route,
        length_km=sum(network.fibers[fiber].total_km for fiber in route.fibers),
        latency_ms=latency + len(route.through) * NODE_LATENCY_MS,
        budgets=tuple(sorted(budgets, key=_order)),
    )


def _order(budget: Budget) -> tuple[bool, float, float, str, str]:
    margin = -math.inf if budget.margin_db is None else budget.margin_db
    return (not budget.closes, -budget.rate_gbps, -margin, budget.transponder, budget.mode)


def loads_of(network: Network, ways: Sequence[Way], comb: Comb, beside: Sequence[Sequence[Lit]] = ()) -> Loads:
    """Every way under a load of one mode: launch power, amplifier noise, nonlinear noise; `beside`: of other bands."""
    shape = Shape.of(network)
    each: list[Loading] = []
    for number, way in enumerate(ways):
        loading = _plain(network, way, comb)
        kinds = kinds_of(network, way)
        if shape.matters(kinds):
            lit = beside[number] if beside else ()
            loading = tilted(loading, way.rows, kinds, network.policy.connector_db, comb, shape, lit)
        each.append(loading)
    return Loads.of(comb, each, [network.catalog.amplifiers[way.line.booster] for way in ways])


def kinds_of(network: Network, way: Way) -> list[FiberType]:
    """The kind of glass of each span."""
    types, usual = network.catalog.fibers, network.fiber_type(way.line.fiber)
    return [types[row.type] if row.type else usual for row in way.rows]


def _plain(network: Network, way: Way, comb: Comb) -> Loading:
    """A way under a load of equal channels that lose alike."""
    fiber = network.fibers[way.line.fiber]
    given = network.policy.launch_dbm if fiber.launch_dbm is None else fiber.launch_dbm
    return load(
        way.rows,
        way.line.booster,
        network.catalog.amplifiers,
        network.fiber_type(way.line.fiber),
        network.policy.connector_db,
        comb,
        network.catalog.fibers,
        given,
    )


def _ledger(network: Network, named: Named, journey: Journey, loads: Loads, gear: Mapping[SiteId, Equipment]) -> Ledger:
    noise = noise_along(journey, loads, named.mode)
    verdict = judge(journey, noise, named.mode, network.policy)
    return Ledger(named, journey, loads, noise, verdict, gear, network.policy)
