"""Programs that are solved many times over: HiGHS is handed arrays, without PuLP between."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from dcplan.design.limits import Until
from dcplan.design.solver.backends import quiet, run_highs
from dcplan.design.solver.solve import Solved, relative_gap, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.limits import Limits
    from dcplan.design.solver.program import Program


def solve_again(name: str, program: Program, limits: Limits, start: Sequence[float] | None = None) -> Solved:
    """The same as `solver.solve`; `start` is a feasible point that is to be beaten.

    HiGHS is told the cost of `start` only: version 1.16 takes a whole start through presolve wrongly and then calls a
    cost below the optimum optimal (SNDlib's france). Where nothing beats it, `start` is the answer.
    """
    if name != "highs" or not program.columns:
        return solve(name, program, limits, start)
    if limits.stop.now or limits.time_s <= 0:
        return Solved("failed", Until(0.0, limits.stop).why, None, None, None, ())
    import highspy

    beaten = inf if start is None else _cost(program, start)
    highs = _handed(program)
    highs.setOptionValue("objective_bound", min(beaten, highspy.kHighsInf))
    run_highs(highs, limits)
    info, status, names = highs.getInfo(), highs.getModelStatus(), highspy.HighsModelStatus
    nodes = max(0, int(info.mip_node_count))
    limits.stop.spend(nodes)
    reason = _why(status, names)
    bound = min(info.mip_dual_bound, beaten)
    if reason == "infeasible":
        if start is None:
            return Solved("infeasible", reason, None, None, None, (), nodes)
        reason, bound = "proven", beaten
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = tuple(highs.getSolution().col_value) if found else ()
    found = found and all(map(isfinite, values))  # what HiGHS calls feasible at the edge of its tolerance may be none
    values = values if found else ()
    objective = _cost(program, values) if found else inf
    if start is not None and beaten <= objective:
        values, objective = tuple(start), beaten
    if not values:
        return Solved("failed", reason, None, bound if isfinite(bound) else None, None, (), nodes)
    if not isfinite(bound):
        return Solved("feasible", reason, objective, None, None, values, nodes)
    gap = relative_gap(objective, bound)
    proven = reason == "proven" and gap <= limits.gap + 1e-9
    reason = "gap" if reason == "proven" and not proven else reason
    return Solved("optimal" if proven else "feasible", reason, objective, bound, gap, values, nodes)


def _why(status: Any, names: Any) -> str:
    known = {
        names.kOptimal: "proven",
        names.kTimeLimit: "time limit",
        names.kSolutionLimit: "node limit",
        names.kInterrupt: "interrupted",
        names.kInfeasible: "infeasible",
        names.kUnboundedOrInfeasible: "infeasible",
        names.kObjectiveBound: "infeasible",
    }
    return known.get(status, str(status.name))


def _cost(program: Program, values: Sequence[float]) -> float:
    return sum(column.cost * value for column, value in zip(program.columns, values, strict=True))


def _handed(program: Program) -> Any:
    """HiGHS with a program in it."""
    import highspy
    import numpy as np

    sizes = [len(row.terms) for row in program.rows]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.columns), len(program.rows)
    model.col_cost_ = np.array([column.cost for column in program.columns])
    model.col_lower_ = np.array([column.lower for column in program.columns])
    model.col_upper_ = np.array([column.upper for column in program.columns])
    model.row_lower_ = np.array([row.lower for row in program.rows])
    model.row_upper_ = np.array([row.upper for row in program.rows])
    whole, any_value = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    model.integrality_ = [whole if column.integer else any_value for column in program.columns]
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    matrix.index_ = np.fromiter((i for row in program.rows for i in row.terms), dtype=np.int32, count=sum(sizes))
    matrix.value_ = np.fromiter((v for row in program.rows for v in row.terms.values()), float, count=sum(sizes))
    highs = quiet()
    highs.passModel(model)
    return highs
