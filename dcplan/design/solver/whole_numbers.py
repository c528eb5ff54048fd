"""A program in whole numbers, for solvers that know nothing else: rounded so that its bound still holds."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor, isclose, isfinite
from typing import TYPE_CHECKING

from dcplan.design.solver.program import Program
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.solver.program import Column

MOST = 2.0**50
"""No sum of a row or of the costs is larger: PuLP carries coefficients in doubles."""
FINEST = 1e9
"""Steps per unit, at most."""
DECIMALS = 6
"""So many decimals are tried for an exact answer before anything is rounded."""


def in_whole_numbers(program: Program) -> tuple[Program, float]:
    """The program with whole coefficients, and the steps per unit of cost.

    lower ≤ Σ aᵢxᵢ becomes floor(s·lower) ≤ Σ ceil(s·aᵢ)xᵢ, and costs are rounded down: with xᵢ ≥ 0 every point of the
    program stays one at no more cost, so a bound on the result, over the steps, is one on the program. SolverError
    where a column may be a fraction, negative or without end.
    """
    if not all(column.integer and column.lower >= 0 and isfinite(column.upper) for column in program.columns):
        raise SolverError("this solver takes whole numbers only, and the problem has traffic in it: use highs")
    everything = range(len(program.columns))
    costs = [column.cost for column in program.columns]
    steps = _steps(program.columns, everything, costs, 0.0)
    made = Program(
        [replace(column, cost=_down(steps * cost)) for column, cost in zip(program.columns, costs, strict=True)]
    )
    for row in program.rows:
        for bound, up in ((row.lower, True), (row.upper, False)):
            if isfinite(bound):
                s = _steps(program.columns, tuple(row.terms), tuple(row.terms.values()), bound)
                far, near = (_up, _down) if up else (_down, _up)
                terms = {i: far(s * value) for i, value in row.terms.items()}
                name = row.name if up else f"{row.name}_"
                if up:
                    made.row(name, terms, lower=near(s * bound))
                else:
                    made.row(name, terms, upper=near(s * bound))
    return made, steps


def _steps(columns: Sequence[Column], over: Sequence[int], values: Sequence[float], bound: float) -> float:
    """Steps per unit: a power of ten that makes all exact, else as fine as can be."""
    largest = max(1.0, abs(bound), sum(abs(value) * columns[i].upper for i, value in zip(over, values, strict=True)))
    for power in range(DECIMALS + 1):
        if largest * 10**power <= MOST and all(_is_whole(10**power * value) for value in (*values, bound)):
            return float(10**power)
    return min(FINEST, MOST / largest)


def _is_whole(value: float) -> bool:
    return isclose(value, round(value), rel_tol=1e-12, abs_tol=1e-12)


def _up(value: float) -> float:
    return float(round(value) if _is_whole(value) else ceil(value))


def _down(value: float) -> float:
    return float(round(value) if _is_whole(value) else floor(value))
