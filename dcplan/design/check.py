"""Can the traffic of a state be carried by what is bought? If not: how much is short, and the inequality why."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts import Cut
from dcplan.design.formulation import TBPS, hop_name, route
from dcplan.design.problem import Hop, Problem, rate
from dcplan.design.program import Program
from dcplan.design.solver import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.ways import Way
    from dcplan.model.network import Pair, SiteId

SHORT = 1e-7
"""Share of all traffic of a state that may be short by rounding."""


@dataclass(frozen=True, slots=True)
class Short:
    """The least total shortage of a state: who bears it, and a violated inequality."""

    by_demand: Mapping[int, float]
    """[Gb/s]"""
    cut: Cut


class StateCheck:
    """The routing LP of one state at a time, kept in the solver between calls."""

    def __init__(self, problem: Problem, ways: Mapping[int, Sequence[Way]]) -> None:
        self.problem = problem
        self.ways = ways
        program = Program()
        demands = dict(enumerate(problem.demands))
        self._short = {d: program.column(f"u{d}", 1.0) for d in demands}
        self._links = problem.links(range(len(problem.lightpaths)))
        self._loads = route(program, "", self._links, demands, dict.fromkeys(demands, 0.0), ways, self._short)
        self._link_rows = {
            ends: program.row(f"link{e}", terms, upper=0) for e, (ends, terms) in enumerate(self._loads.links.items())
        }
        self._path_rows = {
            hop: program.row(f"path{hop_name(problem, hop)}", terms, upper=0)
            for hop, terms in self._loads.lightpaths.items()
        }
        self._within = {hop: problem.within(hop) for hop in self._path_rows}
        self._alive = [frozenset(problem.alive(state)) for state in problem.states]
        self._linear = Linear(program)

    def rates(self, state: int) -> dict[int, float]:
        """What each demand asks in a state [Gb/s]."""
        return {d: rate(demand, self.problem.states[state]) for d, demand in enumerate(self.problem.demands)}

    def short(self, state: int, counts: Sequence[float], rates: Mapping[int, float] | None = None) -> Short | None:
        """None where so many wavelengths per choice carry everything. SolverError where the LP itself fails."""
        capacity_gbps = self.problem.capacity_gbps(counts)
        asked = self.rates(state) if rates is None else rates
        alive = self._alive[state]
        links = [sum(capacity_gbps[i] for i in paths if i in alive) for paths in self._links.values()]
        paths = [self._within_gbps(hop, counts) if hop[0] in alive else 0.0 for hop in self._path_rows]
        rows = [*self._link_rows.values(), *self._path_rows.values()]
        self._linear.bound_rows(rows, [-inf] * len(rows), [TBPS * value for value in links + paths])
        needs = [TBPS * sum(asked[d] for d in demands) for _, demands in self._loads.asked]
        self._linear.bound_rows([row for row, _ in self._loads.asked], needs, needs)
        if self._linear.solve() != "optimal":
            raise SolverError(f"the routing check of state `{self.problem.states[state].name}` gave no answer")
        least = SHORT * max(1.0, sum(needs))
        if self._linear.objective <= least:
            return None
        by_demand = {d: self._linear.values[u] / TBPS for d, u in self._short.items() if self._linear.values[u] > least}
        return Short(by_demand, self._metric(state))

    def _within_gbps(self, hop: Hop, counts: Sequence[float]) -> float:
        return sum(counts[j] * self.problem.choices[j].gbps for j in self._within[hop])

    def _metric(self, state: int) -> Cut:
        """The metric inequality of the LP's duals; distances are computed anew, so that it holds whatever the duals.

        A wavelength weighs what its link does and what each tier does that it serves: the faster, the more. Traffic
        pays the weight of the slowest wavelength that it may ride on.
        """
        duals = self._linear.duals
        alive = self._alive[state]
        raw = {
            (i, tier): max(0.0, -duals[self._link_rows[ends]])
            + sum(
                max(0.0, -duals[self._path_rows[i, slower]])
                for slower in range(tier, len(self.problem.tiers[i]))
                if (i, slower) in self._path_rows
            )
            for ends, paths in self._links.items()
            for i in paths
            if i in alive
            for tier in range(len(self.problem.tiers[i]))
        }
        largest = max(raw.values(), default=0.0) or 1.0
        weights = {hop: round(value / largest, 9) for hop, value in raw.items()}
        distances: dict[int, float] = {}
        lengths = {
            ends: min(weights[self.problem.top(i)] for i in paths if i in alive)
            for ends, paths in self._links.items()
            if any(i in alive for i in paths)
        }
        for d, demand in enumerate(self.problem.demands):
            if rate(demand, self.problem.states[state]) <= 0:
                continue
            if d in self.ways:
                mine = (way for way in self.ways[d] if state not in way.broken)
                distance = min((sum(weights[hop] for hop in way.hops) for way in mine), default=inf)
            else:
                distance = _distance(lengths, *demand.ends)
            if 0 < distance < inf:
                distances[d] = distance
        common = {i: weights[self.problem.top(i)] for i, _ in weights}
        faster = {
            j: extra
            for j, choice in enumerate(self.problem.choices)
            if choice.lightpath in alive
            and (extra := weights[choice.lightpath, self.problem.tier(choice)] - common[choice.lightpath]) > 0
        }
        return Cut(state, {i: value for i, value in sorted(common.items()) if value > 0}, {}, distances, faster=faster)


def _distance(lengths: Mapping[Pair, float], a: SiteId, b: SiteId) -> float:
    near: dict[SiteId, list[tuple[SiteId, float]]] = {}
    for (one, other), length in lengths.items():
        near.setdefault(one, []).append((other, length))
        near.setdefault(other, []).append((one, length))
    queue, done = [(0.0, a)], set[str]()
    while queue:
        distance, site = heapq.heappop(queue)
        if site == b:
            return distance
        if site in done:
            continue
        done.add(site)
        for other, length in near.get(site, ()):
            heapq.heappush(queue, (distance + length, other))
    return inf
