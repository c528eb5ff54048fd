"""Sizes the network where demands may take few routes at a time.

The answer with traffic that splits freely comes first: it costs no more, so its bound holds. Where its wavelengths
cannot carry some state on few routes, that state is written out in the master with its binaries, and the master is
solved again, until every state is carried; meanwhile each answer of the master is made good by adding to it. Demands on
two ways stand in the master in any case: there one couple for each is searched for, and the master counts its routes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import Task, cuts_of, root, separate, start, whole
from dcplan.design.few.adding import NEAREST, Purchase, added, purchase_of
from dcplan.design.few.pairs import count_routes, counted_pairs, picked
from dcplan.design.few.reason import too_few, too_few_pairs
from dcplan.design.few.routes import Lit, carried
from dcplan.design.formulation import USD, master
from dcplan.design.limits import nothing_yet
from dcplan.design.result import Infeasible
from dcplan.design.sizing import Sized, begin, size
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program, Row
from dcplan.design.solver.solve import relative_gap, solve
from dcplan.design.ways.generation import first_prices
from dcplan.design.ways.mesh import mesh
from dcplan.design.ways.protection import protect
from dcplan.design.ways.ruin import couples_for_whole
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Loop
    from dcplan.design.few.routes import Picked
    from dcplan.design.ways.chains import Way

FIRST = 0.4
"""Share of the time that is left for the search over the shortest ways only; on two ways, for that by chance."""
FREELY = 0.3
"""Share of time and nodes for the answer with traffic that splits freely where demands on two ways are counted."""
SEARCHING = 0.85
"""Share of the time that is left for the search by chance where nothing follows but the purchase."""
COUNTABLE = 400
"""Listed ways of demands on two, of more of which a master is not asked to count the routes."""
WRITTEN = 3
"""States written out in the master at a time."""


@dataclass(slots=True)
class _Best:
    """The cheapest purchase that carries every state on few routes, and the best bound [thousand US$]."""

    bound: float
    purchase: Purchase | None = None
    reason: str = "proven"
    none: bool = False
    """There is none at all."""

    @property
    def cost(self) -> float:
        """Of the purchase [thousand US$]."""
        return self.purchase.cost if self.purchase else inf

    def offer(self, purchase: Purchase | None) -> None:
        if purchase is not None and purchase.cost < self.cost:
            self.purchase = purchase

    def closed(self, gap: float) -> bool:
        return self.purchase is not None and relative_gap(self.cost, self.bound) <= gap + 1e-9


def size_all(task: Task, before: Sized | None = None, begun: Loop | None = None) -> Sized | Infeasible | None:
    """The cheapest purchase under which every state can be carried, counted demands on few routes.

    None where there is none even if traffic splits freely; Infeasible, limit routes, where only few routes forbid it.
    Arguments and SolverError as of `sizing.size`. The bound is that of traffic that splits freely where not all ways
    of some counted demand are listed.
    """
    if counted_pairs(task.problem):
        return _in_pairs(task, before, begun)
    sized = size(task, before, begun)
    if sized is None or not task.few.ways:
        return sized
    failing = _failing(task, sized.counts)
    if not failing:
        return sized
    task.say(f"few routes at a time: {len(failing)} states need more")
    return _search(task, sized, failing) or too_few(task)


def _in_pairs(task: Task, before: Sized | None, begun: Loop | None) -> Sized | Infeasible | None:
    """The same for demands on two ways: one couple for each by search, then any that are few by the master.

    The master counts routes where their number allows it; else the search has what is left of the time.
    """
    until, strict = task.until, replace(task, paired=True)
    sized = _freely(task, before, begun)
    if sized is None:
        return None
    best, alone = _Best(bound=sized.bound_usd * USD), sum(map(len, task.protected.values())) > COUNTABLE
    if not alone:
        few = picked(replace(task, until=until.within(FIRST * until.left_s)), sized.counts, cuts_of(sized.cuts))
        if few is not None:
            return replace(sized, ways=few)
    task.say("few routes at a time, on two ways")
    share = (SEARCHING if alone else FIRST) * until.left_s
    settled = couples_for_whole(mesh(task.problem), first_prices(task.problem), until.within(share), task.say)
    ways: Mapping[int, Sequence[Way]] = {d: couple.ways for d, couple in (settled or {}).items()}
    if ways:
        fixed = replace(strict, ways={**task.ways, **ways}, few=replace(task.few, complete=False))
        fixed = replace(fixed, until=until.finishing)
        if task.problem.shared:
            _offered(fixed, sized, best)
        else:
            best.offer(_just(fixed))
        ended = until.timed or until.stop.now
        best.none, best.reason = False, until.why if ended else "routes were searched for by chance"
    for tried in (strict, replace(strict, until=until.finishing)):
        if best.closed(task.gap) or (best.purchase and (alone or until.over)):
            break
        found = _offered(tried, sized, best)
        if best.none:
            return too_few_pairs(task)
        ways = found or ways
    if best.purchase is None:
        raise nothing_yet(best.reason)
    return replace(_sized(task, sized, best, best.purchase), ways=ways)


def _freely(task: Task, before: Sized | None, begun: Loop | None) -> Sized | None:
    """The answer with traffic that splits freely, within its share of the limits; one with a bound only if need be."""
    until = task.until
    try:
        with until.stop.saving(1 - FREELY):
            return size(replace(task, until=until.within(FREELY * until.left_s)), before, begun)
    except SolverError:
        return Sized((), {}, inf, task.floor_usd or 0.0, "feasible", until.why, None)


def _offered(task: Task, before: Sized, best: _Best) -> dict[int, Sequence[Way]] | None:
    """Solve a master that counts routes; what it buys is offered. The ways that carry all on it, where it is better."""
    loop = begin(task, before)
    if not root(loop):
        best.none = best.purchase is None and task.few.complete
        return None
    values = _of_master(loop, best)
    if values is None:
        return None
    purchase = purchase_of(loop.program, loop.bought, values)
    ways = picked(task, purchase.counts, cuts_of(loop.cuts.values()))
    if ways is None or purchase.cost >= best.cost:
        return None
    best.offer(purchase)
    return ways


def _just(task: Task) -> Purchase | None:
    """The cheapest purchase found that carries demands on two ways, of which there are no others."""
    program, bought = master(task.problem, task.slots)
    count_routes(program, task.problem, protect(program, task.problem, bought, task.protected), task.protected)
    solved = solve_again(task.solver, program, task.until.finishing.limits(task.gap / 2))
    return purchase_of(program, bought, solved.values) if solved.values else None


def _failing(task: Task, counts: Sequence[int]) -> list[int]:
    """The states that so many wavelengths cannot carry on few routes; the healthy one always where traffic has a price.

    On few routes it may cost more than where it splits freely.
    """
    lit = Lit(task.problem, task.ways, task.few, counts, task.until)
    healthy: Picked = {}
    found = []
    for k, state in enumerate(task.problem.states):
        picked = carried(lit, k, healthy)
        if picked is None or (state.healthy and task.problem.priced and k not in task.written):
            found.append(k)
        if picked is not None and state.healthy:
            healthy = picked
    return found


def _search(task: Task, sized: Sized, failing: Sequence[int]) -> Sized | None:
    """First over the shortest ways of each demand, where it has many, for a good answer; then over all, for proof."""
    best = _Best(bound=sized.bound_usd * USD)
    best.offer(added(task, sized.counts, failing, task.until.finishing))
    if any(len(ways) > NEAREST for ways in task.few.ways.values()):
        near = replace(task.few, complete=False, nearest=NEAREST)
        until = task.until.within(FIRST * task.until.left_s)
        _refine(replace(task, few=near, until=until), sized, failing, best)
        best.none = False
    _refine(task, sized, failing, best)
    if best.none:
        return None
    if best.purchase is None:
        raise nothing_yet(best.reason)
    return _sized(task, sized, best, best.purchase)


def _refine(task: Task, before: Sized, failing: Sequence[int], best: _Best) -> None:
    """Solve the master with ever more states written out, until an answer of it is carried or nothing can be better."""
    more, known, like = tuple(failing[:WRITTEN]), before.cuts, before.loop
    while not best.closed(task.gap) and more:
        task = replace(task, written=(*task.written, *more))
        like = loop = start(task, known, like=like)
        best.none = not root(loop)
        values = None if best.none else _of_master(loop, best)
        if values is None:
            return
        counts = tuple(round(values[i]) for i in loop.bought.wavelengths)
        failing = _failing(task, counts)
        if not failing:
            best.offer(purchase_of(loop.program, loop.bought, values))
            return
        best.offer(added(task, counts, failing, task.until))
        more, known = tuple(k for k in failing if k not in task.written)[:WRITTEN], tuple(loop.cuts.values())
        best.reason = best.reason if more else "tolerance of the solver"


def _of_master(loop: Loop, best: _Best) -> tuple[float, ...] | None:
    """An answer of the master, no dearer than the best so far, that carries every state if traffic splits freely.

    None, with the reason in `best`, where there is none, time is up, or the best so far is proven.
    """
    task, prices = loop.task, {i: column.cost for i, column in enumerate(loop.program.columns) if column.cost}
    while not task.until.over:
        rows = [*loop.program.rows, Row("cheaper", prices, -inf, best.cost)] if best.purchase else loop.program.rows
        solved = solve(task.solver, Program(loop.program.columns, rows), task.until.limits(task.gap / 2))
        best.reason = solved.reason
        if task.few.complete:
            if solved.bound is not None:
                best.bound = max(best.bound, min(solved.bound, best.cost))
            if solved.status == "infeasible" and best.purchase:
                best.bound = best.cost
        best.none = solved.status == "infeasible" and not best.purchase
        task.say(f"cost US$ {best.cost / USD:,.0f}, bound US$ {best.bound / USD:,.0f}, {len(loop.cuts)} cuts")
        if solved.objective is None or best.closed(task.gap):
            return None
        values = whole(loop, solved.values)
        if not separate(loop, values):
            return values
    best.reason = task.until.why
    return None


def _sized(task: Task, sized: Sized, best: _Best, purchase: Purchase) -> Sized:
    closed = best.closed(task.gap)
    reason = best.reason if best.reason not in ("proven", "infeasible") else "gap"
    if not task.few.complete and reason != "interrupted":
        reason = "not all routes were listed"
    return replace(
        sized,
        counts=purchase.counts,
        pairs=dict(purchase.pairs),
        cost_usd=purchase.cost / USD,
        bound_usd=best.bound / USD,
        status="optimal" if closed else "feasible",
        reason="proven" if closed else reason,
    )
