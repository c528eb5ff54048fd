"""Better purchases at most so many steps away from a known one, wherever in the network they are.

Local branching (Fischetti and Lodi, Mathematical Programming 98, 2003). Every solve is limited by nodes, so that it
leads to the same everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import cost, separate, whole
from dcplan.design.neighbourhood import GAP, WORTH
from dcplan.design.routing.check import UncheckedError
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Column, Program, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Held, Loop

STEPS = 8
"""Wavelengths bought or given up, at first."""
NODES = 1000
ROUNDS = 40
"""Times that a purchase is looked for, each time with the inequalities that the last one broke."""
SPARE = 1.5
"""Inequalities with more to spare, in their least coefficients, are left out until broken: solves are quicker."""
BROKEN = 1e-6


def stepped(loop: Loop, values: tuple[float, ...], steps: int = STEPS) -> tuple[float, ...] | None:
    """A cheaper purchase that the state can carry, at most so many steps away; none if not found."""
    until, most = loop.task.until, cost(loop, values) * (1 - WORTH)
    needed: set[int] = set()
    for _ in range(ROUNDS):
        if until.over:
            break
        program = _within(loop, values, steps, needed)
        begun = (*values, *[0.0] * (len(program.columns) - len(values)))
        solved = solve_again(loop.task.solver, program, until.limits(GAP, NODES), begun)
        found = whole(loop, solved.values[: len(values)]) if solved.values else values
        if cost(loop, found) > most:
            break
        missed = [held.relaxed for held in loop.held.values() if _spare(held, found) < -BROKEN * held.row.lower]
        if not missed:
            known = len(loop.held)
            try:
                if not separate(loop, found, every=True, until=until):
                    return found
            except UncheckedError:
                break
            missed = [held.relaxed for held in list(loop.held.values())[known:]]
        needed.update(missed)
    return None


def _within(loop: Loop, values: Sequence[float], steps: int, needed: set[int]) -> Program:
    """The master near values: |x − value| of each column, at most `steps` together, stands in a column of its own."""
    columns = list(loop.program.columns)
    rows = loop.program.rows[: loop.base]
    rows += [held.row for held in loop.held.values() if held.relaxed in needed or _spare(held, values) <= SPARE]
    apart: dict[int, float] = {}
    for i, column in enumerate(loop.program.columns):
        if column.integer:
            value = values[i]
            columns[i] = replace(column, lower=max(column.lower, value - steps), upper=min(column.upper, value + steps))
            apart[len(columns)] = 1.0
            rows.append(Row(f"more{i}", {i: -1.0, len(columns): 1.0}, -value, inf))
            rows.append(Row(f"less{i}", {i: 1.0, len(columns): 1.0}, value, inf))
            columns.append(Column(f"apart{i}", 0.0, 0.0, float(steps), integer=False))
    rows.append(Row("steps", apart, -inf, float(steps)))
    return Program(columns, rows)


def _spare(held: Held, values: Sequence[float]) -> float:
    return sum(coefficient * values[i] for i, coefficient in held.row.terms.items()) - held.row.lower
