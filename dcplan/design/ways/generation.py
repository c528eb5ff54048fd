"""Ways of demands on two at once, generated where there are too many to list: those that the relaxation would take.

Column generation over couples of ways: the duals of the relaxed master price every lightpath, and for each demand the
cheapest couple at these prices joins it while it costs less than what the demand pays. With the prices of any round
the cost of the relaxation, less what demands pay above the price of their cheapest couple, is a bound over all couples
(Farley, Operations Research 38, 1990).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import root, start
from dcplan.design.formulation import TBPS, USD, hop_name, master
from dcplan.design.problem import whole_rate
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.disjoint import cheapest_couple
from dcplan.design.ways.mesh import mesh
from dcplan.design.ways.protection import protect

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dcplan.design.cuts.loop import Loop, Task
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way
    from dcplan.design.ways.disjoint import Couple
    from dcplan.design.ways.mesh import Mesh, Prices

ROUNDS = 60
VARIED, SPREAD = 20, 0.6
"""Further rounds at prices that are up to so much of themselves off, for what is bought in whole modules."""
CLOSE = 1e-6
"""Share of its price by which a couple must be cheaper to be worth adding, and of the cost that the bound may miss."""


Generated = dict[int, dict[tuple["Hop", ...], "Way"]]
"""Of each demand: its ways, by their hops."""


def generated(task: Task, wanted: Collection[int]) -> Task:
    """The task with ways for the wanted demands, and with a bound on what any ways cost; time ends it early.

    A demand for which no two ways exist is left without any. Where even all ways together cannot carry everything, the
    ways are those that leave least of it; where that is so only beside what other demands need, there is no bound.
    """
    graph = mesh(task.problem)
    ways: Generated = {d: {} for d in wanted}
    add(ways, _couples(graph, wanted, first_prices(task.problem)))
    floor = -inf
    before: Loop | None = None
    filled = False
    for _ in range(ROUNDS):
        known = tuple(before.cuts.values()) if before else ()
        before = loop = start(replace(with_ways(task, ways), growing=True), known, like=before)
        if not root(loop):
            if filled or not _fill(task, graph, ways):
                return with_ways(task, ways)
            filled = True
            continue
        relaxed = Relaxed(graph, loop.linear, loop.bought, loop.program)
        bound, cheaper = relaxed.priced(ways)
        floor = max(floor, bound)
        task.say(f"ways: {_number(ways)}, relaxation US$ {loop.linear.objective / USD:,.0f}")
        if not add(ways, cheaper) or task.until.over or loop.linear.objective - floor <= CLOSE * abs(floor):
            break
    _vary(task, ways, relaxed)
    return replace(with_ways(task, ways), floor_usd=max(0.0, floor) / USD)


def _vary(task: Task, ways: Generated, relaxed: Relaxed) -> None:
    """Add couples that are cheapest at prices near those of the relaxation: whole purchases need other ways as well."""
    chance = random.Random(1)  # noqa: S311 - repeatable is the point
    for _ in range(VARIED):
        if task.until.over:
            return
        near = []
        for tiers in relaxed.prices:
            off = 1 + SPREAD * chance.uniform(-1, 1)
            near.append([price * off for price in tiers])
        add(ways, _couples(relaxed.mesh, ways, near))


def _fill(task: Task, graph: Mesh, ways: Generated) -> bool:
    """Generate ways until the relaxation of what can be bought carries everything; False where none do."""
    problem = task.problem
    for _ in range(ROUNDS):
        program, bought = master(problem, task.slots)
        free = [replace(column, cost=0.0) for column in program.columns]
        program.columns[:] = free
        short = {d: program.column(f"u{d}", _tbps(problem, d), 1) for d, mine in ways.items() if mine}
        protected = protect(program, problem, bought, with_ways(task, ways).protected, short=short, every=True)
        linear = Linear(program)
        if linear.solve() != "optimal":
            return False
        if linear.objective <= CLOSE:
            return True
        relaxed = Relaxed(graph, linear, replace(bought, aside=protected.aside), program)
        if not add(ways, relaxed.priced(ways)[1]) or task.until.over:
            return False
    return False


@dataclass(frozen=True)
class Relaxed:
    """A relaxation that was solved, with a row for every hop (see `protect`)."""

    mesh: Mesh
    linear: Linear
    bought: Bought
    program: Program

    def dual(self, row: str) -> float:
        """By name."""
        return float(self.linear.duals[self._row_of[row]])

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {row.name: r for r, row in enumerate(self.program.rows)}

    @cached_property
    def prices(self) -> Prices:
        """Per Tb/s on each lightpath, by the tier that it must fit: the duals of what is set aside or lit there.

        Raised by what the cheapest wavelength, or the setting aside, is still too dear: that leaves all other duals as
        they are, and tells lightpaths apart that nothing uses yet.
        """
        problem, reduced = self.mesh.problem, self.linear.reduced
        found = []
        for i, tiers in enumerate(problem.tiers):
            dear = max(
                0.0,
                min(reduced[self.bought.wavelengths[j]] / (problem.choices[j].gbps * TBPS) for j in problem.offered[i]),
            )
            hops = [(i, tier) for tier in range(len(tiers))]
            if self.bought.aside:
                each = [
                    max(0.0, -self.dual(f"aside{hop_name(problem, hop)}")) + max(0.0, reduced[self.bought.aside[hop]])
                    for hop in hops
                ]
            else:
                duals = [max(0.0, -self.dual(f"path{hop_name(problem, hop)}")) for hop in hops]
                each = [sum(duals[tier:]) for tier in range(len(hops))]
            found.append([price + dear for price in each])
        return found

    def priced(self, ways: Mapping[int, Collection[object]]) -> tuple[float, dict[int, Couple]]:
        """A bound over all ways [thousand US$], and the couples that cost less than what their demands pay."""
        problem = self.mesh.problem
        paid = {d: self.dual(f"split{d}") for d, mine in ways.items() if mine}
        couples = _couples(self.mesh, paid, self.prices)
        above = {d: pays - couples[d].least * _tbps(problem, d) for d, pays in paid.items()}
        cheaper = {
            d: couples[d]
            for d, pays in paid.items()
            if couples[d].price * _tbps(problem, d) < pays - CLOSE * max(1.0, abs(pays))
        }
        return self.linear.objective - sum(max(0.0, more) for more in above.values()), cheaper


def with_ways(task: Task, ways: Generated) -> Task:
    """The task with the ways generated so far."""
    return replace(task, ways={**task.ways, **{d: tuple(mine.values()) for d, mine in ways.items()}})


def _couples(graph: Mesh, wanted: Collection[int], prices: Prices) -> dict[int, Couple]:
    return {d: cheapest_couple(graph, graph.problem.demands[d], prices) for d in wanted}


def add(ways: Generated, couples: Mapping[int, Couple]) -> int:
    """Add the ways of couples; how many of them are new."""
    before = _number(ways)
    for d, couple in couples.items():
        for way in couple.ways:
            ways[d].setdefault(way.hops, way)
    return _number(ways) - before


def _number(ways: Generated) -> int:
    return sum(map(len, ways.values()))


def _tbps(problem: Problem, d: int) -> float:
    return whole_rate(problem.demands[d], problem.states) * TBPS


def first_prices(problem: Problem) -> Prices:
    """Per Tb/s on each lightpath, of the cheapest choice that is fast enough, were it filled."""
    found = []
    for i, tiers in enumerate(problem.tiers):
        mine = [[problem.choices[j] for j in problem.within((i, tier))] for tier in range(len(tiers))]
        found.append([min(one.usd / one.gbps for one in each) for each in mine])
    return found
