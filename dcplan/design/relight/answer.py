"""Scheme relight from demands to what is owned, what each state lights and how its traffic goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from dcplan.design.few.program import NOBODY
from dcplan.design.few.reason import too_few
from dcplan.design.few.routes import Lit as LitInState
from dcplan.design.few.routes import picks
from dcplan.design.formulation import whole_slots
from dcplan.design.reasons.conflict import Tried, explain
from dcplan.design.relight.arrange import Lit, Stuck, arranged
from dcplan.design.relight.search import Found, search
from dcplan.design.relight.state import StateProgram
from dcplan.design.relight.stock import stock
from dcplan.design.result import Owned
from dcplan.design.routing.states import route_states, too_late
from dcplan.errors import NothingYetError, SolverError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Problem
    from dcplan.design.relight.master import Master
    from dcplan.design.result import Channel, Infeasible, Routing
    from dcplan.design.routing.states import Routes
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId

REPAIRS = 40
"""Times that the search is repeated because channels of some state found no place in the spectrum."""
ROOM = 1e-6
"""Share by which parts of wavelengths may fall short by rounding."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A design in which nothing is retuned: what scheme reroute would buy, over the same choices."""

    counts: tuple[int, ...]
    channels: tuple[Channel, ...]
    routing: tuple[Routing, ...]
    cost_usd: float
    bound_usd: float
    """No design costs less, retuned or not; 0 where something could be retuned. Circuits carry in every state whatever
    is leased of them."""
    late: tuple[int, ...]
    """Demands that are held to ways within their latency limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is bought, what each state lights, and how good that is."""

    task: Task
    owned: tuple[Owned, ...]
    lits: tuple[Lit, ...]
    """By state, healthy first."""
    routing: tuple[Routing, ...]
    bound_usd: float
    reason: str
    repairs: tuple[FiberId, ...]
    """Fibers that were given less of their band in some state, in order."""
    master: Master
    """With the states that mattered, and what the bound rests on."""
    anchored: tuple[Channel, ...] = ()
    """Of the healthy channels, those that no failure retunes, where demands of other schemes ride on them."""
    beside: Task | None = None
    """The task as it was asked, where demands of other schemes are in it: `task` and `master` hold them all to be under
    relight."""


def answer(task: Task, hold: Callable[[Task, Sequence[int]], Task], fixed: Fixed | None) -> Answer | Infeasible:
    """The cheapest purchase that every state can be lit with, or why there is none.

    hold: the task with demands held to ways within their latency limit. fixed: where it costs no more than what is
    found, or time ran out before anything was, it is the answer, so that relight never costs more than that.
    """
    problem, bound = task.problem, 0.0
    slots: list[Mapping[FiberId, int]] = [whole_slots(problem)] * len(problem.states)
    found: Found | None = None
    repairs: tuple[FiberId, ...] = ()
    for _ in range(REPAIRS + len(problem.demands)):
        before = found
        found = _searched(task, slots, hold, fixed, before)
        if found is None:
            if fixed is None or before is None:
                return why_not(task, slots, late=bool(task.ways), repaired=bool(repairs))
            return unchanged(task, fixed, before, bound, repairs)
        task = found.master.task
        bound = bound if repairs else max(found.bound_usd, fixed.bound_usd if fixed else 0.0)
        if fixed is not None and fixed.cost_usd <= found.cost_usd * (1 + 1e-9):
            return unchanged(task, fixed, found, bound, repairs)
        lits = arranged(task, found, slots)
        if isinstance(lits, Stuck):
            repairs = (*repairs, lits.fiber)
            task.say(f"channels of {problem.states[lits.state].name} do not fit on {lits.fiber}, searching again")
            slots[lits.state] = lits.slots
            continue
        routing = _routed(task, lits)
        late = [d for d in too_late(problem, routing) if d not in task.ways]
        if not late:
            return Answer(task, owned_by(problem, lits), lits, routing, bound, found.reason, repairs, found.master)
        task = hold(task, late)
    if fixed is not None and found is not None:
        return unchanged(task, fixed, found, bound, repairs)
    raise SolverError("the channels found no place in the spectrum, however the wavelengths were chosen")


def _searched(
    task: Task,
    slots: Sequence[Mapping[FiberId, int]],
    hold: Callable[[Task, Sequence[int]], Task],
    fixed: Fixed | None,
    before: Found | None,
) -> Found | None:
    """What the search finds; none where there is nothing, or nothing yet while what is fixed will do."""
    try:
        return search(task, slots, begin_of(task.problem, fixed), before, partial(_foreseen, hold))
    except (NothingYetError, StoppedError):
        if fixed is None or before is None:
            raise
        return None


def _routed(task: Task, lits: Sequence[Lit]) -> tuple[Routing, ...]:
    """The traffic of every state on what is lit in it, counted demands on few routes."""
    problem = task.problem

    def few(k: int, healthy: Mapping[int, Routes]) -> Mapping[int, Sequence[Way]]:
        return picks(LitInState(problem, task.ways, task.few, lits[k].counts, task.until), k, healthy)

    held = few if task.few.ways else None
    return route_states(problem, task.ways, lits[0].counts, held, relit=[lit.counts for lit in lits])


def _foreseen(hold: Callable[[Task, Sequence[int]], Task], task: Task, counts: Sequence[Sequence[float]]) -> Task:
    """The task with demands held that come too late already over parts of wavelengths: saves searches."""
    if not any(
        demand.max_latency_ms is not None and d not in task.ways for d, demand in enumerate(task.problem.demands)
    ):
        return task
    more = [[count * (1 + ROOM) for count in lit] for lit in counts]
    try:
        routing = route_states(task.problem, task.ways, more[0], relit=more)
    except SolverError:  # by rounding they do not carry everything
        return task
    late = [d for d in too_late(task.problem, routing) if d not in task.ways]
    return hold(task, late) if late else task


def begin_of(problem: Problem, fixed: Fixed | None) -> list[tuple[int, ...]]:
    """By state, what is lit where nothing is retuned."""
    return [] if fixed is None else [_surviving(problem, k, fixed.counts) for k in range(len(problem.states))]


def _surviving(problem: Problem, state: int, counts: Sequence[int]) -> tuple[int, ...]:
    alive = set(problem.alive(problem.states[state]))
    return tuple(
        count if choice.lightpath in alive else 0 for choice, count in zip(problem.choices, counts, strict=True)
    )


def unchanged(task: Task, fixed: Fixed, found: Found, bound_usd: float, repairs: tuple[FiberId, ...]) -> Answer:
    """Nothing is retuned: that is simpler, and costs no more."""
    problem = task.problem
    routes = {lightpath.id: lightpath.route for lightpath in problem.lightpaths}
    lits = tuple(
        Lit(counts, tuple(channel for channel in fixed.channels if not state.breaks(routes[channel.lightpath])))
        for state, counts in zip(problem.states, begin_of(problem, fixed), strict=True)
    )
    bound = min(bound_usd, fixed.cost_usd)
    return Answer(task, owned_by(problem, lits), lits, fixed.routing, bound, found.reason, repairs, found.master)


def why_not(task: Task, slots: Sequence[Mapping[FiberId, int]], *, late: bool, repaired: bool) -> Infeasible:
    """The first state that cannot be lit whatever is bought: each can be looked at by itself, since stock is free."""
    problem, stood = task.problem, stock(task.problem)
    free = replace(task, few=NOBODY)
    nothing = [0.0] * len(StateProgram(task, stood, 0, slots[0]).bought.columns)
    until = task.until.finishing
    for k in range(len(problem.states)):
        if StateProgram(free, stood, k, slots[k]).grown(nothing, until) is None and not until.over:
            return explain(_alone(free, k, slots[k]), Tried(late=late, repaired=repaired))
    if task.few.ways and not until.over:
        return too_few(task)
    raise SolverError("each state can be lit by itself, all together cannot: time ran out, allow more")


def _alone(task: Task, state: int, slots: Mapping[FiberId, int]) -> Task:
    """The task of one state."""
    only = replace(task.problem, states=(task.problem.states[state],))
    ways = {
        d: [replace(way, broken=frozenset()) for way in listed if state not in way.broken]
        for d, listed in task.ways.items()
    }
    return replace(task, problem=only, slots=slots, ways=ways)


def owned_by(problem: Problem, lits: Sequence[Lit]) -> tuple[Owned, ...]:
    """The transponders that the state which takes most of them has in use, and those that stay."""
    stood = stock(problem)
    most = [max(each) for each in zip(*(stood.taken(lit.counts) for lit in lits), strict=True)]
    owned = []
    for (site, part), in_use, there in zip(stood.places, most, stood.there, strict=True):
        count = max(round(in_use), there if stood.kept else 0)
        if count:
            owned.append(Owned(site, part, count, min(count, there)))
    return tuple(owned)
