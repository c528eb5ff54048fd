"""Valid inequalities: what must be able to leave a set of sites, or cross a metric, in each state.

Where d is what the demands need and c what is bought, every state asks Σ weight × c ≥ Σ distance × d for any weights
of links and the shortest distances that they give the demands (Iri 1971, Onaga and Kakusho 1971: the metric
inequalities, which together are exact). Weights 1 on the links between two shores give the cut-set inequality.
Bought things are whole, so each inequality may be rounded (mixed-integer rounding, Nemhauser and Wolsey 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

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
    """Σ weight × capacity of lightpaths (or of lit pairs and circuits) ≥ Σ distance × rate of demands, in one state."""

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

    def need_gbps(self, problem: Problem) -> float:
        """The right side: what must be able to cross [Gb/s]."""
        state = problem.states[self.state]
        return math.fsum(value * rate(problem.demands[d], state) for d, value in self.distances.items())


def terms_of(cut: Cut, problem: Problem, bought: Bought, pair_gbps: Mapping[FiberId, float]) -> dict[int, float]:
    """The left side as terms over the columns of the master [Tb/s]."""
    terms = {
        bought.wavelengths[j]: (cut.lightpaths.get(choice.lightpath, 0.0) + cut.faster.get(j, 0.0)) * choice.gbps * TBPS
        for j, choice in enumerate(problem.choices)
        if choice.lightpath in cut.lightpaths or j in cut.faster
    }
    return terms | {bought.pairs[fiber]: weight * pair_gbps[fiber] * TBPS for fiber, weight in cut.fibers.items()}


@dataclass(frozen=True, slots=True)
class Forms:
    """Inequalities Σ a x ≥ r over the same columns."""

    columns: tuple[int, ...]
    left: Any
    """a, an array of shape (inequalities, columns)."""
    need: Any
    """r, an array of shape (inequalities,)."""

    @staticmethod
    def of(rows: Sequence[tuple[Mapping[int, float], float]]) -> Forms:
        """Inequalities as arrays."""
        import numpy as np

        columns = tuple(sorted({column for terms, _ in rows for column in terms}))
        left = [[terms.get(column, 0.0) for column in columns] for terms, _ in rows]
        return Forms(columns, np.array(left, dtype=float), np.array([need for _, need in rows], dtype=float))

    def rows(self) -> Iterator[tuple[dict[int, float], float]]:
        """As terms and right sides."""
        for left, need in zip(self.left.tolist(), self.need.tolist(), strict=True):
            yield {column: value for column, value in zip(self.columns, left, strict=True) if value}, need

    def rounded(self) -> Forms:
        """Mixed-integer rounding of each inequality over whole x ≥ 0, once for each of its coefficients as divisor.

        With q = r / divisor and f = q − floor(q): Σ (floor(a') + min(1, frac(a') / f)) x ≥ ceil(q), a' = a / divisor.
        """
        import numpy as np

        lefts, needs = [np.zeros((0, len(self.columns)))], [np.zeros(0)]
        for left, need in zip(self.left, self.need, strict=True):
            divisors = np.unique(np.round(left[left > TINY], 9))
            lifted, least, changed = _lifted(left[None, :], np.array([need]), divisors[:, None])
            lefts.append(lifted[changed[:, 0], 0])
            needs.append(least[changed])
        return Forms(self.columns, np.concatenate(lefts), np.concatenate(needs))

    def summed(self) -> Forms:
        """The sum of all inequalities, each rounded by one divisor, for each coefficient as divisor; to be rounded.

        Where each of k failures takes another part of a cut, the rounded sum asks for ceil(R k / (k − 1)) over the
        whole cut, R being what must be left after any of them.
        """
        import numpy as np

        divisors = np.unique(np.round(self.left[self.left > TINY], 9))
        lifted, least, changed = _lifted(self.left, self.need, divisors[:, None])
        plain = self.left[None, :, :] / divisors[:, None, None]
        left = np.where(changed[:, :, None], lifted, plain).sum(axis=1)
        return Forms(self.columns, left, np.where(changed, least, self.need[None, :] / divisors[:, None]).sum(axis=1))

    def broken_by(self, values: Any) -> Any:
        """How much values, an array over all columns, miss each right side, relative to it."""
        return (self.need - (self.left * values[list(self.columns)]).sum(axis=1)) / self.need


def _lifted(left: Any, need: Any, divisors: Any) -> tuple[Any, Any, Any]:
    """Each of k inequalities (k, n) rounded by each of m divisors (m, 1): left (m, k, n), right (m, k), changed (m, k).

    An inequality that has a whole right side after division is not changed by rounding.
    """
    import numpy as np

    share = left[None, :, :] / divisors[:, :, None]
    q = need[None, :] / divisors
    f = q - np.floor(q + TINY)
    changed = f >= 1e-6
    whole = np.floor(share + TINY)
    part = np.minimum(1.0, np.maximum(0.0, share - whole) / np.where(changed, f, 1.0)[:, :, None])
    return whole + part, np.ceil(q - TINY), changed


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
    near = {site: sorted({other for _, other in problem.network.edges_at(site)} & set(sites)) for site in sites}
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


def _product(crossing: Any, alive: Any, amounts: Any) -> Any:
    """Σ crossing × alive × amounts over what there is any of, shape (shores, states).

    Not by BLAS: its threads wait on each other where cores are shared, and add up in an order of their own.
    """
    import numpy as np

    some = np.flatnonzero(amounts)
    return np.einsum("ij,kj->ik", crossing[:, some], alive[:, some] * amounts[some])


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
        self._leased = np.array([problem.circuit(i) is not None for i in range(len(problem.lightpaths))], dtype=bool)
        rates = np.array([[rate(demand, state) for demand in problem.demands] for state in problem.states])
        self._edges = np.concatenate([self._fibers, self._paths[:, self._leased]], axis=1)
        self._edge_alive = np.concatenate([self._fiber_alive, self._path_alive[:, self._leased]], axis=1)
        self._need = _product(
            self._demands,
            rates.reshape(len(problem.states), len(problem.demands)),
            np.ones(len(problem.demands)),
        )

    def tightest(
        self, capacity_gbps: Sequence[float], pairs: Sequence[float], most: int
    ) -> list[tuple[int, int, bool]]:
        """(shore, state, over wavelengths or over fiber pairs) of the cuts with the least left relative to the need."""
        import numpy as np

        found: list[tuple[float, int, int, bool]] = []
        pair_gbps = np.array([self.pair_gbps[fiber] for fiber in self.problem.fibers])
        capacity = np.asarray(capacity_gbps, dtype=float)
        lit = _product(self._fibers, self._fiber_alive, np.asarray(pairs, dtype=float) * pair_gbps)
        leased = _product(self._paths, self._path_alive, np.where(self._leased, capacity, 0.0))
        sides = (
            (_product(self._paths, self._path_alive, capacity), True),
            (lit + leased, False),
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
        """States whose losses among what crosses do not overlap, the largest first: what `summed` joins."""
        crossing = frozenset(i for i, crosses in enumerate(self._edges[shore]) if crosses)
        losing = []
        for k in range(len(self.problem.states)):
            lost = frozenset(i for i in crossing if not self._edge_alive[k][i])
            if lost and lost != crossing and self._need[shore, k] > TINY:
                losing.append((-len(lost), k, lost))
        chosen: list[int] = []
        covered: frozenset[int] = frozenset()
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
            {i: 1.0 for i, crosses in enumerate(paths) if crosses and (over_paths or self._leased[i])},
            {} if over_paths else {self.problem.fibers[i]: 1.0 for i, crosses in enumerate(fibers) if crosses},
            {d: 1.0 for d, crosses in enumerate(self._demands[shore]) if crosses},
            self.shores[shore],
        )
