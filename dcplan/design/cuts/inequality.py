"""Valid inequalities: what must be able to leave a set of sites, or cross a metric, in each state.

Where d is what the demands need and c what is bought, every state asks Σ weight × c ≥ Σ distance × d for any weights
of links and the shortest distances that they give the demands (Iri 1971, Onaga and Kakusho 1971: the metric
inequalities, which together are exact). Weights 1 on the links between two shores give the cut-set inequality.
Bought things are whole, so each inequality may be rounded (see `rounding`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS, Bought, choices_over
from dcplan.design.problem import Problem, rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.problem import Hop
    from dcplan.model.network import FiberId, SiteId


@dataclass(frozen=True, slots=True)
class Cut:
    """Σ weight × capacity of lightpaths (or of lit pairs and circuits) ≥ Σ distance × rate of demands, in one state.

    A demand on two ways has distance 2 × whole rate / rate between two shores when healthy, whole rate / rate else; in
    other cuts none, for what is set aside for it counts on the left.
    """

    state: int
    lightpaths: Mapping[int, float]
    """Lightpath -> weight; in a cut over fiber pairs only circuits."""
    fibers: Mapping[FiberId, float]
    """Fiber -> weight."""
    distances: Mapping[int, float]
    """Demand -> distance."""
    shore: tuple[SiteId, ...] = ()
    """The sites on one side, where it is a cut between two shores."""
    faster: Mapping[int, float] = field(default_factory=dict)
    """Choice -> weight beyond that of its lightpath, where a latency limit leaves only faster wavelengths."""
    aside: Mapping[Hop, float] = field(default_factory=dict)
    """Hop -> weight of what is set aside there for demands on two ways: the left side has so much less."""

    def need_gbps(self, problem: Problem) -> float:
        """The right side: what must be able to cross [Gb/s]."""
        state = problem.states[self.state]
        return math.fsum(value * rate(problem.demands[d], state) for d, value in self.distances.items())


def terms_of(cut: Cut, problem: Problem, bought: Bought, pair_gbps: Mapping[FiberId, float]) -> dict[int, float]:
    """The left side as terms over the columns of the master [Tb/s]; where nothing rides, nothing is set aside."""
    terms = {
        bought.wavelengths[j]: (cut.lightpaths.get(choice.lightpath, 0.0) + cut.faster.get(j, 0.0)) * choice.gbps * TBPS
        for j, choice in enumerate(problem.choices)
        if choice.lightpath in cut.lightpaths or j in cut.faster
    }
    terms |= {bought.aside[hop]: -weight for hop, weight in cut.aside.items() if hop in bought.aside}
    return terms | {bought.pairs[fiber]: weight * pair_gbps[fiber] * TBPS for fiber, weight in cut.fibers.items()}


def pair_capacity_gbps(problem: Problem) -> dict[FiberId, float]:
    """The most that one lit pair of each fiber can carry, whatever modes fill it (unbounded knapsack) [Gb/s]."""
    found = {}
    known: dict[tuple[tuple[int, float], ...], float] = {}
    for fiber in problem.fibers:
        best_rate: dict[int, float] = {}
        for j in choices_over(problem, fiber):
            choice = problem.choices[j]
            best_rate[choice.slots] = max(best_rate.get(choice.slots, 0.0), choice.gbps)
        modes = tuple(sorted(best_rate.items()))
        if modes not in known:
            known[modes] = _fullest_gbps(modes, problem.slots)
        found[fiber] = known[modes]
    return found


def _fullest_gbps(modes: Sequence[tuple[int, float]], size: int) -> float:
    """The most that modes of given widths and rates carry side by side in so many slots [Gb/s]."""
    best = [0.0] * (size + 1)
    for slots in range(1, size + 1):
        filled = (best[slots - width] + gbps for width, gbps in modes if width <= slots)
        best[slots] = max(best[slots - 1], *filled, 0.0)
    return best[size]
