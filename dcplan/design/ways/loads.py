"""What a purchase costs by what its lightpaths carry, one demand more or less at a time; close enough to search by."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.design.problem import whole_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.design.problem import Problem
    from dcplan.model.network import FiberId

OVER = 100.0
"""Times its price that costs what cannot be bought: a search leaves it again."""
CLOSE = 1e-9
"""Share of a load that is rounding."""
DIGITS = 6
"""Of a load [Gb/s]: what adding and taking off again leaves is nothing."""
Mix = tuple[float, float, int]
"""Choices together: their capacity [Gb/s], price [US$] and slots."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The mixes of choices of a lightpath of which none is beaten in capacity and price, the smallest first."""

    gbps: tuple[float, ...]
    mixes: tuple[Mix, ...]
    over_usd: float
    """Of each Gb/s beyond the largest."""

    def at(self, load_gbps: float) -> tuple[float, int]:
        """Price [US$] and slots of the cheapest mix that carries a load."""
        n = bisect_left(self.gbps, load_gbps * (1 - CLOSE))
        if n < len(self.mixes):
            return self.mixes[n][1:]
        most_gbps, usd, slots = self.mixes[-1]
        return usd + self.over_usd * (load_gbps - most_gbps), slots

    def below(self, load_gbps: float) -> float:
        """Capacity of the mix before the one that carries a load; 0 where there is none [Gb/s]."""
        n = bisect_left(self.gbps, load_gbps * (1 - CLOSE))
        return self.gbps[n - 1] if n else 0.0

    def bent(self, load_gbps: float, power: float) -> float:
        """What a load seems to cost where the last step rises by degrees, as the power of how far it is filled."""
        n = bisect_left(self.gbps, load_gbps * (1 - CLOSE))
        if n == 0 or n == len(self.mixes):
            return self.at(load_gbps)[0]
        (low_gbps, low_usd, _), (high_gbps, high_usd, _) = self.mixes[n - 1 : n + 1]
        filled = (load_gbps - low_gbps) / (high_gbps - low_gbps)
        return low_usd + (high_usd - low_usd) * math.pow(min(1.0, filled), power)


def steps(problem: Problem, lightpath: int, most_gbps: float) -> Steps:
    """Up to what a lightpath may ever carry. What is kept in any case is there; a set-up price comes with the first."""
    offered = [problem.choices[j] for j in problem.offered[lightpath]]
    kept = sum(one.least * one.gbps for one in offered)
    circuit = problem.circuit(lightpath)
    alone = circuit is not None and problem.network.circuits[circuit].pick == "one"
    begun: Mix = (kept, 0.0, sum(one.least * one.slots for one in offered))
    found = [begun]
    for one in offered:
        most = min(one.most - one.least, 1 if alone else ceil(most_gbps / one.gbps))
        more = [
            (gbps + count * one.gbps, usd + count * one.usd, slots + count * one.slots)
            for gbps, usd, slots in ([begun] if alone else found)
            for count in range(1, most + 1)
            if gbps + (count - 1) * one.gbps < most_gbps
        ]
        found = _unbeaten([*found, *more])
    build = problem.build_usd.get(circuit, 0.0) if circuit else 0.0
    mixes = tuple((gbps, usd + (build if gbps > kept else 0.0), slots) for gbps, usd, slots in found)
    dearest = max((one.usd / one.gbps for one in offered), default=0.0)
    return Steps(tuple(gbps for gbps, *_ in mixes), mixes, OVER * max(1.0, dearest))


def _unbeaten(mixes: Iterable[Mix]) -> list[Mix]:
    """Those that carry more than every one that costs no more, by capacity."""
    kept: list[Mix] = []
    for one in sorted(mixes, key=lambda mix: (mix[1], -mix[0], mix[2])):
        if not kept or one[0] > kept[-1][0] * (1 + CLOSE):
            kept.append(one)
    return kept


class Loads:
    """What each lightpath carries, and what must be bought for it: mixes per lightpath, whole pairs per fiber.

    Slots of a fiber are counted together, wherever they stand in the spectrum.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.gbps = [0.0] * len(problem.lightpaths)
        self._slots: dict[FiberId, int] = dict.fromkeys(problem.fibers, 0)
        self._glass = [problem.glass(i) for i in range(len(problem.lightpaths))]
        self._steps = self._all_steps()
        self._bought = [each.at(0.0) for each in self._steps]
        for i, (_, slots) in enumerate(self._bought):
            for fiber in self._glass[i]:
                self._slots[fiber] += slots

    def _all_steps(self) -> list[Steps]:
        """Lightpaths with equal choices have equal steps."""
        problem, made = self.problem, dict[object, Steps]()
        most_gbps = 2 * sum(whole_rate(demand, problem.states) for demand in problem.demands)
        found = []
        for i, offered in enumerate(problem.offered):
            mine = [problem.choices[j] for j in offered]
            circuit = problem.circuit(i)
            about = circuit and (problem.network.circuits[circuit].pick, problem.build_usd.get(circuit))
            kind = (about, *((one.gbps, one.usd, one.slots, one.most, one.least, one.mode == EXISTING) for one in mine))
            made.setdefault(kind, steps(problem, i, most_gbps))
            found.append(made[kind])
        return found

    def beyond_gbps(self, i: int) -> float:
        """What a lightpath carries beyond the next smaller mix."""
        return self.gbps[i] - self._steps[i].below(self.gbps[i])

    def seeming_usd(self, power: float) -> float:
        """What must be bought in all, with steps that rise by degrees [US$]."""
        bent = sum(each.bent(gbps, power) for each, gbps in zip(self._steps, self.gbps, strict=True))
        return bent + sum(self._lit_usd(*each) for each in self._slots.items())

    @property
    def usd(self) -> float:
        """What must be bought in all [US$]."""
        return sum(usd for usd, _ in self._bought) + sum(self._lit_usd(*each) for each in self._slots.items())

    def more_usd(self, i: int, gbps: float, power: float) -> float:
        """What seems to be bought beyond where a lightpath carries so much more [US$]."""
        mine, load = self._steps[i], self.gbps[i]
        more = mine.bent(load + gbps, power) - mine.bent(load, power)
        _, slots = mine.at(load + gbps)
        _, had = self._bought[i]
        if slots != had:
            for fiber in self._glass[i]:
                there = self._slots[fiber]
                more += self._lit_usd(fiber, there + slots - had) - self._lit_usd(fiber, there)
        return more

    def put(self, i: int, gbps: float) -> None:
        """Let a lightpath carry so much more, or less where it is negative."""
        self.gbps[i] = round(self.gbps[i] + gbps, DIGITS)
        bought = self._steps[i].at(self.gbps[i])
        for fiber in self._glass[i]:
            self._slots[fiber] += bought[1] - self._bought[i][1]
        self._bought[i] = bought

    def _lit_usd(self, fiber: FiberId, slots: int) -> float:
        problem = self.problem
        pairs, most = ceil(slots / problem.slots), problem.network.fibers[fiber].pairs
        over = OVER * max(0, pairs - most)
        return problem.pair_usd[fiber] * (pairs + over) + over + (problem.build_usd.get(fiber, 0.0) if pairs else 0.0)
