"""The master of relight: what is bought once, and what each state asks of it.

The wavelengths of a state are projected out (`projected.py`) until parts of them carry it and whole ones do not: then
they are written into the master, whole, with cuts in place of their traffic. Its optimum is a bound at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import Task
from dcplan.design.few.program import write_in_few
from dcplan.design.formulation import whole_slots
from dcplan.design.order import in_file_order, twins
from dcplan.design.relight.block import Purchase, columns_of, light, purchase
from dcplan.design.relight.pool import Pool
from dcplan.design.relight.projected import LOOKED_AT, Projected, Wanted, metrics
from dcplan.design.relight.shores import Asked, Shores
from dcplan.design.relight.stock import Stock, stock
from dcplan.design.routing.check import StateCheck
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.formulation import Bought
    from dcplan.model.network import FiberId

SHORT = 1e-6
"""What a purchase may be short of in a state by rounding, as a share of the bound."""
LEAST_USD = 1e-6
"""And at least [thousand US$]."""


@dataclass(slots=True)
class Master:
    """A program that grows by what states ask for, and by states."""

    task: Task
    slots: tuple[Mapping[FiberId, int], ...]
    """By state: slots per pair that channels may take; fewer where no place was found for them."""
    stood: Stock
    bought: Purchase
    pool: Pool[Asked | Wanted]
    shores: Shores
    check: StateCheck
    projected: tuple[Projected, ...]
    """By state."""
    states: dict[int, Bought] = field(default_factory=dict)
    """Those that are written out, with their columns."""

    @property
    def matter(self) -> set[int]:
        """The states that ask for something."""
        return {kept.asked.state for kept in self.pool.kept} | self.states.keys()


def start(task: Task, slots: Sequence[Mapping[FiberId, int]], *, rounding: bool = True) -> Master:
    """A master to which no state has said anything yet.

    Without `rounding` its relaxation is the plain linear one, whose duals are prices.
    """
    problem, program = task.problem, Program()
    stood = stock(problem)
    bought = purchase(program, problem, stood)
    whole = whole_slots(problem)
    if rounding and all(dict(mine) == whole for mine in slots):
        in_file_order(program, problem, columns_of(problem, bought, {}), whole, {**task.ways, **task.few.ways})
    shores, check = Shores(problem, stood), StateCheck(problem, task.ways, rerouting=False)
    projected = tuple(Projected(shores, check, k, slots[k], rounding=rounding) for k in range(len(problem.states)))
    return Master(
        task, tuple(slots), stood, bought, Pool(problem, program, rounding=rounding), shores, check, projected
    )


def again(before: Master, task: Task, slots: Sequence[Mapping[FiberId, int]]) -> Master:
    """A master for a task that asks for more: the same, with its cuts, where only ways were taken away."""
    if tuple(slots) == before.slots and _order(task) == _order(before.task):
        check = StateCheck(task.problem, task.ways, rerouting=False)
        for one in before.projected:
            one.check = check
        return replace(before, task=task, check=check)
    return start(task, slots)


def _order(task: Task) -> list[tuple[FiberId, FiberId]]:
    return twins(task.problem, whole_slots(task.problem), {**task.ways, **task.few.ways})


def write(master: Master, states: Iterable[int]) -> None:
    """Write states into the master with whole wavelengths, and with the cuts that are known of them."""
    problem, pool = master.task.problem, master.pool
    for k in states:
        apart = master.projected[k]
        columns = light(pool.whole, problem, master.stood, master.bought, k, master.slots[k])
        if master.task.few.ways:  # how many routes traffic takes, no cut over wavelengths says
            write_in_few(pool.whole, problem, columns, master.task.ways, master.task.few, k)
        pool.grown()
        master.states[k] = columns
        here = dict(zip(apart.lit.wavelengths, columns.wavelengths, strict=True))
        for kept in apart.pool.kept:
            terms = {here.get(i, i): value for i, value in kept.asked.terms.items()}
            pool.add(replace(kept.asked, terms=terms), kept.divisors)


def counts_of(master: Master, state: int, values: Sequence[float]) -> list[float]:
    """Wavelengths and modules per choice in a state that is written out."""
    return [values[column] for column in master.states[state].wavelengths]


def separate(master: Master, values: Sequence[float], bound: float) -> tuple[int, list[Wanted]]:
    """Add inequalities that values break: how many those are, and what each state asks beyond the purchase.

    Where neither is any, parts of wavelengths carry every state. bound: of the cost [thousand US$].
    """
    pool = master.pool
    added = between_shores(master, values)
    little = max(LEAST_USD, SHORT * bound)
    bought = [values[i] for i in master.bought.useful]
    further: list[Wanted] = []
    for one in master.projected:
        wanted = one.wanted(bought, little)
        leased = [kept.asked for kept in one.pool.kept if master.bought.modules and _leased(master, kept.asked)]
        added += pool.offer(leased, values, 0.0)
        if wanted is not None:
            further.append(wanted)
            added += pool.offer([wanted], values, 0.0)
    return added + sum(_written(master, k, values) for k in master.states), further


def between_shores(master: Master, values: Sequence[float]) -> int:
    """Add what sets of sites ask of transponders and pairs and values break, in any state; how much that is."""
    added = master.pool.offer(master.shores.owned(values, master.bought, LOOKED_AT), values)
    return added + master.pool.offer(master.shores.pairs(values, master.bought, LOOKED_AT), values)


def _leased(master: Master, asked: Asked) -> bool:
    """It is about modules of circuits only: a matter of the master's own columns."""
    return asked.terms.keys() <= set(master.bought.modules.values())


def _written(master: Master, state: int, values: Sequence[float]) -> int:
    """Add what the wavelengths of a state that is written out break."""
    columns = master.states[state]
    counts = counts_of(master, state, values)
    added = master.pool.offer(master.shores.lit(state, counts, columns, LOOKED_AT), values)
    return added or master.pool.offer(metrics(master.check, state, counts, columns), values, 0.0)
