"""Solves programs, by any solver that PuLP knows; and linear programs that stay in HiGHS between solves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from dcplan.design.limits import Until
from dcplan.design.solver.backends import BACKENDS, quiet
from dcplan.design.solver.whole_numbers import in_whole_numbers
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.limits import Limits
    from dcplan.design.solver.backends import Told
    from dcplan.design.solver.program import Program

DUAL, PRIMAL = 1, 4
"""Ways of the simplex method, in the numbers of HiGHS."""
CLOSE = 1e-5
"""By how much an answer may miss a whole number, a bound, or a row in relation to its size."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What a solver answered. `optimal` only where cost and bound are within the gap asked for."""

    status: str
    """optimal, feasible, infeasible, failed."""
    reason: str
    """proven, time limit, node limit, interrupted, gap, solver gives no bound; or what the solver said."""
    objective: float | None
    bound: float | None
    gap: float | None
    values: tuple[float, ...]
    nodes: int = 0
    """Of branch and bound (conflicts for CP-SAT)."""


def names() -> tuple[str, ...]:
    """Every solver that can be asked for by name."""
    return tuple(BACKENDS)


def available() -> tuple[str, ...]:
    """The solvers that are installed."""
    return tuple(name for name in BACKENDS if _installed(name))


def version(name: str) -> str:
    """Version of an installed solver's Python package; unknown where a program on the PATH serves."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of(BACKENDS[name].distribution or BACKENDS[name].package)
    except PackageNotFoundError:
        return "unknown"


def require(name: str) -> None:
    """SolverError, with the package to install, where a solver is unknown or missing."""
    if name not in BACKENDS:
        raise SolverError(f"unknown solver `{name}`: choose one of {', '.join(BACKENDS)}")
    if not _installed(name):
        raise SolverError(
            f"solver `{name}` is not installed: install the Python package `{BACKENDS[name].package}`, "
            f"or use one of {', '.join(available()) or 'none that is installed'}"
        )


def solve(name: str, program: Program, limits: Limits, start: Sequence[float] | None = None) -> Solved:
    """Minimise a program with the named solver; `start` is a feasible point to begin from.

    HiGHS gets none: version 1.16 takes a start through presolve wrongly and may then prove too low a cost.

    The gap is computed here from objective and bound: solvers report `Optimal` for any gap they were allowed.
    SolverError where the solver breaks down: no licence, a program too large for it.
    """
    require(name)
    if not program.columns:
        return Solved("optimal", "proven", 0.0, 0.0, 0.0, ())
    if limits.stop.now or limits.time_s <= 0:
        return Solved("failed", Until(0.0, limits.stop).why, None, None, None, ())
    backend = BACKENDS[name]
    posed, steps = in_whole_numbers(program) if backend.whole else (program, 1.0)
    built, columns = _build(posed)
    if start is not None and name != "highs":
        for column, value in zip(columns, start, strict=True):
            column.setInitialValue(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            told = backend.run(built, limits, start is not None and name != "highs")
        except Exception as error:  # whatever a solver's own package raises
            raise SolverError(f"solver `{name}` broke down: {error}") from error
    solved = _answer(program, told, columns, limits, steps)
    limits.stop.spend(solved.nodes)
    if solved.reason == "interrupted":
        limits.stop.ask()  # some solvers take the signal for themselves
    return solved


class Linear:
    """The continuous relaxation of a program inside HiGHS, for loops that add rows and move bounds.

    It keeps its basis between solves, which PuLP cannot. `solve` gives the status and fills `objective`, `values`
    and `duals` (one per row; the dual of a ≥ row is ≥ 0 when minimising).
    """

    def __init__(self, program: Program) -> None:
        import highspy
        import numpy as np

        self._highs: Any = quiet()
        self._highs.setOptionValue("solver", "simplex")
        self._names = highspy
        size = len(program.columns)
        empty = np.zeros(0, dtype=np.int32)
        self._highs.addCols(
            size,
            np.array([column.cost for column in program.columns]),
            np.array([column.lower for column in program.columns]),
            np.array([column.upper for column in program.columns]),
            0,
            empty,
            empty,
            np.zeros(0),
        )
        for row in program.rows:
            self.add_row(row.terms, row.lower, row.upper)
        self._grown = False
        self.objective = 0.0
        self.values: list[float] = []
        self.row_values: list[float] = []
        self.duals: list[float] = []
        self.reduced: list[float] = []

    def add_row(self, terms: Mapping[int, float], lower: float, upper: float) -> int:
        """Add lower ≤ Σ terms ≤ upper and return its number."""
        import numpy as np

        index = np.fromiter(terms.keys(), dtype=np.int32, count=len(terms))
        value = np.fromiter(terms.values(), dtype=np.float64, count=len(terms))
        self._highs.addRow(
            max(lower, -self._names.kHighsInf), min(upper, self._names.kHighsInf), len(terms), index, value
        )
        return int(self._highs.getNumRow()) - 1

    def bound_rows(self, rows: Any, lower: Any, upper: Any) -> None:
        """Move the bounds of rows, given as sequences or arrays."""
        import numpy as np

        self._grown = False
        index = np.asarray(rows, dtype=np.int32)
        self._highs.changeRowsBounds(len(rows), index, np.asarray(lower, float), np.asarray(upper, float))

    def add_columns(
        self,
        costs: Sequence[float],
        rows: Sequence[Sequence[int]],
        values: Sequence[Sequence[float]] | None = None,
        uppers: Sequence[float] | None = None,
    ) -> None:
        """Add columns from 0 up that stand in some rows; a known basis stays one.

        Coefficients are 1 and nothing limits the columns from above, unless given.
        """
        import numpy as np

        self._grown = True
        sizes = [len(each) for each in rows]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        index = np.array([row for each in rows for row in each], dtype=np.int32)
        value = np.ones(len(index)) if values is None else np.array([one for each in values for one in each], float)
        size = len(sizes)
        most = np.full(size, inf) if uppers is None else np.asarray(uppers, float)
        most = np.minimum(most, self._names.kHighsInf)
        self._highs.addCols(size, np.asarray(costs, float), np.zeros(size), most, len(index), starts, index, value)

    def basis(self) -> Any:
        """Where the last solve ended, to be handed to `resume`."""
        return self._highs.getBasis()

    def resume(self, basis: Any) -> None:
        """Begin the next solve from where an earlier one ended; columns added since stand at their lower bounds."""
        more = int(self._highs.getNumCol()) - len(basis.col_status)
        if more:
            basis.col_status = [*basis.col_status, *[self._names.HighsBasisStatus.kLower] * more]
        self._highs.setBasis(basis)

    def begin(self, basic: Iterable[int], tight: Iterable[int]) -> None:
        """Begin the next solve where these columns are basic in place of these rows, and all others are at 0.

        By the primal simplex: it ends at once where that is feasible and best.
        """
        status = self._names.HighsBasisStatus
        basis = self._names.HighsBasis()
        columns = [status.kLower] * int(self._highs.getNumCol())
        rows = [status.kBasic] * int(self._highs.getNumRow())
        for column in basic:
            columns[column] = status.kBasic
        for row in tight:
            rows[row] = status.kLower
        basis.col_status, basis.row_status, basis.valid = columns, rows, True
        self._highs.setBasis(basis)
        self._grown = True

    def bound_columns(self, columns: Sequence[int], lower: Sequence[float], upper: Sequence[float]) -> None:
        """Move the bounds of columns."""
        import numpy as np

        index = np.asarray(columns, dtype=np.int32)
        self._highs.changeColsBounds(len(columns), index, np.asarray(lower, float), np.asarray(upper, float))

    def costs(self, columns: Sequence[int], costs: Sequence[float]) -> None:
        """Change the costs of columns."""
        for column, price in zip(columns, costs, strict=True):
            self._highs.changeColCost(column, price)

    def solve(self) -> str:
        """Solve and return optimal, infeasible or failed.

        Where columns were added since the last solve, by the primal simplex, which begins where that ended; else by the
        dual simplex, which does so where rows were added or moved.
        """
        self._highs.setOptionValue("simplex_strategy", PRIMAL if self._grown else DUAL)
        self._grown = False
        self._highs.run()
        status = self._highs.getModelStatus()
        known = self._names.HighsModelStatus
        if status == known.kModelEmpty:
            return "optimal"
        if status in (known.kInfeasible, known.kUnboundedOrInfeasible):
            return "infeasible"
        if status != known.kOptimal:
            return "failed"
        solution = self._highs.getSolution()
        self.objective = float(self._highs.getInfo().objective_function_value)
        self.values = list(solution.col_value)
        self.row_values = list(solution.row_value)
        self.duals = list(solution.row_dual)
        self.reduced = list(solution.col_dual)
        return "optimal"


def _installed(name: str) -> bool:
    import pulp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = getattr(pulp, BACKENDS[name].pulp)(msg=False)
        return bool(made.available())


def _build(program: Program) -> tuple[Any, list[Any]]:
    import pulp

    built = pulp.LpProblem("dcplan", pulp.LpMinimize)
    columns = [
        built.add_variable(
            column.name,
            column.lower,
            column.upper if isfinite(column.upper) else None,
            "Integer" if column.integer else "Continuous",
        )
        for column in program.columns
    ]
    weighed = pulp.LpAffineExpression.from_list
    built.setObjective(weighed([(columns[i], column.cost) for i, column in enumerate(program.columns) if column.cost]))
    for row in program.rows:
        terms = weighed([(columns[i], value) for i, value in row.terms.items()])
        if row.lower == row.upper:
            built += terms == row.lower, row.name
        elif isfinite(row.lower):
            built += terms >= row.lower, row.name
        else:
            built += terms <= row.upper, row.name
    return built, columns


def _answer(program: Program, told: Told, columns: Sequence[Any], limits: Limits, steps: float) -> Solved:
    from pulp import LpSolveStatus

    status = told.status
    bound = None if told.bound is None or not isfinite(told.bound) else told.bound / steps
    if not told.found:
        verdict = "infeasible" if status == LpSolveStatus.Infeasible else "failed"
        return Solved(verdict, _why(status), None, bound, None, (), told.nodes)
    values = tuple(
        column.lower if variable.varValue is None else float(variable.varValue)
        for column, variable in zip(program.columns, columns, strict=True)
    )
    objective = sum(column.cost * value for column, value in zip(program.columns, values, strict=True))
    finished = status in (LpSolveStatus.Optimal, LpSolveStatus.GapLimit)
    if not any(column.integer for column in program.columns) and finished:
        bound = objective
    if not _holds(program, values):
        return Solved("failed", "the solver's answer does not hold", None, bound, None, (), told.nodes)
    if bound is None:
        reason = "solver gives no bound" if finished else _why(status)
        return Solved("feasible", reason, objective, None, None, values, told.nodes)
    gap = relative_gap(objective, bound)
    proven = finished and gap <= limits.gap + 1e-9
    reason = "proven" if proven else "gap" if finished else _why(status)
    return Solved("optimal" if proven else "feasible", reason, objective, bound, gap, values, told.nodes)


def _holds(program: Program, values: Sequence[float]) -> bool:
    """Bounds, rows and whole numbers hold within what solvers call close: CBC may hand out a relaxation as answer."""
    for column, value in zip(program.columns, values, strict=True):
        whole = not column.integer or abs(value - round(value)) <= CLOSE
        if not whole or not column.lower - CLOSE <= value <= column.upper + CLOSE:
            return False
    for row in program.rows:
        have = sum(coefficient * values[i] for i, coefficient in row.terms.items())
        bounds = [abs(bound) for bound in (row.lower, row.upper) if isfinite(bound)]
        close = CLOSE * max(1.0, *bounds, *map(abs, row.terms.values()))
        if not row.lower - close <= have <= row.upper + close:
            return False
    return True


def relative_gap(cost: float, bound: float) -> float:
    """(cost − bound) / cost, not below 0; 0 where nothing costs anything."""
    return max(0.0, cost - bound) / abs(cost) if abs(cost) > 1e-9 else (0.0 if cost - bound < 1e-9 else inf)


def _why(status: Any) -> str:
    from pulp import LpSolveStatus

    known = {
        LpSolveStatus.TimeLimit: "time limit",
        LpSolveStatus.NodeLimit: "node limit",
        LpSolveStatus.SolutionLimit: "node limit",
        LpSolveStatus.Interrupted: "interrupted",
        LpSolveStatus.Infeasible: "infeasible",
    }
    return known.get(status, str(getattr(status, "name", status)).lower())
