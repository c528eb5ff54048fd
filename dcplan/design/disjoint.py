"""The cheapest two ways of a demand that no promised failure breaks together, by prices of lightpaths."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.candidates import in_order
from dcplan.design.problem import rate
from dcplan.design.protection import risk
from dcplan.design.ways import Way
from dcplan.model.network import Route

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from dcplan.design.candidates import Graph
    from dcplan.design.problem import Problem
    from dcplan.design.result import Demand
    from dcplan.model.network import SiteId

LOOKED_AT = 200
"""First ways tried, cheapest first, where the two cheapest separate chains break together."""
PARTNERS = 20
"""Chains tried as the second way of one."""
HAIR = 1e-9
"""By how much prices may miss each other for rounding alone."""


@dataclass(frozen=True, slots=True)
class Couple:
    """Two ways that no state breaks together; none found where `ways` is empty."""

    ways: tuple[Way, ...]
    price: float
    least: float
    """No such two are cheaper."""


def cheapest_couple(problem: Problem, demand: Demand, prices: Sequence[float]) -> Couple:
    """The couple of ways of least price, without regard to a latency limit. prices: of each lightpath, ≥ 0.

    First the two cheapest chains that share no lightpath that may break (Suurballe, Networks 4, 1974): nothing is
    cheaper. Where these break together in some state, or cross themselves, first ways are tried in order of price,
    each with its cheapest partner; the cheaper way of any couple that is left costs half of it at most, so that this
    ends where twice the price of the next first way is no less than what was found.
    """
    breaking = [k for k, state in enumerate(problem.states) if rate(demand, state) > 0]
    frail = {i for k in breaking for i, path in enumerate(problem.lightpaths) if problem.states[k].breaks(path.route)}
    two = _two_chains(_arcs(problem), prices, frail, *demand.ends)
    if two is None:
        return Couple((), inf, inf)
    least = sum(prices[i] for chain in two for i in chain)
    ways = [_way(problem, demand, chain) for chain in two]
    if ways[0] and ways[1] and _apart(problem, demand, ways[0], ways[1]):
        return Couple((ways[0], ways[1]), least, least)
    return _tried(problem, demand, prices, least)


def _tried(problem: Problem, demand: Demand, prices: Sequence[float], least: float) -> Couple:
    """First ways in order of price, each with its cheapest partner."""
    best: tuple[Way, ...] = ()
    price, reached = inf, least
    for chain in islice(_in_order(problem, demand, prices, ()), LOOKED_AT):
        cost = sum(prices[i] for i in chain)
        reached = max(least, min(2 * cost, price))
        if 2 * cost >= price - HAIR:
            return Couple(best, price, price)
        way = _way(problem, demand, chain)
        if way is None:
            continue
        for other in islice(_in_order(problem, demand, prices, risk(problem, demand, way)), PARTNERS):
            partner = _way(problem, demand, other)
            if partner and _apart(problem, demand, way, partner):
                both = cost + sum(prices[i] for i in other)
                best, price = ((way, partner), both) if both < price else (best, price)
                break
    return Couple(best, price, min(price, reached))


def _in_order(problem: Problem, demand: Demand, prices: Sequence[float], lost: Sequence[int]) -> Iterator[list[int]]:
    """Chains of lightpaths that some states leave, by price."""
    graph: Graph = dict.fromkeys(problem.network.sites, ())
    for i, path in enumerate(problem.lightpaths):
        if not any(problem.states[k].breaks(path.route) for k in lost):
            for here, there in (path.route.ends, path.route.ends[::-1]):
                graph[here] = (*graph[here], (prices[i], str(i), there))
    for route in in_order(graph, *demand.ends, frozenset(graph), len(graph)):
        yield [int(name) for name in route.fibers]


def _way(problem: Problem, demand: Demand, chain: Sequence[int]) -> Way | None:
    """A chain as a way on any wavelengths of its lightpaths; none where it passes a site twice, be it as light."""
    sites: list[SiteId] = [demand.ends[0]]
    fibers: list[str] = []
    for i in chain:
        route = problem.lightpaths[i].route
        forward = route.sites[0] == sites[-1]
        sites += route.sites[1:] if forward else route.sites[-2::-1]
        fibers += route.fibers if forward else route.fibers[::-1]
    if len(set(sites)) < len(sites):
        return None
    whole = Route(tuple(sites), tuple(fibers))
    hops = tuple(problem.top(i) for i in chain)
    broken = frozenset(k for k, state in enumerate(problem.states) if state.breaks(whole))
    return Way(hops, sum(problem.tiers[i][rank] for i, rank in hops), broken)


def _apart(problem: Problem, demand: Demand, one: Way, other: Way) -> bool:
    """No state in which the demand asks for something breaks both, and they are two."""
    together = set(risk(problem, demand, one)) & set(risk(problem, demand, other))
    return not together and one.lightpaths != other.lightpaths


Step = tuple["SiteId", "SiteId", int]
"""From a site to another on a lightpath."""
Arcs = dict["SiteId", list["Step"]]


def _arcs(problem: Problem) -> Arcs:
    arcs: Arcs = {site: [] for site in problem.network.sites}
    for i, path in enumerate(problem.lightpaths):
        a, b = path.route.ends
        arcs[a].append((a, b, i))
        arcs[b].append((b, a, i))
    return arcs


def _two_chains(
    arcs: Arcs, prices: Sequence[float], frail: Collection[int], a: SiteId, b: SiteId
) -> tuple[list[int], list[int]] | None:
    """Two chains from a to b of least price together that share no frail lightpath; None where there are none.

    The second is found in what the first leaves: back along its lightpaths, which takes them out again, and over all
    others at prices less what the sites differ by from a, none of which is below 0 then.
    """
    first, far = _shortest(arcs, lambda step: prices[step[2]], a, b)

    def left(step: Step) -> float:
        here, there, i = step
        if (there, here, i) in first:
            return 0.0
        if step in first and i in frail:
            return inf
        return max(0.0, prices[i] + far[here] - far[there])

    second, _ = _shortest(arcs, left, a, b) if first else ((), {})
    if not second:
        return None
    back = {(there, here, i) for here, there, i in second}
    steps = [step for step in first if step not in back]
    steps += [step for step in second if (step[1], step[0], step[2]) not in first]
    return _walk(steps, a, b), _walk(steps, a, b)


def _shortest(
    arcs: Arcs, price: Callable[[Step], float], a: SiteId, b: SiteId
) -> tuple[tuple[Step, ...], dict[SiteId, float]]:
    """The steps of the cheapest chain, none where b cannot be reached, and how far every site is from a."""
    far: dict[SiteId, float] = {}
    came: dict[SiteId, Step] = {}
    queue: list[tuple[float, int, Step]] = [(0.0, 0, (a, a, -1))]
    while queue:
        cost, hops, step = heapq.heappop(queue)
        here = step[1]
        if here in far:
            continue
        far[here], came[here] = cost, step
        for ahead in arcs[here]:
            if ahead[1] not in far and (more := price(ahead)) < inf:
                heapq.heappush(queue, (cost + more, hops + 1, ahead))
    steps: list[Step] = []
    while b in came and b != a:
        steps.append(came[b])
        b = came[b][0]
    return tuple(steps[::-1]), far


def _walk(steps: list[Step], a: SiteId, b: SiteId) -> list[int]:
    """Takes one chain from a to b out of some steps; what only leads back to where it was costs nothing, and goes."""
    sites = [a]
    chain: list[int] = []
    while sites[-1] != b:
        step = next(step for step in steps if step[0] == sites[-1])
        steps.remove(step)
        if step[1] in sites:
            at = sites.index(step[1])
            del sites[at + 1 :], chain[at:]
        else:
            sites.append(step[1])
            chain.append(step[2])
    return chain
