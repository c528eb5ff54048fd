"""From a purchase to what is lit in each state and where it stands in the spectrum, with as little retuned as found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.design.relight.known import carries
from dcplan.design.relight.state import StateProgram
from dcplan.design.relight.stock import stock
from dcplan.design.routing.check import StateCheck
from dcplan.design.spectrum.place import Misfit, assign, used_slots
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.problem import Problem
    from dcplan.design.relight.search import Found
    from dcplan.design.result import Channel
    from dcplan.model.network import FiberId

OTHER_WAVELENGTHS = 12
"""Times that a state is lit with other wavelengths of the same purchase because channels found no place."""
AT_LEAST_S = 1.0
"""What the choice of wavelengths in a state may take where the time limit has passed [s]."""


@dataclass(frozen=True, slots=True)
class Lit:
    """What is lit in one state."""

    counts: tuple[int, ...]
    """Wavelengths, and modules of circuits that survive, per choice."""
    channels: tuple[Channel, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """Channels of a state found no place on a fiber, whatever wavelengths of the purchase were lit."""

    state: int
    fiber: FiberId
    slots: Mapping[FiberId, int]
    """Slots per pair within which the state should be lit."""


def arranged(task: Task, found: Found, slots: Sequence[Mapping[FiberId, int]]) -> tuple[Lit, ...] | Stuck:
    """What each state lights with a purchase: healthy with least spectrum × km, then as little else as is found.

    Surviving channels stay in their places where the others find theirs beside them.
    """
    check = StateCheck(task.problem, task.ways)
    healthy = _lit(task, check, found, 0, slots[0], None)
    lits: list[Lit] = []
    for k in range(len(task.problem.states)):
        lit = healthy if isinstance(healthy, Stuck) or k == 0 else _lit(task, check, found, k, slots[k], healthy)
        if isinstance(lit, Stuck):
            return lit
        lits.append(lit)
    return tuple(lits)


def _lit(
    task: Task, check: StateCheck, found: Found, state: int, slots: Mapping[FiberId, int], healthy: Lit | None
) -> Lit | Stuck:
    problem = task.problem
    counts: tuple[int, ...] | None = _counts(task, check, found, state, slots, healthy)
    stuck = None
    for _ in range(OTHER_WAVELENGTHS):
        if counts is None:
            break
        counts = _with_modules(problem, found, state, counts)
        channels = _placed(problem, found, counts, healthy)
        if not isinstance(channels, Misfit):
            return Lit(counts, channels)
        fiber = channels.fiber
        fewer = (used_slots(problem, counts)[fiber] - 1) // max(1, found.pairs[fiber])
        slots = {**slots, fiber: min(fewer, slots[fiber] - 1)}
        stuck = Stuck(state, fiber, slots)
        counts = _lit_anew(task, found, state, slots, healthy)
    if stuck is None:
        raise SolverError("no wavelengths were found for a state that can be lit")
    return stuck


def _counts(
    task: Task, check: StateCheck, found: Found, state: int, slots: Mapping[FiberId, int], healthy: Lit | None
) -> tuple[int, ...]:
    """What survives, where that carries the state; else wavelengths lit anew, or as the search left them."""
    if healthy is not None:
        alive = set(task.problem.alive(task.problem.states[state]))
        left = tuple(
            count if choice.lightpath in alive else 0
            for choice, count in zip(task.problem.choices, healthy.counts, strict=True)
        )
        if _carries(task, check, found, state, slots, left):
            return left
    return _lit_anew(task, found, state, slots, healthy) or found.counts[state]


def _carries(
    task: Task,
    check: StateCheck,
    found: Found,
    state: int,
    slots: Mapping[FiberId, int],
    lit: tuple[int, ...],
) -> bool:
    if not found.promised:
        return carries(task, check, state, lit)
    program = StateProgram(task, stock(task.problem), state, slots)
    return program.carried(found.given, _until(task), lit) is not None


def _lit_anew(
    task: Task, found: Found, state: int, slots: Mapping[FiberId, int], healthy: Lit | None
) -> tuple[int, ...] | None:
    program = StateProgram(task, stock(task.problem), state, slots)
    until = _until(task)
    if healthy is None:
        return program.leanest(found.given, until)
    return program.nearest(found.given, healthy.counts, until)


def _until(task: Task) -> Until:
    """The search's, or its share of what is left for some answer; without any, what the search found is lit."""
    return task.until if task.until.left_s > AT_LEAST_S else task.until.finishing.within(AT_LEAST_S)


def _with_modules(problem: Problem, found: Found, state: int, counts: Sequence[int]) -> tuple[int, ...]:
    """Circuits carry in every state whatever is leased of them, while they stand."""
    alive = set(problem.alive(problem.states[state]))
    return tuple(
        count if choice.slots else found.modules[j] if choice.lightpath in alive else 0
        for j, (choice, count) in enumerate(zip(problem.choices, counts, strict=True))
    )


def _placed(problem: Problem, found: Found, counts: Sequence[int], healthy: Lit | None) -> tuple[Channel, ...] | Misfit:
    if healthy is None:
        return assign(problem, counts, found.pairs)
    stay, beside = staying(problem, counts, dict(enumerate(counts)), healthy.channels)
    channels = assign(problem, beside, found.pairs, stay)
    if not isinstance(channels, Misfit):
        return channels
    stay, beside = staying(problem, counts, found.anchors, healthy.channels)
    return assign(replace(problem, places={}), beside, found.pairs, stay)  # in a failure nothing else must stay


def staying(
    problem: Problem, counts: Sequence[int], most: Mapping[int, int], channels: Sequence[Channel]
) -> tuple[list[Channel], list[int]]:
    """The first channels of each kind that are lit still, `most` of each choice, and how many are lit beside them."""
    kinds = [(problem.lightpaths[choice.lightpath].id, choice.part, choice.mode) for choice in problem.choices]
    may, lit = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for j, (kind, count) in enumerate(zip(kinds, counts, strict=True)):
        lit[kind] += count
        may[kind] += min(count, most.get(j, 0))
    stay: list[Channel] = []
    for channel in channels:
        kind = (channel.lightpath, channel.transponder, channel.mode)
        if may[kind] > 0:
            may[kind] -= 1
            lit[kind] -= 1
            stay.append(channel)
    beside = []
    for kind, count in zip(kinds, counts, strict=True):
        beside.append(min(count, lit[kind]))
        lit[kind] -= beside[-1]
    return stay, beside
