"""Why there is no design on few routes at a time, where there is one with traffic that splits freely."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.few.pairs import count_routes
from dcplan.design.few.program import write_in_few
from dcplan.design.formulation import TBPS, master
from dcplan.design.limits import Until
from dcplan.design.problem import rate, whole_rate
from dcplan.design.result import Infeasible, Shortage
from dcplan.design.schemes import retunes
from dcplan.design.solver.solve import solve
from dcplan.design.ways.protection import protect
from dcplan.errors import SolverError
from dcplan.units import rate as in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Problem
    from dcplan.design.result import Demand

REASON_S = 20.0
"""Longest time for finding the state and the shortage [s]."""
SOME_S = 0.5
"""What each further state is given when that has passed [s]."""


def too_few(task: Task) -> Infeasible:
    """The first state that no purchase carries on few routes, with the least that is short in it, by demand."""
    problem, until = task.problem, Until().within(REASON_S)
    for k, state in enumerate(problem.states):
        missing = _missing(task, k, until)
        if not missing:
            continue
        when = "" if state.healthy else f"after losing {state.name}, "
        short = tuple(
            Shortage(problem.demands[d].id, state.name, rate(problem.demands[d], state), round(gbps, 6))
            for d, gbps in missing.items()
        )
        d, gbps = max(missing.items(), key=lambda item: (item[1], -item[0]))
        demand, asked = problem.demands[d], rate(problem.demands[d], state)
        reason = (
            f"{when}{demand.id} asks {in_words(asked)} on at most {_routes(demand.max_paths or 1)} at a time, on which "
            f"{in_words(asked - gbps)} can go at best; split freely all of it could: raise its max_paths"
        )
        return Infeasible("routes", reason, short)
    return _together(problem)


def too_few_pairs(task: Task) -> Infeasible:
    """Which demand on two ways goes most short on few routes, and the least that is short in all."""
    problem = task.problem
    program, bought = master(problem, task.slots)
    program.columns[:] = [replace(column, cost=0.0) for column in program.columns]
    whole = {d: whole_rate(problem.demands[d], problem.states) for d in sorted(problem.protected)}
    short = {d: program.column(f"u{d}", gbps * TBPS, 1.0) for d, gbps in whole.items()}
    protected = protect(program, problem, bought, task.protected, short=short)
    count_routes(program, problem, protected, task.protected)
    solved = solve(task.solver, program, Until().within(REASON_S).limits(1e-3))
    share = {d: solved.values[column] for d, column in short.items()} if solved.values else {}
    missing = {d: part * whole[d] for d, part in share.items() if part * whole[d] > 1e-3}
    if not missing:
        return _together(problem)
    d = max(missing, key=lambda one: (missing[one], -one))
    demand = problem.demands[d]
    reason = (
        f"{demand.id} asks {in_words(whole[d])} on at most {_routes(demand.max_paths or 1)} at a time for each of its "
        f"two ways, on which {in_words(whole[d] - missing[d])} can go at best; split freely all of it could: raise its "
        "max_paths"
    )
    healthy = problem.states[0].name
    return Infeasible(
        "routes",
        reason,
        tuple(Shortage(problem.demands[d].id, healthy, whole[d], round(gbps, 6)) for d, gbps in missing.items()),
    )


def _together(problem: Problem) -> Infeasible:
    names = ", ".join(demand.id for demand in problem.demands if demand.max_paths is not None)
    together = "each state by itself can be carried on few routes, but no purchase that fits the fibers carries all"
    return Infeasible("routes", f"{together}; split freely there is a design: raise max_paths of {names}", ())


def _routes(count: int) -> str:
    return "1 route" if count == 1 else f"{count} routes"


def _missing(task: Task, k: int, until: Until) -> dict[int, float]:
    """The least total that counted demands go short in a state whatever is bought [Gb/s]."""
    problem = task.problem
    program, bought = master(problem, task.slots)
    program.columns[:] = [replace(column, cost=0.0) for column in program.columns]
    rates = {d: rate(problem.demands[d], problem.states[k]) for d in task.few.ways}
    short = {d: program.column(f"u{d}", 1.0, gbps * TBPS) for d, gbps in rates.items() if gbps > 0}
    write_in_few(program, problem, bought, task.ways, task.few, k, short)
    solved = solve(task.solver, program, until.limits(1e-3, least_s=SOME_S))
    if solved.status == "infeasible" or not solved.values:
        return {}
    missing = {d: solved.values[column] / TBPS for d, column in short.items()}
    return {d: gbps for d, gbps in missing.items() if gbps > 1e-3}


def countable(demands: Sequence[Demand]) -> None:
    """SolverError where the routes of demands are counted beside a scheme that cannot count them."""
    counted = [demand for demand in demands if demand.max_paths]
    if not counted:
        return
    if retunes(demands) and not all(demand.waits for demand in demands):
        raise SolverError(
            f"max_paths of {counted[0].id} does not go with scheme relight beside others in the same network: leave it "
            "out, or give all demands one scheme"
        )
    if any(demand.protected for demand in demands) and any(
        demand.max_paths for demand in demands if not demand.protected
    ):
        raise SolverError(
            "max_paths of demands that are routed anew does not go with others on two ways (one-plus-one) in the same "
            "network: leave it out of the former, or give all one scheme"
        )
