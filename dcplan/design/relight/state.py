"""One state by itself, its traffic written out: does a purchase carry it, what would, which wavelengths to light."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.few.program import write_in_few
from dcplan.design.relight.block import light, purchase, set_aside
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Limits, Until
    from dcplan.design.relight.stock import Stock
    from dcplan.model.network import FiberId

GROWN_GAP = 1e-3
"""Gap of a purchase that is enlarged to carry a further state."""
CARRIED_NODES = 1000
"""Nodes of the search for wavelengths within a purchase, and for what is to be bought beyond it."""
ARRANGED_NODES = 200
"""Nodes of the search for the fewest retunings: the same on every machine."""
FIRST_CHOICE = 1e-5
"""Weight that tells equal arrangements apart."""


class StateProgram:
    """The program of one state: what is bought, what is lit, how traffic goes.

    A purchase is given by `Purchase.columns`, then `Purchase.promised`.
    """

    def __init__(self, task: Task, stood: Stock, state: int, slots: Mapping[FiberId, int]) -> None:
        self.task, self.state = task, state
        self.program = Program()
        self.bought = set_aside(self.program, task.problem, purchase(self.program, task.problem, stood))
        self._given = (*self.bought.columns, *self.bought.promised)
        self.lit = light(self.program, task.problem, stood, self.bought, state, slots)
        write_in_few(self.program, task.problem, self.lit, task.ways, task.few, state)
        self._free = [replace(column, cost=0.0) for column in self.program.columns]

    def carried(
        self, bought: Sequence[float], until: Until, lit: Sequence[int] | None = None
    ) -> tuple[int, ...] | None:
        """Wavelengths and modules per choice that carry the state within a purchase; none where there are no such.

        lit: no others are tried.
        """
        columns = list(self._free)
        for column, value in zip(self._given, bought, strict=True):
            columns[column] = replace(columns[column], lower=value, upper=value)
        for column, value in () if lit is None else zip(self.lit.wavelengths, lit, strict=True):
            if column not in self.bought.modules.values():
                columns[column] = replace(columns[column], lower=value, upper=value)
        return self._counts(Program(columns, self.program.rows), until.limits(0.0, CARRIED_NODES))

    def grown(self, bought: Sequence[float], until: Until) -> tuple[float, ...] | None:
        """A purchase of little more that carries the state as well; none where no purchase does, or time ran out."""
        columns = list(self.program.columns)
        for column, value in zip(self._given, bought, strict=True):
            most = columns[column].upper if columns[column].integer else value  # what is set aside stays
            columns[column] = replace(columns[column], lower=value, upper=most)
        solved = solve_again(
            self.task.solver, Program(columns, self.program.rows), until.limits(GROWN_GAP, CARRIED_NODES)
        )
        whole = ((solved.values[i], columns[i].integer) for i in self._given) if solved.values else ()
        return tuple(float(round(value)) if integer else value for value, integer in whole) or None

    def leanest(self, bought: Sequence[float], until: Until) -> tuple[int, ...] | None:
        """Within a purchase, the wavelengths that take least spectrum × km, then those that come first."""
        problem = self.task.problem
        weight = {
            j: problem.choices[j].slots * problem.lightpaths[problem.choices[j].lightpath].length_km / 1e4
            + FIRST_CHOICE * (1 + j)
            for j in range(len(problem.choices))
        }
        return self._arranged(bought, weight, {}, until)

    def nearest(self, bought: Sequence[float], healthy: Sequence[int], until: Until) -> tuple[int, ...] | None:
        """Within a purchase, the wavelengths that leave most of the surviving healthy ones as they are.

        Minimises the wavelengths lit anew and the surviving ones that are darkened, then the first choices.
        """
        alive = set(self.task.problem.alive(self.task.problem.states[self.state]))
        kept = {
            j: healthy[j]
            for j, choice in enumerate(self.task.problem.choices)
            if choice.slots and choice.lightpath in alive and healthy[j]
        }
        weight = {j: 1 + FIRST_CHOICE * (1 + j) for j in range(len(self.task.problem.choices))}
        return self._arranged(bought, weight, kept, until)

    def _arranged(
        self, bought: Sequence[float], weight: Mapping[int, float], kept: Mapping[int, int], until: Until
    ) -> tuple[int, ...] | None:
        """Least Σ weight × |n − kept|: each wavelength n beyond `kept` counts, and each of those that is missing."""
        columns = list(self._free)
        rows = list(self.program.rows)
        program = Program(columns, rows)
        for column, value in zip(self._given, bought, strict=True):
            columns[column] = replace(columns[column], lower=value, upper=value)
        for j, each in weight.items():
            column = self.lit.wavelengths[j]
            if column in self.bought.modules.values():
                continue
            columns[column] = replace(columns[column], cost=each)
            if kept.get(j):
                still = program.column(f"still{j}", -2 * each, kept[j])
                program.row(f"still{j}", {still: 1.0, column: -1.0}, upper=0)
        return self._counts(program, until.limits(1e-6, ARRANGED_NODES))

    def _counts(self, program: Program, limits: Limits) -> tuple[int, ...] | None:
        solved = solve_again(self.task.solver, program, limits)
        return tuple(round(solved.values[i]) for i in self.lit.wavelengths) if solved.values else None
