"""The least that must go short where there is no design, demand by demand and state by state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.inequality import Cut, pair_capacity_gbps, terms_of
from dcplan.design.formulation import TBPS, Bought, master
from dcplan.design.limits import Limits
from dcplan.design.problem import Problem, rate, whole_rate
from dcplan.design.result import Shortage
from dcplan.design.routing.aside import aside_of
from dcplan.design.routing.check import StateCheck
from dcplan.design.solver.solve import solve
from dcplan.design.ways.protection import protect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.solver.program import Program

ELASTIC_S = 20.0
"""Longest time for finding the least shortage [s]."""
ELASTIC_ROUNDS = 60


def reasons_until(task: Task) -> Until:
    """When a search for reasons ends: with what is left for a design, and for some answer."""
    return task.until.finishing.within(ELASTIC_S)


def least_shortages(task: Task) -> tuple[Shortage, ...]:
    """The least total shortage over all states, by a master in which demands may go short."""
    problem, until = task.problem, reasons_until(task)
    program, bought = master(problem, task.slots)
    program.columns[:] = [replace(column, cost=0.0) for column in program.columns]
    whole = {d: whole_rate(problem.demands[d], problem.states) for d in sorted(problem.protected)}
    both = {d: program.column(f"u{d}", gbps * TBPS, 1.0) for d, gbps in whole.items()}
    bought = replace(bought, aside=protect(program, problem, bought, task.protected, short=both).aside)
    short = {
        (d, k): program.column(f"u{d}k{k}", 1.0, rate(problem.demands[d], state) * TBPS)
        for k, state in enumerate(problem.states)
        for d in problem.shared
        if rate(problem.demands[d], state) > 0
    }
    check, pair_gbps = StateCheck(problem, task.held), pair_capacity_gbps(problem)
    missing: dict[tuple[int, int], float] = {}
    for _ in range(ELASTIC_ROUNDS):
        solved = solve("highs", program, Limits(max(0.5, until.left_s), 1e-3))
        if not solved.values:
            break
        counts, aside = [round(solved.values[i]) for i in bought.wavelengths], aside_of(bought, solved.values)
        missing = {key: solved.values[column] / TBPS for key, column in short.items()}
        missing |= {(d, 0): solved.values[column] * whole[d] for d, column in both.items()}
        further = 0
        for k in range(len(problem.states)) if problem.shared else ():
            left = {d: max(0.0, gbps - missing.get((d, k), 0.0)) for d, gbps in asked_gbps(problem, k).items()}
            found = check.least_short(k, counts, left, aside)
            if found is not None:
                further += 1
                for d, gbps in found.by_demand.items():
                    missing[d, k] = missing.get((d, k), 0.0) + gbps
                _allow_short(program, problem, bought, pair_gbps, found.cut, short)
        if not further or until.over:
            break
    return _listed(problem, missing)


def asked_gbps(problem: Problem, state: int) -> dict[int, float]:
    """What each demand asks in a state that shares what is not set aside [Gb/s]."""
    return {d: rate(problem.demands[d], problem.states[state]) for d in problem.shared}


def _allow_short(
    program: Program,
    problem: Problem,
    bought: Bought,
    pair_gbps: Mapping[str, float],
    cut: Cut,
    short: Mapping[tuple[int, int], int],
) -> None:
    """Add a cut in which what goes short counts as served."""
    terms = terms_of(cut, problem, bought, pair_gbps)
    for d, distance in cut.distances.items():
        if (d, cut.state) in short:
            terms[short[d, cut.state]] = distance
    program.row(f"cut{len(program.rows)}", terms, lower=cut.need_gbps(problem) * TBPS)


def _listed(problem: Problem, missing: Mapping[tuple[int, int], float]) -> tuple[Shortage, ...]:
    return tuple(
        Shortage(
            problem.demands[d].id, problem.states[k].name, rate(problem.demands[d], problem.states[k]), round(gbps, 6)
        )
        for (d, k), gbps in sorted(missing.items(), key=lambda item: (item[0][1], item[0][0]))
        if gbps > 1e-3
    )
