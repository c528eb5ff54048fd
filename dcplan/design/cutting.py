"""The cut loop: a master program of what is bought, and the search for inequalities that an answer of it breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.check import StateCheck
from dcplan.design.cuts import Cut, Forms, ShoreCuts, terms_of
from dcplan.design.formulation import TBPS, Bought, master
from dcplan.design.order import in_file_order
from dcplan.design.protection import protect
from dcplan.design.solver import Linear, now_s
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
MOST_KEPT = 4_000_000
"""Coefficients of forms of shore cuts that are kept for later rounds, 8 bytes each."""
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
    """A cut in the master, as it stands there, and the number of its row in the relaxation."""

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
    rounding: bool
    """Without it the relaxation is the plain linear one, whose duals are prices."""
    cuts: dict[_Key, Held] = field(default_factory=dict)
    forms: dict[tuple[int, int, bool], tuple[Cut, list[Forms]]] = field(default_factory=dict)
    """Shore cuts that were looked at, by shore, state (−1 for the sum over states) and what is crossed."""
    room: int = MOST_KEPT
    """Coefficients that may still be kept in `forms`."""


def start(task: Task, known: Sequence[Held] = (), *, rounding: bool = True) -> Loop:
    """A master without cuts but `known` ones, of a task over the same choices that asks for no more.

    Without `rounding`, and without an order among equal fibers, the duals of the relaxation are prices.
    """
    program, bought = master(task.problem, task.slots)
    if rounding:
        in_file_order(program, task.problem, bought, task.slots, task.ways)
    if task.protected:
        protect(program, task.problem, bought, task.ways)
    check = None if task.protected else StateCheck(task.problem, task.ways)
    loop = Loop(task, program, bought, ShoreCuts(task.problem), check, Linear(program), len(program.rows), rounding)
    for held in known:
        _add(loop, held.cut, held.row.terms, held.row.lower)
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
    else:
        if loop.linear.solve() != "optimal":  # so that there is a dual for each row
            return False
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
    import numpy as np

    problem = loop.task.problem
    counts = [values[i] for i in loop.bought.wavelengths]
    capacity = problem.capacity_gbps(counts)
    pairs = [values[loop.bought.pairs[fiber]] for fiber in problem.fibers]
    point = np.asarray(values, dtype=float)
    added = _add_worst(loop, _between_shores(loop, capacity, pairs, point))
    if added or loop.check is None:
        return added
    found: list[_Broken] = []
    for state in range(len(problem.states)):
        if found and now_s() > loop.task.deadline_s:
            break
        short = loop.check.short(state, counts)
        if short is not None:
            found += _breaking(short.cut, _forms(loop, short.cut), point, 0.0)
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


def _between_shores(loop: Loop, capacity: Sequence[float], pairs: Sequence[float], point: Any) -> list[_Broken]:
    """Broken inequalities between shores: of one state, and sums over states that lose different fibers."""
    found: list[_Broken] = []
    wanted: dict[tuple[int, int, bool], None] = {}
    for shore, state, over_paths in loop.shore_cuts.tightest(capacity, pairs, LOOKED_AT):
        wanted[shore, state, over_paths] = None
        if loop.rounding:
            wanted[shore, -1, over_paths] = None
    for key in wanted:
        if found and now_s() > loop.task.deadline_s:
            break
        kept = loop.forms.get(key) or _looked_at(loop, *key)
        found += _breaking(*kept, point, VIOLATED)
    return found


def _looked_at(loop: Loop, shore: int, state: int, over_paths: bool) -> tuple[Cut, list[Forms]]:  # noqa: FBT001
    """A shore cut with its forms, or those of the sum over states; kept while there is room."""
    cuts = loop.shore_cuts
    if state >= 0:
        cut = cuts.cut(shore, state, over_paths=over_paths)
        made = cut, _forms(loop, cut)
    else:
        states = cuts.family(shore)
        family = [cuts.cut(shore, k, over_paths=over_paths) for k in states]
        several = Forms.of([plain(loop, one) for one in family]) if len(family) > 1 else None
        made = (
            family[0] if family else cuts.cut(shore, 0, over_paths=over_paths),
            [] if several is None else [several.summed().rounded()],
        )
    loop.room -= sum(forms.left.size for forms in made[1])
    if loop.room > 0:
        loop.forms[shore, state, over_paths] = made
    return made


def _forms(loop: Loop, cut: Cut) -> list[Forms]:
    """A cut as it stands, and rounded."""
    forms = Forms.of([plain(loop, cut)])
    return [forms, forms.rounded()] if loop.rounding else [forms]


def _breaking(cut: Cut, several: Sequence[Forms], point: Any, above: float) -> list[_Broken]:
    """The two worst broken of some forms of a cut."""
    broken = [
        (by, forms, row) for forms in several for row, by in enumerate(forms.broken_by(point).tolist()) if by > above
    ]
    broken.sort(key=lambda item: -item[0])
    found = []
    for by, forms, row in broken[:2]:
        one = Forms(forms.columns, forms.left[row : row + 1], forms.need[row : row + 1])
        found += [_Broken(by, cut, terms, need) for terms, need in one.rows()]
    return found


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
