"""What it is worth to let a demand come later: one more millisecond of its latency limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts import loop as cutting
from dcplan.design.few.sizing import size_all
from dcplan.design.formulation import USD
from dcplan.design.result import Binding
from dcplan.design.sizing import Sized
from dcplan.design.ways.chains import ways_of
from dcplan.errors import SolverError
from dcplan.units import money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.cuts.loop import Loop, Task
    from dcplan.design.result import Demand

MORE_MS = 1.0
"""By how much a limit is relaxed [ms]."""
RESOLVED_CHOICES = 40
"""Up to this many choices the worth is found by sizing anew; above, by the relaxation."""
RESOLVED_S = 10.0
"""Longest time for each of them [s]."""
NOTHING = "one ms more would save nothing"
LISTED = 10
"""Demands of which it is worked out, in file order."""


def limited(task: Task) -> list[int]:
    """The demands whose latency limit had to be watched."""
    return [d for d in sorted(task.ways) if task.problem.demands[d].max_latency_ms is not None]


def limits(task: Task, sized: Sized, loop: Loop) -> Iterator[Binding]:
    """Of each demand whose latency limit had to be watched: what one more millisecond saves.

    A limit that the cheapest routing keeps anyway is worth nothing and not listed; those of which one millisecond more
    saves nothing are listed together.
    """
    idle: dict[str, list[str]] = {}
    for d in limited(task)[:LISTED]:
        if task.until.over:
            break
        demand = task.problem.demands[d]
        limit_ms = demand.max_latency_ms or 0.0
        worth = _worth(task, sized, loop, d, replace(demand, max_latency_ms=limit_ms + MORE_MS))
        if worth.startswith(NOTHING):
            idle.setdefault(worth, []).append(demand.id)
        else:
            yield Binding(f"demand {demand.id}: at most {limit_ms:g} ms one way", worth)
    for worth, names in idle.items():
        yield Binding(
            f"latency limit of {', '.join(names)}", worth + (", of any of them alone" if len(names) > 1 else "")
        )


def _worth(task: Task, sized: Sized, loop: Loop, d: int, later: Demand) -> str:
    listed = ways_of(task.problem, later, task.until)
    demands = tuple(later if i == d else other for i, other in enumerate(task.problem.demands))
    relaxed = replace(task, problem=replace(task.problem, demands=demands), ways={**task.ways, d: listed.ways})
    least = "" if listed.complete else "at least "
    if sized.status == "optimal" and len(task.problem.choices) <= RESOLVED_CHOICES:
        saved_usd, how = _sized_anew(relaxed, sized), ""
    else:
        saved_usd, how = _by_relaxation(relaxed, loop), " (relaxation)"
    if saved_usd is None:
        return "not known: the search was ended"
    if saved_usd <= max(1.0, task.gap * sized.cost_usd):
        return NOTHING + how
    return f"one ms more would save {least}{money(saved_usd)}{how}"


def _sized_anew(relaxed: Task, sized: Sized) -> float | None:
    until = relaxed.until.within(RESOLVED_S, 0.0)
    try:
        found = size_all(replace(relaxed, until=until))
    except SolverError:
        return None
    return sized.cost_usd - found.cost_usd if isinstance(found, Sized) and found.status == "optimal" else None


def _by_relaxation(relaxed: Task, loop: Loop) -> float | None:
    found = cutting.start(relaxed, rounding=False, like=loop)
    if not cutting.root(found) or relaxed.until.over:
        return None
    return (loop.linear.objective - found.linear.objective) / USD
