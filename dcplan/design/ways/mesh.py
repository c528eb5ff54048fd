"""The ways of a demand in order of price, searched for and not listed."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.problem import rate
from dcplan.design.ways.chains import Way
from dcplan.design.ways.labels import CLOSE, distances, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from dcplan.design.problem import Hop, Problem
    from dcplan.design.result import Demand
    from dcplan.design.ways.labels import Near, Reached
    from dcplan.model.network import SiteId

MOST_LABELS = 20_000
"""Beginnings of ways that one search looks at."""
Prices = list[list[float]]
"""Of each lightpath, by the tier of wavelengths that traffic may ride on; not rising from one tier to the next."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """The lightpaths of a problem as a graph; made once, for many searches."""

    problem: Problem
    near: Near
    """Lightpaths at each site."""
    arcs: Near
    """The same with each direction by a number of its own: twice that of the lightpath, or one more."""
    broken: tuple[frozenset[int], ...]
    """Of each lightpath: the states that break it."""
    passed: tuple[frozenset[SiteId], ...]
    """Of each lightpath: its sites."""

    risky: Mapping[str, frozenset[int]]
    """Of each demand: the states in which it asks for something."""

    def within_ms(self, demand: Demand) -> float:
        """The latency limit of a demand, but for rounding; infinite where it has none."""
        return inf if demand.max_latency_ms is None else demand.max_latency_ms * (1 + CLOSE)

    def way(self, demand: Demand, chain: Sequence[int]) -> Way | None:
        """A chain of lightpaths as a way on any wavelengths; none where it is late, or passes a site twice, be it as
        light.
        """
        return self._slowed(chain, [0] * len(chain), self.within_ms(demand)) if self._simple(demand, chain) else None

    def in_order(self, demand: Demand, prices: Prices, lost: Collection[int]) -> Iterator[tuple[float, Way | None]]:
        """Ways that keep the latency limit and survive some states, by price.

        Best first search over beginnings of ways, by their price and the least that the rest costs; those that would
        be late, or pass a site twice, be it as light, are dropped. After `MOST_LABELS` it gives up: then comes, without
        a way, a price below which there is no further one.
        """
        start, end = demand.ends
        most_ms, tiers = self.within_ms(demand), self.problem.tiers
        alive = [broken.isdisjoint(lost) for broken in self.broken]
        cheapest = self._left(end, alive, lambda i: prices[i][-1])
        quickest = self._left(end, alive, lambda i: tiers[i][0])
        if start not in cheapest or quickest[start][0] > most_ms:
            return
        queue: list[tuple[float, float, float, tuple[Hop, ...], SiteId, frozenset[SiteId]]] = [
            (cheapest[start][0], 0.0, 0.0, (), start, frozenset())
        ]
        for _ in range(MOST_LABELS):
            if not queue:
                return
            _, paid, spent_ms, hops, site, behind = heapq.heappop(queue)
            if site == end:
                yield paid, self._slowed([i for i, _ in hops], [tier for _, tier in hops], most_ms)
                continue
            for i, there in self.near[site]:
                if there not in cheapest or not alive[i] or not behind.isdisjoint(self.passed[i]):
                    continue
                for tier in _worth_it(prices[i]) if most_ms < inf else (len(tiers[i]) - 1,):
                    later_ms, more = spent_ms + tiers[i][tier], paid + prices[i][tier]
                    if later_ms + quickest[there][0] <= most_ms:
                        passed = behind | (self.passed[i] - {there})
                        ahead = (*hops, (i, tier))
                        heapq.heappush(queue, (more + cheapest[there][0], more, later_ms, ahead, there, passed))
        if queue:
            yield queue[0][0], None

    def _left(self, end: SiteId, alive: Sequence[bool], length: Callable[[int], float]) -> dict[SiteId, Reached]:
        return distances(self.near, [length(i) if there else inf for i, there in enumerate(alive)], end)

    def _simple(self, demand: Demand, chain: Sequence[int]) -> bool:
        behind: set[SiteId] = set()
        here = demand.ends[0]
        for i in chain:
            a, b = self.problem.lightpaths[i].route.ends
            there = b if here == a else a
            if not behind.isdisjoint(self.passed[i]):
                return False
            behind |= self.passed[i] - {there}
            here = there
        return True

    def _slowed(self, chain: Sequence[int], ranks: Sequence[int], most_ms: float) -> Way | None:
        """The way over a chain on wavelengths no faster than need be, if some keep the limit."""
        tiers, slow = [self.problem.tiers[i] for i in chain], list(ranks)
        left_ms = most_ms - sum(steps[rank] for steps, rank in zip(tiers, slow, strict=True))
        if left_ms < 0:
            return None
        for at, steps in enumerate(tiers):
            here = slow[at]
            while slow[at] + 1 < len(steps) and steps[slow[at] + 1] - steps[here] <= left_ms:
                slow[at] += 1
            left_ms -= steps[slow[at]] - steps[here]
        latency_ms = sum(steps[rank] for steps, rank in zip(tiers, slow, strict=True))
        broken = frozenset[int]().union(*(self.broken[i] for i in chain))
        return Way(tuple(zip(chain, slow, strict=True)), latency_ms, broken)


def mesh(problem: Problem) -> Mesh:
    """The lightpaths of a problem as a graph."""
    routes = [path.route for path in problem.lightpaths]
    near: Near = {site: [] for site in problem.network.sites} | joined(
        (i, route.ends) for i, route in enumerate(routes)
    )
    return Mesh(
        problem,
        near,
        {site: [(2 * i + (routes[i].ends[0] != site), there) for i, there in around] for site, around in near.items()},
        tuple(frozenset(k for k, state in enumerate(problem.states) if state.breaks(route)) for route in routes),
        tuple(frozenset(route.sites) for route in routes),
        {
            demand.id: frozenset(k for k, state in enumerate(problem.states) if rate(demand, state) > 0)
            for demand in problem.demands
        },
    )


def _worth_it(prices: Sequence[float]) -> list[int]:
    """Tiers that no faster one is as cheap as."""
    return [tier for tier, price in enumerate(prices) if tier == 0 or price < prices[tier - 1]]
