"""Adds to a purchase the least that lets every state be carried on few routes at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.design.few.program import write_in_few
from dcplan.design.few.routes import Lit, carried
from dcplan.design.formulation import TBPS, master
from dcplan.design.solver.solve import solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.formulation import Bought
    from dcplan.design.limits import Until
    from dcplan.design.problem import Problem
    from dcplan.design.solver.program import Program
    from dcplan.model.network import FiberId

ADDING_GAP = 0.01
"""Relative gap within which the least that must be added for a state is found."""
BORDER = 1 + 1e-5
"""Factor on all rates where what was added carries a state only within the solver's tolerance."""
NEAREST = 30
"""Ways per counted demand that are looked at when something is added, the shortest, beside those that are lit."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """Wavelengths per choice and lit pairs, with their cost [thousand US$]."""

    counts: tuple[int, ...]
    pairs: Mapping[FiberId, int]
    cost: float


def added(task: Task, counts: Sequence[int], failing: Sequence[int], until: Until) -> Purchase | None:
    """What so many wavelengths grow to when each failing state gets the least that it needs beyond those before it.

    A state that was carried stays so when more is lit. None where some state finds nothing to add, or time is up.
    """
    floor = tuple(counts)
    for k in failing:
        for border in (1.0, BORDER):
            if _fits(task, floor, k, until):
                break
            found = None if until.over else _bought(task, floor, k, until, border)
            if found is None:
                return None
            floor = found.counts
        if not _fits(task, floor, k, until):
            return None
    return _bought(task, floor, None, until)


def _fits(task: Task, counts: Sequence[int], k: int, until: Until) -> bool:
    return carried(Lit(task.problem, task.ways, task.few, counts, until), k, {}) is not None


def _bought(task: Task, floor: Sequence[int], k: int | None, until: Until, border: float = 1.0) -> Purchase | None:
    """The cheapest purchase with no fewer wavelengths that carries state `k`, or with just these where it is None."""
    problem = task.problem
    program, bought = master(problem, task.slots)
    _at_least(program, problem, bought, floor, exact=k is None)
    lit = frozenset(choice.lightpath for choice, count in zip(problem.choices, floor, strict=True) if count)
    near = replace(task.few, nearest=NEAREST, lit=lit)
    if k is not None:
        write_in_few(program, _grown(problem, k, border), bought, task.ways, near, k)
    elif problem.priced:
        write_in_few(program, problem, bought, task.ways, near, 0)
    solved = solve(task.solver, program, until.limits(ADDING_GAP if k is not None else task.gap / 2))
    if solved.objective is None:
        return None
    return purchase_of(program, bought, solved.values)


def purchase_of(program: Program, bought: Bought, values: Sequence[float]) -> Purchase:
    """What an answer of a program buys, made exactly whole."""
    whole = [round(value) if one.integer else value for one, value in zip(program.columns, values, strict=True)]
    return Purchase(
        tuple(round(values[i]) for i in bought.wavelengths),
        {fiber: round(values[i]) for fiber, i in bought.pairs.items()},
        sum(one.cost * value for one, value in zip(program.columns, whole, strict=True)),
    )


def _grown(problem: Problem, k: int, factor: float) -> Problem:
    """The problem with all rates of a state multiplied."""
    state = problem.states[k].name
    return replace(
        problem,
        demands=tuple(
            replace(demand, gbps={**demand.gbps, state: demand.gbps.get(state, 0.0) * factor})
            for demand in problem.demands
        ),
    )


def _at_least(program: Program, problem: Problem, bought: Bought, floor: Sequence[int], *, exact: bool) -> None:
    """So many of each choice, or more; of a circuit of which one module may be picked, its capacity or more."""
    alone = [i for name, i in problem.circuits.items() if problem.network.circuits[name].pick == "one"]
    picked = {j for i in alone for j in problem.offered[i]} if not exact else set()
    for j, (column, count) in enumerate(zip(bought.wavelengths, floor, strict=True)):
        if j not in picked:
            upper = count if exact else program.columns[column].upper
            program.columns[column] = replace(program.columns[column], lower=count, upper=upper)
    for i in alone if not exact else ():
        gbps = {j: problem.choices[j].gbps for j in problem.offered[i]}
        terms = {bought.wavelengths[j]: value * TBPS for j, value in gbps.items()}
        program.row(f"least{i}", terms, lower=TBPS * sum(value * floor[j] for j, value in gbps.items()))
