"""Which ways are listed for the demands that need a list: those on two at once, late ones, those of few routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.few.program import Few, counted
from dcplan.design.ways.chains import Ways, ways_of
from dcplan.design.ways.generation import generated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.problem import Problem

MANY_WAYS = 4000
"""Of all demands on two ways at once together: of more than these, some are generated instead."""
MOST_OF_TWO = 1200
"""Of one demand on two ways at once: of more than these, those of all are generated."""
GENERATING = 0.3
"""Share of the time in which ways of demands on two at once are generated."""


def on_two_ways(task: Task) -> tuple[Task, dict[int, Ways]]:
    """The task with ways of the demands on two at once: all of them where they are few, else such as pay.

    Where those that pay leave too little for other demands, the shortest.
    """
    made, until = task.problem, task.until
    mine = sorted(made.protected)
    listed = listed_ways(made, mine, until, few=True)
    if len(listed) < len(mine) or not all(ways.complete for ways in listed.values()):
        grown = generated(replace(task, until=until.within(GENERATING * until.left_s)), mine)
        if grown.floor_usd is not None or not made.shared:
            task = grown
            listed = {d: Ways(tuple(task.ways[d]), complete=False, chosen=True) for d in mine if task.ways[d]}
        listed |= listed_ways(made, [d for d in mine if d not in listed], until)
    return replace(task, until=until, ways={d: ways.ways for d, ways in listed.items()}), listed


def listed_ways(made: Problem, demands: Sequence[int], until: Until, *, few: bool = False) -> dict[int, Ways]:
    """The ways of demands; each has its part of the time that is left. few: no more once they are many."""
    found: dict[int, Ways] = {}
    for rank, d in enumerate(demands):
        mine = until.within(until.left_s / (2 * (len(demands) - rank)))
        found[d] = ways_of(made, made.demands[d], mine, MOST_OF_TWO if few else None)
        if few and (not found[d].complete or sum(len(ways.ways) for ways in found.values()) > MANY_WAYS):
            break
    return found


def capped(task: Task, listed: Mapping[int, Ways]) -> tuple[str, ...]:
    """In words, whose ways are not all considered."""
    some = {d: ways for d, ways in sorted(listed.items()) if not ways.complete}
    chosen = [len(ways.ways) for ways in some.values() if ways.chosen]
    number = f"{sum(chosen)} ways that a relaxation would take were considered for {len(chosen)} demands"
    over = "; the bound is over all" if task.floor_usd is not None else ""
    shortest = (
        f"{task.problem.demands[d].id}: the {len(ways.ways)} shortest ways were considered, there are more"
        for d, ways in some.items()
        if not ways.chosen
    )
    return (*([f"two ways at once: {number}, there are more{over}"] if chosen else []), *shortest)


def held(listed: dict[int, Ways], task: Task, late: Sequence[int]) -> Task:
    """The task with demands held to ways within their latency limit.

    They are listed where time has passed too: some of them would be none.
    """
    made = task.problem
    task.say(f"latency limits: ways listed for {', '.join(made.demands[d].id for d in late)}")
    listed |= listed_ways(made, [d for d in late if d not in listed], task.until.finishing)
    return replace(task, ways={**task.ways, **{d: listed[d].ways for d in late}})


def counting(task: Task, listed: dict[int, Ways]) -> Task:
    """The task with the ways of demands that may take few routes at a time."""
    made = task.problem
    mine = counted(made)
    listed |= listed_ways(made, mine, task.until)
    complete = all(listed[d].complete for d in mine)
    return replace(task, few=Few({d: listed[d].ways for d in mine}, complete)) if mine else task
