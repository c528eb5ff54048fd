"""Sizes the network: what to buy at least cost so that the traffic of every state can be carried.

The traffic is projected out of the ILP: the master holds what is bought, and a cut loop adds the inequalities that an
answer breaks until every state can be carried (Gabrel, Knippel, Minoux, ORL 25, 1999). The master's bound is a bound
on the whole model at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import Loop, Task, cost, root, separate, start, whole, with_traffic
from dcplan.design.formulation import USD
from dcplan.design.incumbent import augmented
from dcplan.design.lean import lean
from dcplan.design.limits import LAST_S, nothing_yet
from dcplan.design.local_branching import STEPS, stepped
from dcplan.design.neighbourhood import SITES, improved
from dcplan.design.routing.check import UncheckedError
from dcplan.design.routing.reserve import with_routing
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program, Row
from dcplan.design.solver.solve import Solved, relative_gap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Held
    from dcplan.design.limits import Limits, Until
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId

LOOSE_GAP = 0.01
"""Gap of the master until the first answer that every state can carry, where a narrower one may take long."""
EASY = 20_000
"""Nodes × columns of a solve up to which the next goes for the whole gap at once: most of either is its root."""
FEW_BROKEN = 12
AUGMENT_EVERY = 10
"""A purchase of the master is added to until every state is carried where it breaks so few cuts, or now and then."""
TRIES = 30
"""Neighbourhoods of the best answer that are looked at before each solve of the master, where a network has too many
cuts to list: there a solve takes long, and what it buys falls short for long."""
MISSES = 6
"""Of these, how many in a row may lead to nothing before the others are left for later."""
NEAR = 0.1
"""Gap from which neighbourhoods are looked at where there is a single state: its first answers are rough."""
MORE_SITES = 2
MOST_SITES = 14
"""By so many its neighbourhoods grow each time that they lead to no more, and how far: a wider one takes long."""
HARD = 500
"""Nodes of the master of a single state after which better answers are looked for some steps away, once, where the
gap is more than `LOOSE_GAP`."""
MORE_STEPS = 2
MOST_STEPS = 10
"""By how many steps more it is looked each time that there are none, and how far."""
RELAXING = 0.5
"""Share of `LAST_S` in which the relaxation may still be finished: answers of an unfinished one cost far more, and
take longer."""
LATE_S = 0.5
"""Longest time for a better answer where the limit has passed before the first one [s]."""
SPARED = 0.25
"""Share of the time that is left to the rescue while there is no answer yet; no more than `LAST_S`."""
RESCUE_NODES = 1000
RESCUE_GAP = 0.05
"""Of each of its solves: without a time limit it must end too."""
TIE_NODES = 100
TIE_CHOICES = 400
"""Nodes of the tie-break after the optimum, and the number of choices above which it is skipped."""


@dataclass(frozen=True, slots=True)
class Sized:
    """What to buy, its cost and the bound."""

    counts: tuple[int, ...]
    """Wavelengths per choice."""
    pairs: Mapping[FiberId, int]
    cost_usd: float
    bound_usd: float
    status: str
    """optimal or feasible."""
    reason: str
    loop: Loop | None
    """That the answer came out of; none where there was no time for one."""
    ways: Mapping[int, Sequence[Way]] = field(default_factory=dict)
    """Of demands on two ways whose routes are counted: those few that carry all on it."""

    @property
    def cuts(self) -> tuple[Held, ...]:
        """What shaped the answer; holds for every task over the same choices that asks for no less."""
        return tuple(self.loop.cuts.values()) if self.loop else ()


@dataclass(slots=True)
class _Best:
    """The cheapest answer that every state can carry, and the best bound."""

    values: tuple[float, ...] | None = None
    cost: float = inf
    bound: float = 0.0
    reason: str = "proven"
    sites: int = SITES
    """Of the neighbourhoods that are looked at."""

    def offer(self, values: tuple[float, ...], price: float) -> None:
        if price < self.cost:
            self.values, self.cost = values, price

    @property
    def far(self) -> bool:
        """There is an answer, and the bound is far from it."""
        return self.values is not None and not self.closed(LOOSE_GAP)

    def closed(self, gap: float) -> bool:
        return self.values is not None and relative_gap(self.cost, self.bound) <= gap + 1e-9


def size(task: Task, before: Sized | None = None, begun: Loop | None = None) -> Sized | None:
    """The cheapest purchase under which every state can be carried; None where there is none.

    `before` is the answer to an earlier, less constrained task; `begun` is a loop of this very task. SolverError where
    time ran out without any answer.
    """
    loop = begun or begin(task, before)
    if not root(loop, task.until.finishing.sooner(RELAXING * LAST_S)):
        return None
    task.say(f"relaxation US$ {loop.linear.objective / USD:,.0f}, {len(loop.cuts)} cuts")
    best = _search(loop)
    return None if best is None else _sized(loop, best)


def begin(task: Task, before: Sized | None) -> Loop:
    """A loop that begins with what shaped the answer to a task over the same choices that asks for no more."""
    return start(task, before.cuts, like=before.loop) if before else start(task)


def _search(loop: Loop) -> _Best | None:
    """Alternate: the master proposes pairs to light and bounds the cost; then the best wavelengths on those pairs."""
    task, best = loop.task, _Best(bound=loop.linear.objective)
    _add(loop, best, task.until.prolonged(inf))
    _improve(loop, best)
    _say(loop, best)
    half = task.gap / 2
    gap = max(LOOSE_GAP, half)
    spared_s = min(LAST_S, SPARED * task.until.left_s)
    short = loop.quick and not loop.traffic.columns  # what the master buys falls short for long, however easily
    rounds = 0
    left = HARD if short else None
    while not best.closed(task.gap):
        until = loop.task.until.sooner(spared_s) if best.values is None else loop.task.until
        if until.over:
            best.reason = until.why
            if best.values is not None:
                break
            _rescue(loop, best)
            continue
        solved = _solved(loop, loop.program, until.limits(gap, left if best.far else None), best.values)
        if solved.status == "infeasible":
            return None
        if solved.bound is not None:
            best.bound = max(best.bound, solved.bound)
        if solved.objective is None:
            best.reason = solved.reason
            _rescue(loop, best)
            break
        broken = _judged(loop, best, whole(loop, solved.values), rounds)
        left = None if left is None else max(1, left - solved.nodes)
        if left == 1 and best.far:
            left = None
            _step(loop, best)
        elif broken:
            _improve(loop, best)
        rounds += 1
        _say(loop, best)
        more = broken or solved.reason == "node limit"
        if not more and gap <= half:
            best.reason = solved.reason
            break
        quick = solved.nodes * len(loop.program.columns) <= EASY and not short
        gap = half if quick or not more else _narrower(best, gap, half)
    return best


def _add(loop: Loop, best: _Best, until: Until) -> None:
    """Offer what the relaxation buys, rounded up and added to; where pairs are too few for that, added to nothing."""
    for begun in (loop.linear.values, loop.least):
        if best.values is None:
            _offer_lean(loop, best, augmented(loop, begun, inf, until))


def _offer_lean(loop: Loop, best: _Best, found: tuple[float, ...] | None) -> None:
    """Offer a purchase that every state can be carried with, and what is needed of it."""
    _offer(loop, best, found)
    if found is not None and not best.closed(loop.task.gap):
        _offer(loop, best, lean(loop, found))


def _narrower(best: _Best, gap: float, least: float) -> float:
    """The gap of the next solve of the master: once there is an answer, such that it raises the bound."""
    if best.values is None:
        return gap
    return max(least, min(LOOSE_GAP, relative_gap(best.cost, best.bound) / 4))


def _solved(loop: Loop, program: Program, limits: Limits, start: Sequence[float] | None = None) -> Solved:
    """Solve a program over the columns of the master, together with traffic that stands beside it."""
    if not loop.traffic.columns:
        return solve_again(loop.task.solver, program, limits, start)
    if loop.task.solver != "highs":
        start = None  # it would be taken as it is, and it has no traffic in it
    begun = None if start is None else (*start, *[0.0] * len(loop.traffic.columns))
    solved = solve_again(loop.task.solver, with_traffic(loop, program), limits, begun)
    return replace(solved, values=solved.values[: len(program.columns)])


def _judged(loop: Loop, best: _Best, values: tuple[float, ...], rounds: int) -> int:
    """How many inequalities a purchase of the master breaks; it, or what it leads to, is offered."""
    quick = loop.quick
    broken = 0 if loop.traffic.columns else _broken(loop, values, every=quick or loop.shore_cuts.complete)
    if not broken:
        _offer(loop, best, values)
    elif loop.bought.pairs:
        _with_pairs(loop, values, best)
    elif quick or broken <= FEW_BROKEN or rounds % AUGMENT_EVERY == 0:
        _offer_lean(loop, best, augmented(loop, values, best.cost, loop.task.until))
    return broken


def _improve(loop: Loop, best: _Best) -> None:
    """Look in neighbourhoods of the best answer for better ones, where a network has too many cuts to list.

    Of a single state where its traffic is too much to be written out, in wider and wider ones.
    """
    if loop.traffic.columns or (loop.shore_cuts.complete and not loop.quick):
        return
    _look_near(loop, best)
    while loop.quick and best.sites < MOST_SITES and not _settled(loop, best):
        best.sites += MORE_SITES
        _look_near(loop, best)


def _step(loop: Loop, best: _Best) -> None:
    """Look for better answers some steps away from the best one, for those nearest first."""
    steps = STEPS
    while steps <= MOST_STEPS and not _settled(loop, best):
        found = stepped(loop, best.values or (), steps)
        steps += MORE_STEPS if found is None else 0
        _offer(loop, best, found)
        _say(loop, best)


def _look_near(loop: Loop, best: _Best) -> None:
    missed = 0
    for _ in range(TRIES):
        if missed == MISSES or _settled(loop, best):
            break
        found = improved(loop, best.values or (), best.sites)
        missed = missed + 1 if found is None else 0
        _offer(loop, best, found)


def _settled(loop: Loop, best: _Best) -> bool:
    """Neighbourhoods of the best answer are of no use, or not yet."""
    far = loop.quick and relative_gap(best.cost, best.bound) > NEAR
    return best.values is None or far or best.closed(loop.task.gap) or loop.task.until.over


def _broken(loop: Loop, values: Sequence[float], *, every: bool = False, until: Until | None = None) -> int:
    """How many inequalities values break, 1 at least where time is up before that is known."""
    try:
        return separate(loop, values, every=every, until=until or loop.task.until)
    except UncheckedError:
        return 1


def _offer(loop: Loop, best: _Best, values: tuple[float, ...] | None) -> None:
    if values is not None:
        first = best.values is None
        best.offer(values, cost(loop, values))
        if first and not best.closed(loop.task.gap):
            loop.task = with_routing(loop.task, [values[i] for i in loop.bought.wavelengths])
            loop.task = replace(loop.task, until=loop.task.until.prolonged(LATE_S))


def _say(loop: Loop, best: _Best) -> None:
    found = "no design yet" if best.values is None else f"cost US$ {best.cost / USD:,.0f}"
    gap = "" if best.values is None else f" ({100 * relative_gap(best.cost, best.bound):.2f} %)"
    loop.task.say(
        f"{found}, bound US$ {best.bound / USD:,.0f}{gap}, {loop.checked} states checked, {len(loop.cuts)} cuts"
    )


def _with_pairs(loop: Loop, values: Sequence[float], best: _Best) -> None:
    """The best wavelengths while lit pairs stay as they are; its cuts serve the master too."""
    task = loop.task
    fixed = {*loop.bought.pairs.values(), *loop.bought.opened.values()}
    columns = [
        replace(column, lower=values[i], upper=values[i]) if i in fixed else column
        for i, column in enumerate(loop.program.columns)
    ]
    while not task.until.over:
        solved = solve_again(task.solver, Program(columns, loop.program.rows), task.until.limits(task.gap / 2))
        if solved.objective is None or (solved.bound or -inf) >= best.cost:
            return
        found = whole(loop, solved.values)
        if not _broken(loop, found):
            _offer_lean(loop, best, found)
            return


def _rescue(loop: Loop, best: _Best) -> None:
    """When time is up without an answer: add to what the relaxation buys, to nothing, or solve loosely again and again.

    The last of these keeps nothing that was bought before: some seconds may be enough where pairs are few.
    """
    until = loop.task.until.finishing
    _add(loop, best, until)
    if best.values is not None:
        return
    while not until.over:
        solved = solve_again(loop.task.solver, loop.program, until.limits(RESCUE_GAP, RESCUE_NODES))
        if solved.objective is None:
            break
        values = whole(loop, solved.values)
        if not _broken(loop, values, until=until):
            _offer_lean(loop, best, values)
            return
    raise nothing_yet(best.reason)


def _sized(loop: Loop, best: _Best) -> Sized:
    values = _tie_broken(loop, best)
    closed = best.closed(loop.task.gap)
    return Sized(
        counts=tuple(round(values[i]) for i in loop.bought.wavelengths),
        pairs={fiber: round(values[i]) for fiber, i in loop.bought.pairs.items()},
        cost_usd=cost(loop, values) / USD,
        bound_usd=best.bound / USD,
        status="optimal" if closed else "feasible",
        reason="proven" if closed else best.reason if best.reason != "proven" else "gap",
        loop=loop,
    )


def _tie_broken(loop: Loop, best: _Best) -> tuple[float, ...]:
    """Among purchases that cost no more: least spectrum × km, then first choices. Limited by nodes; where
    time runs out nothing is changed, so that an answer never hangs on how far it came.
    """
    problem = loop.task.problem
    values = best.values or ()
    if len(problem.choices) > TIE_CHOICES or not best.closed(loop.task.gap):
        return values
    weight: dict[int, float] = {}
    for rank, (column, choice) in enumerate(zip(loop.bought.wavelengths, problem.choices, strict=True)):
        km = problem.lightpaths[choice.lightpath].length_km
        weight[column] = choice.slots * km / 1e4 + 1e-5 * (1 + rank)
    fixed = {*loop.bought.pairs.values(), *loop.bought.opened.values()}
    columns = [
        replace(column, cost=weight.get(i, 0.0))
        if i not in fixed
        else replace(column, cost=0.0, lower=values[i], upper=values[i])
        for i, column in enumerate(loop.program.columns)
    ]
    prices = {i: column.cost for i, column in enumerate(loop.program.columns) if column.cost}
    ceiling = best.cost * (1 + 1e-9) + 1e-7
    until = loop.task.until
    while not until.over:
        program = Program(columns, [*loop.program.rows, Row("cost", prices, -inf, ceiling)])
        solved = solve_again(loop.task.solver, program, until.limits(1e-6, TIE_NODES), values)
        if not solved.values or until.over:
            return values
        found = whole(loop, solved.values)
        if not _broken(loop, found):
            return found if cost(loop, found) <= ceiling else values
    return values
