"""The traffic of every state on what is lit: demands on two ways first, all others on what these leave."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dcplan.design.few.routes import Lit, picks
from dcplan.design.result import Routing
from dcplan.design.routing.states import route_states
from dcplan.design.ways.couples import couples_on, standing, taken_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Problem
    from dcplan.design.ways.couples import Riding


def routed(task: Task, counts: Sequence[float], known: Iterable[Cut] = ()) -> tuple[Routing, ...]:
    """The traffic of every state; known: cuts that hold of the task. SolverError where one cannot be carried."""
    problem = task.problem
    if not problem.protected:
        few = partial(picks, Lit(problem, task.ways, task.few, counts, task.until)) if task.few.ways else None
        return route_states(problem, task.ways, counts, few)
    riding = couples_on(task, counts, known)
    rest = route_states(problem, task.held, counts, aside_gbps=taken_by(riding)) if problem.shared else ()
    return together(problem, riding, rest)


def together(problem: Problem, riding: Sequence[Riding], rest: Sequence[Routing]) -> tuple[Routing, ...]:
    """Demands on two ways, where they stand, and all others, if there are any, in every state."""
    order = {demand.id: d for d, demand in enumerate(problem.demands)}
    found = []
    for k, state in enumerate(problem.states):
        flows = [*standing(problem, riding, k), *(rest[k].flows if rest else ())]
        found.append(Routing(state.name, tuple(sorted(flows, key=lambda flow: order[flow.demand]))))
    return tuple(found)
