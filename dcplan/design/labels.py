"""Shortest ways over lit wavelengths, within a latency limit where there is one."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    near: Near = {}
    for e, arc in sorted(arcs.items()):
        a, b = arc.ends
        near.setdefault(a, []).append((e, b))
        near.setdefault(b, []).append((e, a))
    return near


def distances(near: Near, lengths: Sequence[float], start: SiteId) -> dict[SiteId, tuple[float, int | None]]:
    """Of each site that can be reached, its distance from the start and the arc by which it is reached (Dijkstra)."""
    found: dict[SiteId, tuple[float, int | None]] = {}
    queue: list[tuple[float, int, SiteId, int | None]] = [(0.0, 0, start, None)]
    while queue:
        far, hops, site, by = heapq.heappop(queue)
        if site in found:
            continue
        found[site] = (far, by)
        for e, there in near.get(site, ()):
            if there not in found:
                heapq.heappush(queue, (far + lengths[e], hops + 1, there, e))
    return found


def walked_back(
    found: Mapping[SiteId, tuple[float, int | None]], arcs: Mapping[int, Arc], end: SiteId
) -> tuple[int, ...]:
    """The arcs from the start of `distances` to a site."""
    way: list[int] = []
    by = found[end][1]
    while by is not None:
        way.append(by)
        a, b = arcs[by].ends
        end = a if end == b else b
        by = found[end][1]
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
