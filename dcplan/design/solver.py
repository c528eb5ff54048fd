"""Solves programs. The only module that knows PuLP and HiGHS; prints nothing, one thread, one seed."""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.program import Program

SEED = 1
THREADS = 1
"""HiGHS fixes its threads at the first solve of a process; one is also what makes answers repeat."""

_CLASSES = {
    "highs": ("HiGHS", "highspy"),
    "cbc": ("COIN_CMD", "pulp[cbc]"),
    "cpsat": ("CPSAT", "ortools"),
    "scip": ("SCIP_PY", "pyscipopt"),
    "gurobi": ("GUROBI", "gurobipy"),
    "cplex": ("CPLEX_PY", "cplex"),
    "xpress": ("XPRESS_PY", "xpress"),
    "mosek": ("MOSEK", "mosek"),
}
"""Name on the command line -> PuLP class, Python package that brings the solver."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a solve may stop."""

    time_s: float = 60.0
    gap: float = 1e-4
    nodes: int | None = None
    """Branch-and-bound nodes, a limit that is the same on every machine; HiGHS and CBC only."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What a solver answered. `optimal` only where cost and bound are within the gap asked for."""

    status: str
    """optimal, feasible, infeasible, failed."""
    reason: str
    """proven, time limit, node limit, gap, solver gives no bound; or what the solver said."""
    objective: float | None
    bound: float | None
    gap: float | None
    values: tuple[float, ...]


def names() -> tuple[str, ...]:
    """Every solver that can be asked for by name."""
    return tuple(_CLASSES)


def available() -> tuple[str, ...]:
    """The solvers that are installed."""
    return tuple(name for name in _CLASSES if _installed(name))


def version(name: str) -> str:
    """Version of an installed solver's Python package, or of PuLP where the solver does not say."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    package = {"cbc": "cbcbox"}.get(name, _CLASSES[name][1])
    try:
        return version_of(package)
    except PackageNotFoundError:
        return "unknown"


def require(name: str) -> None:
    """SolverError, with the package to install, where a solver is unknown or missing."""
    if name not in _CLASSES:
        raise SolverError(f"unknown solver `{name}`: choose one of {', '.join(_CLASSES)}")
    if not _installed(name):
        raise SolverError(
            f"solver `{name}` is not installed: install the Python package `{_CLASSES[name][1]}`, "
            f"or use one of {', '.join(available()) or 'none that is installed'}"
        )


def solve(name: str, program: Program, limits: Limits, start: Sequence[float] | None = None) -> Solved:
    """Minimise a program with the named solver; `start` is a feasible point to begin from (HiGHS only).

    The gap is computed here from objective and bound: solvers report `Optimal` for any gap they were allowed.
    """
    require(name)
    if not program.columns:
        return Solved("optimal", "proven", 0.0, 0.0, 0.0, ())
    built, columns = _build(program)
    if start is not None and name == "highs":
        for column, value in zip(columns, start, strict=True):
            column.setInitialValue(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stats = built.solve(_solver(name, limits, warm=start is not None))
    return _answer(program, stats, columns, limits)


def write_lp(program: Program) -> str:
    """The program as text in CPLEX LP format."""
    built, _ = _build(program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.lp"
        built.writeLP(str(path))
        return path.read_text(encoding="utf-8")


class Linear:
    """The continuous relaxation of a program inside HiGHS, for loops that add rows and move bounds.

    It keeps its basis between solves, which PuLP cannot. `solve` gives the status and fills `objective`, `values`
    and `duals` (one per row; the dual of a ≥ row is ≥ 0 when minimising).
    """

    def __init__(self, program: Program) -> None:
        import highspy
        import numpy as np

        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("log_to_console", False),
            ("threads", THREADS),
            ("random_seed", SEED),
            ("solver", "simplex"),
        ):
            self._highs.setOptionValue(option, value)
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

        index = np.asarray(rows, dtype=np.int32)
        self._highs.changeRowsBounds(len(rows), index, np.asarray(lower, float), np.asarray(upper, float))

    def add_columns(self, costs: Sequence[float], rows: Sequence[Sequence[int]]) -> None:
        """Add columns from 0 up that stand in some rows with the coefficient 1; a known basis stays one."""
        import numpy as np

        sizes = [len(each) for each in rows]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        index = np.array([row for each in rows for row in each], dtype=np.int32)
        size, most = len(sizes), np.full(len(sizes), self._names.kHighsInf)
        self._highs.addCols(
            size, np.asarray(costs, float), np.zeros(size), most, len(index), starts, index, np.ones(len(index))
        )

    def basis(self) -> Any:
        """Where the last solve ended, to be handed to `resume`."""
        return self._highs.getBasis()

    def resume(self, basis: Any) -> None:
        """Begin the next solve from where an earlier one ended; columns added since stand at their lower bounds."""
        more = int(self._highs.getNumCol()) - len(basis.col_status)
        if more:
            basis.col_status = [*basis.col_status, *[self._names.HighsBasisStatus.kLower] * more]
        self._highs.setBasis(basis)

    def costs(self, columns: Sequence[int], costs: Sequence[float]) -> None:
        """Change the costs of columns."""
        for column, price in zip(columns, costs, strict=True):
            self._highs.changeColCost(column, price)

    def solve(self) -> str:
        """Solve and return optimal, infeasible or failed."""
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
        made = getattr(pulp, _CLASSES[name][0])(msg=False)
        return bool(made.available())


def _solver(name: str, limits: Limits, *, warm: bool) -> Any:
    import pulp

    made = getattr(pulp, _CLASSES[name][0])
    common: dict[str, Any] = {"msg": False, "timeLimit": limits.time_s}
    if name == "highs":
        nodes = {} if limits.nodes is None else {"mip_max_nodes": limits.nodes}
        options = {"threads": THREADS, "random_seed": SEED, "mip_abs_gap": 1e-9, "warmStart": warm} | nodes
        return made(**common, gapRel=limits.gap, **options)
    if name == "cbc":
        return made(**common, gapRel=limits.gap, threads=THREADS, randomSeed=SEED, maxNodes=limits.nodes)
    if name == "mosek":
        return made(msg=False, options={"MSK_DPAR_MIO_MAX_TIME": limits.time_s, "MSK_DPAR_MIO_TOL_REL_GAP": limits.gap})
    return made(**common, gapRel=limits.gap)


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


def _answer(program: Program, stats: Any, columns: Sequence[Any], limits: Limits) -> Solved:
    from pulp import LpSolveStatus

    status, bound = stats.status, stats.best_bound
    if not stats.has_solution:
        verdict = "infeasible" if status == LpSolveStatus.Infeasible else "failed"
        return Solved(verdict, _why(status), None, bound, None, ())
    values = tuple(float(column.varValue or 0.0) for column in columns)
    objective = sum(column.cost * value for column, value in zip(program.columns, values, strict=True))
    if not any(column.integer for column in program.columns) and status == LpSolveStatus.Optimal:
        bound = objective
    if bound is None or not isfinite(bound):
        return Solved("feasible", "solver gives no bound", objective, None, None, values)
    gap = relative_gap(objective, bound)
    if status == LpSolveStatus.Optimal:
        proven = gap <= limits.gap + 1e-9
        return Solved("optimal" if proven else "feasible", "proven" if proven else "gap", objective, bound, gap, values)
    return Solved("feasible", _why(status), objective, bound, gap, values)


def relative_gap(cost: float, bound: float) -> float:
    """(cost − bound) / cost, not below 0; 0 where nothing costs anything."""
    return max(0.0, cost - bound) / abs(cost) if abs(cost) > 1e-9 else (0.0 if cost - bound < 1e-9 else inf)


def _why(status: Any) -> str:
    from pulp import LpSolveStatus

    known = {
        LpSolveStatus.TimeLimit: "time limit",
        LpSolveStatus.SolutionLimit: "node limit",
        LpSolveStatus.Infeasible: "infeasible",
    }
    return known.get(status, str(getattr(status, "name", status)).lower())


def now_s() -> float:
    """A clock that only runs forward [s]."""
    return time.monotonic()
