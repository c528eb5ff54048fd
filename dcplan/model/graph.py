"""The graph of fibers as the rules need it: what hangs together, what single losses part, the fastest route."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from dcplan.model.network import Route

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.model.states import State

Adjacency = dict[str, list[tuple[str, str]]]
"""Site -> (fiber, site at its other end), in file order; parallel fibers each count."""


def adjacency(network: Network) -> Adjacency:
    """The fibers at each site."""
    around: Adjacency = {site: [] for site in network.sites}
    for name, fiber in network.fibers.items():
        a, b = fiber.ends
        around[a].append((name, b))
        around[b].append((name, a))
    return around


def component(around: Adjacency, start: SiteId, state: State) -> frozenset[SiteId]:
    """Every site that fibers join to `start` in a state."""
    seen, todo = {start}, [start]
    while todo:
        for fiber, site in around[todo.pop()]:
            if site not in seen and fiber not in state.fibers and site not in state.sites:
                seen.add(site)
                todo.append(site)
    return frozenset(seen)


def parts(around: Adjacency, sites: Iterable[SiteId], state: State) -> list[list[SiteId]]:
    """Sites that are alive in a state, grouped by what still hangs together, in the order given."""
    groups: dict[frozenset[SiteId], list[SiteId]] = {}
    home: dict[SiteId, frozenset[SiteId]] = {}
    for site in sites:
        if site in state.sites:
            continue
        if site not in home:
            reached = component(around, site, state)
            home |= dict.fromkeys(reached, reached)
        groups.setdefault(home[site], []).append(site)
    return list(groups.values())


def weak_points(around: Adjacency) -> tuple[frozenset[FiberId], frozenset[SiteId]]:
    """Fibers and sites whose single loss parts something that hung together: bridges and articulation points.

    Depth-first numbers and low points; parallel fibers protect each other. Tarjan, SIAM J. Computing 1(2), 1972.
    """
    number: dict[SiteId, int] = {}
    low: dict[SiteId, int] = {}
    bridges: set[FiberId] = set()
    cuts: set[SiteId] = set()
    for root in around:
        if root in number:
            continue
        tree = _depth_first(around, root, number)
        for site, entered, parent in reversed(tree):
            seen = [number[other] for fiber, other in around[site] if fiber != entered]
            low[site] = min([number[site], low.get(site, number[site]), *seen])
            low[parent] = min(low.get(parent, number[parent]), low[site])
            if low[site] > number[parent]:
                bridges.add(entered)
            if parent != root and low[site] >= number[parent]:
                cuts.add(parent)
        if sum(parent == root for _, _, parent in tree) > 1:
            cuts.add(root)
    return frozenset(bridges), frozenset(cuts)


def _depth_first(around: Adjacency, root: SiteId, number: dict[SiteId, int]) -> list[tuple[SiteId, FiberId, SiteId]]:
    """The tree of a depth-first walk, in its order: site, the fiber that led there, the site before. Numbers sites."""
    number[root] = len(number)
    tree: list[tuple[SiteId, FiberId, SiteId]] = []
    stack = [(root, iter(around[root]))]
    while stack:
        site, rest = stack[-1]
        step = next(((fiber, other) for fiber, other in rest if other not in number), None)
        if step is None:
            stack.pop()
            continue
        fiber, other = step
        number[other] = len(number)
        tree.append((other, fiber, site))
        stack.append((other, iter(around[other])))
    return tree


def fastest(
    around: Adjacency, latency_ms: Mapping[FiberId, float], a: SiteId, b: SiteId, state: State
) -> tuple[float, Route] | None:
    """The route of least latency [ms] between two sites in a state, by Dijkstra; None when there is none."""
    if a in state.sites or b in state.sites:
        return None
    best: dict[SiteId, float] = {a: 0.0}
    came: dict[SiteId, tuple[FiberId, SiteId]] = {}
    heap, done = [(0.0, a)], set()
    while heap:
        far, site = heapq.heappop(heap)
        if site == b:
            return far, _walk(came, a, b)
        if site in done:
            continue
        done.add(site)
        for fiber, other in around[site]:
            if fiber in state.fibers or other in state.sites:
                continue
            there = far + latency_ms[fiber]
            if other not in best or there < best[other]:
                best[other] = there
                came[other] = (fiber, site)
                heapq.heappush(heap, (there, other))
    return None


def _walk(came: Mapping[SiteId, tuple[FiberId, SiteId]], a: SiteId, b: SiteId) -> Route:
    sites, fibers = [b], []
    while sites[-1] != a:
        fiber, before = came[sites[-1]]
        fibers.append(fiber)
        sites.append(before)
    return Route(tuple(reversed(sites)), tuple(reversed(fibers)))
