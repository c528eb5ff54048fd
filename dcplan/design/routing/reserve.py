"""The time that a search leaves to what must follow it: the traffic of every state is routed before the limit too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.limits import now_s
from dcplan.design.routing.states import is_much, route_states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Task

SAMPLE = 8
"""Failures that are routed to see how long one takes."""
MARGIN = 1.5
"""Others may take so much longer."""


def with_routing(task: Task, counts: Sequence[float]) -> Task:
    """The task with its time limit sooner by what routing such a purchase takes.

    That is measured: the healthy state and some failures, evenly chosen, are routed, and all others taken to be like
    them, times `MARGIN`. Nothing is kept where the clock does not count or time is up, where all of it is short, or
    where routes are counted (`max_paths`).
    """
    problem = task.problem
    if not task.until.timed or task.until.over or not problem.shared or task.few.ways or not is_much(problem):
        return task
    failures = len(problem.states) - 1
    few = min(SAMPLE, failures)
    some = [1 + failures * k // few for k in range(few)]
    begun = now_s()
    route_states(problem, task.held, counts, failures=some)
    took_s = (now_s() - begun) / (1 + few)
    return replace(task, until=task.until.sooner(MARGIN * took_s * (1 + failures)))
