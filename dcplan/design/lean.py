"""Less of a purchase that every state can carry: wavelengths that none of them needs are given up, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import whole
from dcplan.design.formulation import USD
from dcplan.design.routing.check import UncheckedError
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Loop

CHECKS = 24
"""Times that states are checked: most purchases that fall short break an inequality that is known already."""
NODES = 200
GAP = 1e-4
ROUNDING = 1e-9


def lean(loop: Loop, values: Sequence[float]) -> tuple[float, ...] | None:
    """The purchase without superfluous wavelengths, those tried first that cost most, and what they leave of the rest.

    None where all are needed, where traffic stands in the master, or where time is up; and of a single large state,
    where neighbourhoods find more in the same time.
    """
    task, columns = loop.task, loop.program.columns
    if loop.check is None or loop.bought.aside or task.written or loop.quick:
        return None
    left = list(values)
    checks = CHECKS
    for column in _dearest_first(loop):
        while checks and left[column] > columns[column].lower:
            left[column] -= 1.0
            known = _known(loop, left)
            checks -= known
            if not known or not _carried(loop, left):
                left[column] += 1.0
                break
    if left == list(values):
        return None
    fixed = {column: left[column] for column in loop.bought.wavelengths}
    held = [
        replace(column, lower=fixed[i], upper=fixed[i]) if i in fixed else column for i, column in enumerate(columns)
    ]
    solved = solve_again(task.solver, Program(held, loop.program.rows), task.until.finishing.limits(GAP, NODES))
    return whole(loop, solved.values) if solved.values else None


def _dearest_first(loop: Loop) -> list[int]:
    """The columns of wavelengths by price, with their shares of pairs."""
    problem, price = loop.task.problem, {}
    for column, choice in zip(loop.bought.wavelengths, problem.choices, strict=True):
        pairs_usd = sum(problem.pair_usd[fiber] for fiber in problem.glass(choice.lightpath))
        price[column] = loop.program.columns[column].cost + USD * pairs_usd * choice.slots / max(1, problem.slots)
    return sorted(price, key=lambda column: -price[column])


def _known(loop: Loop, values: Sequence[float]) -> bool:
    """The inequalities in use hold."""
    return all(
        sum(value * values[i] for i, value in held.row.terms.items()) >= held.row.lower - ROUNDING
        for held in loop.cuts.values()
    )


def _carried(loop: Loop, values: Sequence[float]) -> bool:
    """Every state can be carried, and that is known in time."""
    states = sorted(loop.table.ruling, key=lambda k: (-loop.rank.get(k, 0.0), k))
    counts = [values[i] for i in loop.bought.wavelengths]
    try:
        return loop.check is not None and not loop.check.broken(counts, states, 1, None, loop.task.until)
    except UncheckedError:
        return False
