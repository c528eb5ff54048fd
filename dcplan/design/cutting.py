"""The cut loop: a master program of what is bought, and the search for inequalities that an answer of it breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.check import StateCheck
from dcplan.design.cuts import Cut, ShoreCuts, rounded, summed, terms_of
from dcplan.design.formulation import TBPS, Bought, master
from dcplan.design.protection import protect
from dcplan.design.solver import Linear, now_s
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.program import Program, Row
    from dcplan.design.ways import Way
    from dcplan.model.network import FiberId

ROOT_ROUNDS = 60
"""Rounds of cuts on the relaxation before the first integer solve."""
CUTS_PER_ROUND = 40
LOOKED_AT = 80
"""Tightest shore cuts that are rounded in each round."""
VIOLATED = 1e-5
"""Relative violation from which a shore cut is worth adding."""
SLACK = 1e-6
"""Cuts with more than this share to spare in the relaxation are left out of the integer program until broken again."""


@dataclass(frozen=True, slots=True)
class Task:
    """A problem with what the loop may use: slots per fiber, listed ways, solver, time."""

    problem: Problem
    slots: Mapping[FiberId, int]
    ways: Mapping[int, Sequence[Way]]
    """Under one-plus-one of every demand; else of those whose latency limit must be watched."""
    protected: bool
    """One-plus-one."""
    solver: str
    gap: float
    deadline_s: float
    """On the clock `now_s`."""
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Broken:
    """An inequality that is violated, and by how much relative to its right side."""

    by: float
    cut: Cut
    terms: Mapping[int, float]
    need: float


@dataclass(frozen=True, slots=True)
class Held:
    """A cut in the master, and the number of its row in the relaxation."""

    cut: Cut
    row: Row
    relaxed: int


_Key = tuple[tuple[int, float], ...]


@dataclass(slots=True)
class Loop:
    """A master program that grows by cuts."""

    task: Task
    program: Program
    bought: Bought
    shore_cuts: ShoreCuts
    check: StateCheck | None
    """None under one-plus-one, where the master holds the traffic itself."""
    linear: Linear
    base: int
    """Rows of the master before any cut."""
    rounding: bool = True
    """Without it the relaxation is the plain linear one, whose duals are prices."""
    cuts: dict[_Key, Held] = field(default_factory=dict)


def start(task: Task, known: Sequence[Cut] = ()) -> Loop:
    """A master without cuts but `known` ones."""
    program, bought = master(task.problem, task.slots)
    if task.protected:
        protect(program, task.problem, bought, task.ways)
    check = None if task.protected else StateCheck(task.problem, task.ways)
    loop = Loop(task, program, bought, ShoreCuts(task.problem), check, Linear(program), len(program.rows))
    for cut in known:
        _add(loop, cut, *plain(loop, cut))
    return loop


def root(loop: Loop) -> bool:
    """Add cuts to the relaxation until none is violated, then keep the tight ones; False where it is infeasible."""
    for _ in range(ROOT_ROUNDS):
        status = loop.linear.solve()
        if status == "infeasible":
            return False
        if status != "optimal":
            raise SolverError("the relaxation of the design problem gave no answer")
        if not separate(loop, loop.linear.values) or now_s() > loop.task.deadline_s:
            break
    values = loop.linear.values
    for key, held in list(loop.cuts.items()):
        have = sum(value * values[i] for i, value in held.row.terms.items())
        if have > held.row.lower * (1 + SLACK):
            del loop.cuts[key]
    del loop.program.rows[loop.base :]
    loop.program.rows.extend(held.row for held in loop.cuts.values())
    return True


def separate(loop: Loop, values: Sequence[float]) -> int:
    """Add inequalities that the values break; zero means that every state can be carried."""
    problem = loop.task.problem
    capacity = problem.capacity_gbps([values[i] for i in loop.bought.wavelengths])
    pairs = [values[loop.bought.pairs[fiber]] for fiber in problem.fibers]
    added = _add_worst(loop, _between_shores(loop, capacity, pairs, values))
    if added or loop.check is None:
        return added
    found: list[_Broken] = []
    for state in range(len(problem.states)):
        short = loop.check.short(state, capacity)
        if short is not None:
            terms, need = plain(loop, short.cut)
            forms = [(terms, need), *rounded(terms, need)] if loop.rounding else [(terms, need)]
            found += _breaking(short.cut, forms, values, 0.0)
    added = _add_worst(loop, found)
    if found and not added:
        raise SolverError("a state is short of capacity although every inequality that says so is in the model")
    return added


def plain(loop: Loop, cut: Cut) -> tuple[dict[int, float], float]:
    """A cut as it stands, not rounded: terms over the master's columns and least value [Tb/s]."""
    problem = loop.task.problem
    return terms_of(cut, problem, loop.bought, loop.shore_cuts.pair_gbps), cut.need_gbps(problem) * TBPS


def whole(loop: Loop, values: Sequence[float]) -> tuple[float, ...]:
    """Values with the integers made exactly whole and rounding beyond bounds taken off."""
    return tuple(
        float(round(value)) if column.integer else min(max(value, column.lower), column.upper)
        for column, value in zip(loop.program.columns, values, strict=True)
    )


def cost(loop: Loop, values: Sequence[float]) -> float:
    """Cost of an answer [thousand US$]."""
    return sum(column.cost * value for column, value in zip(loop.program.columns, values, strict=True))


def _between_shores(
    loop: Loop, capacity: Sequence[float], pairs: Sequence[float], values: Sequence[float]
) -> list[_Broken]:
    """Broken inequalities between shores: of one state, and sums over states that lose different fibers."""
    cuts, found = loop.shore_cuts, []
    seen: set[tuple[int, bool]] = set()
    for shore, state, over_paths in cuts.tightest(capacity, pairs, LOOKED_AT):
        cut = cuts.cut(shore, state, over_paths=over_paths)
        terms, need = plain(loop, cut)
        forms = [(terms, need), *rounded(terms, need)] if loop.rounding else [(terms, need)]
        found += _breaking(cut, forms, values, VIOLATED)
        if loop.rounding and (shore, over_paths) not in seen:
            seen.add((shore, over_paths))
            family = [cuts.cut(shore, k, over_paths=over_paths) for k in cuts.family(shore)]
            if len(family) > 1:
                found += _breaking(family[0], summed([plain(loop, one) for one in family]), values, VIOLATED)
    return found


def _breaking(
    cut: Cut, rows: Iterable[tuple[Mapping[int, float], float]], values: Sequence[float], above: float
) -> list[_Broken]:
    """The two worst broken of some forms of a cut."""
    found = []
    for terms, need in rows:
        by = (need - sum(value * values[i] for i, value in terms.items())) / need
        if by > above:
            found.append(_Broken(by, cut, terms, need))
    found.sort(key=lambda item: -item.by)
    return found[:2]


def _add_worst(loop: Loop, found: list[_Broken]) -> int:
    worst = sorted(found, key=lambda item: -item.by)[:CUTS_PER_ROUND]
    return sum(_add(loop, broken.cut, broken.terms, broken.need) for broken in worst)


def _add(loop: Loop, cut: Cut, terms: Mapping[int, float], need: float) -> int:
    """Add Σ terms ≥ need to master and relaxation; 0 where it stands there already."""
    smallest = min(terms.values(), default=1.0)
    scaled = {i: value / smallest for i, value in sorted(terms.items())}
    least = need / smallest
    key = (*((i, round(value, 6)) for i, value in scaled.items()), (-1, round(least, 6)))
    if key in loop.cuts:
        return 0
    relaxed = loop.linear.add_row(scaled, least, inf)
    loop.program.row(f"cut{relaxed}", scaled, lower=least)
    loop.cuts[key] = Held(cut, loop.program.rows[-1], relaxed)
    return 1
