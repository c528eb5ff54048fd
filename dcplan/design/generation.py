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

from dcplan.design.cutting import root, start
from dcplan.design.disjoint import cheapest_couple
from dcplan.design.formulation import TBPS, USD, hop_name, master
from dcplan.design.problem import whole_rate
from dcplan.design.protection import protect
from dcplan.design.solver import Linear

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dcplan.design.cutting import Held, Task
    from dcplan.design.disjoint import Couple
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.ways import Way

ROUNDS = 60
VARIED, SPREAD = 20, 0.6
"""Further rounds at prices that are up to so much of themselves off, for what is bought in whole modules."""
CLOSE = 1e-6
"""Share of its price by which a couple must be cheaper to be worth adding, and of the cost that the bound may miss."""


Generated = dict[int, dict[tuple["Hop", ...], "Way"]]
"""Of each demand: its ways, by their hops."""


def can_generate(problem: Problem) -> bool:
    """Only where all demands go two ways, and no latency limit says which."""
    return not problem.shared and all(demand.max_latency_ms is None for demand in problem.demands)


def generated(task: Task, wanted: Collection[int]) -> Task:
    """The task with ways for the wanted demands, and with a bound on what any ways cost; time ends it early.

    A demand for which no two ways exist is left without any. Where even all ways together cannot carry everything, the
    ways are those that leave least of it.
    """
    problem = task.problem
    ways: Generated = {d: {} for d in wanted}
    _add(ways, _couples(problem, wanted, _first_prices(problem)))
    floor = -inf
    known: tuple[Held, ...] = ()
    filled = False
    for _ in range(ROUNDS):
        loop = start(_with(task, ways), known)
        if not root(loop):
            if filled or not _fill(task, ways):
                return _with(task, ways)
            filled = True
            continue
        known = tuple(loop.cuts.values())
        names = tuple(row.name for row in loop.program.rows[: loop.base])
        relaxed = _Relaxed(problem, loop.linear, loop.bought, names)
        bound, cheaper = _round(relaxed, ways)
        floor = max(floor, bound)
        task.say(f"ways: {_number(ways)}, relaxation US$ {loop.linear.objective / USD:,.0f}")
        if not _add(ways, cheaper) or task.until.over or loop.linear.objective - floor <= CLOSE * abs(floor):
            break
    _vary(task, ways, relaxed)
    return replace(_with(task, ways), floor_usd=max(0.0, floor) / USD)


def _vary(task: Task, ways: Generated, relaxed: _Relaxed) -> None:
    """Add couples that are cheapest at prices near those of the relaxation: whole purchases need other ways as well."""
    prices, chance = _prices(relaxed), random.Random(1)  # noqa: S311 - repeatable is the point
    for _ in range(VARIED):
        if task.until.over:
            return
        near = [price * (1 + SPREAD * chance.uniform(-1, 1)) for price in prices]
        _add(ways, _couples(task.problem, ways, near))


def _fill(task: Task, ways: Generated) -> bool:
    """Generate ways until the relaxation of what can be bought carries everything; False where none do."""
    problem = task.problem
    for _ in range(ROUNDS):
        program, bought = master(problem, task.slots)
        free = [replace(column, cost=0.0) for column in program.columns]
        program.columns[:] = free
        short = {d: program.column(f"u{d}", _tbps(problem, d), 1) for d, mine in ways.items() if mine}
        protect(program, problem, bought, _with(task, ways).protected, short=short)
        linear = Linear(program)
        if linear.solve() != "optimal":
            return False
        if linear.objective <= CLOSE:
            return True
        relaxed = _Relaxed(problem, linear, bought, tuple(row.name for row in program.rows))
        if not _add(ways, _round(relaxed, ways)[1]) or task.until.over:
            return False
    return False


@dataclass(frozen=True)
class _Relaxed:
    """A relaxation that was solved."""

    problem: Problem
    linear: Linear
    bought: Bought
    rows: tuple[str, ...]
    """Names of those before any cut, in order."""

    def dual(self, row: str) -> float:
        """By name."""
        return float(self.linear.duals[self._row_of[row]])

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {name: r for r, name in enumerate(self.rows)}


def _round(relaxed: _Relaxed, ways: Generated) -> tuple[float, dict[int, Couple]]:
    """A bound over all ways [thousand US$], and the couples that cost less than what their demands pay."""
    problem, linear = relaxed.problem, relaxed.linear
    paid = {d: relaxed.dual(f"split{d}") for d, mine in ways.items() if mine}
    couples = _couples(problem, paid, _prices(relaxed))
    above = {d: pays - couples[d].least * _tbps(problem, d) for d, pays in paid.items()}
    cheaper = {
        d: couples[d]
        for d, pays in paid.items()
        if couples[d].price * _tbps(problem, d) < pays - CLOSE * max(1.0, abs(pays))
    }
    return linear.objective - sum(max(0.0, more) for more in above.values()), cheaper


def _with(task: Task, ways: Generated) -> Task:
    return replace(task, ways={**task.ways, **{d: tuple(mine.values()) for d, mine in ways.items()}})


def _couples(problem: Problem, wanted: Collection[int], prices: Sequence[float]) -> dict[int, Couple]:
    return {d: cheapest_couple(problem, problem.demands[d], prices) for d in wanted}


def _add(ways: Generated, couples: Mapping[int, Couple]) -> int:
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


def _first_prices(problem: Problem) -> list[float]:
    """Per Tb/s on each lightpath, of its cheapest choice, were it filled."""
    each = [[problem.choices[j] for j in offered] for offered in problem.offered]
    return [min((one.usd / one.gbps for one in mine), default=0.0) for mine in each]


def _prices(relaxed: _Relaxed) -> list[float]:
    """Per Tb/s on each lightpath: the dual of its capacity, raised by what its cheapest wavelength is still too dear.

    The latter leaves all other duals as they are, and tells lightpaths apart that nothing uses yet.
    """
    problem, linear = relaxed.problem, relaxed.linear
    found = []
    for i in range(len(problem.lightpaths)):
        dual = -relaxed.dual(f"path{hop_name(problem, problem.top(i))}")
        dear = (
            linear.reduced[relaxed.bought.wavelengths[j]] / (problem.choices[j].gbps * TBPS) for j in problem.offered[i]
        )
        found.append(max(0.0, dual + max(0.0, min(dear, default=0.0))))
    return found
