"""Which modes close on which routes, and with what margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.optics import unamplified
from dcplan.optics.allowed import crossed, load_of, terminal, usable_modes
from dcplan.optics.budget import Lightpath, Line
from dcplan.optics.journey import NODE_LATENCY_MS, journey, ways_of
from dcplan.optics.judged import Block, Judged, Named, Worst
from dcplan.optics.ledger import Ledger
from dcplan.optics.loading import Loading, load
from dcplan.optics.penalty import judge
from dcplan.optics.tilt import Lit, Shape, tilted
from dcplan.optics.walk import Loads, noise_without, with_transmitter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy import int64
    from numpy.typing import NDArray

    from dcplan.catalog.bands import NamedBand
    from dcplan.catalog.parts import FiberType, Mode
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.model.schema import Policy
    from dcplan.optics.budget import Budget
    from dcplan.optics.journey import Journey, Way
    from dcplan.optics.line import NoLine
    from dcplan.optics.nonlinear import Comb
    from dcplan.optics.walk import Noise

BLOCK = 1024
"""Routes that are worked on at a time: all channels of so many stay in the cache of a processor."""


def evaluate(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    routes: Sequence[Route],
    *,
    modes: Sequence[tuple[str, str, Mode]] | None = None,
    itemise: bool = True,
    closing: bool = False,
) -> tuple[Lightpath, ...]:
    """The lightpath of each route, in the order of the routes and named L1, L2, … by it.

    Each has the budget of every allowed mode whose OSNR is published and whose width fits the band, or of the `modes`
    given (transponder, mode name, mode): at full load, on its worst channel, in its worse direction; those that close
    first, fastest first, then widest margin. A route over a fiber without a line, through a site that lets no light
    pass, or over a fiber without amplifiers and further, has no budgets. Without `itemise` budgets have no items, and
    with `closing` there are only those of modes that close: for thousands of candidates, of which few are shown.
    1/GSNR = 1/OSNR_tx + 1/OSNR_add + Σ_lines (1/OSNR_booster + 1/OSNR_spans + 1/OSNR_NLI) + Σ_passes 1/OSNR +
    1/OSNR_drop, all in 0.1 nm. Source: GNPy; Poggiolini, arXiv:1209.0394.
    """
    whole = {fiber: line for fiber, line in lines.items() if isinstance(line, Line)}
    gear = {site: terminal(network, site)[1] for site in network.sites}
    several, roadm = len(network.topology.gear.bands) > 1, network.catalog.equipment["roadm"]
    budgets: dict[int, list[Budget]] = {}
    for number, route in enumerate(routes):
        if len(route.fibers) == 1 and (bare := whole.get(route.fibers[0])) is not None and not bare.booster:
            each = unamplified.budgets(network, bare, modes=modes, itemise=itemise)
            budgets[number] = [budget for budget in each if budget.closes or not closing]
    for block in survey(network, lines, routes, modes=modes):
        there, back = (Worst.of(side) for side in block.sides)
        asked = _asked(there, back, closing=closing)
        if not len(asked):
            continue
        ledgers = [[Ledger(one, gear, roadm, network.policy, asked) for one in side] for side in block.sides]
        bands = there.band[asked].tolist(), back.band[asked].tolist()
        worse = back.worse_than(there)[asked].tolist()
        for row, number in enumerate(block.numbers[place] for place in asked.tolist()):
            first, second = (1, 0) if worse[row] else (0, 1)
            better = ledgers[second][bands[second][row]].other_way(row)
            budget = ledgers[first][bands[first][row]].budget(row, itemise=itemise, other=better)
            budgets.setdefault(number, []).append(replace(budget, channels=block.channels) if several else budget)
    return tuple(
        _lightpath(network, whole, number, route, budgets.get(number, [])) for number, route in enumerate(routes)
    )


def _asked(there: Worst, back: Worst, *, closing: bool) -> NDArray[int64]:
    """The routes of a block whose budgets are written out: all, or those on which the mode closes both ways."""
    import numpy as np

    closes = np.minimum(there.margin_db, back.margin_db) >= 0
    return np.flatnonzero(closes) if closing else np.arange(len(closes))


def survey(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    routes: Sequence[Route],
    *,
    modes: Sequence[tuple[str, str, Mode]] | None = None,
) -> Iterator[Block]:
    """Each allowed mode, or those given, on all routes that light can take, block by block, as arrays.

    Their fibers have lines with amplifiers, and the sites on the way let light pass. Modes under which lines are
    loaded alike are worked on one after the other, so that lines are loaded once.
    """
    whole = {fiber: line for fiber, line in lines.items() if isinstance(line, Line) and line.booster}
    passable = crossed(network)
    lit = [
        number
        for number, route in enumerate(routes)
        if route.fibers and whole.keys() >= set(route.fibers) and passable.issuperset(route.through)
    ]
    lit.sort(key=lambda number: len(routes[number].fibers))  # blocks of routes of as many hops need no gaps
    used = {fiber for number in lit for fiber in routes[number].fibers}
    own = {fiber: line for fiber, line in whole.items() if fiber in used}
    bands = [_Lit.of(network, own, place) for place in range(len(network.topology.gear.bands))]
    alike: dict[tuple[Comb, ...], list[Named]] = {}
    for transponder, name, mode in usable_modes(network) if modes is None else modes:
        combs = tuple(load_of(network, mode, band.band) for band in bands)
        alike.setdefault(combs, []).append(Named(transponder, name, mode))
    if not lit:
        return
    chosen = [routes[number] for number in lit]
    whole_way = [
        [journey(network, chosen, one.ways, back=back, band=one.band) for one in bands] for back in (False, True)
    ]
    parts = [slice(first, first + BLOCK) for first in range(0, len(lit), BLOCK)]
    blocks = [(tuple(lit[rows]), [[way.part(rows) for way in ways] for ways in whole_way]) for rows in parts]
    for combs, mine in alike.items():
        loads = _in_bands(network, bands, combs)
        for numbers, both in blocks:
            sides = [
                [_Along(way, load) for way, load in zip(ways, loads, strict=True) if load is not None] for ways in both
            ]
            for named in mine:
                there, back = (tuple(one.judged(named, network.policy) for one in side) for side in sides)
                yield Block(numbers, (there, back))


class _Along:
    """The noise of lines along a block of routes, kept for the modes that follow with the same transmitted power."""

    def __init__(self, journey: Journey, loads: Loads) -> None:
        self.journey, self.loads = journey, loads
        self.known: dict[float, Noise] = {}

    def judged(self, named: Named, policy: Policy) -> Judged:
        level = named.mode.tx_dbm
        if level not in self.known:
            self.known[level] = noise_without(self.journey, self.loads, level)
        noise = with_transmitter(self.known[level], named.mode)
        return Judged(named, self.journey, self.loads, noise, judge(self.journey, noise, named.mode, policy))


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


def _in_bands(network: Network, bands: Sequence[_Lit], combs: Sequence[Comb]) -> list[Loads | None]:
    """The loads of one mode in each band, all lit at once; none where no channel fits."""
    if len(bands) == 1:
        return [loads_of(network, list(bands[0].ways.values()), combs[0])]
    lit = [
        [Lit(comb, plain_load(network, way, comb).launch_dbm) for way in each.ways.values()] if comb.channels else []
        for each, comb in zip(bands, combs, strict=True)
    ]
    found: list[Loads | None] = []
    for place, (each, comb) in enumerate(zip(bands, combs, strict=True)):
        others = [levels for other, levels in enumerate(lit) if other != place and levels]
        beside = [tuple(levels[number] for levels in others) for number in range(len(each.ways))]
        found.append(loads_of(network, list(each.ways.values()), comb, beside) if comb.channels else None)
    return found


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
    plain: dict[tuple[FiberId, int], Loading] = {}  # a line that is alike both ways has the same rows in both
    for number, way in enumerate(ways):
        key = (way.line.fiber, id(way.rows))
        loading = plain.get(key) or plain.setdefault(key, plain_load(network, way, comb))
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


def plain_load(network: Network, way: Way, comb: Comb) -> Loading:
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
