"""Fiber routes that may carry lightpaths: shortest routes on a multigraph, where parallel fibers each count."""

from __future__ import annotations

import heapq
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING

from dcplan.model.ending import asking_pairs, crossable_sites, ending_sites, usable_edges
from dcplan.model.network import FiberId, Network, Route, SiteId, pair
from dcplan.model.states import promised_states
from dcplan.optics.existing import existing_routes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.model.network import Pair
    from dcplan.model.states import State

Graph = dict[SiteId, tuple[tuple[float, FiberId, SiteId], ...]]
"""Site -> (weight, fiber, site at its other end), in file order."""
SHORTEST = 4
"""Routes per pair of sites that are listed whether they close or not."""
WALKS_PER_ROUTE = 200
"""As many walks can be gone through in the time in which Yen's algorithm finds a route (measured, 100 sites)."""


def routes(network: Network) -> tuple[Route, ...]:
    """Fiber routes that may carry lightpaths, by pair of sites, shortest first.

    Only between sites at which wavelengths may end. Every single fiber; over fibers with amplifiers, up to
    `policy.routes` shortest routes per pair of sites (without it `SHORTEST`; `further` adds all others that close), of
    at most `policy.max_hops` fibers, passing only through sites with `express`; and, for pairs of sites with a demand,
    the shortest surviving such route in each promised state that leaves none of the others; and every route that
    carries light already. Parallel fibers make different routes.
    """
    graph = _graph(network, {name: fiber.total_km for name, fiber in network.fibers.items() if fiber.amplified})
    passing = frozenset(site for site, about in network.sites.items() if about.express)
    most_hops = network.policy.max_hops
    ending = ending_sites(network)
    found: dict[tuple[FiberId, ...], Route] = {}

    def add(route: Route) -> None:
        if ending.issuperset(route.ends):
            found.setdefault(route.fibers, route)

    for name, fiber in network.fibers.items():
        if fiber.ends[0] != fiber.ends[1]:
            add(Route(pair(*fiber.ends), (name,)))
    for a in sorted(network.sites):
        for mine in shortest_few(graph, a, passing, most_hops, network.policy.routes or SHORTEST).values():
            for route in mine:
                add(route)
    for route in _spares(network, graph, passing, list(found.values())):
        add(route)
    for route in existing_routes(network):
        found.setdefault(route.fibers, route)
    return by_length(network, found.values())


def by_length(network: Network, some: Iterable[Route]) -> tuple[Route, ...]:
    """Routes by pair of sites, shortest first, then by fiber names."""

    def order(route: Route) -> tuple[Pair, float, tuple[FiberId, ...]]:
        return route.ends, sum(network.fibers[fiber].total_km for fiber in route.fibers), route.fibers

    return tuple(sorted(some, key=order))


def shortest_few(
    graph: Graph, a: SiteId, passing: frozenset[SiteId], most_hops: int, count: int
) -> dict[SiteId, tuple[Route, ...]]:
    """The `count` shortest routes from a site to each site behind it in the order of names, shortest first.

    Where the hop limit leaves few walks, all of them are gone through at once; else by Yen's algorithm, pair by pair.
    Both give the same routes, ties by fewer hops, then by fiber names.
    """
    targets = [b for b in sorted(graph) if b > a]
    if _walks(graph, a, most_hops) > WALKS_PER_ROUTE * count * len(targets):
        return {b: tuple(islice(in_order(graph, a, b, passing, most_hops), count)) for b in targets}
    found: dict[SiteId, list[tuple[float, int, tuple[FiberId, ...], tuple[SiteId, ...]]]] = {b: [] for b in targets}
    ahead: list[tuple[float, tuple[FiberId, ...], tuple[SiteId, ...]]] = [(0.0, (), (a,))]
    for hops in range(1, most_hops + 1):
        ahead = [
            (weight + more, (*fibers, fiber), (*sites, there))
            for weight, fibers, sites in ahead
            if hops == 1 or sites[-1] in passing
            for more, fiber, there in graph[sites[-1]]
            if there not in sites
        ]
        for weight, fibers, sites in ahead:
            if (there := sites[-1]) > a:
                found[there].append((weight, hops, fibers, sites))
    return {b: tuple(Route(one[3], one[2]) for one in nsmallest(count, found[b])) for b in targets}


def _walks(graph: Graph, a: SiteId, most_hops: int) -> int:
    """Walks of at most so many fibers from a site that never turn straight back: no fewer than there are routes."""
    here, total = {(a, a): 1}, 0
    for _ in range(most_hops):
        ahead: dict[tuple[SiteId, SiteId], int] = {}
        for (before, site), ways in here.items():
            for _, _, there in graph[site]:
                if there != before:
                    ahead[site, there] = ahead.get((site, there), 0) + ways
        here = ahead
        total += sum(here.values())
    return total


def state_latency_ms(network: Network, state: State, a: SiteId, b: SiteId) -> float | None:
    """One-way latency of the shortest route of surviving fibers and circuits; none where no route survives [ms].

    Every site on the way lets light pass, or cuts wavelengths and starts them again.
    """
    if not state.sites.isdisjoint((a, b)):
        return None
    graph = latency_graph(network)
    passing = crossable_sites(network) - state.sites
    best = shortest(graph, a, b, passing, len(graph), without=state.fibers)
    return None if best is None else sum(network.edge_latency_ms(edge) for edge in best.fibers)


def nothing_joins(network: Network, a: SiteId, b: SiteId) -> str:
    """In words that no route is left between two sites, and at which sites everything ends."""
    walls = [site for site in network.sites if site not in crossable_sites(network)]
    return f"no {network.edge_kinds} joins {a} and {b}" + (
        f" past {', '.join(walls)}, which nothing crosses" if walls else ""
    )


def latency_graph(network: Network) -> Graph:
    """The fibers, and the circuits that can carry traffic, with their one-way latencies [ms]."""
    usable = usable_edges(network)
    return _graph(network, {name: network.edge_latency_ms(name) for name in network.edges if name in usable})


def shortest(
    graph: Graph,
    a: SiteId,
    b: SiteId,
    passing: frozenset[SiteId],
    most_hops: int,
    *,
    without: frozenset[FiberId] = frozenset(),
    first_without: frozenset[FiberId] = frozenset(),
) -> Route | None:
    """The route of least weight from a to b, through `passing` sites only, of at most `most_hops` fibers.

    Dijkstra over (weight, hops): a walk that is dominated in both is dropped, so the answer visits no site twice.
    `first_without` forbids fibers for the first step only. Ties fall to fewer hops, then to fiber names.
    """
    queue: list[tuple[float, int, tuple[FiberId, ...], tuple[SiteId, ...]]] = [(0.0, 0, (), (a,))]
    fewest: dict[SiteId, int] = {}
    while queue:
        weight, hops, fibers, sites = heapq.heappop(queue)
        here = sites[-1]
        if here == b:
            return Route(sites, fibers)
        if fewest.get(here, most_hops + 1) <= hops or hops == most_hops:
            continue
        fewest[here] = hops
        if here != a and here not in passing:
            continue
        for more, fiber, there in graph[here]:
            barred = fiber in without or (here == a and fiber in first_without)
            if not barred and there not in sites and (there == b or there in passing):
                heapq.heappush(queue, (weight + more, hops + 1, (*fibers, fiber), (*sites, there)))
    return None


def in_order(graph: Graph, a: SiteId, b: SiteId, passing: frozenset[SiteId], most_hops: int) -> Iterator[Route]:
    """All routes from a to b without a site twice, by weight; ends when there are no more.

    Yen's algorithm (Management Science 17, 1971) over fiber ids, so that parallel fibers are different routes.
    """
    weight_of = {fiber: weight for ways in graph.values() for weight, fiber, _ in ways}
    best = shortest(graph, a, b, passing, most_hops)
    given: list[Route] = []
    waiting: list[tuple[float, int, tuple[FiberId, ...], Route]] = []
    seen: set[tuple[FiberId, ...]] = set()
    while best is not None:
        yield best
        given.append(best)
        for at in range(len(best.fibers)):
            root = best.fibers[:at]
            used = frozenset(
                route.fibers[at] for route in given if len(route.fibers) > at and route.fibers[:at] == root
            )
            ahead = passing - frozenset(best.sites[: at + 1])
            spur = shortest(graph, best.sites[at], b, ahead, most_hops - at, first_without=used)
            if spur is None:
                continue
            whole = Route(best.sites[:at] + spur.sites, root + spur.fibers)
            if whole.fibers not in seen:
                seen.add(whole.fibers)
                weight = sum(weight_of[fiber] for fiber in whole.fibers)
                heapq.heappush(waiting, (weight, len(whole.fibers), whole.fibers, whole))
        best = heapq.heappop(waiting)[3] if waiting else None


def _spares(network: Network, graph: Graph, passing: frozenset[SiteId], known: Sequence[Route]) -> Iterator[Route]:
    """The shortest surviving route between the ends of a demand in each state that breaks all known ones."""
    between: dict[tuple[SiteId, SiteId], list[Route]] = {}
    for route in known:
        between.setdefault(route.ends, []).append(route)
    for ends in asking_pairs(network):
        mine = between.get(ends, [])
        for state in promised_states(network):
            if state.sites.isdisjoint(ends) and all(state.breaks(route) for route in mine):
                spare = shortest(graph, *ends, passing - state.sites, network.policy.max_hops, without=state.fibers)
                if spare is not None:
                    mine.append(spare)
                    yield spare


def _graph(network: Network, weight: Mapping[FiberId, float]) -> Graph:
    return {
        site: tuple(
            (weight[fiber], fiber, other)
            for fiber, other in network.edges_at(site)
            if other != site and fiber in weight
        )
        for site in network.sites
    }
