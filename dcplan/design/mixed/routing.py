"""The traffic of every state: couples of ways on what is set aside for them, then all others where they may ride."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS
from dcplan.design.routing.carried import together
from dcplan.design.routing.states import route_states
from dcplan.design.ways.couples import couples_on, taken_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.relight.arrange import Lit
    from dcplan.design.relight.search import Found
    from dcplan.design.result import Routing
    from dcplan.design.ways.couples import Riding

ROUNDED = 1e-6
"""Share by which more is looked for than is set aside, which is known but for rounding."""


def routed(task: Task, found: Found, lits: Sequence[Lit]) -> tuple[Routing, ...]:
    """What is lit in each state carries all of it. SolverError where it does not: the search promised that it does."""
    problem = task.problem
    never = [found.anchors.get(j, found.modules.get(j, 0)) for j in range(len(problem.choices))]
    riding = _couples(task, never, found.aside) if problem.protected else ()
    rest: tuple[Routing, ...] = ()
    if problem.shared:
        by_state = [lit.counts for lit in lits]
        rest = route_states(problem, task.held, by_state[0], relit=by_state, aside_gbps=taken_by(riding), anchors=never)
    return together(problem, riding, rest)


def _couples(task: Task, never: Sequence[int], aside: Mapping[Hop, float]) -> tuple[Riding, ...]:
    """As if nobody else were there, on the parts of wavelengths that are set aside; on all where nobody else is."""
    problem = task.problem
    mine = sorted(problem.protected)
    alone = replace(problem, demands=tuple(problem.demands[d] for d in mine))
    counts = _parts(problem, never, aside) if problem.shared else never
    riding = couples_on(replace(task, problem=alone, ways={i: task.ways[d] for i, d in enumerate(mine)}), counts)
    return tuple(replace(one, demand=mine[one.demand]) for one in riding)


def _parts(problem: Problem, never: Sequence[int], aside: Mapping[Hop, float]) -> list[float]:
    """Wavelengths per choice that hold what is set aside, the slowest that will do first."""
    left = [count * choice.gbps for count, choice in zip(never, problem.choices, strict=True)]
    for hop, tbps in sorted(aside.items()):
        gbps = tbps / TBPS * (1 + ROUNDED)
        for j in sorted(problem.within(hop), key=lambda j: -problem.choices[j].latency_ms):
            part = min(left[j], gbps)
            left[j], gbps = left[j] - part, gbps - part
    return [count - rest / choice.gbps for count, rest, choice in zip(never, left, problem.choices, strict=True)]
