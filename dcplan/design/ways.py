"""Ways of a demand: chains of lightpaths from one end to the other, each with its latency and the states that break it.

They are listed one by one only where that matters: under a latency limit that the cheapest routing breaks, and under
one-plus-one, where two ways must not break together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dcplan.design.candidates import in_order, latency_graph, shortest
from dcplan.model.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.design.problem import Problem
    from dcplan.design.result import Demand
    from dcplan.model.network import FiberId, Route, SiteId

MOST_WAYS = 600
"""Ways listed per demand, shortest first; the proof says so where a demand has more."""
PARTNERED = 60
"""Where a demand has more ways than are listed: routes for which a surviving partner is looked for."""


@dataclass(frozen=True, slots=True)
class Way:
    """A chain of lightpaths that visits no site twice."""

    lightpaths: tuple[int, ...]
    """Indices into `Problem.lightpaths`, from the demand's first end to its second."""
    latency_ms: float
    broken: frozenset[int]
    """Indices of the states that break it."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of one demand within its latency limit."""

    ways: tuple[Way, ...]
    complete: bool
    """All there are."""


def ways_of(problem: Problem, demand: Demand) -> Ways:
    """The ways of a demand within its latency limit, by route, shortest route first.

    Every fiber route without a site twice, cut in every manner into candidate lightpaths.
    """
    limit = demand.max_latency_ms
    lit = frozenset(fiber for lightpath in problem.lightpaths for fiber in lightpath.route.fibers)
    graph = {
        site: tuple(way for way in fibers if way[1] in lit) for site, fibers in latency_graph(problem.network).items()
    }
    a, b = demand.ends
    tiles = _tiles(problem)
    found: dict[tuple[int, ...], Way] = {}
    routes: list[Route] = []
    complete = True
    for route in in_order(graph, a, b, frozenset(graph), len(graph)):
        if limit is not None and sum(problem.network.fiber_latency_ms(fiber) for fiber in route.fibers) > limit:
            break
        if len(found) >= MOST_WAYS:
            complete = False
            break
        routes.append(route)
        _add(problem, found, route, tiles, limit)
    if not complete:
        for partner in _partners(problem, graph, routes[:PARTNERED]):
            _add(problem, found, partner, tiles, limit)
    return Ways(tuple(found.values()), complete)


def _add(
    problem: Problem,
    found: dict[tuple[int, ...], Way],
    route: Route,
    tiles: Mapping[tuple[FiberId, ...], int],
    limit_ms: float | None,
) -> None:
    broken = frozenset(i for i, state in enumerate(problem.states) if state.breaks(route))
    for chain in _chains(route.fibers, tiles):
        latency = sum(problem.latency_ms(i) for i in chain)
        if limit_ms is None or latency <= limit_ms * (1 + 1e-9):
            found.setdefault(chain, Way(chain, latency, broken))


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
