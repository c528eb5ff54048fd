"""The search for the cheapest purchase: the master proposes, each state is tried, and says what it lacks.

What a state asks of a purchase is projected onto it (Benders); the states whose wavelengths fall short only because
they are whole are written into the master. Its bound is a bound on the whole model at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.formulation import USD
from dcplan.design.limits import Until, now_s
from dcplan.design.relight.known import (
    Search,
    all_there_is,
    carries,
    enlarged,
    offer,
    rescue,
    states,
    warm,
    within,
)
from dcplan.design.relight.master import Master, again, between_shores, separate, start, write
from dcplan.design.sizing import EASY, LOOSE_GAP
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.solve import relative_gap
from dcplan.errors import NothingYetError, SolverError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Hop
    from dcplan.model.network import FiberId

ROOT_ROUNDS = 200
"""Rounds of cuts on the relaxation before the first integer solve."""
STALL = 0.005
STALLED = 3
"""The relaxation is left when it rose by less than this share in so many rounds in a row: whole purchases tell more."""
LATE_S = 0.3
"""Time for some bound where the limit has passed, after which no further inequalities are looked for [s]."""
WRITTEN_AT_ONCE = 4
"""States that are written into the master in a round; others may need no place then."""
ENLARGED_EVERY = 8
"""So many proposals that fall short apart, one is enlarged until every state is carried."""


@dataclass(frozen=True, slots=True)
class Found:
    """A purchase with the wavelengths of every state, its cost and the bound."""

    bought: tuple[float, ...]
    """In the order of `Purchase.columns`."""
    owned: tuple[int, ...]
    """Transponders by place of the stock."""
    modules: Mapping[int, int]
    """Choice -> modules of a circuit."""
    pairs: Mapping[FiberId, int]
    counts: tuple[tuple[int, ...], ...]
    """By state: wavelengths and modules per choice."""
    cost_usd: float
    bound_usd: float
    reason: str
    """proven, time limit, gap; or what the solver said."""
    master: Master
    """With the states that matter."""
    promised: tuple[float, ...] = ()
    """In the order of `Purchase.promised`."""

    @property
    def given(self) -> tuple[float, ...]:
        """All that is decided once, as `StateProgram` takes it."""
        return (*self.bought, *self.promised)

    @property
    def anchors(self) -> dict[int, int]:
        """Choice -> wavelengths that no failure retunes."""
        return dict(zip(self.master.bought.anchors, map(round, self.promised), strict=False))

    @property
    def aside(self) -> dict[Hop, float]:
        """Set aside for demands on two ways [Tb/s]."""
        mine = self.master.bought
        return dict(zip(mine.aside, self.promised[len(mine.anchors) :], strict=True))


def search(
    task: Task,
    slots: Sequence[Mapping[FiberId, int]],
    begin: Sequence[tuple[int, ...]] = (),
    before: Found | None = None,
    foresee: Callable[[Task, Sequence[Sequence[float]]], Task] | None = None,
    *,
    bound: bool = False,
) -> Found | None:
    """The cheapest purchase with which every state can be carried; None where there is none.

    slots: by state, slots per pair. begin: wavelengths of every state to begin from, if they carry it. before: what
    was found when less was asked. foresee: the task again, asking for what the wavelengths of the relaxation, by state,
    show to be needed. bound: that is all that is wanted. NothingYetError or StoppedError where it ended before any
    answer, unless no more than a bound is wanted, or there is something to begin from: then one of infinite cost.
    """
    found = Search(
        start(task, slots) if before is None else again(before.master, task, slots),
        foresee=foresee,
        begin=begin,
        bounding=bound,
    )
    if before is not None and found.master.slots == before.master.slots:
        found.bound = before.bound_usd * USD
    if not _root(found):
        return None
    if found.settled and _foreseen(found, [one.counts for one in found.master.projected]) and not _root(found):
        return None
    _begun(found, all_there_is(found, begin), begin)
    if before is not None and before.bought:
        _begun(found, before.bought, before.counts)
    if not _refine(found):
        return None
    if found.bought is None and not bound:
        try:
            rescue(found)
        except (NothingYetError, StoppedError):
            if not begin:
                raise
    return as_found(found)


def _begun(found: Search, bought: Sequence[float], counts: Sequence[tuple[int, ...]]) -> None:
    """Offer a purchase, with these wavelengths if they carry every state, else with others or with more."""
    check = found.master.check
    if counts and all(
        within(found, k, lit, bought) and carries(found.task, check, k, lit) for k, lit in enumerate(counts)
    ):
        offer(found, bought, tuple(counts))
    elif counts and found.price(bought) < found.cost:
        enlarged(found, bought, (), (), found.until.finishing)


def _foreseen(found: Search, counts: Sequence[Sequence[float]]) -> bool:
    """More is asked, as wavelengths of every state show to be needed; whether it is."""
    further = found.foresee(found.task, counts) if found.foresee else found.task
    if further is found.task:
        return False
    found.master = again(found.master, further, found.master.slots)
    found.programs.clear()
    found.known.clear()
    bought, lit = found.bought, found.counts
    found.bought, found.counts, found.cost = None, (), inf
    _begun(found, all_there_is(found, found.begin), found.begin)
    if bought is not None:
        _begun(found, bought, lit)
    return True


def as_found(found: Search) -> Found:
    """What a search ends with."""
    columns = found.master.bought
    value = dict(zip(columns.columns, map(round, found.bought or [0] * len(columns.columns)), strict=True))
    return Found(
        bought=found.bought or (),
        owned=tuple(value[i] for i in columns.owned),
        modules={j: value[i] for j, i in columns.modules.items()},
        pairs={fiber: value[i] for fiber, i in columns.pairs.items()},
        counts=found.counts,
        cost_usd=found.cost / USD,
        bound_usd=min(found.bound, found.cost) / USD,
        reason="proven" if found.closed() else found.reason if found.reason != "proven" else "gap",
        master=found.master,
        promised=found.promised,
    )


def _root(found: Search) -> bool:
    """Inequalities until the relaxation breaks none or gains no more; False where it is infeasible."""
    master, best, stalled = found.master, -inf, 0
    late: Until | None = None
    linear = master.pool.linear
    found.settled = False
    for _ in range(ROOT_ROUNDS):
        status = linear.solve()
        if status == "infeasible":
            return False
        if status != "optimal":
            raise SolverError("the relaxation of the design problem gave no answer")
        stalled = 0 if linear.objective - best > STALL * abs(best) else stalled + 1
        best = max(best, linear.objective)
        found.bound = max(found.bound, linear.objective)
        found.relaxed = tuple(linear.values[i] for i in master.bought.columns)
        if stalled == STALLED:
            break
        if found.until.hurried:
            late = late or Until(now_s() + LATE_S)
            if late.over or not between_shores(master, linear.values):
                break
            continue
        added, further = separate(master, linear.values, found.bound)
        found.settled = not further
        if not added:
            break
    if linear.solve() == "infeasible":
        return False
    master.pool.keep_tight()
    found.task.say(f"relaxation US$ {found.bound / USD:,.0f}, {len(master.matter)} of {states(found)} states matter")
    return True


def _refine(found: Search) -> bool:
    """The master proposes purchases until one that carries all is within the gap; False where there is none."""
    half = found.task.gap / 2
    gap = max(LOOSE_GAP, half)
    while not found.closed():
        if found.until.over:
            found.reason = found.until.why
            break
        solved = solve_again(found.task.solver, found.master.pool.program, found.until.limits(gap), warm(found))
        if solved.status == "infeasible":
            return False
        if solved.bound is not None:
            found.bound = max(found.bound, solved.bound)
        if solved.objective is None:
            found.reason = solved.reason
            break
        best = found.cost
        broken = _tried(found, _whole(found, solved.values))
        if found.cost < best and _foreseen(found, found.counts):
            broken = True
        found.task.say(
            f"{'no design yet' if found.bought is None else f'cost US$ {found.cost / USD:,.0f}'}, "
            f"bound US$ {found.bound / USD:,.0f}, {len(found.master.matter)} of {states(found)} states matter, "
            f"{len(found.master.pool.kept)} cuts"
        )
        if not broken and gap <= half:
            found.reason = solved.reason
            break
        wide = broken and solved.nodes * len(found.master.pool.program.columns) > EASY
        gap = max(half, min(LOOSE_GAP, relative_gap(found.cost, found.bound) / 4)) if wide else half
    return True


def _whole(found: Search, values: Sequence[float]) -> list[float]:
    columns = found.master.pool.whole.columns
    return [float(round(value)) if column.integer else value for column, value in zip(columns, values, strict=True)]


def _tried(found: Search, values: Sequence[float]) -> bool:
    """Tell the master what a proposal lacks, and offer it, or what it leads to, where it carries all; whether it did.

    A proposal that parts of wavelengths do not carry is enlarged now and then, where that may save something.
    """
    master = found.master
    woken = master.pool.wake(values)
    added, further = separate(master, values, found.bound)
    proposed = tuple(values[i] for i in master.bought.columns)
    found.enlarged += 1
    if further and not found.bounding:
        least = found.price(proposed) + max(one.short for one in further)
        if least < found.cost * (1 - found.task.gap) and (found.bought is None or found.enlarged >= ENLARGED_EVERY):
            shortest = sorted(further, key=lambda one: (-one.short, one.state))
            enlarged(found, proposed, values, [one.state for one in shortest], found.until)
    elif not further:
        failed = enlarged(found, proposed, values, (), found.until)
        if not failed:
            return False
        fresh = [k for k in failed if k not in master.states][:WRITTEN_AT_ONCE]
        write(master, fresh)
        added += len(fresh)
    if not woken and not added and not found.until.over:
        raise SolverError("a state cannot be lit although the master says that it can")
    return True
