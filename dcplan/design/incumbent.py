"""Purchases that every state can carry: the relaxation rounded up, and a purchase that falls short added to."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import separate, whole
from dcplan.design.formulation import TBPS
from dcplan.design.routing.check import UncheckedError
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Loop
    from dcplan.design.limits import Until

NODES = 200
"""Branch-and-bound nodes of each program solved here: they only serve to find purchases."""
GAP = 0.003
ROUNDS = 40
"""Times that a purchase is added to before it is given up."""
CLOSE = 1e-6
"""Share of a capacity that is rounding."""


def augmented(loop: Loop, values: Sequence[float], below: float, until: Until) -> tuple[float, ...] | None:
    """A purchase that every state can carry, with no lightpath carrying less than in a given one.

    None where there is none that costs less than `below` [thousand US$], or none was found in time.
    """
    floor = _carried_tbps(loop, values)
    for _ in range(ROUNDS):
        bought = _at_least(loop, floor, below, until)
        if bought is None:
            return None
        try:
            if not separate(loop, bought, every=loop.quick or loop.shore_cuts.complete, until=until):
                return bought
        except UncheckedError:
            return None
        floor = _carried_tbps(loop, bought)
    return None


def _carried_tbps(loop: Loop, values: Sequence[float]) -> list[float]:
    """Of each lightpath [Tb/s]."""
    counts = [values[i] for i in loop.bought.wavelengths]
    return [float(gbps) * TBPS for gbps in loop.table.capacity_gbps(counts)]


def _at_least(loop: Loop, floor_tbps: Sequence[float], below: float, until: Until) -> tuple[float, ...] | None:
    """The cheapest purchase found that holds every cut in use and these capacities of lightpaths."""
    if until.over:
        return None
    problem, columns = loop.task.problem, loop.program.columns
    floors = []
    for i, tbps in enumerate(floor_tbps):
        terms = {loop.bought.wavelengths[j]: problem.choices[j].gbps * TBPS for j in problem.offered[i]}
        if tbps * (1 - CLOSE) > sum(columns[column].lower * value for column, value in terms.items()):
            floors.append(Row(f"floor{i}", terms, tbps * (1 - CLOSE), inf))
    if below < inf:
        prices = {i: column.cost for i, column in enumerate(columns) if column.cost}
        floors.append(Row("below", prices, -inf, below))
    program = Program(columns, [*loop.program.rows, *floors])
    solved = solve_again(loop.task.solver, program, until.limits(GAP, NODES))
    return whole(loop, solved.values) if solved.objective is not None else None
