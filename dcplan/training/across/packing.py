"""Gradients summed along several trees at once: each part goes up to the root of its tree and down it again.

With S bytes of gradients in each of n sites and a share w of them on a spanning tree, a link of the tree carries w S in
each direction. A whole packing has Σ w = 1. Direct exchange is n stars of 1/n, a ring n paths of 1/n, a hub one star:
what these need on links, trees do too, and never wait longer.
The least time on links of rates r is S / min over partitions of the sites into k parts of r(between parts) / (k−1): no
sum among k parties takes fewer than 2 (k−1) S bytes (Patarasuk and Yuan 2009), and trees reach it (Tutte 1961,
Nash-Williams 1961). `design.collective.optimal` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcplan.model.network import Pair, SiteId, pair

DECIMALS = 9
"""Of shares in a plan file."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree of sites with its share of the gradients."""

    share: float
    root: SiteId
    above: tuple[tuple[SiteId, SiteId], ...]
    """Each other site and the one that it sends to."""

    @property
    def links(self) -> frozenset[Pair]:
        """The links of the tree."""
        return frozenset(pair(a, b) for a, b in self.above)

    def up(self, site: SiteId) -> tuple[Pair, ...]:
        """The links from a site to the root."""
        parent, found = dict(self.above), list[Pair]()
        while site in parent:
            found.append(pair(site, parent[site]))
            site = parent[site]
        return tuple(found)

    def waits_ms(self, latency_ms: Mapping[Pair, float]) -> float:
        """Twice the one-way latency between the root and the site that is farthest from it [ms]."""
        ways = (math.fsum(latency_ms.get(ends, math.inf) for ends in self.up(site)) for site, _ in self.above)
        return 2 * max(ways, default=0.0)


Packing = tuple[Tree, ...]


def rooted(links: Sequence[Pair], latency_ms: Mapping[Pair, float], share: float = 1.0) -> Tree:
    """The tree of these links, rooted where the farthest site is nearest, ties by name. ValueError where it is none."""
    sites = sorted({site for ends in links for site in ends})
    if len(links) != len(sites) - 1:
        raise ValueError(f"{len(links)} links do not make a tree of {len(sites)} sites")
    trees = (Tree(share, root, _parents(links, root)) for root in sites)
    whole = [tree for tree in trees if len(tree.above) == len(links)]
    if not whole:
        raise ValueError("the links do not join their sites")
    return min(whole, key=lambda tree: round(tree.waits_ms(latency_ms), 9))


def _parents(links: Sequence[Pair], root: SiteId) -> tuple[tuple[SiteId, SiteId], ...]:
    found: dict[SiteId, SiteId] = {}
    waiting = [root]
    for here in waiting:
        for a, b in links:
            there = b if a == here else a if b == here else None
            if there is not None and there != root and there not in found:
                found[there] = here
                waiting.append(there)
    return tuple(found.items())


def shares(packing: Packing) -> dict[Pair, float]:
    """Bytes between two sites in each direction, over all gradients."""
    found: dict[Pair, float] = {}
    for tree in packing:
        for ends in sorted(tree.links):
            found[ends] = found.get(ends, 0.0) + tree.share
    return found


def trips(packing: Packing) -> tuple[tuple[Pair, ...], ...]:
    """Links that a part crosses one after the other: from some site to the root of its tree, then to some site."""
    ways = dict.fromkeys(
        (*up, *down[::-1])
        for tree in packing
        for ups in [[tree.up(site) for site, _ in tree.above]]
        for up in ups
        for down in ups
    )
    return tuple(ways)


def as_written(packing: Packing) -> Packing:
    """With shares of nine decimals, as a plan file keeps them; the largest takes what the others leave of 1.

    So rates that follow from a plan that was read are those that it was made with, to the last bit.
    """
    kept = [tree for tree in packing if round(tree.share, DECIMALS) > 0]
    first = max(kept, key=lambda tree: tree.share)
    others = math.fsum(round(tree.share, DECIMALS) for tree in kept if tree is not first)
    return tuple(replace(tree, share=round(1 - others if tree is first else tree.share, DECIMALS)) for tree in kept)


def among(packing: Packing, sites: Sequence[SiteId]) -> Packing:
    """The packing where only these sites are left: what was below a lost site goes on to the one above it.

    In place of a lost root each of its children is one, of an equal part: direct exchange stays direct exchange.
    """
    left = frozenset(sites)
    return tuple(part for tree in packing for part in _spliced(tree, [site for site in _all(tree) if site not in left]))


def _all(tree: Tree) -> tuple[SiteId, ...]:
    return (tree.root, *(site for site, _ in tree.above))


def _spliced(tree: Tree, lost: Sequence[SiteId]) -> Packing:
    if not lost:
        return (tree,)
    gone, *later = lost
    parent = dict(tree.above)
    above, below = parent.pop(gone, None), [site for site, over in tree.above if over == gone]
    if above is not None:
        kept = replace(tree, above=_ordered(tree.root, parent | dict.fromkeys(below, above)))
        return _spliced(kept, later)
    rest = {site: over for site, over in parent.items() if site not in below}
    heirs = (
        Tree(tree.share / len(below), heir, _ordered(heir, dict.fromkeys(set(below) - {heir}, heir) | rest))
        for heir in below
    )
    return tuple(part for heir in heirs for part in _spliced(heir, later))


def _ordered(root: SiteId, parent: Mapping[SiteId, SiteId]) -> tuple[tuple[SiteId, SiteId], ...]:
    """The links of a tree from its root down, by name."""
    found, waiting = list[tuple[SiteId, SiteId]](), [root]
    for here in waiting:
        below = sorted(site for site, over in parent.items() if over == here)
        found += [(site, here) for site in below]
        waiting += below
    return tuple(found)


def faults(packing: Packing, sites: Sequence[SiteId]) -> str:
    """Why these are no trees that sum all gradients among the sites, in words; empty where they are."""
    for tree in packing:
        known = {tree.root}
        for site, above in tree.above:
            if above not in known or site in known:
                return f"what is rooted at {tree.root} is no tree from its root down"
            known.add(site)
        if known != set(sites):
            return f"the tree of {tree.root} does not join the sites of the job"
        if not tree.share > 0:
            return f"the tree of {tree.root} carries nothing"
    if not math.isclose(math.fsum(tree.share for tree in packing), 1.0, rel_tol=1e-6):
        return "the trees do not carry all gradients, or more than these"
    return ""
