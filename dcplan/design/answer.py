"""What to buy where nothing is retuned: size, route, place in the spectrum; and again where a channel does not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.cuts.loop import Task, cuts_of, root, start
from dcplan.design.few.sizing import size_all
from dcplan.design.formulation import whole_slots
from dcplan.design.lit import lit_fibers, wavelengths_of
from dcplan.design.nodes import with_roadms
from dcplan.design.reasons.conflict import Tried
from dcplan.design.result import Infeasible
from dcplan.design.routing.carried import routed
from dcplan.design.routing.states import too_late
from dcplan.design.sizing import Sized
from dcplan.design.solver.solve import relative_gap
from dcplan.design.spectrum.place import Misfit, assign, used_slots, widened
from dcplan.design.ways.listing import capped, counting, held
from dcplan.errors import SolverError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.cuts.loop import Held, Loop
    from dcplan.design.result import BillItem, Channel, LitFiber, Routing
    from dcplan.design.ways.chains import Ways
    from dcplan.model.network import FiberId

REPAIRS = 40
"""Times that the sizing is repeated because channels found no place in the spectrum."""
REPAIRED = "spectrum repaired"
"""Why a search ends whose answer was proven, but for the channels."""


@dataclass(frozen=True)
class Answer:
    """A purchase whose channels have found their places and whose traffic is routed."""

    sized: Sized
    channels: tuple[Channel, ...]
    routing: tuple[Routing, ...]
    bound_usd: float
    basis: tuple[Task, Sequence[Held]]
    """What the bound is about: the task with the whole band on every fiber, and the inequalities of its master."""
    repairs: tuple[FiberId, ...]
    """Fibers that were given less of their band because channels found no place there, in order."""
    task: Task
    capped: tuple[str, ...]
    """Of which demands not all ways were considered, in words."""

    @cached_property
    def lit(self) -> tuple[LitFiber, ...]:
        """The fibers with their pairs."""
        return lit_fibers(self.task.problem, self.channels)

    @cached_property
    def bill(self) -> tuple[BillItem, ...]:
        """What all of it costs."""
        made = self.task.problem
        by_id = {lightpath.id: lightpath for lightpath in made.lightpaths}
        wavelengths = wavelengths_of(made, self.sized.counts)
        pairs = {one.fiber: one.pairs for one in self.lit}
        network = with_roadms(made.network, by_id, wavelengths)
        return cost.bill(network, made.lines, by_id, wavelengths, pairs, self.routing)

    @property
    def cost_usd(self) -> float:
        """Of the bill."""
        return cost.total(self.bill)


@dataclass(frozen=True, slots=True)
class Nothing:
    """No purchase carries everything, and what is known of why."""

    task: Task
    tried: Tried


def answer(task: Task, listed: dict[int, Ways]) -> Answer | Nothing | Infeasible:
    """Size; then hold demands that came too late to ways within their limit; then tighten fibers that did not fit.

    More pairs of those, where there are, are an answer too: the one when time is up, or where none is cheaper.
    """
    made, bound = task.problem, 0.0
    basis: tuple[Task, Sequence[Held]] = task, ()
    repairs: tuple[FiberId, ...] = ()
    before: Sized | None = None
    begun: Loop | None = None
    spare: Answer | None = None
    if made.shared:
        task = counting(task, listed)
        task, begun = _foreseen(task, listed)
    for _ in range(REPAIRS + len(made.demands)):
        sized = _sized(task, listed, before, begun, spare)
        if not isinstance(sized, Sized):
            return sized
        before, begun = sized, None
        if not repairs:
            bound, basis = min(sized.bound_usd, task.floor_usd or sized.bound_usd), (task, sized.cuts)
        routing = routed(replace(task, ways={**task.ways, **sized.ways}), sized.counts, cuts_of(sized.cuts))
        late = [d for d in too_late(made, routing) if d not in task.ways]
        if late:
            task = held(listed, task, late)
            continue
        found = Answer(sized, (), routing, bound, basis, repairs, task, capped(task, listed))
        channels = assign(made, sized.counts, sized.pairs)
        if not isinstance(channels, Misfit):
            return _cheaper(replace(found, channels=channels), spare)
        spare = _cheaper(_widened(found), spare)
        if spare and (task.until.over or relative_gap(spare.cost_usd, bound) <= task.gap):
            return spare
        fiber = channels.fiber
        repairs = (*repairs, fiber)
        task.say(f"channels do not fit on {fiber}, solving again with less of its band")
        fewer = (used_slots(made, sized.counts)[fiber] - 1) // max(1, sized.pairs[fiber])
        task = replace(task, slots={**task.slots, fiber: min(fewer, task.slots[fiber] - 1)})
    if spare:
        return spare
    raise SolverError("the channels found no place in the spectrum, however the wavelengths were chosen")


def _sized(
    task: Task, listed: dict[int, Ways], before: Sized | None, begun: Loop | None, spare: Answer | None
) -> Sized | Answer | Nothing | Infeasible:
    """What to buy; where there is nothing, or nothing in time, the answer that there is already, or why there is none.

    before, begun: as of `size_all`.
    """
    try:
        sized = size_all(task, before, begun)
    except (SolverError, StoppedError):
        if spare is None:
            raise
        return spare
    if isinstance(sized, Sized):
        return sized
    if spare:
        return spare
    if isinstance(sized, Infeasible):
        return replace(sized, reason="; ".join((sized.reason, *capped(task, listed))))
    repaired = task.slots != whole_slots(task.problem)
    return Nothing(task, Tried(late=bool(task.held), repaired=repaired, capped=capped(task, listed)))


def _widened(answer: Answer) -> Answer | None:
    """The same with as many pairs as its channels need where they find no place on those that were sized."""
    sized = answer.sized
    found = widened(answer.task.problem, sized.counts, sized.pairs)
    if found is None:
        return None
    reason = REPAIRED if sized.reason == "proven" else sized.reason
    wide = replace(answer, channels=found[0], sized=replace(sized, pairs=found[1], status="feasible", reason=reason))
    return replace(wide, sized=replace(wide.sized, cost_usd=wide.cost_usd))


def _cheaper[A: (Answer, Answer | None)](one: A, other: Answer | None) -> A:
    if one is None:
        return other
    return one if other is None or one.cost_usd <= other.cost_usd else other


def _foreseen(task: Task, listed: dict[int, Ways]) -> tuple[Task, Loop | None]:
    """The task with demands held to their ways that are too late already in the relaxation, and its loop so far.

    Only saves solves: what is not foreseen here is found in the answer.
    """
    made = task.problem
    loop: Loop | None = None
    while any(demand.max_latency_ms is not None and d not in task.ways for d, demand in enumerate(made.demands)):
        loop = start(task, tuple(loop.cuts.values()) if loop else (), like=loop)
        if not root(loop) or task.until.over:
            return task, loop
        counts = [loop.linear.values[i] * (1 + 1e-6) for i in loop.bought.wavelengths]
        try:
            routing = routed(task, counts, cuts_of(loop.cuts.values()))
        except SolverError:  # the relaxation is not yet one that carries everything
            return task, loop
        late = [d for d in too_late(made, routing) if d not in task.ways]
        if not late:
            return task, loop
        task = held(listed, task, late)
    return task, start(task, tuple(loop.cuts.values()), like=loop) if loop else None
