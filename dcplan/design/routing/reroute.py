"""Moves the part of known traffic that does not fit onto what is left: fast, and right where it succeeds."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.resources import Resources

DUST = 1e-12
PIECES = 8
"""Parts that what is left of a commodity may be split into."""
NARROW = 3.0
"""A link that cannot hold all of it counts as so many more."""
Path = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Flows on paths, ready to be moved."""

    paths: tuple[Path, ...]
    """(commodity, resources), one per flow"""
    tbps: Any
    """(flows,)"""
    carried: Any
    """(commodities,) what they add up to [Tb/s]"""
    commodity: Any
    """(flows,)"""
    flow: Any
    """(entries,) flow of each resource that is taken up"""
    resource: Any
    """(entries,)"""

    @staticmethod
    def of(paths: Sequence[Path], flows: Sequence[tuple[int, float]], commodities: int) -> Traffic:
        """From (path, Tb/s) of those in use."""
        import numpy as np

        mine = tuple(paths[p] for p, _ in flows)
        sizes = [len(taken) for _, taken in mine]
        flat = np.fromiter(chain.from_iterable(taken for _, taken in mine), dtype=np.intp, count=sum(sizes))
        tbps = np.array([value for _, value in flows], dtype=float)
        commodity = np.array([c for c, _ in mine], dtype=np.intp)
        carried = np.bincount(commodity, weights=tbps, minlength=commodities)
        return Traffic(mine, tbps, carried, commodity, np.repeat(np.arange(len(mine)), sizes), flat)


def rerouted(resources: Resources, near: Near, before: Traffic, room: Any, asked: Any) -> Any:
    """(resources,) loads that carry what is asked [Tb/s]; none where this way of moving traffic does not succeed.

    Flows that fit stay where they were; of the others as much as fits; the rest goes where there is room.
    """
    import numpy as np

    size = resources.size
    share = np.divide(asked, before.carried, out=np.zeros_like(asked), where=before.carried > 0)
    share = np.minimum(share, 1.0)
    tbps = before.tbps * share[before.commodity]
    missing = asked - before.carried * share
    rest = {int(c): float(missing[c]) for c in np.flatnonzero(missing > DUST)}
    loads = np.bincount(before.resource, weights=tbps[before.flow], minlength=size)
    over = loads > room
    moved = np.bincount(before.flow, weights=over[before.resource], minlength=len(tbps)) > 0
    entries = moved[before.flow]
    loads -= np.bincount(before.resource[entries], weights=tbps[before.flow[entries]], minlength=size)
    left = (room - loads).tolist()
    for f in sorted(np.flatnonzero(moved).tolist(), key=lambda f: -tbps[f]):
        c, taken = before.paths[f]
        kept = max(0.0, min(float(tbps[f]), *(left[r] for r in taken)))
        for r in taken:
            left[r] -= kept
        rest[c] = rest.get(c, 0.0) + float(tbps[f]) - kept
    for c, tbps_left in sorted(rest.items(), key=lambda item: -item[1]):
        if tbps_left > DUST and not _placed(resources, near, c, tbps_left, left):
            return None
    return room - np.array(left)


Near = tuple[tuple[tuple[int, int], ...], ...]
"""Of each site: the sites that a link joins it with, and the link."""


def near_of(resources: Resources) -> Near:
    """The links at each site."""
    found: list[list[tuple[int, int]]] = [[] for _ in resources.table.sites]
    for link, (a, b) in enumerate(resources.table.links.tolist()):
        found[a].append((b, link))
        found[b].append((a, link))
    return tuple(tuple(one) for one in found)


def _placed(resources: Resources, near: Near, c: int, tbps: float, left: list[float]) -> bool:
    """Take what is left of a commodity off the room; false where it does not fit."""
    about = resources.commodities[c]
    for _ in range(PIECES):
        if about.ways is None:
            taken = _shortest(near, *about.ends, tbps, left)
        else:
            taken = max(about.ways, key=lambda way: min(left[r] for r in way), default=None)
        if taken is None:
            return False
        part = min(tbps, *(left[r] for r in taken))
        if part <= DUST:
            return False
        for r in taken:
            left[r] -= part
        tbps -= part
        if tbps <= DUST:
            return True
    return False


def _shortest(near: Near, a: int, b: int, tbps: float, left: Sequence[float]) -> tuple[int, ...] | None:
    """Links with room, few and wide."""
    queue = [(0.0, a)]
    came: dict[int, tuple[int, int]] = {}
    best = {a: 0.0}
    done: set[int] = set()
    while queue:
        far, site = heapq.heappop(queue)
        if site == b:
            break
        if site in done:
            continue
        done.add(site)
        for other, link in near[site]:
            if left[link] > DUST:
                there = far + 1.0 + (0.0 if left[link] >= tbps else NARROW)
                if there < best.get(other, 1e18):
                    best[other], came[other] = there, (site, link)
                    heapq.heappush(queue, (there, other))
    if b not in came:
        return None
    taken, site = [], b
    while site != a:
        site, link = came[site]
        taken.append(link)
    return tuple(taken)
