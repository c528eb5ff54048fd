"""Some demands under relight, others not: from demands to what is owned, what each state lights, how traffic goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.formulation import whole_slots
from dcplan.design.mixed.routing import routed
from dcplan.design.mixed.search import search
from dcplan.design.relight import search as freely
from dcplan.design.relight.answer import REPAIRS, Answer, begin_of, owned_by, unchanged, why_not
from dcplan.design.relight.arrange import Stuck, arranged, staying
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Problem
    from dcplan.design.relight.answer import Fixed
    from dcplan.design.result import Infeasible
    from dcplan.model.network import FiberId

FREELY = 0.4
"""Share of time and nodes for the relaxation in which everything may be retuned."""


def answer(task: Task, fixed: Fixed | None, *, complete: bool) -> Answer | Infeasible | None:
    """The cheapest purchase that every state can be lit with, or why there is none; none where that is not known.

    fixed: a design in which nothing is retuned, which is the answer where nothing cheaper is found. complete: all ways
    of demands on two ways are listed; else the bound is that of the relaxation, which holds them to none.
    """
    free = as_if_free(task)
    slots: list[Mapping[FiberId, int]] = [whole_slots(task.problem)] * len(task.problem.states)
    begin = begin_of(task.problem, fixed)
    with task.until.stop.saving(1 - FREELY):
        until = task.until.within(FREELY * task.until.left_s)
        relaxed = freely.search(replace(free, until=until), slots, begin, bound=True)
    if relaxed is None:
        return why_not(free, slots, late=bool(free.ways), repaired=False)
    found, bound = relaxed, max(relaxed.bound_usd, fixed.bound_usd if fixed else 0.0)
    repairs: tuple[FiberId, ...] = ()
    for _ in range(REPAIRS):
        proposed = search(task, slots, relaxed, begin)
        if proposed is None:
            if not repairs:
                return None
            break
        found = proposed
        if not repairs and complete:
            bound = max(bound, found.bound_usd)
        if fixed is not None and (not found.promised or fixed.cost_usd <= found.cost_usd * (1 + 1e-9)):
            break
        lits = arranged(task, found, slots)
        if not isinstance(lits, Stuck):
            routing, owned = routed(task, found, lits), owned_by(task.problem, lits)
            never = staying(task.problem, lits[0].counts, found.anchors, lits[0].channels)[0]
            return Answer(free, owned, lits, routing, bound, found.reason, repairs, relaxed.master, tuple(never), task)
        repairs = (*repairs, lits.fiber)
        task.say(f"channels of {task.problem.states[lits.state].name} do not fit on {lits.fiber}, searching again")
        slots[lits.state] = lits.slots
    if fixed is None:
        raise SolverError("the channels found no place in the spectrum, however the wavelengths were chosen")
    same = unchanged(free, fixed, replace(found, master=relaxed.master), bound, repairs)
    return replace(same, anchored=fixed.channels, beside=task)


def as_if_free(task: Task) -> Task:
    """The task with every demand under relight, on one way at a time: no design of the task costs less."""
    return replace(task, problem=_freed(task.problem), ways=task.held)


def _freed(problem: Problem) -> Problem:
    return replace(problem, demands=tuple(replace(demand, scheme="relight") for demand in problem.demands))
