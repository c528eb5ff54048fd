"""The graph of fibers and circuits as the rules need it: which meet at a site, and the fastest routes."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from dcplan.model.network import Route

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.model.states import State

Adjacency = dict[str, list[tuple[str, str]]]
"""Site -> (fiber or circuit, site at its other end), in file order; parallel ones each count."""
STRETCH = 1.5
"""Rates are sized for a one-way latency of up to this factor over the shortest route after the worst failure."""


def adjacency(network: Network) -> Adjacency:
    """The fibers and circuits at each site."""
    return {site: list(network.edges_at(site)) for site in network.sites}


def walk(network: Network, fibers: Sequence[FiberId]) -> Route | None:
    """The route over fibers one after the other, from the end that comes first in the order of names.

    None where they do not join, or visit a site twice.
    """
    first = network.fibers[fibers[0]].ends
    for start in sorted(first):
        sites = [start]
        for fiber in fibers:
            ends = network.fibers[fiber].ends
            if sites[-1] not in ends:
                break
            sites.append(ends[1] if sites[-1] == ends[0] else ends[0])
        if len(sites) == len(fibers) + 1 and len(set(sites)) == len(sites):
            forward = sites[0] <= sites[-1]
            return Route(tuple(sites[:: 1 if forward else -1]), tuple(fibers[:: 1 if forward else -1]))
    return None


def fastest(
    around: Adjacency, latency_ms: Mapping[FiberId, float], start: SiteId, ends: Iterable[SiteId], state: State
) -> dict[SiteId, tuple[float, Route]]:
    """The routes of least latency [ms] from a site to others in a state, by Dijkstra; those that are cut off lack."""
    wanted = set(ends) - state.sites
    if start in state.sites:
        return {}
    best: dict[SiteId, float] = {start: 0.0}
    came: dict[SiteId, tuple[FiberId, SiteId]] = {}
    found: dict[SiteId, tuple[float, Route]] = {}
    heap, done = [(0.0, start)], set()
    while heap and wanted:
        far, site = heapq.heappop(heap)
        if site in done:
            continue
        done.add(site)
        if site in wanted:
            wanted.remove(site)
            found[site] = (far, _walk(came, start, site))
        for fiber, other in around[site]:
            if fiber in state.fibers or other in state.sites:
                continue
            there = far + latency_ms[fiber]
            if other not in best or there < best[other]:
                best[other] = there
                came[other] = (fiber, site)
                heapq.heappush(heap, (there, other))
    return found


def _walk(came: Mapping[SiteId, tuple[FiberId, SiteId]], a: SiteId, b: SiteId) -> Route:
    sites, fibers = [b], []
    while sites[-1] != a:
        fiber, before = came[sites[-1]]
        fibers.append(fiber)
        sites.append(before)
    return Route(tuple(reversed(sites)), tuple(reversed(fibers)))


def distances_from(
    around: Callable[[SiteId], Iterable[tuple[SiteId, float]]], start: SiteId, end: SiteId | None = None
) -> dict[SiteId, float]:
    """The distance from a site to each that can be reached, nearest first; no further than `end` (Dijkstra).

    around: of a site, its neighbours, each with the length between them; whole lengths give whole distances.
    """
    done: dict[SiteId, float] = {}
    queue: list[tuple[float, SiteId]] = [(0, start)]
    while queue and end not in done:
        far, site = heapq.heappop(queue)
        if site in done:
            continue
        done[site] = far
        for there, more in around(site):
            if there not in done:
                heapq.heappush(queue, (far + more, there))
    return done
