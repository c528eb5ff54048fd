"""One couple of ways for each demand on two at once, such that whole purchases are cheap: ruin and recreate.

Some demands are taken off a lightpath, or off two that meet, and put back one by one, each on the couple that adds
least to what must be bought; what comes of it is kept while it is little dearer than before (Schrimpf and others,
Journal of Computational Physics 159, 2000). What is bought whole seems at first to rise by degrees, so that a step that
is nearly empty is worth emptying further; at the end it costs what it costs.
"""

from __future__ import annotations

import random
from statistics import median
from typing import TYPE_CHECKING

from dcplan.design.problem import whole_rate
from dcplan.design.ways.disjoint import cheapest_couple
from dcplan.design.ways.loads import Loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dcplan.design.limits import Until
    from dcplan.design.ways.disjoint import Couple
    from dcplan.design.ways.mesh import Mesh, Prices

TURNS = 300
"""Times that some are taken off and put back, per demand."""
MOST = 10
"""Demands taken off at once."""
STEPS = 0.7
"""Share of turns that take off what the last step of a lightpath carries."""
HEAT = 0.1
"""What a turn may add to the cost at first, on the average: a share of the middle one of what the least steps cost."""
BENT = 0.5
"""How steps seem to rise at first: as this power of how far the last one is filled; at the end all at once."""
VARIED = 0.1
"""Share by which in every other turn what a couple adds may seem more or less, on each lightpath."""
SMOOTH = 0.01
"""Share of the price of its capacity that counts for what rides on a lightpath: it leads to room before it is there."""


def couples_for_whole(mesh: Mesh, prices: Prices, until: Until, say: Callable[[str], None]) -> dict[int, Couple] | None:
    """A couple of each demand on two ways; None where one has none. prices: of capacity, per Gb/s on each lightpath.

    Other demands are left out of account, and what latency limits ask of wavelengths.
    """
    search = _Search(mesh, prices)
    begun = {d: cheapest_couple(mesh, mesh.problem.demands[d], prices) for d in sorted(mesh.problem.protected)}
    if not all(couple.ways for couple in begun.values()):
        return None
    search.put_back(begun)
    chance = random.Random(1)  # noqa: S311 - repeatable is the point
    turns, left_s = TURNS * len(begun), until.left_s
    best, step_usd = search.loads.usd, search.step_usd
    kept = dict(search.couples)
    for turn in range(turns):
        if until.over:
            break
        passed = max(turn / turns, 1 - until.left_s / left_s if until.timed else 0.0)
        power = BENT * (1 - passed)
        now = search.cost(power)
        off = search.drawn(chance)
        before = {d: search.couples[d] for d in off}
        search.taken_off(off)
        if chance.random() < 0.5:
            off.sort(key=lambda d: (-search.gbps[d], d))
        search.placed(off, chance.choice([0.0, VARIED]), chance, power)
        cost = search.cost(power)
        if cost > now + HEAT * (1 - passed) * chance.expovariate(1.0) * step_usd:
            search.taken_off(off)
            search.put_back(before)
            continue
        if search.loads.usd < best:
            best, kept = search.loads.usd, dict(search.couples)
            say(f"a couple of ways for each of {len(begun)} demands, US$ {best:,.0f}")
    return kept


class _Search:
    """Couples of demands, and what rides where."""

    def __init__(self, mesh: Mesh, prices: Prices) -> None:
        problem = mesh.problem
        self.mesh = mesh
        self.loads = Loads(problem)
        self.gbps = {d: whole_rate(problem.demands[d], problem.states) for d in sorted(problem.protected)}
        self.couples: dict[int, Couple] = {}
        self._riding: list[set[int]] = [set() for _ in problem.lightpaths]
        self._smooth = [SMOOTH * each[-1] for each in prices]
        ends = [frozenset(path.route.ends) for path in problem.lightpaths]
        self._beside = [[i for i, other in enumerate(ends) if not other.isdisjoint(mine)] for mine in ends]

    def cost(self, power: float) -> float:
        """Of what seems to be bought, and of what rides [US$]."""
        ridden = zip(self._smooth, self.loads.gbps, strict=True)
        return self.loads.seeming_usd(power) + sum(price * gbps for price, gbps in ridden)

    @property
    def step_usd(self) -> float:
        """The middle one of the cheapest choices of lightpaths [US$]."""
        problem = self.mesh.problem
        return median(min(problem.choices[j].usd for j in offered) for offered in problem.offered)

    def drawn(self, chance: random.Random) -> list[int]:
        """Some demands of a lightpath, or of two that meet; or such as leave it with a smaller purchase."""
        one = chance.choice([i for i, riding in enumerate(self._riding) if riding])
        if chance.random() < STEPS:
            return self._beyond(one, chance)
        riding = self._riding[one]
        if chance.random() < 0.5:
            riding = riding | self._riding[chance.choice(self._beside[one])]
        return chance.sample(sorted(riding), min(len(riding), chance.randint(1, MOST)))

    def _beyond(self, i: int, chance: random.Random) -> list[int]:
        """Demands that together take the last step of a lightpath, or as many as may be taken off."""
        found: list[int] = []
        beyond = self.loads.beyond_gbps(i)
        for d in chance.sample(sorted(self._riding[i]), min(len(self._riding[i]), MOST)):
            if beyond <= 0:
                break
            found.append(d)
            beyond -= self.gbps[d]
        return found

    def placed(self, demands: Iterable[int], varied: float, chance: random.Random, power: float) -> None:
        """Each on the couple that adds least to the cost, one after the other.

        varied: share of what it adds by which that may seem more or less on each lightpath.
        """
        for d in demands:
            gbps = self.gbps[d]
            more = [self.loads.more_usd(i, gbps, power) + price * gbps for i, price in enumerate(self._smooth)]
            if varied:
                more = [usd * (1 + varied * chance.uniform(-1, 1)) for usd in more]
            prices = [[max(0.0, usd)] * len(tiers) for usd, tiers in zip(more, self.mesh.problem.tiers, strict=True)]
            self.put_back({d: cheapest_couple(self.mesh, self.mesh.problem.demands[d], prices)})

    def put_back(self, couples: Mapping[int, Couple]) -> None:
        """Let demands ride on couples."""
        for d, couple in couples.items():
            self.couples[d] = couple
            for i in _ridden(couple):
                self.loads.put(i, self.gbps[d])
                self._riding[i].add(d)

    def taken_off(self, demands: Iterable[int]) -> None:
        """Take demands off their couples."""
        for d in demands:
            for i in _ridden(self.couples.pop(d)):
                self.loads.put(i, -self.gbps[d])
                self._riding[i].discard(d)


def _ridden(couple: Couple) -> list[int]:
    return [i for way in couple.ways for i in way.lightpaths]
