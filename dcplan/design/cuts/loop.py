"""The cut loop: a master program of what is bought, and the search for inequalities that an answer of it breaks."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.arrays import Arrays, arrays
from dcplan.design.cuts.between import between_shores, plain
from dcplan.design.cuts.inequality import Cut
from dcplan.design.cuts.rounding import Divisors, Roundings, derived, roundings
from dcplan.design.cuts.shores import ShoreCuts
from dcplan.design.few.pairs import count_routes
from dcplan.design.few.program import NOBODY, Few, write_in_few
from dcplan.design.formulation import Bought, carry, master
from dcplan.design.order import in_file_order
from dcplan.design.routing.aside import across, aside_of
from dcplan.design.routing.check import StateCheck, UncheckedError
from dcplan.design.solver.program import Program
from dcplan.design.solver.program import Row as ProgramRow
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.protection import protect
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dcplan.design.limits import Until
    from dcplan.design.problem import Problem
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId

ROOT_ROUNDS = 200
"""Rounds of cuts on the relaxation before the first integer solve."""
STATES_PER_ROUND = 40
"""Broken states after which the check of a round ends."""
MOST_KEPT = 4_000_000
"""Coefficients of sums over states that are kept for later rounds, 8 bytes each."""
SLACK = 1e-6
"""Cuts with more than this share to spare in the relaxation are left out of the integer program until broken again."""
LITTLE = 0.01
"""Where the relaxation rose by less than this share, shores that are not known yet are looked for."""
STALL = 1e-4
STALLED = 4
"""The relaxation is left when it rose by less than this share in so many rounds and all states were looked at."""
QUICK_STALLED = 10
"""The same of a single state with its traffic outside of the master: rounds are quick, and go on to raise it."""
MOST_WRITTEN = 4_000
"""Columns of traffic of a single state beyond which an integer solve goes faster with inequalities alone."""
FADE = 0.8
"""What is left of a state's rank after each time that it is carried."""


@dataclass(frozen=True, slots=True)
class Task:
    """A problem with what the loop may use: slots per fiber, listed ways, solver, time."""

    problem: Problem
    slots: Mapping[FiberId, int]
    ways: Mapping[int, Sequence[Way]]
    """Of demands on two ways, and of others whose latency limit must be watched."""
    solver: str
    gap: float
    until: Until
    say: Callable[[str], None]
    few: Few = NOBODY
    """The demands whose routes are counted, with their ways."""
    written: tuple[int, ...] = ()
    """States that stand in the master with their traffic, counted demands on few routes."""
    paired: bool = False
    """The master counts the routes of demands on two ways."""
    growing: bool = False
    """Ways of demands on two at once are still added: every hop is priced, whether they ride on it yet or not."""
    floor_usd: float | None = None
    """No design over any ways costs less, where the task holds only some; none where it holds all of them."""

    @property
    def protected(self) -> dict[int, Sequence[Way]]:
        """The ways of demands that go two at once."""
        return {d: self.ways[d] for d in sorted(self.problem.protected)}

    @property
    def held(self) -> dict[int, Sequence[Way]]:
        """The ways of other demands that are held to some."""
        return {d: ways for d, ways in self.ways.items() if d not in self.problem.protected}


@dataclass(frozen=True, slots=True)
class Held:
    """An inequality in the master, where it comes from, and the number of its row in the relaxation.

    `row` × `scale` is Σ over `cuts` of (the cut as it stands [Tb/s], rounded by the first divisor if any), then rounded
    by the second if any (see `rounding.derived`; what is bought in any case is `Column.lower` of the master).
    """

    cuts: tuple[Cut, ...]
    divisors: Divisors
    row: ProgramRow
    scale: float
    relaxed: int


def cuts_of(held: Iterable[Held]) -> Iterator[Cut]:
    """The cuts that inequalities are made of."""
    return (cut for one in held for cut in one.cuts)


_Key = tuple[tuple[int, float], ...]


@dataclass(slots=True)
class Loop:
    """A master program that grows by cuts."""

    task: Task
    program: Program
    """With the cuts that are in use."""
    bought: Bought
    table: Arrays
    shore_cuts: ShoreCuts
    check: StateCheck | None
    """None where the master holds all traffic: that of demands on two ways, and of others in one state, with a price.

    Where traffic has a price, the master holds that of the healthy state, which is checked with the others."""
    traffic: Program
    """Columns and rows written out beside the master: the traffic of a single state without a price, if little."""
    quick: bool
    """There is a single state, with its traffic outside of the master."""
    linear: Linear
    base: int
    """Rows of the master before any cut."""
    least: Any
    """(columns,) lower bounds"""
    rounding: bool
    """Without it the relaxation is the plain linear one, whose duals are prices."""
    asked: tuple[tuple[int, tuple[int, ...]], ...]
    """(row, demands) of rows of the master that ask for the traffic of the healthy state, where that stands in it."""
    held: dict[_Key, Held] = field(default_factory=dict)
    """Every cut of the relaxation."""
    cuts: dict[_Key, Held] = field(default_factory=dict)
    """Those in use in the program."""
    sums: dict[tuple[int, bool], tuple[tuple[Cut, ...], Roundings] | None] = field(default_factory=dict)
    """Sums over states that were looked at, by shore and what is crossed."""
    room: int = MOST_KEPT
    """Coefficients that may still be kept in `sums`."""
    rank: dict[int, float] = field(default_factory=dict)
    """State -> how often it was broken lately."""
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - repeatable is the point
    checked: int = 0
    """States that were checked so far."""


def start(task: Task, known: Sequence[Held] = (), *, rounding: bool = True, like: Loop | None = None) -> Loop:
    """A master without cuts but `known` ones, of a task over the same choices that asks for no more.

    Without `rounding`, and without an order among equal fibers, the duals of the relaxation are prices. like: a loop
    over the same lightpaths; what it found out about them, and of the same traffic, need not be found again.
    """
    import numpy as np

    program, bought = master(task.problem, task.slots)
    if rounding:
        in_file_order(program, task.problem, bought, task.slots, {**task.ways, **task.few.ways})
    if task.protected:
        protected = protect(program, task.problem, bought, task.protected, every=task.growing)
        bought = replace(bought, aside=protected.aside)
        if task.paired:
            count_routes(program, task.problem, protected, task.protected)
    alone = len(task.problem.states) == 1 and rounding
    for k in task.written:
        write_in_few(program, task.problem, bought, task.held, task.few, k)
    apart = alone and not (task.problem.priced or task.protected or task.written)
    beside = Program(list(program.columns) if apart else [])
    asked: tuple[tuple[int, tuple[int, ...]], ...] = ()
    if (alone or task.problem.priced) and 0 not in task.written:
        asked = carry(beside if apart else program, task.problem, bought, 0, task.held).asked
    written = beside.columns[len(program.columns) :]
    table = like.table if like and like.task.problem is task.problem else arrays(task.problem)
    least = np.array([column.lower for column in program.columns], dtype=float)
    shores = like.shore_cuts if like else None
    loop = Loop(
        task=task,
        program=program,
        bought=bought,
        table=table,
        shore_cuts=ShoreCuts(task.problem, across(task.problem, table), bought, least, shores),
        check=_check(task, table, like) if task.problem.shared and (apart or not alone) else None,
        traffic=Program(written, beside.rows) if len(written) <= MOST_WRITTEN else Program(),
        quick=bool(written),
        linear=Linear(program),
        base=len(program.rows),
        least=least,
        rounding=rounding,
        asked=() if apart else asked,
    )
    for held in known:
        if rounding:
            _add(loop, held.cuts, held.divisors)
        else:
            for cut in held.cuts:
                _add(loop, (cut,), (None, None))
    return loop


def _check(task: Task, table: Arrays, like: Loop | None) -> StateCheck:
    if like and like.check and like.task.problem is task.problem and like.task.held == task.held:
        return like.check
    return StateCheck(task.problem, task.held, table)


def with_traffic(loop: Loop, program: Program) -> Program:
    """A program over the columns of the master, and what the traffic asks where that stands beside it."""
    return Program([*program.columns, *loop.traffic.columns], [*program.rows, *loop.traffic.rows])


def root(loop: Loop, until: Until | None = None) -> bool:
    """Add cuts to the relaxation until none is violated or they gain no more, then keep the tight ones.

    False where it is infeasible. It ends with the task, or by `until`.
    """
    until = until or loop.task.until
    best, stalled, quick = -inf, 0, loop.quick
    for _ in range(ROOT_ROUNDS):
        status = loop.linear.solve()
        if status == "infeasible":
            return False
        if status != "optimal":
            raise SolverError("the relaxation of the design problem gave no answer")
        gain = loop.linear.objective - best
        stalled = 0 if gain > STALL * abs(best) else stalled + 1
        little = gain < LITTLE * abs(best)
        best = max(best, loop.linear.objective)
        try:
            found = separate(loop, loop.linear.values, explore=little, every=little and quick, until=until)
        except UncheckedError:
            break
        if not found or until.over or (loop.rounding and stalled >= (QUICK_STALLED if quick else STALLED)):
            break
    if loop.linear.solve() != "optimal":  # so that there is a dual for each row
        return False
    keep_tight(loop)
    return True


def keep_tight(loop: Loop) -> None:
    """Leave out of the integer program the cuts that the relaxation has to spare."""
    values = loop.linear.values
    loop.cuts = {
        key: held
        for key, held in loop.held.items()
        if sum(value * values[i] for i, value in held.row.terms.items()) <= held.row.lower * (1 + SLACK)
    }
    del loop.program.rows[loop.base :]
    loop.program.rows.extend(held.row for held in loop.cuts.values())


def separate(
    loop: Loop, values: Sequence[float], *, explore: bool = False, every: bool = False, until: Until | None = None
) -> int:
    """Add inequalities that the values break; zero means that every state can be carried.

    States are only checked where no cut between shores is broken, or with `every`. UncheckedError where that is not
    finished by `until`.
    """
    import numpy as np

    point = np.asarray(values, dtype=float)
    added = 0
    for found in between_shores(loop, point, explore=explore):
        added = added or sum(_add(loop, cuts, divisors) for cuts, divisors in found)
        if added:
            break
    if loop.check is None or (added and not every):
        return added
    short = _broken_states(loop, loop.check, point, until)
    if not short:
        return added
    more = 0
    for cut in short:
        if not cut.faster:
            loop.shore_cuts.grow(loop.shore_cuts.shores_of(cut))
        made = roundings(plain(loop, cut), loop.least)
        for _, divisors in made.broken(point, 0.0)[:2] if loop.rounding else [(0.0, (None, None))]:
            more += _add(loop, (cut,), divisors)
    if not added and not more:
        raise SolverError("a state is short of capacity although every inequality that says so is in the model")
    return added + more


def _broken_states(loop: Loop, check: StateCheck, point: Any, until: Until | None) -> list[Cut]:
    """A broken inequality for each broken state, those first that were broken lately; ends after enough of them."""
    problem = loop.task.problem
    order = sorted(loop.table.ruling, key=lambda k: (not problem.states[k].healthy, -loop.rank.get(k, 0.0), k))
    counts = point[list(loop.bought.wavelengths)]
    short = check.broken(counts, order, STATES_PER_ROUND, aside_of(loop.bought, point), until)
    loop.rank = {k: value * FADE for k, value in loop.rank.items() if value > 1e-3}
    for one in short:
        loop.rank[one.state] = loop.rank.get(one.state, 0.0) + 1.0
    loop.checked += len(order)
    return [one.cut for one in short]


def whole(loop: Loop, values: Sequence[float]) -> tuple[float, ...]:
    """Values with the integers made exactly whole and rounding beyond bounds taken off."""
    return tuple(
        float(round(value)) if column.integer else min(max(value, column.lower), column.upper)
        for column, value in zip(loop.program.columns, values, strict=True)
    )


def cost(loop: Loop, values: Sequence[float]) -> float:
    """Cost of an answer [thousand US$]."""
    return sum(column.cost * value for column, value in zip(loop.program.columns, values, strict=True))


def _add(loop: Loop, cuts: tuple[Cut, ...], divisors: Divisors) -> int:
    """Add an inequality to master and relaxation; 0 where it stands in the master already."""
    terms, need = derived([plain(loop, cut) for cut in cuts], divisors, loop.least)
    smallest = min((value for value in terms.values() if value > 0), default=1.0)
    scaled = {i: value / smallest for i, value in sorted(terms.items())}
    least = need / smallest
    key = (*((i, round(value, 6)) for i, value in scaled.items()), (-1, round(least, 6)))
    if key in loop.cuts:
        return 0
    held = loop.held.get(key)
    if held is None:
        relaxed = loop.linear.add_row(scaled, least, inf)
        row = ProgramRow(f"cut{relaxed}", scaled, least, inf)
        held = loop.held[key] = Held(cuts, divisors, row, smallest, relaxed)
    loop.program.rows.append(held.row)
    loop.cuts[key] = held
    return 1
