"""The cheapest two ways of a demand that no promised failure breaks together, by prices of lightpaths."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf
from typing import TYPE_CHECKING

from dcplan.design.ways.labels import distances, walked_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.result import Demand
    from dcplan.design.ways.chains import Way
    from dcplan.design.ways.mesh import Mesh, Prices
    from dcplan.model.network import SiteId

LOOKED_AT = 200
"""First ways tried, cheapest first, where the two cheapest separate chains break together or are late."""
HAIR = 1e-9
"""By how much prices may miss each other for rounding alone."""


@dataclass(frozen=True, slots=True)
class Couple:
    """Two ways that no state breaks together; none found where `ways` is empty."""

    ways: tuple[Way, ...]
    price: float
    least: float
    """No such two are cheaper."""


def cheapest_couple(mesh: Mesh, demand: Demand, prices: Prices) -> Couple:
    """The couple of ways of least price, both within the latency limit. prices: ≥ 0.

    First the two cheapest chains that share no lightpath that may break (Suurballe, Networks 4, 1974): nothing is
    cheaper. Where these break together in some state, are late, or cross themselves, first ways are tried in order of
    price, each with its cheapest partner; the cheaper way of any couple that is left costs half of it at most, so that
    this ends where twice the price of the next first way is no less than what was found. The general problem is
    NP-hard (Hu, Networks 42, 2003): where the search gives up, `least` is what it has excluded until then.
    """
    risky = mesh.risky[demand.id]
    two = _two_chains(mesh, [each[-1] for each in prices], risky, *demand.ends)
    if two is None:
        return Couple((), inf, inf)
    least = fsum(prices[i][-1] for chain in two for i in chain)
    one, other = (mesh.way(demand, chain) for chain in two)
    if one and other and _apart(risky, one, other):
        both = fsum(prices[i][tier] for way in (one, other) for i, tier in way.hops)
        if both <= least + HAIR:
            return Couple((one, other), both, least)
    return _tried(mesh, demand, prices, risky, least)


def _tried(mesh: Mesh, demand: Demand, prices: Prices, risky: frozenset[int], least: float) -> Couple:
    """First ways in order of price, each with its cheapest partner."""
    best: tuple[Way, ...] = ()
    price, reached, given_up = inf, inf, inf
    for rank, (cost, way) in enumerate(mesh.in_order(demand, prices, ())):
        if way is None or rank == LOOKED_AT or 2 * cost >= price - HAIR:
            reached = 2 * cost
            break
        for more, partner in mesh.in_order(demand, prices, way.broken & risky):
            if partner is None:
                given_up = min(given_up, cost + more)
            elif not _apart(risky, way, partner):
                continue
            elif cost + more < price:
                best, price = (way, partner), cost + more
            break
    return Couple(best, price, max(least, min(price, reached, given_up)))


def _apart(risky: frozenset[int], one: Way, other: Way) -> bool:
    """No state in which the demand asks for something breaks both, and they are two."""
    return one.lightpaths != other.lightpaths and one.broken.isdisjoint(other.broken & risky)


def _two_chains(
    mesh: Mesh, prices: Sequence[float], risky: frozenset[int], a: SiteId, b: SiteId
) -> tuple[list[int], list[int]] | None:
    """Two chains from a to b of least price together that share no lightpath that may break; None without such.

    The second is found in what the first leaves: back along its lightpaths, which takes them out again, and over all
    others at prices less what the sites differ by from a, as far as b is, none of which is below 0 then.
    """
    found = distances(mesh.arcs, [price for price in prices for _ in range(2)], a, b)
    if b not in found:
        return None
    first, most = walked_back(found, b), found[b][0]
    far = {site: found[site][0] if site in found else most for site in mesh.arcs}
    left = [inf] * (2 * len(prices))
    for here, around in mesh.arcs.items():
        for arc, there in around:
            less = prices[arc // 2] + far[here] - far[there]
            left[arc] = less if less > 0 else 0.0
    for arc in first:
        left[arc] = left[arc] if mesh.broken[arc // 2].isdisjoint(risky) else inf
        left[arc ^ 1] = 0.0
    found = distances(mesh.arcs, left, a, b)
    if b not in found:
        return None
    second = walked_back(found, b)
    steps = [arc for arc in first if arc ^ 1 not in second] + [arc for arc in second if arc ^ 1 not in first]
    return _walk(mesh, steps, a, b), _walk(mesh, steps, a, b)


def _walk(mesh: Mesh, steps: list[int], a: SiteId, b: SiteId) -> list[int]:
    """Takes one chain from a to b out of some arcs; what only leads back to where it was costs nothing, and goes."""
    sites = [a]
    chain: list[int] = []
    while sites[-1] != b:
        arc, there = next(each for each in mesh.arcs[sites[-1]] if each[0] in steps)
        steps.remove(arc)
        if there in sites:
            at = sites.index(there)
            del sites[at + 1 :], chain[at:]
        else:
            sites.append(there)
            chain.append(arc // 2)
    return chain
