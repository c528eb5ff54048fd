"""Which modes close on which routes, and with what margin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.optics.allowed import load_of, terminal, usable_modes
from dcplan.optics.budget import Lightpath, Line
from dcplan.optics.journey import NODE_LATENCY_MS, journey, passable, ways_of
from dcplan.optics.ledger import Hop, Passage, margin_db, write
from dcplan.optics.loading import Loading, load
from dcplan.optics.walk import Loads, noise_along

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.parts import Equipment, Mode
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.optics.budget import Budget
    from dcplan.optics.journey import Journey, Way
    from dcplan.optics.line import NoLine
    from dcplan.optics.nonlinear import Comb


def evaluate(
    network: Network, lines: Mapping[FiberId, Line | NoLine], routes: Sequence[Route]
) -> tuple[Lightpath, ...]:
    """The lightpath of each route, in the order of the routes and named L1, L2, … by it.

    Each has the budget of every allowed mode whose OSNR is published and whose width fits the band: at full load,
    on its worst channel, in its worse direction; those that close first, fastest first, then widest margin. A route
    over a fiber without a line, or through a site that lets no light pass, has no budgets.
    1/GSNR = 1/OSNR_tx + 1/OSNR_add + Σ_lines (1/OSNR_booster + 1/OSNR_spans + 1/OSNR_NLI) + Σ_passes 1/OSNR +
    1/OSNR_drop, all in 0.1 nm. Source: GNPy; Poggiolini, arXiv:1209.0394.
    """
    whole = {fiber: line for fiber, line in lines.items() if isinstance(line, Line)}
    lit = [
        number
        for number, route in enumerate(routes)
        if route.fibers and all(fiber in whole for fiber in route.fibers) and passable(network, route)
    ]
    budgets: dict[int, list[Budget]] = {number: [] for number in lit}
    if lit:
        used = {fiber for number in lit for fiber in routes[number].fibers}
        ways = ways_of(network, {fiber: line for fiber, line in whole.items() if fiber in used})
        chosen = [routes[number] for number in lit]
        there, back = (journey(network, chosen, ways, back=direction) for direction in (False, True))
        gear = {site: terminal(network, site)[1] for site in network.sites}
        for transponder, name, mode in usable_modes(network):
            comb = load_of(network, mode)
            loads = _loads(network, list(ways.values()), comb)
            both = zip(
                _passages(there, loads, gear, (transponder, name, mode)),
                _passages(back, loads, gear, (transponder, name, mode)),
                strict=True,
            )
            for number, pair in zip(lit, both, strict=True):
                worse = min(pair, key=lambda passage: (margin_db(passage, network.policy), -passage.noise))
                budgets[number].append(write(worse, network.policy))
    return tuple(
        _lightpath(network, whole, number, route, budgets.get(number, [])) for number, route in enumerate(routes)
    )


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


def _loads(network: Network, ways: Sequence[Way], comb: Comb) -> Loads:
    amplifiers, connector = network.catalog.amplifiers, network.policy.connector_db
    each: list[Loading] = [
        load(way.rows, way.line.booster, amplifiers, network.fiber_type(way.line.fiber), connector, comb)
        for way in ways
    ]
    return Loads.of(comb, each, [amplifiers[way.line.booster] for way in ways])


def _passages(
    journey: Journey, loads: Loads, gear: Mapping[SiteId, Equipment], named: tuple[str, str, Mode]
) -> list[Passage]:
    """One passage for each route of a journey."""
    transponder, name, mode = named
    noise = noise_along(journey, loads, mode)
    launch, booster, spans = noise.launch_dbm.tolist(), noise.booster.tolist(), noise.spans.tolist()
    nonlinear, starved, hops = noise.nonlinear.tolist(), noise.starved.tolist(), journey.hops.tolist()
    worst, total, rx = noise.worst_thz.tolist(), noise.total.tolist(), noise.rx_dbm.tolist()
    passages = []
    for r, ways in enumerate(journey.ways):
        limits = ["booster gain" if starved[r][h] else loads.each[hops[r][h]].limit for h in range(len(ways))]
        sites = (*(way.start for way in ways), journey.ends[r])
        passages.append(
            Passage(
                transponder=transponder,
                mode=name,
                part=mode,
                channels=loads.comb.channels,
                channel_thz=worst[r],
                hops=tuple(
                    Hop(way.line.fiber, way.start, launch[r][h], limits[h], booster[r][h], spans[r][h], nonlinear[r][h])
                    for h, way in enumerate(ways)
                ),
                nodes=tuple((site, gear[site]) for site in sites),
                noise=total[r],
                dispersion_ps_nm=journey.dispersion_ps_nm[r],
                pmd_ps=journey.pmd_ps[r],
                pdl_db=journey.pdl_db[r],
                arriving_dbm=rx[r],
            )
        )
    return passages
