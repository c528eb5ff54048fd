"""Which ways are listed for the demands that need a list: those on two at once, late ones, those of few routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.few import Few, counted
from dcplan.design.generation import can_generate, generated
from dcplan.design.ways import Ways, ways_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cutting import Task
    from dcplan.design.limits import Until
    from dcplan.design.problem import Problem

MANY_WAYS = 4000
"""Of all demands on two ways at once together: of more than these, some are generated instead."""
GENERATING = 0.3
"""Share of the time in which ways of demands on two at once are generated."""


def on_two_ways(task: Task) -> tuple[Task, dict[int, Ways]]:
    """The task with ways of the demands on two at once: all of them where they are few, else such as pay."""
    made, until = task.problem, task.until
    listed = listed_ways(made, sorted(made.protected), until, few=can_generate(made))
    task = replace(task, ways={d: ways.ways for d, ways in listed.items()})
    all_listed = len(listed) == len(made.protected) and all(ways.complete for ways in listed.values())
    if all_listed or not can_generate(made):
        return task, listed
    many = sorted(made.protected)
    task = generated(replace(task, until=until.within(GENERATING * until.left_s)), many)
    listed |= {d: Ways(tuple(task.ways[d]), complete=False) for d in many if task.ways[d]}
    listed |= listed_ways(made, [d for d in many if d not in listed], until)
    return replace(task, until=until, ways={d: ways.ways for d, ways in listed.items()}), listed


def listed_ways(made: Problem, demands: Sequence[int], until: Until, *, few: bool = False) -> dict[int, Ways]:
    """The ways of demands; each has its part of the time that is left. few: no more once they are many."""
    found: dict[int, Ways] = {}
    for rank, d in enumerate(demands):
        mine = until.within(until.left_s / (2 * (len(demands) - rank)))
        found[d] = ways_of(made, made.demands[d], mine)
        if few and (not found[d].complete or sum(len(ways.ways) for ways in found.values()) > MANY_WAYS):
            break
    return found


def capped(task: Task, listed: Mapping[int, Ways]) -> tuple[str, ...]:
    """In words, whose ways are not all considered."""
    made, some = task.problem, [d for d, ways in sorted(listed.items()) if not ways.complete]
    if task.floor_usd is not None:
        number = sum(len(listed[d].ways) for d in some)
        what = f"two ways at once: {number} ways that a relaxation would take were considered for {len(some)} demands"
        return (f"{what}, there are more; the bound is over all, without a certificate",)
    return tuple(
        f"{made.demands[d].id}: the {len(listed[d].ways)} shortest ways were considered, there are more" for d in some
    )


def held(listed: dict[int, Ways], task: Task, late: Sequence[int]) -> Task:
    """The task with demands held to ways within their latency limit."""
    made = task.problem
    task.say(f"latency limits: ways listed for {', '.join(made.demands[d].id for d in late)}")
    listed |= listed_ways(made, [d for d in late if d not in listed], task.until)
    return replace(task, ways={**task.ways, **{d: listed[d].ways for d in late}})


def counting(task: Task, listed: dict[int, Ways]) -> Task:
    """The task with the ways of demands that may take few routes at a time."""
    made = task.problem
    mine = counted(made)
    listed |= listed_ways(made, mine, task.until)
    complete = all(listed[d].complete for d in mine)
    return replace(task, few=Few({d: listed[d].ways for d in mine}, complete)) if mine else task
