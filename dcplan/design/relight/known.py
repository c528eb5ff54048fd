"""What a search for scheme relight knows: purchases that carry every state, and the ways to light each of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil, inf
from typing import TYPE_CHECKING

from dcplan.design.few.routes import Lit, pick
from dcplan.design.limits import nothing_yet
from dcplan.design.nodes import close_at, roadms_of
from dcplan.design.relight.master import counts_of
from dcplan.design.relight.state import StateProgram
from dcplan.design.solver.solve import relative_gap
from dcplan.design.spectrum.place import least_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.routing.check import StateCheck
    from dcplan.design.solver.program import Column
    from dcplan.model.network import SiteId
from dcplan.design.relight.master import Master

REMEMBERED = 6
"""Ways to light a state that are kept: most purchases can be tried without a solve."""
WHOLE = 1e-6
"""A share of one thing that is rounding."""


@dataclass(slots=True)
class Search:
    """What is known so far."""

    master: Master
    programs: dict[int, StateProgram] = field(default_factory=dict)
    known: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    """By state: wavelengths that carry it."""
    relaxed: tuple[float, ...] = ()
    """What the last relaxation buys."""
    settled: bool = False
    """Parts of wavelengths carry every state with that."""
    bought: tuple[float, ...] | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    promised: tuple[float, ...] = ()
    """In the order of `Purchase.promised`; nothing where all may be retuned."""
    cost: float = inf
    bound: float = 0.0
    reason: str = "proven"
    foresee: Callable[[Task, Sequence[Sequence[float]]], Task] | None = None
    """See `search`."""
    begin: Sequence[tuple[int, ...]] = ()
    """Wavelengths of every state that are known to do, whatever is asked further; or none."""
    bounding: bool = False
    """No purchase is wanted, only a bound."""
    enlarged: int = 0
    """Proposals since one was last enlarged."""

    @property
    def task(self) -> Task:
        """What is asked for."""
        return self.master.task

    def program(self, state: int) -> StateProgram:
        """One state with its traffic written out."""
        if state not in self.programs:
            master = self.master
            self.programs[state] = StateProgram(master.task, master.stood, state, master.slots[state])
        return self.programs[state]

    def price(self, bought: Sequence[float]) -> float:
        """What a purchase costs [thousand US$]."""
        return (
            sum(column.cost * value for column, value in zip(self.columns, bought, strict=True))
            + sum(old.cost * min(value, old.upper) for old, value in self.spared(bought))
            + sum(self.master.pool.whole.columns[i].cost * value for i, value in self.at_ends(bought).items())
        )

    def roadms(self, bought: Sequence[float]) -> frozenset[SiteId]:
        """The sites with ROADMs."""
        mine = self.master.bought
        value = dict(zip(mine.columns, bought, strict=True))
        return frozenset(site for site, i in mine.nodes.roadms.items() if value[i] > WHOLE)

    def at_ends(self, bought: Sequence[float]) -> dict[int, float]:
        """Lit pairs by what stands at their ends, as columns of the master."""
        mine, problem = self.master.bought, self.task.problem
        value, roadms = dict(zip(mine.columns, bought, strict=True)), self.roadms(bought)
        found: dict[int, float] = {}
        for fiber, pattern in mine.nodes.pairs:
            here = roadms.intersection(problem.network.fibers[fiber].ends) == pattern
            pairs = value[mine.pairs[fiber]] if here else 0.0
            found[mine.nodes.pairs[fiber, pattern]] = pairs
            if (old := mine.nodes.there.get((fiber, pattern))) is not None:
                found[old] = min(pairs, problem.pairs_lit[fiber])
        return found

    def spared(self, bought: Sequence[float]) -> Iterator[tuple[Column, float]]:
        """Of a purchase, what may be there already: the column of that, and how much is bought of it."""
        every, spared = self.master.pool.whole.columns, self.master.bought.spared
        for i, value in zip(self.master.bought.columns, bought, strict=True):
            if i in spared:
                yield every[spared[i]], value

    @property
    def columns(self) -> list[Column]:
        """Of what is bought."""
        every = self.master.pool.whole.columns
        return [every[i] for i in self.master.bought.columns]

    @property
    def until(self) -> Until:
        """When it must end."""
        return self.task.until

    def closed(self) -> bool:
        """The gap is what was asked for."""
        return self.bought is not None and relative_gap(self.cost, self.bound) <= self.task.gap + 1e-9


def enlarged(
    found: Search, proposed: Sequence[float], values: Sequence[float], first: Sequence[int], until: Until
) -> list[int]:
    """Offer a purchase of at least what is proposed that carries every state; those that the proposal does not carry.

    values: of the master, if it proposed. first: states that are tried before the others.
    """
    found.enlarged = 0
    failed: list[int] = []
    bought = tuple(proposed)
    counts: dict[int, tuple[int, ...]] = {}
    todo = deque([*first, *(k for k in range(states(found)) if k not in first)])
    while todo:
        k = todo.popleft()
        lit = _carried(found, k, bought, values, until)
        if lit is None:
            if k not in counts:
                failed.append(k)
            more = found.program(k).grown(bought, until)
            if more is None or found.price(more) >= found.cost:
                return failed
            bought, before = more, found.roadms(bought)
            lit = _carried(found, k, bought, values, until)
            if (roadms := found.roadms(bought)) != before:  # between more of them a mode may not close
                todo += [other for other, lights in counts.items() if not _close(found, lights, roadms)]
        if lit is None:
            return failed
        counts[k] = lit
    offer(found, bought, tuple(counts[k] for k in range(states(found))))
    return failed


def _carried(
    found: Search, state: int, bought: Sequence[float], values: Sequence[float], until: Until
) -> tuple[int, ...] | None:
    """Wavelengths that carry a state within a purchase: such as are known, the master's own, or found anew."""
    master = found.master
    for lit in found.known.get(state, ()):
        if within(found, state, lit, bought):
            return lit
    if state in master.states and values:
        lit = tuple(round(count) for count in counts_of(master, state, values))
        if within(found, state, lit, bought) and carries(found.task, master.check, state, lit):
            return _remember(found, state, lit)
    fresh = found.program(state).carried(bought, until)
    return None if fresh is None else _remember(found, state, fresh)


def carries(task: Task, check: StateCheck, state: int, lit: Sequence[int]) -> bool:
    """Wavelengths carry a state, and the counted demands on few routes."""
    if check.broken(lit, [state], 1):
        return False
    return not task.few.ways or pick(Lit(task.problem, task.ways, task.few, lit, task.until), state, {}) is not None


def within(found: Search, state: int, lit: Sequence[int], bought: Sequence[float]) -> bool:
    """Wavelengths of a state take no more transponders, modules, lit pairs and ROADMs than are bought, and close so."""
    if any(need > value + WHOLE for need, value in zip(_needed(found, state, lit), bought, strict=True)):
        return False
    return _close(found, lit, found.roadms(bought))


def _close(found: Search, lit: Sequence[int], roadms: frozenset[SiteId]) -> bool:
    """Wavelengths of a state close where ROADMs stand at these sites."""
    return all(close_at(found.task.problem, j, roadms) for j, count in enumerate(lit) if count)


def _needed(found: Search, state: int, lit: Sequence[int]) -> tuple[float, ...]:
    """The least purchase with which wavelengths of a state can be lit, wherever they stand in the spectrum."""
    master, problem = found.master, found.task.problem
    bought = master.bought
    pairs = least_pairs(problem, lit, master.slots[state])
    priced = [j for j in bought.modules if lit[j] and problem.choices[j].usd]
    leased = {problem.circuit(problem.choices[j].lightpath) for j in priced}
    opened = [float(pairs[edge] > 0 if edge in bought.pairs else edge in leased) for edge in bought.opened]
    modules = [lit[j] for j in bought.modules]
    passed = roadms_of(problem, lit)
    roadms = [float(site in passed) for site in bought.nodes.roadms]
    return (*master.stood.taken(lit), *modules, *(pairs[fiber] for fiber in bought.pairs), *opened, *roadms)


def all_there_is(found: Search, counts: Sequence[Sequence[int]]) -> list[float]:
    """Everything that can be bought, and ROADMs where these wavelengths of the states pass."""
    needed = [_needed(found, k, lit) for k, lit in enumerate(counts)]
    first = len(found.columns) - len(found.master.bought.nodes.roadms)
    return [
        column.upper if at < first else max((need[at] for need in needed), default=0.0)
        for at, column in enumerate(found.columns)
    ]


def _remember(found: Search, state: int, lit: tuple[int, ...]) -> tuple[int, ...]:
    found.known[state] = [lit, *found.known.get(state, [])][:REMEMBERED]
    return lit


def offer(found: Search, bought: Sequence[float], counts: tuple[tuple[int, ...], ...]) -> None:
    """A purchase that carries every state, without what no state takes."""
    needed = [_needed(found, k, lit) for k, lit in enumerate(counts)]
    least = tuple(
        min(value, max(column.lower, *(need[at] for need in needed)))
        for at, (column, value) in enumerate(zip(found.columns, bought, strict=True))
    )
    if found.price(least) < found.cost:
        found.bought, found.counts, found.cost = least, counts, found.price(least)
        for k, lit in enumerate(counts):
            if lit not in found.known.get(k, ()):
                _remember(found, k, lit)


def warm(found: Search) -> list[float] | None:
    """The best purchase so far as a point of the master."""
    if found.bought is None:
        return None
    program = found.master.pool.whole
    values = [0.0] * len(program.columns)
    for k, columns in found.master.states.items():
        for column, count in zip(columns.wavelengths, found.counts[k], strict=True):
            values[column] = float(count)
    for i, value in zip(found.master.bought.columns, found.bought, strict=True):  # circuits that are lost too
        values[i] = value
        if (old := found.master.bought.spared.get(i)) is not None:
            values[old] = min(value, program.columns[old].upper)
    for i, value in found.at_ends(found.bought).items():
        values[i] = value
    never = found.promised or [found.counts[0][j] for j in found.master.bought.anchors]
    for i, value in zip(found.master.bought.promised, never, strict=False):
        values[i] = value
    for row in program.rows if found.task.problem.band.guard else ():
        if row.name.startswith("used"):
            width = next(i for i, value in row.terms.items() if value < 0)
            values[width] = float(any(values[i] > 0 for i in row.terms))
    return values


def rescue(found: Search) -> None:
    """When time is up without an answer: what the relaxation buys, rounded up, enlarged state by state."""
    first = len(found.columns) - len(found.master.bought.nodes.roadms)  # a ROADM is added where a state needs it
    bought = tuple(
        float(min(column.upper, ceil(value - WHOLE))) if at < first else float(int(value + WHOLE))
        for at, (column, value) in enumerate(zip(found.columns, found.relaxed, strict=True))
    )
    enlarged(found, bought, (), (), found.until.finishing)
    if found.bought is None:
        raise nothing_yet(found.until.why)


def states(found: Search) -> int:
    """How many states there are."""
    return len(found.task.problem.states)
