"""Sizes the network where demands may take few routes at a time.

The answer with splittable traffic comes first: it costs no more, so its bound holds. Where its wavelengths cannot
carry some state on few routes, that state is written out in the master with its binaries, and the master is solved
again, until every state is carried; meanwhile each answer of the master is made good by adding to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cutting import Task, cost, root, separate, start, whole
from dcplan.design.few import write_in_few
from dcplan.design.few_reason import too_few
from dcplan.design.few_routes import Lit, carried
from dcplan.design.formulation import TBPS, USD, master
from dcplan.design.program import Program, Row
from dcplan.design.result import Infeasible
from dcplan.design.sizing import Sized, size
from dcplan.design.solver import Limits, now_s, relative_gap, solve
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cutting import Held, Loop
    from dcplan.design.few_routes import Picked
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.model.network import FiberId

LAST_S = 10.0
"""What is given to adding where the time limit has passed [s]: all that a design may take beyond it."""
FIRST = 0.4
"""Share of the time that is left for the search over the shortest ways only."""
ADDING_GAP = 0.01
"""Relative gap within which the least that must be added for a state is found."""
BORDER = 1 + 1e-5
"""Factor on all rates where what was added carries a state only within the solver's tolerance."""
WRITTEN = 3
"""States written out in the master at a time."""
NEAREST = 30
"""Ways per counted demand that are looked at when something is added, the shortest, beside those that are lit."""


NONE = "infeasible"


@dataclass(slots=True)
class _Best:
    """The cheapest purchase that carries every state on few routes, and the best bound [thousand US$]."""

    bound: float
    counts: tuple[int, ...] = ()
    pairs: Mapping[FiberId, int] | None = None
    cost: float = inf
    reason: str = "proven"

    def closed(self, gap: float) -> bool:
        return self.pairs is not None and relative_gap(self.cost, self.bound) <= gap + 1e-9


def size_all(task: Task, known: Sequence[Held] = (), begun: Loop | None = None) -> Sized | Infeasible | None:
    """The cheapest purchase under which every state can be carried, counted demands on few routes.

    None where there is none even if traffic splits freely; Infeasible, limit routes, where only few routes forbid it.
    Arguments and SolverError as of `sizing.size`. The bound is that of traffic that splits freely where not all ways
    of some counted demand are listed.
    """
    sized = size(task, known, begun)
    if sized is None or not task.few.ways:
        return sized
    failing = _failing(task, sized.counts)
    if not failing:
        return sized
    task.say(f"few routes at a time: {len(failing)} states need more")
    return _search(task, sized, failing) or too_few(task)


def _failing(task: Task, counts: Sequence[int]) -> list[int]:
    """The states that so many wavelengths cannot carry on few routes."""
    lit = Lit(task.problem, task.ways, task.few, counts, task.deadline_s)
    healthy: Picked = {}
    found = []
    for k, state in enumerate(task.problem.states):
        picked = carried(lit, k, healthy)
        if picked is None:
            found.append(k)
        elif state.healthy:
            healthy = picked
    return found


def _search(task: Task, sized: Sized, failing: Sequence[int]) -> Sized | None:
    """First over the shortest ways of each demand, where it has many, for a good answer; then over all, for proof."""
    best = _Best(bound=sized.bound_usd * USD)
    _add(task, sized.counts, failing, best)
    if any(len(ways) > NEAREST for ways in task.few.ways.values()):
        until_s = now_s() + FIRST * max(0.0, task.deadline_s - now_s())
        near = replace(task.few, complete=False, nearest=NEAREST)
        _refine(replace(task, few=near, deadline_s=until_s), sized.cuts, failing, best)
    if not _refine(task, sized.cuts, failing, best):
        return None
    if best.pairs is None:
        raise SolverError("time ran out before any design was found: allow more time (policy.solver.time_limit_s)")
    return _sized(task, sized, best)


def _refine(task: Task, known: Sequence[Held], failing: Sequence[int], best: _Best) -> bool:
    """Solve the master with ever more states written out; False where it has no answer at all."""
    written = tuple(failing[:WRITTEN])
    while not best.closed(task.gap):
        loop = start(replace(task, written=written), known)
        if not root(loop):
            return False
        values = _of_master(loop, best)
        if values is None:
            return best.reason != NONE
        counts = tuple(round(values[i]) for i in loop.bought.wavelengths)
        failing = _failing(task, counts)
        if not failing:
            pairs = {fiber: round(values[i]) for fiber, i in loop.bought.pairs.items()}
            _offer(best, counts, pairs, cost(loop, values))
            return True
        _add(task, counts, failing, best)
        more = [k for k in failing if k not in written][:WRITTEN]
        if not more:
            best.reason = "tolerance of the solver"
            return True
        written, known = (*written, *more), tuple(loop.cuts.values())
    return True


def _of_master(loop: Loop, best: _Best) -> tuple[float, ...] | None:
    """An answer of the master, no dearer than the best so far, that carries every state if traffic splits freely.

    None, with the reason in `best`, where there is none, time is up, or the best so far is proven.
    """
    task, prices = loop.task, {i: column.cost for i, column in enumerate(loop.program.columns) if column.cost}
    while (left := task.deadline_s - now_s()) > 0:
        rows = [*loop.program.rows, Row("cheaper", prices, -inf, best.cost)] if best.pairs else loop.program.rows
        solved = solve(task.solver, Program(loop.program.columns, rows), Limits(left, task.gap / 2))
        best.reason = solved.reason
        if task.few.complete:
            if solved.bound is not None:
                best.bound = max(best.bound, min(solved.bound, best.cost))
            if solved.status == "infeasible" and best.pairs:
                best.bound = best.cost
        task.say(f"cost US$ {best.cost / USD:,.0f}, bound US$ {best.bound / USD:,.0f}, {len(loop.cuts)} cuts")
        if solved.status == "infeasible" and not best.pairs:
            best.reason = NONE
        if solved.objective is None or best.closed(task.gap):
            return None
        values = whole(loop, solved.values)
        if not separate(loop, values):
            return values
    best.reason = "time limit"
    return None


def _add(task: Task, counts: Sequence[int], failing: Sequence[int], best: _Best) -> None:
    """Add to a purchase the least that each state needs beyond what those before it got, and offer the outcome.

    A state that was carried stays so when more is lit.
    """
    floor, pairs, total = tuple(counts), None, inf
    until_s = max(task.deadline_s, now_s() + LAST_S) if best.pairs is None else task.deadline_s
    for k in failing:
        for border in (1.0, BORDER):
            if carried(Lit(task.problem, task.ways, task.few, floor, until_s), k, {}):
                break
            left = until_s - now_s()
            found = _more(task, floor, k, border, left) if left > 0 else None
            if found is None:
                return
            floor, pairs, total = found
        else:
            if not carried(Lit(task.problem, task.ways, task.few, floor, until_s), k, {}):
                return
    if pairs is not None and total < best.cost:
        _offer(best, floor, pairs, total)


def _more(
    task: Task, floor: Sequence[int], k: int, border: float, time_s: float
) -> tuple[tuple[int, ...], dict[FiberId, int], float] | None:
    """The cheapest purchase with at least so many wavelengths that carries state `k`; None where there is none."""
    problem = task.problem
    program, bought = master(problem, task.slots)
    _at_least(program, problem, bought, floor)
    state = problem.states[k].name
    grown = tuple(
        replace(demand, gbps={**demand.gbps, state: demand.gbps.get(state, 0.0) * border}) for demand in problem.demands
    )
    lit = frozenset(choice.lightpath for choice, count in zip(problem.choices, floor, strict=True) if count)
    near = replace(task.few, nearest=NEAREST, lit=lit)
    write_in_few(program, replace(problem, demands=grown), bought, task.ways, near, k)
    solved = solve(task.solver, program, Limits(time_s, ADDING_GAP))
    if solved.objective is None:
        return None
    counts = tuple(round(solved.values[i]) for i in bought.wavelengths)
    pairs = {fiber: round(solved.values[i]) for fiber, i in bought.pairs.items()}
    priced = zip(program.columns, solved.values, strict=True)
    return counts, pairs, sum(column.cost * round(value) for column, value in priced if column.cost)


def _at_least(program: Program, problem: Problem, bought: Bought, floor: Sequence[int]) -> None:
    """No less than so many of each choice; of a circuit of which one module may be picked, no less capacity."""
    alone = [i for name, i in problem.circuits.items() if problem.network.circuits[name].pick == "one"]
    picked = {j for i in alone for j in problem.offered[i]}
    for j, (column, count) in enumerate(zip(bought.wavelengths, floor, strict=True)):
        if j not in picked:
            program.columns[column] = replace(program.columns[column], lower=count)
    for i in alone:
        gbps = {j: problem.choices[j].gbps for j in problem.offered[i]}
        terms = {bought.wavelengths[j]: value * TBPS for j, value in gbps.items()}
        program.row(f"least{i}", terms, lower=TBPS * sum(value * floor[j] for j, value in gbps.items()))


def _offer(best: _Best, counts: tuple[int, ...], pairs: Mapping[FiberId, int], total: float) -> None:
    if total < best.cost:
        best.counts, best.pairs, best.cost = counts, pairs, total


def _sized(task: Task, sized: Sized, best: _Best) -> Sized:
    closed = best.closed(task.gap)
    reason = best.reason if best.reason != "proven" else "gap"
    if not task.few.complete:
        reason = "not all routes were listed"
    return replace(
        sized,
        counts=best.counts,
        pairs=dict(best.pairs or {}),
        cost_usd=best.cost / USD,
        bound_usd=best.bound / USD,
        status="optimal" if closed else "feasible",
        reason="proven" if closed else reason,
    )
