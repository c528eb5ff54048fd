"""The search for the cheapest purchase beside which some wavelengths are never retuned.

The states that matter stand in one program with what is bought and what is anchored, traffic and all. What it proposes
is tried in every other state; those that it does not carry are written into it, until it carries all of them. Its bound
is a bound at any time, and so is that of the relaxation in which everything may be retuned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.few.program import NOBODY, write_in_few
from dcplan.design.formulation import USD
from dcplan.design.limits import nothing_yet
from dcplan.design.relight.block import light, purchase, two_ways
from dcplan.design.relight.known import LAST_S, Search, all_there_is, offer, states, warm
from dcplan.design.relight.master import counts_of
from dcplan.design.relight.pool import Pool
from dcplan.design.relight.search import Found, as_found
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.relight.projected import Wanted
    from dcplan.design.relight.shores import Asked
    from dcplan.model.network import FiberId

FIRST = 6
"""States that are written out from the beginning."""
AT_ONCE = 4
"""States that are written out after a proposal that does not carry them."""
PASSES = 3
"""Times that a purchase is enlarged state by state until it carries all of them."""
ROUGHLY = 0.25
"""Share of the time for the first purchase, which the healthy network alone shapes."""
ROUGH_GAP = 0.05
"""Gap of what the healthy network asks for there."""
WITHIN = 1e-7
"""Share by which less is set aside than a program says, whose rows hold but for rounding."""


def search(
    task: Task, slots: Sequence[Mapping[FiberId, int]], relaxed: Found, begin: Sequence[tuple[int, ...]]
) -> Found | None:
    """The cheapest purchase, with what is anchored, that every state can be lit with; none where there is none.

    relaxed: of the same demands, all of which may wait for retuning. begin: by state, what a design lights in which
    nothing is retuned; or none. Where nothing costs less, its purchase is the answer. NothingYetError or StoppedError
    where it ended before any answer.
    """
    found = _begun(task, slots, relaxed, begin)
    matter = sorted(relaxed.master.matter - {0})
    _write(found, [0, *matter, *(k for k in range(1, states(found)) if k not in matter)][:FIRST])
    while not found.closed():
        if task.until.over:
            found.reason = task.until.why
            break
        solved = solve_again(task.solver, found.master.pool.whole, task.until.limits(task.gap / 2), warm(found))
        if solved.status == "infeasible":
            return None
        if solved.bound is not None:
            found.bound = max(found.bound, solved.bound)
        if solved.objective is None or solved.objective >= found.cost:
            found.reason = solved.reason
            break
        broken = _tried(found, solved.values)
        task.say(
            f"{'no design yet' if found.bought is None else f'cost US$ {found.cost / USD:,.0f}'}, "
            f"bound US$ {found.bound / USD:,.0f}, {len(found.master.states)} of {states(found)} states written out"
        )
        if not broken:
            found.reason = solved.reason
            break
    if found.bought is None:
        _roughly(found, slots, relaxed, task.until.extended(LAST_S))
    if found.bought is None:
        raise nothing_yet(task.until.why)
    return as_found(found)


def _begun(
    task: Task, slots: Sequence[Mapping[FiberId, int]], relaxed: Found, begin: Sequence[tuple[int, ...]]
) -> Search:
    """With what is there to begin from, and a first purchase if it is found soon."""
    found = _started(task, slots, relaxed)
    if begin:
        offer(found, all_there_is(found, begin), tuple(begin))
    if not found.closed() and not task.until.over:
        with task.until.stop.saving(1 - ROUGHLY):
            _roughly(found, slots, relaxed, task.until.within(ROUGHLY * task.until.left_s))
    return found


def _roughly(found: Search, slots: Sequence[Mapping[FiberId, int]], relaxed: Found, until: Until) -> None:
    """Offer what the healthy network asks for, enlarged state by state."""
    soon = replace(found.task, until=until)
    some = _started(soon, slots, relaxed)
    some.cost = found.cost
    _write(some, [0])
    solved = solve_again(soon.solver, some.master.pool.whole, until.within(until.left_s / 2).limits(ROUGH_GAP))
    if solved.values:
        _tried(some, solved.values)
    if some.bought is not None:
        _offer(found, some.bought, some.promised, some.counts)


def _started(task: Task, slots: Sequence[Mapping[FiberId, int]], relaxed: Found) -> Search:
    """No state is written out yet; what the relaxation asks of a purchase is asked here too."""
    problem, program, before = task.problem, Program(), relaxed.master
    once = purchase(program, problem, before.stood)
    size = min(once.anchors.values(), default=len(program.columns))
    bought = two_ways(program, problem, once, task.ways)
    for kept in before.pool.kept:
        row = before.pool.whole.rows[kept.row]
        if max(row.terms) < size:  # of what is bought, whose columns are the same in both programs
            program.row(f"cut{len(program.rows)}", row.terms, row.lower, row.upper)
    pool: Pool[Asked | Wanted] = Pool(problem, program)
    master = replace(before, task=task, slots=tuple(slots), bought=bought, pool=pool, states={})
    return Search(master, bound=relaxed.bound_usd * USD)


def _write(found: Search, several: Iterable[int]) -> None:
    master, task, program = found.master, found.task, found.master.pool.whole
    for k in several:
        columns = light(program, task.problem, master.stood, master.bought, k, master.slots[k])
        write_in_few(program, task.problem, columns, task.ways, NOBODY, k)
        master.states[k] = columns


def _tried(found: Search, values: Sequence[float]) -> bool:
    """Offer what is proposed where it carries every state; else write out some that it does not carry, and enlarge it.

    Whether there were such.
    """
    master, mine = found.master, found.master.bought
    bought = tuple(float(round(values[i])) for i in mine.columns)
    anchors = (float(round(values[i])) for i in mine.anchors.values())
    promised = (*anchors, *(max(0.0, values[i]) * (1 - WITHIN) for i in mine.aside.values()))
    counts: dict[int, tuple[int, ...] | None] = {}
    for k in range(states(found)):
        if k in master.states:
            counts[k] = tuple(round(count) for count in counts_of(master, k, values))
        else:
            counts[k] = found.program(k).carried((*bought, *promised), found.until)
    broken = [k for k, lit in counts.items() if lit is None]
    if not broken:
        _offer(found, bought, promised, [lit for lit in counts.values() if lit is not None])
        return False
    _enlarge(found, bought, promised)
    _write(found, broken[:AT_ONCE])
    return True


def _offer(
    found: Search, bought: Sequence[float], promised: tuple[float, ...], counts: Sequence[tuple[int, ...]]
) -> None:
    before = found.cost
    offer(found, bought, tuple(counts))
    if found.cost < before:
        found.promised = promised


def _enlarge(found: Search, bought: Sequence[float], promised: Sequence[float]) -> None:
    """Offer a purchase of at least so much that carries every state, if it is found soon and saves something."""
    given, size = (*bought, *promised), len(bought)
    for _ in range(PASSES):
        counts = []
        for k in range(states(found)):
            lit = found.program(k).carried(given, found.until)
            if lit is None:
                more = found.program(k).grown(given, found.until)
                if more is None or found.price(more[:size]) >= found.cost:
                    return
                given = more
            else:
                counts.append(lit)
        if len(counts) == states(found):
            _offer(found, given[:size], given[size:], counts)
            return
