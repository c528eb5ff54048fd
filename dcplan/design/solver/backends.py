"""How each solver is called through PuLP, what it proved, and why it stopped. One thread, one seed, nothing printed."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from dcplan.design.limits import EXACT, held_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.design.limits import Limits

SEED = 1
THREADS = 1
"""HiGHS fixes its threads at the first solve of a process; one is also what makes answers repeat."""
NO_LIMIT = 2**31 - 1
"""HiGHS's own for nodes."""
GLANCE_S = 0.05
"""How often it is looked whether a solver in a thread of its own must stop [s]."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a solver says of a solve."""

    status: Any
    """PuLP's LpSolveStatus."""
    found: bool
    """The columns hold a feasible point."""
    bound: float | None
    nodes: int
    """Of branch and bound; conflicts for CP-SAT."""


@dataclass(frozen=True, slots=True)
class Backend:
    """A solver that can be asked for by name."""

    pulp: str
    """PuLP's class for it."""
    package: str
    """Python package that brings it."""
    run: Callable[[Any, Limits, bool], Told]
    """Solve a PuLP problem; true: from the values that its variables have."""
    distribution: str = ""
    """Whose version is the solver's, where that is another package."""
    whole: bool = False
    """Takes whole numbers only."""


def quiet() -> Any:
    """An empty HiGHS model that prints nothing.

    `highspy.Highs` writes its banner to descriptor 1 while it is constructed, before any option can be set; the class
    below it does not.
    """
    from highspy import _core

    made = _core._Highs()  # noqa: SLF001
    for option, value in (
        ("output_flag", False),
        ("log_to_console", False),
        ("threads", THREADS),
        ("random_seed", SEED),
    ):
        made.setOptionValue(option, value)
    return made


def run_highs(made: Any, limits: Limits) -> None:
    """Run a HiGHS model within limits: a stop, or an interrupt from the keyboard, ends it as a limit does.

    HiGHS asks now and then whether it shall go on; an exception raised there would be lost in it.
    """
    from highspy import cb

    for option, value in (
        ("mip_rel_gap", limits.gap),
        ("mip_abs_gap", 1e-9),
        ("mip_feasibility_tolerance", EXACT if limits.exact else 1e-6),
        ("time_limit", float(limits.time_s)),
        ("mip_max_nodes", NO_LIMIT if limits.most_nodes is None else limits.most_nodes),
    ):
        made.setOptionValue(option, value)
    with held_back() as noted:

        def ask(_kind: Any, _message: str, _out: Any, back: Any, _mine: Any) -> None:
            back.user_interrupt = limits.stop.asked or bool(noted)

        made.setCallback(ask, None)
        for kind in (cb.HighsCallbackType.kCallbackMipInterrupt, cb.HighsCallbackType.kCallbackSimplexInterrupt):
            made.startCallback(kind)
        made.run()
        made.setCallback(None, None)


def _highs(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    stats = built.solve(_quiet_highs()(limits, warmStart=warm))
    info = built.solverModel.getInfo()
    return Told(stats.status, stats.has_solution, stats.best_bound, max(0, int(info.mip_node_count)))


@cache
def _quiet_highs() -> Any:
    """PuLP's HiGHS, but silent from its first line, and stopped as `run_highs` says."""
    pulp_highs: Any = _pulp().HiGHS

    class QuietHiGHS(pulp_highs):  # type: ignore[misc]
        def __init__(self, limits: Limits, **options: Any) -> None:
            super().__init__(msg=False, **options)
            self.limits = limits

        def createAndConfigureSolver(self, lp: Any) -> None:  # noqa: N802  PuLP's name
            lp.solverModel = quiet()

        def callSolver(self, lp: Any) -> None:  # noqa: N802  PuLP's name
            run_highs(lp.solverModel, self.limits)

    return QuietHiGHS


def _cbc(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    """CBC is a program of its own: what it proved stands in its log only."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cbc.log"
        solver = _pulp().COIN_CMD(
            msg=False,
            timeLimit=_finite(limits.time_s),
            gapRel=limits.gap,
            randomSeed=SEED,
            maxNodes=limits.most_nodes,
            warmStart=warm,
            logPath=str(log),
        )
        stats = built.solve(solver)
        said = log.read_text(encoding="utf-8", errors="replace")
    nodes = int(next(iter(re.findall(r"^Enumerated nodes:\s+(\d+)", said, re.MULTILINE)), 0))
    if "Result - Optimal solution found\n" in said:
        bound = stats.objective
    elif nodes or "(within gap tolerance)" in said:
        bound = _lower_bound(said)
    else:
        bound = None  # stopped before its tree grew, it prints its best answer, or anything, as bound
    return Told(stats.status, stats.has_solution, bound, nodes)


def _lower_bound(log: str) -> float | None:
    """The bound that CBC prints, less all that its last digit may hide."""
    from decimal import Decimal, InvalidOperation

    printed = re.findall(r"^Lower bound:\s+(\S+)", log, re.MULTILINE)
    try:
        bound = Decimal(printed[-1]) if printed else None
    except InvalidOperation:
        return None
    if bound is None or not bound.is_finite():
        return None
    return float(bound - Decimal(1).scaleb(int(bound.adjusted()) - 5))


def _scip(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    options = [f"limits/totalnodes={limits.most_nodes}"] if limits.most_nodes is not None else []
    solver = _pulp().SCIP_PY(
        msg=False, timeLimit=_finite(limits.time_s), gapRel=limits.gap, options=options, warmStart=warm
    )
    stats = built.solve(solver)
    model = built.solverModel
    bound = float(model.getDualbound())
    # without a solution PuLP reads the values of the relaxation and takes them for one
    found = stats.has_solution and model.getNSols() > 0
    return Told(stats.status, found, bound if abs(bound) < model.infinity() else None, int(model.getNTotalNodes()))


def _cpsat(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    solver = _stoppable_cpsat()(limits, warmStart=warm)
    stats = built.solve(solver)
    return Told(solver.stopped or stats.status, stats.has_solution, solver.bound, solver.conflicts)


@cache
def _stoppable_cpsat() -> Any:
    """PuLP's CP-SAT, but stopped by `Limits.stop`, with the bound as a number, and saying which limit it met."""
    pulp_cpsat: Any = _pulp().CPSAT

    class StoppableCPSAT(pulp_cpsat):  # type: ignore[misc]
        def __init__(self, limits: Limits, **options: Any) -> None:
            super().__init__(msg=False, **options)
            self.limits = limits
            self.bound: float | None = None
            self.conflicts = 0
            self.stopped: Any = None

        def callSolver(self, lp: Any) -> tuple[Any, Any]:  # noqa: N802  PuLP's name
            from ortools.sat.python import cp_model

            solver, limits = cp_model.CpSolver(), self.limits
            wanted = {
                "num_search_workers": THREADS,
                "random_seed": SEED,
                "relative_gap_limit": limits.gap,
                "max_time_in_seconds": _finite(limits.time_s),
                "max_number_of_conflicts": limits.most_nodes,
                "catch_sigint_signal": False,
            }
            for option, value in wanted.items():
                if value is not None:
                    setattr(solver.parameters, option, value)
            answer: list[Any] = []
            worker = Thread(target=lambda: answer.append(solver.solve(self.solverModel)))
            worker.start()
            while worker.is_alive():
                worker.join(GLANCE_S)
                if limits.stop.asked:
                    solver.stop_search()
            self.conflicts = int(solver.num_conflicts)
            self.bound = float(solver.best_objective_bound) if answer[0] != cp_model.MODEL_INVALID else None
            if answer[0] in (cp_model.FEASIBLE, cp_model.UNKNOWN):
                self.stopped = _ended(limits, solver.wall_time, self.conflicts)
            return solver, answer[0]

    return StoppableCPSAT


def _ended(limits: Limits, took_s: float, nodes: int) -> Any:
    """Which limit a solver met that does not say it."""
    from pulp import LpSolveStatus

    if limits.stop.asked:
        return LpSolveStatus.Interrupted
    if limits.most_nodes is not None and nodes >= limits.most_nodes:
        return LpSolveStatus.NodeLimit
    return LpSolveStatus.TimeLimit if took_s >= 0.9 * limits.time_s else LpSolveStatus.GapLimit


def _gurobi(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    nodes = {} if limits.most_nodes is None else {"NodeLimit": limits.most_nodes}
    solver = _pulp().GUROBI(
        msg=False,
        timeLimit=_finite(limits.time_s),
        gapRel=limits.gap,
        warmStart=warm,
        manageEnv=True,
        Threads=THREADS,
        Seed=SEED,
        **nodes,
    )
    try:
        stats = built.solve(solver)
        model = built.solverModel
        return Told(stats.status, stats.has_solution, float(model.ObjBound), int(model.NodeCount))
    finally:
        solver.close()


def _cplex(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    most = {} if limits.most_nodes is None else {"mip.limits.nodes": limits.most_nodes}
    solver = _pulp().CPLEX_PY(
        msg=False,
        timeLimit=_finite(limits.time_s),
        gapRel=limits.gap,
        warmStart=warm,
        threads=THREADS,
        randomseed=SEED,
        **most,
    )
    stats = built.solve(solver)
    solution = built.solverModel.solution
    bound = float(solution.MIP.get_best_objective()) if built.isMIP() else None
    nodes = int(solution.progress.get_num_nodes_processed())
    status = stats.status
    if solution.get_status() in (solution.status.node_limit_feasible, solution.status.node_limit_infeasible):
        status = _pulp().LpSolveStatus.NodeLimit  # PuLP looks for these under other names
    return Told(status, stats.has_solution, bound, nodes)


def _xpress(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    options = [f"threads={THREADS}", f"randomseed={SEED}"]
    if limits.most_nodes is not None:
        options.append(f"maxnode={limits.most_nodes}")
    if isfinite(limits.time_s):
        options.append(f"timelimit={limits.time_s:.3f}")  # PuLP's own is in whole seconds, and 0 is none
    solver = _pulp().XPRESS_PY(msg=False, gapRel=limits.gap, warmStart=warm, options=options)
    stats = built.solve(solver)
    said = built.solverModel.attributes
    bound = float(said.bestbound) if built.isMIP() else None
    return Told(stats.status, stats.has_solution, bound, int(said.nodes))


def _mosek(built: Any, limits: Limits, warm: bool) -> Told:  # noqa: FBT001
    import mosek

    options = {"MSK_DPAR_MIO_TOL_REL_GAP": limits.gap, "MSK_IPAR_NUM_THREADS": THREADS, "MSK_IPAR_MIO_SEED": SEED}
    if isfinite(limits.time_s):
        options["MSK_DPAR_MIO_MAX_TIME"] = limits.time_s
    if limits.most_nodes is not None:
        options["MSK_IPAR_MIO_MAX_NUM_BRANCHES"] = limits.most_nodes
    kind = mosek.soltype.itg if built.isMIP() else mosek.soltype.bas
    solver = _pulp().MOSEK(msg=False, options=options, sol_type=kind)
    stats = built.solve(solver)
    bound = float(solver.task.getdouinf(mosek.dinfitem.mio_obj_bound)) if built.isMIP() else None
    nodes = int(solver.task.getintinf(mosek.iinfitem.mio_num_branch))
    return Told(stats.status, stats.has_solution, bound, nodes)


def _pulp() -> Any:
    """PuLP, whose solver classes are only partly typed."""
    import pulp

    return pulp


def _finite(seconds: float) -> float | None:
    return seconds if isfinite(seconds) else None


BACKENDS = {
    "highs": Backend("HiGHS", "highspy", _highs),
    "cbc": Backend("COIN_CMD", "pulp[cbc]", _cbc, distribution="cbcbox"),
    "scip": Backend("SCIP_PY", "pyscipopt", _scip),
    "cpsat": Backend("CPSAT", "ortools", _cpsat, whole=True),
    "gurobi": Backend("GUROBI", "gurobipy", _gurobi),
    "cplex": Backend("CPLEX_PY", "cplex", _cplex),
    "xpress": Backend("XPRESS_PY", "xpress", _xpress),
    "mosek": Backend("MOSEK", "mosek", _mosek),
}
"""By the name on the command line."""
