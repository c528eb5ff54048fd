"""The search for the cheapest purchase beside which some wavelengths are never retuned.

The healthy state stands in one program with what is bought and what is anchored, traffic and all. What it proposes is
tried in every other state, and enlarged until it carries all of them; of those that it did not carry some are written
into the program, which proposes again. Its bound is a bound at any time, and so is that of the relaxation in which
everything may be retuned.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.few.program import NOBODY, write_in_few
from dcplan.design.formulation import USD
from dcplan.design.limits import nothing_yet
from dcplan.design.relight.block import light, purchase, two_ways
from dcplan.design.relight.known import Search, all_there_is, offer, states, warm
from dcplan.design.relight.master import counts_of
from dcplan.design.relight.pool import Pool
from dcplan.design.relight.search import Found, as_found
from dcplan.design.sizing import EASY
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import relative_gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.relight.projected import Wanted
    from dcplan.design.relight.shores import Asked
    from dcplan.design.solver.solve import Solved
    from dcplan.model.network import FiberId

AT_ONCE = 4
"""States that are written out after a proposal that does not carry them; only one where a solve takes long."""
PASSES = 3
"""Times that a purchase is enlarged state by state until it carries all of them."""
SHARE = 0.5
"""Share of the time and nodes that are left for a proposal, while others are to follow."""
LEAST_S = 1.0
"""At least so long is looked for one [s]."""
ROUGH_GAP = 0.04
"""Gap of proposals while states break them."""
ROOT_NODES = 10
"""The root of a solve takes as long as so many nodes."""
SAME = 1e-9
"""Share of the cost that is rounding."""
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
    found = _started(task, slots, relaxed)
    if begin:
        offer(found, all_there_is(found, begin), tuple(begin))
    _write(found, [0])
    half = task.gap / 2
    gap, share = max(ROUGH_GAP, half), SHARE
    while not found.closed():
        if task.until.over:
            found.reason = task.until.why
            break
        solved = _proposed(found, gap, share)
        if solved.status == "infeasible":
            return None
        if solved.bound is not None:
            found.bound = max(found.bound, solved.bound)
        better = solved.objective is not None and solved.objective < found.cost * (1 - SAME)
        wide = max(solved.nodes, ROOT_NODES) * len(found.master.pool.whole.columns) > EASY
        broken = better and _tried(found, solved.values, 1 if wide else AT_ONCE)
        task.say(
            f"{'no design yet' if found.bought is None else f'cost US$ {found.cost / USD:,.0f}'}, "
            f"bound US$ {found.bound / USD:,.0f}, {len(found.master.states)} of {states(found)} states written out"
        )
        if broken:
            rough = min(ROUGH_GAP, relative_gap(found.cost, found.bound) / 4)
            gap, share = max(half, rough) if wide else half, SHARE
        elif gap > half or share < 1:
            gap, share = half, 1.0
        else:
            found.reason = solved.reason
            break
    if found.bought is None:
        _rescue(found, slots, relaxed)
    return as_found(found)


def _proposed(found: Search, gap: float, share: float) -> Solved:
    """What the states that are written out ask for, within a share of the time and nodes."""
    until = found.until
    with until.stop.saving(1 - share):
        limits = until.within(max(LEAST_S, share * until.left_s)).limits(gap)
        return solve_again(found.task.solver, found.master.pool.whole, limits, warm(found))


def _rescue(found: Search, slots: Sequence[Mapping[FiberId, int]], relaxed: Found) -> None:
    """When time is up without an answer: what the healthy network asks for, enlarged state by state."""
    soon = replace(found.task, until=found.until.finishing)
    some = _started(soon, slots, relaxed)
    _write(some, [0])
    solved = _proposed(some, ROUGH_GAP, SHARE)
    if solved.values:
        _tried(some, solved.values, AT_ONCE)
    if some.bought is None:
        raise nothing_yet(found.until.why)
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


def _tried(found: Search, values: Sequence[float], at_once: int) -> bool:
    """Offer what is proposed where it carries every state; else enlarge it, and write out some that it does not carry.

    First those for which it must grow most. Whether there were such.
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
    more = _enlarge(found, bought, promised)
    _write(found, sorted(broken, key=lambda k: -more.get(k, 0.0))[:at_once])
    return True


def _offer(
    found: Search, bought: Sequence[float], promised: tuple[float, ...], counts: Sequence[tuple[int, ...]]
) -> None:
    before = found.cost
    offer(found, bought, tuple(counts))
    if found.cost < before:
        found.promised = promised


def _enlarge(found: Search, bought: Sequence[float], promised: Sequence[float]) -> dict[int, float]:
    """Offer a purchase of at least so much that carries every state, if it is found soon and saves something.

    By how much it grew for which state [thousand US$].
    """
    given, size = (*bought, *promised), len(bought)
    grown: dict[int, float] = {}
    for _ in range(PASSES):
        counts = []
        for k in range(states(found)):
            lit = found.program(k).carried(given, found.until)
            if lit is None:
                more = found.program(k).grown(given, found.until)
                if more is None:
                    return {**grown, k: inf}
                grown[k] = grown.get(k, 0.0) + found.price(more[:size]) - found.price(given[:size])
                if found.price(more[:size]) >= found.cost:
                    return grown
                given = more
            else:
                counts.append(lit)
        if len(counts) == states(found):
            _offer(found, given[:size], given[size:], counts)
            break
    return grown
