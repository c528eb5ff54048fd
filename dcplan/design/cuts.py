"""Valid inequalities: what must be able to leave a set of sites, or cross a metric, in each state.

Where d is what the demands need and c what is bought, every state asks Σ weight × c ≥ Σ distance × d for any weights
of links and the shortest distances that they give the demands (Iri 1971, Onaga and Kakusho 1971: the metric
inequalities, which together are exact). Weights 1 on the links between two shores give the cut-set inequality.
Bought things are whole, so each inequality may be rounded (mixed-integer rounding, Nemhauser and Wolsey 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS, Bought, choices_over
from dcplan.design.problem import Problem, rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.model.network import FiberId, SiteId

EXACT_SITES = 14
"""Up to this many sites every set of sites is looked at."""
MOST_SHORES = 4096
"""On larger networks: connected sets of sites looked at, smallest first."""
TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Cut:
    """Σ weight × capacity of lightpaths (or of lit pairs) ≥ Σ distance × rate of demands, in one state."""

    state: int
    lightpaths: Mapping[int, float]
    """Lightpath -> weight; empty for a cut over fiber pairs."""
    fibers: Mapping[FiberId, float]
    """Fiber -> weight."""
    distances: Mapping[int, float]
    """Demand -> distance."""
    shore: tuple[SiteId, ...] = ()
    """The sites on one side, where it is a cut between two shores."""

    def need_gbps(self, problem: Problem) -> float:
        """The right side: what must be able to cross [Gb/s]."""
        state = problem.states[self.state]
        return math.fsum(value * rate(problem.demands[d], state) for d, value in self.distances.items())


def terms_of(cut: Cut, problem: Problem, bought: Bought, pair_gbps: Mapping[FiberId, float]) -> dict[int, float]:
    """The left side as terms over the columns of the master [Tb/s]."""
    terms = {
        bought.wavelengths[j]: cut.lightpaths[choice.lightpath] * choice.gbps * TBPS
        for j, choice in enumerate(problem.choices)
        if choice.lightpath in cut.lightpaths
    }
    return terms | {bought.pairs[fiber]: weight * pair_gbps[fiber] * TBPS for fiber, weight in cut.fibers.items()}


def rounded(terms: Mapping[int, float], need: float) -> Iterator[tuple[dict[int, float], float]]:
    """Mixed-integer rounding of Σ a x ≥ r over whole x ≥ 0, once for each coefficient as divisor.

    With q = r / divisor and f = q − floor(q): Σ (floor(a') + min(1, frac(a') / f)) x ≥ ceil(q), a' = a / divisor.
    """
    for divisor in sorted({round(value, 9) for value in terms.values() if value > TINY}):
        found = _lifted(terms, need, divisor)
        if found is not None:
            yield found


def _lifted(terms: Mapping[int, float], need: float, divisor: float) -> tuple[dict[int, float], float] | None:
    q = need / divisor
    f = q - math.floor(q + TINY)
    if f < 1e-6:
        return None
    lifted = {}
    for column, value in terms.items():
        whole = math.floor(value / divisor + TINY)
        lifted[column] = whole + min(1.0, max(0.0, value / divisor - whole) / f)
    return lifted, float(math.ceil(q - TINY))


def summed(rows: Sequence[tuple[Mapping[int, float], float]]) -> Iterator[tuple[dict[int, float], float]]:
    """Round each of several inequalities by a common divisor, add them up, and round the sum.

    Where each of k failures takes another part of a cut, this asks for ceil(R k / (k − 1)) over the whole cut, R being
    what must be left after any of them.
    """
    divisors = sorted({round(value, 9) for terms, _ in rows for value in terms.values() if value > TINY})
    for divisor in divisors:
        total: dict[int, float] = {}
        needs = 0.0
        for terms, need in rows:
            lifted, least = _lifted(terms, need, divisor) or (
                {i: v / divisor for i, v in terms.items()},
                need / divisor,
            )
            needs += least
            for column, value in lifted.items():
                total[column] = total.get(column, 0.0) + value
        yield from rounded(total, needs)


def pair_capacity_gbps(problem: Problem) -> dict[FiberId, float]:
    """The most that one lit pair of each fiber can carry, whatever modes fill it (unbounded knapsack) [Gb/s]."""
    found = {}
    for fiber in problem.fibers:
        best_rate: dict[int, float] = {}
        for j in choices_over(problem, fiber):
            choice = problem.choices[j]
            best_rate[choice.slots] = max(best_rate.get(choice.slots, 0.0), choice.gbps)
        best = [0.0] * (problem.slots + 1)
        for slots in range(1, problem.slots + 1):
            filled = (best[slots - width] + gbps for width, gbps in best_rate.items() if width <= slots)
            best[slots] = max(best[slots - 1], *filled, 0.0)
        found[fiber] = best[problem.slots]
    return found


def shores(problem: Problem) -> list[tuple[SiteId, ...]]:
    """Sets of sites to look at: all of them (one of each complementary pair), or on large networks connected ones."""
    sites = sorted({site for demand in problem.demands for site in demand.ends} | _lit_sites(problem))
    if len(sites) <= EXACT_SITES:
        rest = sites[1:]
        return [subset for size in range(1, len(sites)) for subset in combinations(rest, size)]
    return _connected(problem, sites)


def _lit_sites(problem: Problem) -> set[SiteId]:
    return {site for lightpath in problem.lightpaths for site in lightpath.route.ends}


def _connected(problem: Problem, sites: Sequence[SiteId]) -> list[tuple[SiteId, ...]]:
    near = {site: sorted({other for _, other in problem.network.neighbours(site)} & set(sites)) for site in sites}
    found: dict[tuple[SiteId, ...], None] = {(site,): None for site in sites}
    level = list(found)
    while level and len(found) < MOST_SHORES and len(level[0]) <= len(sites) // 2:
        grown: dict[tuple[SiteId, ...], None] = {}
        for subset in level:
            for site in subset:
                for other in near[site]:
                    if other not in subset:
                        grown[tuple(sorted((*subset, other)))] = None
        level = list(grown)[: MOST_SHORES - len(found)]
        found |= dict.fromkeys(level)
    return list(found)


class ShoreCuts:
    """All cuts between two shores in all states, ready to be compared with what is bought."""

    def __init__(self, problem: Problem) -> None:
        import numpy as np

        self.problem = problem
        self.pair_gbps = pair_capacity_gbps(problem)
        self.shores = shores(problem)
        inside = {
            site: np.array([site in shore for shore in self.shores], dtype=bool) for site in problem.network.sites
        }

        def crossing(ends: Sequence[tuple[SiteId, SiteId]]) -> object:
            if not ends or not self.shores:
                return np.zeros((len(self.shores), len(ends)))
            return np.stack([inside[a] != inside[b] for a, b in ends], axis=1).astype(float)

        fiber_ends = [(problem.network.fibers[f].ends[0], problem.network.fibers[f].ends[1]) for f in problem.fibers]
        self._index = {fiber: i for i, fiber in enumerate(problem.fibers)}
        self._paths = np.asarray(crossing([lightpath.route.ends for lightpath in problem.lightpaths]))
        self._fibers = np.asarray(crossing(fiber_ends))
        self._demands = np.asarray(crossing([demand.ends for demand in problem.demands]))
        self._path_alive = np.array(
            [[not state.breaks(path.route) for path in problem.lightpaths] for state in problem.states], dtype=float
        ).reshape(len(problem.states), len(problem.lightpaths))
        self._fiber_alive = np.array(
            [
                [
                    fiber not in state.fibers and state.sites.isdisjoint(ends)
                    for fiber, ends in zip(problem.fibers, fiber_ends, strict=True)
                ]
                for state in problem.states
            ],
            dtype=float,
        ).reshape(len(problem.states), len(problem.fibers))
        rates = np.array([[rate(demand, state) for demand in problem.demands] for state in problem.states])
        self._need = self._demands @ rates.reshape(len(problem.states), len(problem.demands)).T

    def tightest(
        self, capacity_gbps: Sequence[float], pairs: Sequence[float], most: int
    ) -> list[tuple[int, int, bool]]:
        """(shore, state, over wavelengths or over fiber pairs) of the cuts with the least left relative to the need."""
        import numpy as np

        found: list[tuple[float, int, int, bool]] = []
        pair_gbps = np.array([self.pair_gbps[fiber] for fiber in self.problem.fibers])
        sides = (
            (self._paths @ (self._path_alive * np.asarray(capacity_gbps)).T, True),
            (self._fibers @ (self._fiber_alive * np.asarray(pairs) * pair_gbps).T, False),
        )
        for have, over_paths in sides:
            needed = self._need > TINY
            left = np.where(needed, (have - self._need) / np.where(needed, self._need, 1.0), np.inf)
            order = np.argsort(left, axis=None, kind="stable")[:most]
            for flat in order:
                shore, state = divmod(int(flat), left.shape[1])
                if np.isfinite(left[shore, state]):
                    found.append((float(left[shore, state]), shore, state, over_paths))
        found.sort()
        return [item[1:] for item in found]

    def family(self, shore: int) -> list[int]:
        """States whose losses among the crossing fibers do not overlap, the largest first: what `summed` joins."""
        crossing = {self.problem.fibers[i] for i, crosses in enumerate(self._fibers[shore]) if crosses}
        losing = []
        for k in range(len(self.problem.states)):
            lost = frozenset(f for f in crossing if not self._fiber_alive[k][self._index[f]])
            if lost and lost != crossing and self._need[shore, k] > TINY:
                losing.append((-len(lost), k, lost))
        chosen: list[int] = []
        covered: frozenset[FiberId] = frozenset()
        for _, k, lost in sorted(losing, key=lambda item: item[:2]):
            if covered.isdisjoint(lost):
                chosen.append(k)
                covered |= lost
        return chosen

    def cut(self, shore: int, state: int, *, over_paths: bool) -> Cut:
        """One of the cuts."""
        paths = self._paths[shore] * self._path_alive[state]
        fibers = self._fibers[shore] * self._fiber_alive[state]
        return Cut(
            state,
            {i: 1.0 for i, crosses in enumerate(paths) if crosses} if over_paths else {},
            {} if over_paths else {self.problem.fibers[i]: 1.0 for i, crosses in enumerate(fibers) if crosses},
            {d: 1.0 for d, crosses in enumerate(self._demands[shore]) if crosses},
            self.shores[shore],
        )
