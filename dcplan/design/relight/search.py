"""The search for the cheapest purchase: the master proposes, each state is tried, those that fail join the master.

Lazy states (Gabrel, Knippel, Minoux, ORL 25, 1999, for cuts; here each state that matters is a block of its own, since
its wavelengths are whole). The master's bound is a bound on the whole model whatever states it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf
from typing import TYPE_CHECKING

from dcplan.design.formulation import USD
from dcplan.design.relight.master import Master, again, counts_of, load, relaxed, separate, start, values_of
from dcplan.design.relight.state import StateProgram
from dcplan.design.solver import relative_gap, solve
from dcplan.design.spectrum import least_pairs
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cutting import Task
    from dcplan.design.limits import Until
    from dcplan.model.network import FiberId

ROOT_ROUNDS = 60
"""Rounds of cuts on the relaxation before the first integer solve."""
LOADED_AT_ONCE = 4
"""States that join the master in a round: those that miss most; others may need no place then."""
LOOSE_GAP = 0.01
"""Gap of the master until the first purchase that carries every state."""
LAST_S = 10.0
"""Longest time for making some answer when time ran out [s]."""
REMEMBERED = 6
"""Ways to light a state that are kept: most purchases can be tried without a solve."""
WHOLE = 1e-6
"""A share of one thing that is rounding."""
MISSING = 1e-4
"""Further cost of a state, relative to that of the purchase, below which the relaxation is enough for it."""


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


@dataclass(slots=True)
class _Search:
    """What is known so far."""

    master: Master
    programs: dict[int, StateProgram] = field(default_factory=dict)
    known: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    """By state: wavelengths that carry it."""
    relaxed: tuple[float, ...] = ()
    """What the last relaxation buys."""
    bought: tuple[float, ...] | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    cost: float = inf
    bound: float = 0.0
    reason: str = "proven"

    @property
    def task(self) -> Task:
        return self.master.task

    def program(self, state: int) -> StateProgram:
        if state not in self.programs:
            master = self.master
            self.programs[state] = StateProgram(master.task, master.stood, state, master.slots[state])
        return self.programs[state]

    def price(self, bought: Sequence[float]) -> float:
        """[thousand US$]"""
        columns = self.master.program.columns
        return sum(columns[i].cost * value for i, value in zip(self.master.bought.columns, bought, strict=True))

    @property
    def until(self) -> Until:
        return self.task.until

    def closed(self) -> bool:
        return self.bought is not None and relative_gap(self.cost, self.bound) <= self.task.gap + 1e-9


def search(
    task: Task,
    slots: Sequence[Mapping[FiberId, int]],
    begin: Sequence[tuple[int, ...]] = (),
    before: Found | None = None,
) -> Found | None:
    """The cheapest purchase with which every state can be carried; None where there is none.

    slots: by state, slots per pair. begin: wavelengths of every state to begin from, if they carry it. before: what
    was found when less was asked. SolverError where time ran out before any answer.
    """
    found = _Search(start(task, slots) if before is None else again(before.master, task, slots))
    most = [found.master.program.columns[i].upper for i in found.master.bought.columns]
    if begin and all(
        _within(found, k, lit, most) and not found.master.check.broken(lit, [k], 1) for k, lit in enumerate(begin)
    ):
        _offer(found, most, tuple(begin))
    if not _root(found) or not _refine(found):
        return None
    if found.bought is None:
        _rescue(found)
    closed = found.closed()
    columns = found.master.bought
    value = dict(zip(columns.columns, map(round, found.bought or ()), strict=True))
    return Found(
        bought=found.bought or (),
        owned=tuple(value[i] for i in columns.owned),
        modules={j: value[i] for j, i in columns.modules.items()},
        pairs={fiber: value[i] for fiber, i in columns.pairs.items()},
        counts=found.counts,
        cost_usd=found.cost / USD,
        bound_usd=min(found.bound, found.cost) / USD,
        reason="proven" if closed else found.reason if found.reason != "proven" else "gap",
        master=found.master,
    )


def _root(found: _Search) -> bool:
    """Cuts and states until the relaxation breaks none; False where it is infeasible."""
    master = found.master
    for _ in range(ROOT_ROUNDS):
        status = relaxed(master)
        if status == "infeasible":
            return False
        if status != "optimal":
            raise SolverError("the relaxation of the design problem gave no answer")
        found.bound = max(found.bound, master.linear.objective if master.linear else 0.0)
        found.relaxed = tuple(values_of(master)[i] for i in master.bought.columns)
        if found.until.hurried or (not separate(master, values_of(master)) and not _load_missing(found)):
            break
    found.task.say(f"relaxation US$ {found.bound / USD:,.0f}, {len(master.states)} of {_states(found)} states matter")
    return True


def _load_missing(found: _Search) -> int:
    """Load the states that the relaxed purchase falls shortest of."""
    master = found.master
    least = MISSING * max(1.0, found.bound)
    missing = {k: found.program(k).missing(found.relaxed) for k in range(_states(found)) if k not in master.states}
    short = sorted((k for k, value in missing.items() if value > least), key=lambda k: (-missing[k], k))
    load(master, sorted(short[:LOADED_AT_ONCE]))
    return len(short[:LOADED_AT_ONCE])


def _refine(found: _Search) -> bool:
    """The master proposes purchases until one that carries all is within the gap; False where there is none."""
    half = found.task.gap / 2
    gap = max(LOOSE_GAP, half)
    while not found.closed():
        if found.until.over:
            found.reason = found.until.why
            break
        solved = solve(found.task.solver, found.master.program, found.until.limits(gap), _warm(found))
        if solved.status == "infeasible":
            return False
        if solved.bound is not None:
            found.bound = max(found.bound, solved.bound)
        if solved.objective is None:
            found.reason = solved.reason
            break
        broken = _tried(found, solved.values)
        found.task.say(
            f"cost US$ {found.cost / USD:,.0f}, bound US$ {found.bound / USD:,.0f}, "
            f"{len(found.master.states)} of {_states(found)} states matter, {len(found.master.kept)} cuts"
        )
        if not broken and gap <= half:
            found.reason = solved.reason
            break
        gap = half if not broken else max(half, min(LOOSE_GAP, relative_gap(found.cost, found.bound) / 4))
    return True


def _tried(found: _Search, values: Sequence[float]) -> bool:
    """Try a proposal in every state, offer what carries all, and tell the master what it lacks; whether it did."""
    master = found.master
    proposed = tuple(float(round(values[i])) for i in master.bought.columns)
    failed: list[int] = []
    bought = proposed
    counts: list[tuple[int, ...]] = []
    for k in range(_states(found)):
        lit = _carried(found, k, bought, values)
        if lit is None:
            failed.append(k)
            bought = found.program(k).grown(bought, found.until) or bought
            lit = _carried(found, k, bought, values)
        if lit is None:
            break
        counts.append(lit)
    else:
        _offer(found, bought, tuple(counts))
    if not failed:
        return False
    cuts = separate(master, values)
    fresh = [k for k in failed if k not in master.states][:LOADED_AT_ONCE]
    load(master, fresh)
    if not cuts and not fresh and bought != proposed and not found.until.over:
        raise SolverError("a state cannot be lit although the master says that it can")
    return True


def _carried(found: _Search, state: int, bought: Sequence[float], values: Sequence[float]) -> tuple[int, ...] | None:
    """Wavelengths that carry a state within a purchase: such as are known, the master's own, or found anew."""
    master = found.master
    for lit in found.known.get(state, ()):
        if _within(found, state, lit, bought):
            return lit
    if state in master.states:
        lit = tuple(round(count) for count in counts_of(master, state, values))
        if _within(found, state, lit, bought) and not master.check.broken(lit, [state], 1):
            return _remember(found, state, lit)
    fresh = found.program(state).carried(bought, found.until)
    return None if fresh is None else _remember(found, state, fresh)


def _within(found: _Search, state: int, lit: Sequence[int], bought: Sequence[float]) -> bool:
    """Wavelengths of a state take no more transponders, modules and lit pairs than are bought."""
    return all(need <= value + WHOLE for need, value in zip(_needed(found, state, lit), bought, strict=True))


def _needed(found: _Search, state: int, lit: Sequence[int]) -> tuple[float, ...]:
    """The least purchase with which wavelengths of a state can be lit, wherever they stand in the spectrum."""
    master, problem = found.master, found.task.problem
    bought = master.bought
    pairs = least_pairs(problem, lit, master.slots[state])
    priced = [j for j in bought.modules if lit[j] and problem.choices[j].usd]
    leased = {problem.circuit(problem.choices[j].lightpath) for j in priced}
    opened = [float(pairs[edge] > 0 if edge in bought.pairs else edge in leased) for edge in bought.opened]
    modules = [lit[j] for j in bought.modules]
    return (*master.stood.taken(lit), *modules, *(pairs[fiber] for fiber in bought.pairs), *opened)


def _remember(found: _Search, state: int, lit: tuple[int, ...]) -> tuple[int, ...]:
    found.known[state] = [lit, *found.known.get(state, [])][:REMEMBERED]
    return lit


def _offer(found: _Search, bought: Sequence[float], counts: tuple[tuple[int, ...], ...]) -> None:
    """A purchase that carries every state, without what no state takes."""
    columns = found.master.program.columns
    needed = [_needed(found, k, lit) for k, lit in enumerate(counts)]
    least = tuple(
        min(value, max(columns[i].lower, *(need[at] for need in needed)))
        for at, (i, value) in enumerate(zip(found.master.bought.columns, bought, strict=True))
    )
    if found.price(least) < found.cost:
        found.bought, found.counts, found.cost = least, counts, found.price(least)
        for k, lit in enumerate(counts):
            if lit not in found.known.get(k, ()):
                _remember(found, k, lit)


def _warm(found: _Search) -> list[float] | None:
    """The best purchase so far as a point of the master."""
    if found.bought is None:
        return None
    program = found.master.program
    values = [0.0] * len(program.columns)
    for i, value in zip(found.master.bought.columns, found.bought, strict=True):
        values[i] = value
    for k, columns in found.master.states.items():
        for column, count in zip(columns.wavelengths, found.counts[k], strict=True):
            values[column] = float(count)
    for row in program.rows if found.task.problem.band.guard else ():
        if row.name.startswith("used"):
            width = next(i for i, value in row.terms.items() if value < 0)
            values[width] = float(any(values[i] > 0 for i in row.terms))
    return values


def _rescue(found: _Search) -> None:
    """When time is up without an answer: what the relaxation buys, rounded up, enlarged state by state."""
    until, master = found.until.extended(LAST_S), found.master
    columns = [master.program.columns[i] for i in master.bought.columns]
    bought: tuple[float, ...] | None = tuple(
        float(min(column.upper, ceil(value - WHOLE))) for column, value in zip(columns, found.relaxed, strict=True)
    )
    counts = []
    for k in range(_states(found)):
        bought = None if bought is None or until.over else found.program(k).grown(bought, until)
        lit = None if bought is None else found.program(k).carried(bought, until)
        if bought is None or lit is None:
            raise SolverError("time ran out before any design was found: allow more time (policy.solver.time_limit_s)")
        counts.append(lit)
    _offer(found, bought or (), tuple(counts))


def _states(found: _Search) -> int:
    return len(found.task.problem.states)
