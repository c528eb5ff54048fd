"""Shortest ways over lit wavelengths, within a latency limit where there is one."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.model.network import Pair, SiteId

CLOSE = 1e-9
"""Share of a latency limit that is rounding."""


@dataclass(frozen=True, slots=True)
class Arc:
    """Wavelengths of one kind on one lightpath, or modules of a circuit: capacity between two sites, each way."""

    lightpath: int
    """Index into `Problem.lightpaths`."""
    ends: Pair
    gbps: float
    """In each direction."""
    latency_ms: float


Near = dict["SiteId", list[tuple[int, "SiteId"]]]
"""Site -> (arc, site at its other end)."""


def near_of(arcs: Mapping[int, Arc]) -> Near:
    """The arcs at each site, in order."""
    return joined((e, arc.ends) for e, arc in sorted(arcs.items()))


def joined(ends: Iterable[tuple[int, Pair]]) -> Near:
    """What joins two sites, by its number, at each of both."""
    near: Near = {}
    for e, (a, b) in ends:
        near.setdefault(a, []).append((e, b))
        near.setdefault(b, []).append((e, a))
    return near


Reached = tuple[float, tuple[int, "SiteId"] | None]
"""How far a site is from the start, and the arc and the site by which it is reached."""


def distances(near: Near, lengths: Sequence[float], start: SiteId, end: SiteId | None = None) -> dict[SiteId, Reached]:
    """Of each site that can be reached, its distance from the start (Dijkstra). No arc of infinite length is taken.

    end: only of this one and of those that are no farther, as far as they come before it.
    """
    found: dict[SiteId, Reached] = {}
    queue: list[tuple[float, int, SiteId, tuple[int, SiteId] | None]] = [(0.0, 0, start, None)]
    while queue:
        far, hops, site, by = heapq.heappop(queue)
        if site in found:
            continue
        found[site] = (far, by)
        if site == end:
            break
        for e, there in near.get(site, ()):
            if there not in found and lengths[e] < inf:
                heapq.heappush(queue, (far + lengths[e], hops + 1, there, (e, site)))
    return found


def walked_back(found: Mapping[SiteId, Reached], end: SiteId) -> tuple[int, ...]:
    """The arcs from the start of `distances` to a site."""
    way: list[int] = []
    while (by := found[end][1]) is not None:
        arc, end = by
        way.append(arc)
    return tuple(reversed(way))


def within(
    near: Near, arcs: Mapping[int, Arc], lengths: Sequence[float], ends: Pair, limit_ms: float
) -> tuple[float, tuple[int, ...]] | None:
    """The shortest way between two sites whose latency keeps a limit; none where there is none.

    Labels of (length, latency) are dropped where another at the same site is no worse in both; lengths are not
    negative, so that the shortest way visits no site twice.
    """
    start, end = ends
    most = limit_ms * (1 + CLOSE)
    quickest = distances(near, [arcs[e].latency_ms if e in arcs else inf for e in range(len(lengths))], end)
    queue: list[tuple[float, float, tuple[int, ...], SiteId]] = [(0.0, 0.0, (), start)]
    least_ms: dict[SiteId, float] = {}
    while queue:
        far, spent_ms, way, site = heapq.heappop(queue)
        if site == end:
            return far, way
        if least_ms.get(site, inf) <= spent_ms:
            continue
        least_ms[site] = spent_ms
        for e, there in near.get(site, ()):
            later = spent_ms + arcs[e].latency_ms
            if there in quickest and later + quickest[there][0] <= most and later < least_ms.get(there, inf):
                heapq.heappush(queue, (far + lengths[e], later, (*way, e), there))
    return None
