"""The collective that no other one beats on given rates: spanning trees packed by a linear program.

With rates r between sites and x of each tree,
    maximise Σ x,  Σ over trees with link e of x ≤ r_e  for every link e.
A share x / Σ x of the gradients on each tree takes 1 / Σ x of the time that they would take at rate 1.
Up to `EVERY_TREE` sites all spanning trees are columns (Cayley: n^(n−2)); beyond, columns are priced in: a tree pays
where its links, at the dual prices of their rows, cost less than 1 (Kruskal finds the cheapest).
Equals the bound of all partitions (see `training.packing`).
A deep tree waits long. The same program on the trees that wait at most so long gives a front of packings, from the one
that waits least to the one that takes the least time on the links; what a step hides decides between them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from dcplan.errors import DcplanError
from dcplan.model.network import Pair, SiteId, pair
from dcplan.training.across.packing import Packing, Tree, rooted
from dcplan.training.across.patterns import shortest_ring

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

EVERY_TREE = 6
"""Up to this many sites every spanning tree is looked at (1,296)."""
MOST_PACKINGS = 12
"""Packings of a front."""
NOTHING = 1e-9
"""Share of the gradients that is rounding."""
MOST_ROUNDS = 500
"""Trees that are priced in."""
SHORTER = 1e-7
"""Of packings that take the same time, that whose bytes go the shortest way; a time within this is the same."""
UNLIMITED = 1e3
"""A rate without limit counts as so many times the largest one that has a limit."""


def packings(
    sites: Sequence[SiteId], rate_gbps: Mapping[Pair, float], latency_ms: Mapping[Pair, float]
) -> tuple[Packing, ...]:
    """The front of packings, the one that waits least first, the one of least time on the links last.

    rate_gbps: in each direction; infinite where nothing limits; a pair without one is not used, as is one without
    latency. Empty where the sites are not joined, or one alone.
    """
    usable = _usable(rate_gbps, latency_ms)
    latency_ms = {ends: latency_ms[ends] for ends in usable}
    pool = list(_all_trees(sites, usable, latency_ms))
    if not pool:
        return ()
    if len(sites) > EVERY_TREE:
        pool = _priced_in(pool, usable, latency_ms)
    waits = sorted({_waits(tree, latency_ms) for tree in pool})
    found: dict[float, tuple[float, Packing]] = {}

    def at(wait: float) -> float:
        if wait not in found:
            within = [tree for tree in pool if _waits(tree, latency_ms) <= wait]
            found[wait] = _packed(within, usable, latency_ms)
        return found[wait][0]

    spans = [(0, len(waits) - 1)]
    while spans and len(found) < MOST_PACKINGS:
        low, high = spans.pop(0)
        if high - low > 1 and at(waits[low]) > at(waits[high]) * (1 + NOTHING):
            middle = (low + high) // 2
            at(waits[middle])
            spans += [(low, middle), (middle, high)]
        elif high - low <= 1:
            at(waits[low]), at(waits[high])
        else:
            at(waits[low])
    return _front(found)


def _front(found: Mapping[float, tuple[float, Packing]]) -> tuple[Packing, ...]:
    """Those that are not beaten by one that waits less."""
    kept, least = list[Packing](), math.inf
    for wait in sorted(found):
        time, packing = found[wait]
        if time < least * (1 - NOTHING):
            kept.append(packing)
            least = time
    return tuple(kept)


def _waits(tree: Tree, latency_ms: Mapping[Pair, float]) -> float:
    return round(tree.waits_ms(latency_ms), 9)


def _all_trees(
    sites: Sequence[SiteId], usable: Mapping[Pair, float], latency_ms: Mapping[Pair, float]
) -> Iterator[Tree]:
    """Every spanning tree of few sites; of more, the stars, the paths of the shortest ring and the shortest tree."""
    if len(sites) < 2:
        return
    if len(sites) <= EVERY_TREE:
        for code in itertools.product(sites, repeat=len(sites) - 2):
            links = _decoded(code, sites)
            if all(ends in usable for ends in links):
                yield rooted(links, latency_ms)
        return
    around = shortest_ring(tuple(sites), latency_ms)
    ring = [pair(a, b) for a, b in zip(around, (*around[1:], around[0]), strict=True)]
    for links in (
        *([pair(root, site) for site in sites if site != root] for root in sites),
        *([ends for ends in ring if ends != left] for left in ring),
    ):
        if all(ends in usable for ends in links):
            yield rooted(links, latency_ms)
    if shortest := cheapest_tree(usable, latency_ms, len(sites)):
        yield rooted(shortest, latency_ms)


def _decoded(code: Sequence[SiteId], sites: Sequence[SiteId]) -> list[Pair]:
    """The links of the tree of a Prüfer code."""
    degree = {site: 1 + code.count(site) for site in sites}
    links = []
    for site in code:
        leaf = next(one for one in sites if degree[one] == 1)
        links.append(pair(leaf, site))
        degree[leaf] -= 1
        degree[site] -= 1
    last = [site for site in sites if degree[site] == 1]
    return [*links, pair(last[0], last[1])]


def cheapest_tree(links: Mapping[Pair, float], cost: Mapping[Pair, float], sites: int) -> list[Pair] | None:
    """Kruskal; None where the links do not join all sites."""
    part: dict[SiteId, frozenset[SiteId]] = {site: frozenset((site,)) for ends in links for site in ends}
    taken = []
    for a, b in sorted(links, key=lambda ends: (cost.get(ends, math.inf), ends)):
        if part[a] is not part[b]:
            taken.append((a, b))
            part.update(dict.fromkeys(joined := part[a] | part[b], joined))
    return taken if len(taken) == sites - 1 else None


def _usable(rate_gbps: Mapping[Pair, float], latency_ms: Mapping[Pair, float]) -> dict[Pair, float]:
    """Rates that are there, over the largest of them."""
    there = {
        ends: rate for ends, rate in rate_gbps.items() if rate > 0 and math.isfinite(latency_ms.get(ends, math.inf))
    }
    largest = max((rate for rate in there.values() if math.isfinite(rate)), default=1.0 / UNLIMITED)
    return {ends: min(rate / largest, UNLIMITED) for ends, rate in there.items()}


def _packed(
    pool: Sequence[Tree], usable: Mapping[Pair, float], latency_ms: Mapping[Pair, float]
) -> tuple[float, Packing]:
    """Least time on the links, and the packing that reaches it."""
    weights, _ = _solved(pool, usable, latency_ms)
    whole = math.fsum(weights)
    kept = [(tree, weight) for tree, weight in zip(pool, weights, strict=True) if weight > NOTHING * whole]
    most = math.fsum(weight for _, weight in kept)
    return 1 / whole, tuple(replace(tree, share=weight / most) for tree, weight in kept)


def _lengths(latency_ms: Mapping[Pair, float]) -> dict[Pair, float]:
    """What a link counts by its length: little beside a tree."""
    longest = math.fsum(latency_ms.values()) or 1.0
    return {ends: SHORTER * latency / longest for ends, latency in latency_ms.items()}


def _solved(
    pool: Sequence[Tree], usable: Mapping[Pair, float], latency_ms: Mapping[Pair, float]
) -> tuple[list[float], dict[Pair, float]]:
    """What goes on each tree, and the dual prices of links."""
    length, program = _lengths(latency_ms), Program()
    over: dict[Pair, list[int]] = {}
    for i, tree in enumerate(pool):
        column = program.column(f"x{i}", math.fsum(length[ends] for ends in tree.links) - 1.0)
        for ends in tree.links:
            over.setdefault(ends, []).append(column)
    limited = sorted(over)
    for i, ends in enumerate(limited):
        program.row(f"link{i}", dict.fromkeys(over[ends], 1.0), upper=usable[ends])
    simplex = Simplex(program)
    if simplex.solve() != "optimal":  # nothing on any tree is a point to begin at, and rates bound what goes on them
        raise DcplanError("the linear program of a collective was not solved; please report this")
    return simplex.values, dict(zip(limited, simplex.duals, strict=True))


def _priced_in(pool: list[Tree], usable: Mapping[Pair, float], latency_ms: Mapping[Pair, float]) -> list[Tree]:
    """The pool with every tree that it takes to reach the least time."""
    length, sites = _lengths(latency_ms), len({site for ends in usable for site in ends})
    for _ in range(MOST_ROUNDS):
        _, prices = _solved(pool, usable, latency_ms)
        cost = {ends: length[ends] - prices.get(ends, 0.0) for ends in usable}
        links = cheapest_tree(usable, cost, sites)
        if links is None or math.fsum(cost[ends] for ends in links) >= 1 - NOTHING:
            return pool
        pool = [*pool, rooted(links, latency_ms)]
    return pool
