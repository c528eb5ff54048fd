"""Ways of a demand: chains of lightpaths from one end to the other, each with its latency and the states that break it.

They are listed one by one only where that matters: under a latency limit that the cheapest routing breaks, and under
one-plus-one, where two ways must not break together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.candidates import in_order, latency_graph, shortest
from dcplan.model.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.limits import Until
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.result import Demand
    from dcplan.model.network import FiberId, Route, SiteId

MOST_WAYS = 600
"""Ways listed per demand, shortest first; the proof says so where a demand has more."""
MOST_ROUTES = 3000
"""Fiber routes looked at per demand, also where few of them can be lit."""
PARTNERED = 60
"""Where a demand has more ways than are listed: routes for which a surviving partner is looked for."""


@dataclass(frozen=True, slots=True)
class Way:
    """A chain of lightpaths that visits no site twice, and how slow the wavelengths may be that it rides on."""

    hops: tuple[Hop, ...]
    """From the demand's first end to its second."""
    latency_ms: float
    """With the slowest wavelengths that it may ride on."""
    broken: frozenset[int]
    """Indices of the states that break it."""

    @property
    def lightpaths(self) -> tuple[int, ...]:
        """Indices into `Problem.lightpaths`."""
        return tuple(lightpath for lightpath, _ in self.hops)


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of one demand within its latency limit."""

    ways: tuple[Way, ...]
    complete: bool
    """All there are."""
    chosen: bool = False
    """Such as a relaxation takes, not the shortest."""
    hurried: bool = False
    """The listing ended because time did: another time there may be more."""


def ways_of(problem: Problem, demand: Demand, until: Until | None = None, most: int | None = None) -> Ways:
    """The ways of a demand within its latency limit, by route, shortest route first.

    Every fiber route without a site twice, cut in every manner into candidate lightpaths. Where only the faster
    wavelengths of some lightpath are in time, there is a way for each manner in which no lightpath could be slower.
    Once `until` is over no further route is looked at. most: ways to list, `MOST_WAYS` where it is not said.
    """
    limit = demand.max_latency_ms
    lit = frozenset(fiber for lightpath in problem.lightpaths for fiber in lightpath.route.fibers)
    graph = {
        site: tuple(way for way in fibers if way[1] in lit) for site, fibers in latency_graph(problem.network).items()
    }
    a, b = demand.ends
    tiles = _tiles(problem)
    found: dict[tuple[Hop, ...], Way] = {}
    routes: list[Route] = []
    complete, hurried = True, False
    for route in in_order(graph, a, b, frozenset(graph), len(graph)):
        light_ms = sum(problem.network.edge_latency_ms(fiber) for fiber in route.fibers)
        if limit is not None and light_ms > limit * (1 + 1e-9):
            break
        hurried = bool(found) and until is not None and until.over
        if len(found) >= (most or MOST_WAYS) or len(routes) >= MOST_ROUTES or hurried:
            complete = False
            break
        routes.append(route)
        _add(problem, found, route, tiles, limit)
    if not complete:
        for partner in _partners(problem, graph, routes[:PARTNERED]):
            _add(problem, found, partner, tiles, limit)
    return Ways(tuple(found.values()), complete, hurried=hurried and not complete)


def _add(
    problem: Problem,
    found: dict[tuple[Hop, ...], Way],
    route: Route,
    tiles: Mapping[tuple[FiberId, ...], int],
    limit_ms: float | None,
) -> None:
    broken = frozenset(i for i, state in enumerate(problem.states) if state.breaks(route))
    for chain in _chains(route.fibers, tiles):
        for ranks in slowest([problem.tiers[i] for i in chain], inf if limit_ms is None else limit_ms * (1 + 1e-9)):
            hops = tuple(zip(chain, ranks, strict=True))
            found.setdefault(hops, Way(hops, sum(problem.tiers[i][rank] for i, rank in hops), broken))


def slowest(tiers: Sequence[Sequence[float]], limit_ms: float) -> Iterator[tuple[int, ...]]:
    """Choices of a tier on each hop whose latencies add up to the limit at most, none of which could be slower.

    tiers: of each hop, the latencies that can be had, the fastest first [ms]. Nothing where even the fastest are late.
    """
    if sum(steps[-1] for steps in tiers) <= limit_ms:
        yield tuple(len(steps) - 1 for steps in tiers)
        return
    least = sum(steps[0] for steps in tiers)

    def rest(at: int, spent_ms: float) -> Iterator[tuple[int, ...]]:
        """Ranks from a hop on; spent: what the hops before take beyond their fastest."""
        if at == len(tiers):
            yield ()
            return
        for rank in range(len(tiers[at]) - 1, -1, -1):
            more = tiers[at][rank] - tiers[at][0]
            if least + spent_ms + more <= limit_ms:
                yield from ((rank, *tail) for tail in rest(at + 1, spent_ms + more))

    for ranks in rest(0, 0.0):
        total = sum(steps[rank] for steps, rank in zip(tiers, ranks, strict=True))
        room = limit_ms - total
        if all(
            rank + 1 == len(steps) or steps[rank + 1] - steps[rank] > room
            for steps, rank in zip(tiers, ranks, strict=True)
        ):
            yield ranks


def nested(on_hops: Mapping[Hop, Mapping[int, float]]) -> dict[Hop, dict[int, float]]:
    """Traffic that must fit what is lit within each tier: its own, and that of all faster tiers of the lightpath.

    Traffic held to fast wavelengths and traffic that may ride on any share a lightpath exactly where all of these fit.
    """
    found: dict[Hop, dict[int, float]] = {}
    together: dict[int, dict[int, float]] = {}
    for hop in sorted(on_hops):
        together[hop[0]] = together.get(hop[0], {}) | dict(on_hops[hop])
        found[hop] = together[hop[0]]
    return found


def _tiles(problem: Problem) -> dict[tuple[FiberId, ...], int]:
    """Fibers in either direction -> lightpath."""
    tiles: dict[tuple[FiberId, ...], int] = {}
    for i, lightpath in enumerate(problem.lightpaths):
        tiles[lightpath.route.fibers] = i
        tiles[lightpath.route.fibers[::-1]] = i
    return tiles


def _chains(fibers: tuple[FiberId, ...], tiles: Mapping[tuple[FiberId, ...], int]) -> tuple[tuple[int, ...], ...]:
    """Every cut of a route into lightpaths, fewest lightpaths first."""

    @cache
    def rest(at: int) -> tuple[tuple[int, ...], ...]:
        if at == len(fibers):
            return ((),)
        return tuple(
            (tiles[fibers[at:to]], *tail)
            for to in range(len(fibers), at, -1)
            if fibers[at:to] in tiles
            for tail in rest(to)
        )

    return tuple(sorted(rest(0), key=lambda chain: (len(chain), chain)))


def _partners(
    problem: Problem, graph: Mapping[SiteId, tuple[tuple[float, FiberId, SiteId], ...]], routes: list[Route]
) -> Iterator[Route]:
    """For each route, the shortest one that no state breaks together with it."""
    for route in routes:
        breaking = [
            state
            for state in problem.states
            if state.breaks(route) and state.sites.isdisjoint((route.sites[0], route.sites[-1]))
        ]
        lost = State(
            "",
            frozenset(fiber for state in breaking for fiber in state.fibers),
            frozenset(site for state in breaking for site in state.sites),
        )
        partner = shortest(
            dict(graph), route.sites[0], route.sites[-1], frozenset(graph) - lost.sites, len(graph), without=lost.fibers
        )
        if partner is not None:
            yield partner
