"""The master of relight: what is bought once, and the wavelengths of the states that have been found to matter.

The traffic of a state is projected out: cuts over its own wavelengths stand for it. States that are not in the master
are left to `state.py`; its optimum is a bound whatever states it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.check import StateCheck
from dcplan.design.cuts import terms_of
from dcplan.design.cutting import Task
from dcplan.design.formulation import whole_slots
from dcplan.design.order import in_file_order, twins
from dcplan.design.program import Program
from dcplan.design.relight.block import Purchase, light, purchase
from dcplan.design.relight.shores import Asked, Shores
from dcplan.design.relight.stock import Stock, stock
from dcplan.design.rounding import Divisors, derived, roundings
from dcplan.design.solver import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.formulation import Bought
    from dcplan.model.network import FiberId

LOOKED_AT = 24
"""Tightest shores that are rounded, per state and kind of inequality."""
PER_STATE = 8
"""Inequalities added per state and round."""
VIOLATED = 1e-5
"""Relative violation from which an inequality between shores is worth adding."""

_Key = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """An inequality that is in the master, with the number of its row there."""

    asked: Asked
    divisors: Divisors
    row: int
    smallest: float
    """The coefficient by which it was divided."""


@dataclass(slots=True)
class Master:
    """A program that grows by states and by cuts."""

    task: Task
    slots: tuple[Mapping[FiberId, int], ...]
    """By state: slots per pair that channels may take; fewer where no place was found for them."""
    stood: Stock
    program: Program
    bought: Purchase
    shores: Shores
    check: StateCheck
    rounding: bool
    """Without it the relaxation is the plain linear one, whose duals are prices."""
    states: dict[int, Bought] = field(default_factory=dict)
    """The states in the master, with their columns."""
    linear: Linear | None = None
    """The relaxation; none when a state was added since."""
    rows: dict[_Key, int] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)


def start(task: Task, slots: Sequence[Mapping[FiberId, int]], *, rounding: bool = True) -> Master:
    """A master that holds the healthy state."""
    problem, program = task.problem, Program()
    stood = stock(problem)
    bought = purchase(program, problem, stood)
    shores = Shores(problem, stood)
    check = StateCheck(problem, task.ways)
    master = Master(task, tuple(slots), stood, program, bought, shores, check, rounding)
    load(master, [0])
    whole = whole_slots(problem)
    if rounding and all(dict(mine) == whole for mine in slots):
        in_file_order(program, problem, master.states[0], whole, task.ways)
    return master


def again(before: Master, task: Task, slots: Sequence[Mapping[FiberId, int]]) -> Master:
    """A master for a task that asks for more: the same, with its cuts, where only ways were taken away."""
    if tuple(slots) == before.slots and _order(task) == _order(before.task):
        return replace(before, task=task, check=StateCheck(task.problem, task.ways))
    master = start(task, slots, rounding=before.rounding)
    load(master, [k for k in sorted(before.states) if k])
    return master


def _order(task: Task) -> list[tuple[FiberId, FiberId]]:
    return twins(task.problem, whole_slots(task.problem), task.ways)


def load(master: Master, states: Iterable[int]) -> None:
    """Put states into the master."""
    for k in states:
        master.states[k] = light(master.program, master.task.problem, master.stood, master.bought, k, master.slots[k])
    master.linear = None


def relaxed(master: Master) -> str:
    """Solve the relaxation: optimal, infeasible or failed."""
    if master.linear is None:
        master.linear = Linear(master.program)
    return master.linear.solve()


def values_of(master: Master) -> list[float]:
    """What the relaxation answered."""
    if master.linear is None:
        raise SolverError("the relaxation of the master was not solved")
    return master.linear.values


def counts_of(master: Master, state: int, values: Sequence[float]) -> list[float]:
    """Wavelengths and modules per choice in a state of the master."""
    return [values[column] for column in master.states[state].wavelengths]


def separate(master: Master, values: Sequence[float]) -> int:
    """Add inequalities that the values break; zero means that every state in the master can be carried."""
    added = _offer(master, master.shores.owned(values, master.bought, LOOKED_AT), values, VIOLATED)
    added += _offer(master, master.shores.pairs(values, master.bought, LOOKED_AT), values, VIOLATED)
    for k, columns in master.states.items():
        counts = counts_of(master, k, values)
        further = _offer(master, master.shores.lit(k, counts, columns, LOOKED_AT), values, VIOLATED)
        if not further:
            for short in master.check.broken(counts, [k], 1):
                terms = terms_of(short.cut, master.task.problem, columns, {})
                metric = Asked(terms, k, short.cut.distances, metric=short.cut)
                further = _offer(master, [metric], values, 0.0)
                if not further and not added:  # else it may be one of those just added
                    raise SolverError("a state is short of capacity although every inequality that says so is there")
        added += further
    return added


def _offer(master: Master, several: Iterable[Asked], values: Sequence[float], above: float) -> int:
    """Add the worst broken of some inequalities and of their rounded forms."""
    import numpy as np

    point = np.asarray(values, dtype=float)
    least = np.array([column.lower for column in master.program.columns])
    broken: list[tuple[float, Asked, Divisors]] = []
    for asked in several:
        row = dict(asked.terms), asked.need(master.task.problem)
        if not row[0]:  # nothing that could be bought carries it
            broken.append((1.0, asked, (None, None)))
            continue
        found = roundings(row, least).broken(point, above)
        broken += [(by, asked, divisors) for by, divisors in found if master.rounding or divisors == (None, None)]
    broken.sort(key=lambda item: -item[0])
    return sum(_add(master, asked, divisors, least) for _, asked, divisors in broken[:PER_STATE])


def _add(master: Master, asked: Asked, divisors: Divisors, lowest: Any) -> int:
    """Add an inequality, rounded or not, divided by its smallest coefficient; 0 where it stands there already."""
    terms, need = derived([(dict(asked.terms), asked.need(master.task.problem))], divisors, lowest)
    smallest = min(terms.values(), default=1.0)
    scaled = {column: value / smallest for column, value in sorted(terms.items())}
    least = need / smallest
    key = (*((column, round(value, 6)) for column, value in scaled.items()), (-1, round(least, 6)))
    if key in master.rows:
        return 0
    row = master.program.row(f"cut{len(master.program.rows)}", scaled, lower=least)
    if master.linear is not None:
        master.linear.add_row(scaled, least, inf)
    master.rows[key] = row
    master.kept.append(Kept(asked, divisors, row, smallest))
    return 1
