"""Patterns in which sites sum their gradients: which of them exchange bytes, how many, and how long the last one waits.

With S bytes of gradients in each of n sites, every site has the sum at the end. In each direction of a link:
direct: 2 S/n between every two sites (scatter, then gather), two trips.
ring: (n−1)/n S on each of n links, halves both ways round; each part makes 2 (n−1) hops.
tree: S on each of n−1 links, sums up to the root and the result down again.
hub: a tree of one level.
optimal: packed trees that were found before (see `packing`).
A site sends 2 (n−1)/n S in all by direct exchange or in a ring, which is the least; in a tree S for each of its links.
Source: Thakur, Rabenseifner, Gropp 2005; NCCL for the tree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dcplan.model.network import Pair, SiteId, pair
from dcplan.training.across.packing import Packing, Tree, among, rooted, shares, trips

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("direct", "ring", "tree", "hub")
OPTIMAL = "optimal"
OPEN = ("auto", OPTIMAL)
"""What a file leaves to dcplan: which of all collectives, or which trees."""
EVERY_ORDER = 8
"""Up to this many sites every order of a ring is tried."""


@dataclass(frozen=True, slots=True)
class Collective:
    """How a job's sites sum gradients, with the latencies by which the best order or root is found."""

    kind: str = "direct"
    latency_ms: tuple[tuple[Pair, float], ...] = ()
    """One way between two sites; the order of the job where nothing is known."""
    packing: Packing = ()
    """The trees of `optimal`, which are not found here."""


DIRECT = Collective()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A collective among given sites."""

    kind: str
    sites: tuple[SiteId, ...]
    """Ring: in its order; tree and hub: the root first."""
    share: Mapping[Pair, float]
    """Bytes between two sites in each direction, over all gradients."""
    trips: tuple[tuple[Pair, ...], ...]
    """Pairs that a part of the gradients crosses one after the other, of each part that may be the last."""
    packing: Packing = ()
    """The trees of `optimal`."""

    def sends(self, site: SiteId) -> float:
        """Bytes that a site sends over all gradients."""
        return math.fsum(share for ends, share in self.share.items() if site in ends)

    @property
    def messages(self) -> int:
        """Messages of the busiest site for one bucket: 2 (n−1) by direct exchange or in a ring, else 2 a neighbour."""
        if self.kind in {"direct", "ring"}:
            return 2 * max(0, len(self.sites) - 1)
        return 2 * max((sum(site in ends for ends in self.share) for site in self.sites), default=0)

    def waits_s(self, latency_ms: Mapping[Pair, float]) -> float:
        """One-way latencies that the last part adds up, which no overlap hides [s]; infinite without a path."""
        ways = [math.fsum([latency_ms.get(ends, math.inf) for ends in trip]) for trip in self.trips]
        return max(ways, default=0.0) / 1e3


def pattern(collective: Collective, sites: tuple[SiteId, ...]) -> Pattern:
    """The pattern of a collective among these sites, in the best order or with the best root.

    ring: the shortest way round; tree: the links of least latency that join all, rooted where the farthest site is
    nearest; hub: rooted at the site with the least latency to all others together. Ties fall to the order of `sites`.
    optimal: its trees, without sites that are not among these. ValueError where it has none.
    """
    return _pattern(collective, tuple(dict.fromkeys(sites)))


@cache
def _pattern(collective: Collective, sites: tuple[SiteId, ...]) -> Pattern:
    n, latency_ms = len(sites), dict(collective.latency_ms)
    if n < 2:
        return Pattern(collective.kind, sites, {}, ())
    if collective.kind == OPTIMAL:
        return _trees(collective, sites, latency_ms)
    if collective.kind == "ring":
        return _ring(shortest_ring(sites, latency_ms), (n - 1) / n)
    if collective.kind == "tree":
        return _tree("tree", *_spanning(sites, latency_ms))
    if collective.kind == "hub":
        root = min(sites, key=lambda site: math.fsum(latency_ms.get(pair(site, b), 0.0) for b in sites if b != site))
        return _tree("hub", root, dict.fromkeys((site for site in sites if site != root), root))
    edges = tuple(pair(a, b) for a, b in itertools.combinations(sites, 2))
    return Pattern("direct", sites, dict.fromkeys(edges, 2 / n), tuple((ends, ends) for ends in edges))


def _trees(collective: Collective, sites: tuple[SiteId, ...], latency_ms: Mapping[Pair, float]) -> Pattern:
    if len(sites) > 2 and not collective.packing:
        raise ValueError("an optimal collective needs its trees: see design.collective.optimal")
    packing = among(collective.packing, sites) if len(sites) > 2 else (rooted([pair(*sites)], latency_ms),)
    return Pattern(OPTIMAL, sites, shares(packing), trips(packing), packing)


def as_trees(one: Pattern, latency_ms: Mapping[Pair, float]) -> Packing:
    """The trees of another pattern: direct, a star of each site; ring, a path without each of its links; else itself.

    Same bytes on each link; none waits longer than the pattern does.
    """
    n, links = len(one.sites), list(one.share)
    if one.kind == "direct":
        others = [(root, tuple((site, root) for site in one.sites if site != root)) for root in one.sites]
        return tuple(Tree(1 / n, root, above) for root, above in others)
    if one.kind == "ring" and n > 2:
        return tuple(rooted([ends for ends in links if ends != left], latency_ms, 1 / n) for left in links)
    return (rooted(links, latency_ms),)


def flat_ring(order: tuple[SiteId, ...], ranks: int) -> Pattern:
    """A ring through all ranks that goes round the sites: (d−1)/d S for d ranks, two whole laps."""
    if len(order) < 2:
        return Pattern("flat ring", order, {}, ())
    edges = _around(order)
    return Pattern("flat ring", order, _shares(edges, (ranks - 1) / ranks), (edges * 2,))


def shortest_ring(sites: Sequence[SiteId], latency_ms: Mapping[Pair, float]) -> tuple[SiteId, ...]:
    """The sites in the order of the shortest way round, the first one first.

    Every order up to `EVERY_ORDER` sites; beyond, each next site is put where it lengthens the ring least, then
    stretches are turned round while that shortens it.
    """

    def around(order: Sequence[SiteId]) -> float:
        return round(math.fsum(latency_ms.get(ends, 0.0) for ends in _around(order)), 9)

    first, *rest = sites
    if len(rest) < EVERY_ORDER:
        return min(((first, *order) for order in itertools.permutations(rest)), key=around)
    order = [first, rest[0]]
    for site in rest[1:]:
        order = min(([*order[:at], site, *order[at:]] for at in range(1, len(order) + 1)), key=around)
    while True:
        turned = (
            order[:i] + order[i:j][::-1] + order[j:] for i, j in itertools.combinations(range(1, len(order) + 1), 2)
        )
        better = min(turned, key=around)
        if around(better) >= around(order):
            return tuple(order)
        order = better


def _around(order: Sequence[SiteId]) -> tuple[Pair, ...]:
    return tuple(pair(a, b) for a, b in zip(order, [*order[1:], order[0]], strict=True))


def _shares(edges: Sequence[Pair], share: float) -> dict[Pair, float]:
    """Two sites are joined by both edges of their ring."""
    return {ends: share * edges.count(ends) for ends in dict.fromkeys(edges)}


def _ring(order: tuple[SiteId, ...], share: float) -> Pattern:
    """Each part is summed over all links but one, and goes on from there over all but the one before."""
    edges, n = _around(order), len(order)
    trips = tuple(
        tuple(edges[(start + hop) % n] for hop in range(n - 1))
        + tuple(edges[(start + n - 1 + hop) % n] for hop in range(n - 1))
        for start in range(n)
    )
    return Pattern("ring", order, _shares(edges, share), trips)


def _spanning(sites: Sequence[SiteId], latency_ms: Mapping[Pair, float]) -> tuple[SiteId, dict[SiteId, SiteId]]:
    """Root, and parent of each other site, of the spanning tree of least latency (Prim)."""
    parent: dict[SiteId, SiteId] = {}
    inside = [sites[0]]
    while len(inside) < len(sites):
        outside = [site for site in sites if site not in inside]
        a, b = min(itertools.product(inside, outside), key=lambda ends: latency_ms.get(pair(*ends), 0.0))
        parent[b] = a
        inside.append(b)
    near: dict[SiteId, list[SiteId]] = {site: [] for site in sites}
    for site, above in parent.items():
        near[site].append(above)
        near[above].append(site)
    rooted = [(site, _rooted(near, site)) for site in sites]
    return min(
        rooted,
        key=lambda one: max(
            math.fsum(latency_ms.get(ends, 0.0) for ends in _up(one[1], site)) for site in sites if site != one[0]
        ),
    )


def _rooted(near: Mapping[SiteId, Sequence[SiteId]], root: SiteId) -> dict[SiteId, SiteId]:
    parent: dict[SiteId, SiteId] = {}
    waiting = [root]
    for site in waiting:
        for other in near[site]:
            if other != parent.get(site) and other not in parent and other != root:
                parent[other] = site
                waiting.append(other)
    return parent


def _up(parent: Mapping[SiteId, SiteId], site: SiteId) -> tuple[Pair, ...]:
    """The links from a site to the root."""
    found: tuple[Pair, ...] = ()
    while site in parent:
        found, site = (*found, pair(site, parent[site])), parent[site]
    return found


def _tree(kind: str, root: SiteId, parent: Mapping[SiteId, SiteId]) -> Pattern:
    """What the farthest site sends goes up to the root, and the result down to the farthest site."""
    ups = [_up(parent, site) for site in parent]
    trips = tuple((*up, *down[::-1]) for up in ups for down in ups)
    return Pattern(kind, (root, *parent), {pair(a, b): 1.0 for a, b in parent.items()}, trips)
