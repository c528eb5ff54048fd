"""Demands on two ways that may take few routes at a time: so many for each of the two ways, twice as many in all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.inequality import terms_of
from dcplan.design.formulation import TBPS, buy
from dcplan.design.problem import Problem, whole_rate
from dcplan.design.routing.aside import aside_of
from dcplan.design.routing.check import StateCheck
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import solve
from dcplan.design.ways.protection import protect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Task
    from dcplan.design.formulation import Bought
    from dcplan.design.ways.chains import Way
    from dcplan.design.ways.protection import Protected

ROUNDS = 200
"""Times that picked routes are corrected so that enough is left for others."""
NODES = 5000
"""Branch-and-bound nodes within which routes are picked: the same answer on every machine."""
GAP = 1e-6
"""Relative gap within which picked routes are those of least latency."""
AT_LEAST_S = 3.0
"""Time that picking routes is given where none is left [s]."""
DUST = 1e-5
"""Share of a demand that a route carries by the solver's tolerance only."""


def counted_pairs(problem: Problem) -> tuple[int, ...]:
    """The demands on two ways whose routes are counted."""
    return tuple(d for d in sorted(problem.protected) if problem.demands[d].max_paths is not None)


def count_routes(program: Program, problem: Problem, protected: Protected, ways: Mapping[int, Sequence[Way]]) -> bool:
    """Per demand on two ways whose routes are counted: binary z for each, its traffic ≤ rate × z, Σ z ≤ 2 × its most.

    Where two routes are left each carries all, so that they are one pair. False where all have so few.
    """
    some = False
    for d in counted_pairs(problem):
        routes: dict[tuple[int, ...], dict[int, float]] = {}
        for (of, w), column in protected.flows.items():
            if of == d:
                routes.setdefault(ways[d][w].lightpaths, {})[column] = 1.0
        most = 2 * (problem.demands[d].max_paths or 1)
        if len(routes) <= most:
            continue
        some, whole, used = True, whole_rate(problem.demands[d], problem.states) * TBPS, {}
        for r, terms in enumerate(routes.values()):
            z = program.column(f"z{d}r{r}", 0.0, 1, integer=True)
            used[z] = 1.0
            program.row(f"ridden{d}r{r}", terms | {z: -whole}, upper=0)
        program.row(f"few{d}", used, upper=most)
    return some


def lit_program(
    problem: Problem, ways: Mapping[int, Sequence[Way]], counts: Sequence[float]
) -> tuple[Program, Bought, Protected]:
    """Both ways of each demand over so many wavelengths per choice, at least total latency."""
    program = Program()
    bought = buy(program, problem)
    program.columns[:] = [replace(column, cost=0.0) for column in program.columns]
    for column, count in zip(bought.wavelengths, counts, strict=True):
        program.columns[column] = replace(program.columns[column], lower=count, upper=count)
    protected = protect(program, problem, bought, ways, latency_cost=1.0)
    return program, replace(bought, aside=protected.aside), protected


def picked(task: Task, counts: Sequence[float], known: Iterable[Cut] = ()) -> dict[int, Sequence[Way]] | None:
    """Of each demand on two ways the ways that it keeps to, few where they are counted; None where there are none such.

    They leave enough for all other demands in every state. None as well where the solver stopped at `NODES` or at the
    time limit before it found any.
    """
    problem, ways = task.problem, task.protected
    if not counted_pairs(problem):
        return ways
    ways = {d: [way for way in listed if _lit(problem, way, counts)] for d, listed in ways.items()}
    program, bought, protected = lit_program(problem, ways, counts)
    if not count_routes(program, problem, protected, ways):
        return ways
    check = StateCheck(problem, task.held) if problem.shared else None
    states, pair_gbps = range(len(problem.states)), dict.fromkeys(problem.fibers, 0.0)
    broken = [cut for cut in known if cut.aside]
    for _ in range(ROUNDS):
        for cut in broken:
            terms = terms_of(cut, problem, bought, pair_gbps)
            program.row(f"cut{len(program.rows)}", terms, lower=cut.need_gbps(problem) * TBPS)
        values = solve("highs", program, task.until.finishing.limits(GAP, NODES, AT_LEAST_S)).values
        if not values:
            return None
        short = check.broken(counts, states, len(states), aside_of(bought, values)) if check else []
        if not short:
            return {d: _ridden(problem, d, listed, protected, values) for d, listed in ways.items()}
        broken = [one.cut for one in short]
    return None


def _lit(problem: Problem, way: Way, counts: Sequence[float]) -> bool:
    """Something is lit on every hop that is fast enough."""
    return all(any(counts[j] > 0 for j in problem.within(hop)) for hop in way.hops)


def _ridden(
    problem: Problem, d: int, ways: Sequence[Way], protected: Protected, values: Sequence[float]
) -> Sequence[Way]:
    """The ways of the routes that a counted demand takes; all of any other."""
    most = problem.demands[d].max_paths
    if most is None:
        return ways
    carried: dict[tuple[int, ...], float] = {}
    for (of, w), column in protected.flows.items():
        if of == d:
            carried[ways[w].lightpaths] = carried.get(ways[w].lightpaths, 0.0) + values[column]
    floor = DUST * sum(carried.values())
    order = sorted((route for route in carried if carried[route] > floor), key=lambda one: (-carried[one], one))
    return [way for way in ways if way.lightpaths in order[: 2 * most]]
