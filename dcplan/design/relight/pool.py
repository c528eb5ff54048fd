"""A program that grows by inequalities that its answers break, as they stand and rounded, each of them once."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

from dcplan.design.cuts.rounding import Divisors, derived, roundings
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.problem import Problem

AT_ONCE = 8
"""Inequalities added of those that are offered together."""
BROKEN = 1e-5
"""Relative violation from which an inequality is worth adding."""
SLACK = 1e-6
"""Inequalities with more than this share to spare are left out of the integer program until broken again."""

_Key = tuple[tuple[int, float], ...]


class Source(Protocol):
    """What an inequality of some state is made of."""

    @property
    def state(self) -> int:
        """Index of the state."""
        ...

    @property
    def terms(self) -> Mapping[int, float]:
        """Column -> coefficient."""
        ...

    def need(self, problem: Problem) -> float:
        """The right side."""
        ...


@dataclass(frozen=True, slots=True)
class Kept[S: Source]:
    """An inequality that is in the program, with the number of its row there."""

    asked: S
    divisors: Divisors
    row: int
    smallest: float
    """The coefficient by which it was divided."""


class Pool[S: Source]:
    """Columns and rows, the relaxation of all of them, and an integer program of those that are in use."""

    def __init__(self, problem: Problem, program: Program, *, rounding: bool = True) -> None:
        self.problem, self.rounding = problem, rounding
        self.whole = program
        """With every row; its order is that of the relaxation."""
        self.kept: list[Kept[S]] = []
        self._keys: set[_Key] = set()
        self._idle: set[int] = set()
        self._linear: Linear | None = None

    @property
    def linear(self) -> Linear:
        """The relaxation."""
        if self._linear is None:
            self._linear = Linear(self.whole)
        return self._linear

    @property
    def program(self) -> Program:
        """Without the inequalities that are left out for now."""
        return Program(self.whole.columns, [row for i, row in enumerate(self.whole.rows) if i not in self._idle])

    def grown(self) -> None:
        """Columns were added to the whole program: the relaxation is built anew."""
        self._linear = None

    def offer(self, several: Iterable[S], values: Sequence[float], above: float = BROKEN) -> int:
        """Add the worst broken of some inequalities and of their rounded forms; how many that were."""
        import numpy as np

        point = np.asarray(values, dtype=float)
        least = np.array([column.lower for column in self.whole.columns])
        broken: list[tuple[float, S, Divisors]] = []
        for asked in several:
            row = dict(asked.terms), asked.need(self.problem)
            if not row[0]:  # nothing that could be bought carries it
                broken.append((1.0, asked, (None, None)))
                continue
            found = roundings(row, least).broken(point, above)
            broken += [(by, asked, divisors) for by, divisors in found if self.rounding or divisors == (None, None)]
        broken.sort(key=lambda item: -item[0])
        return sum(self.add(asked, divisors) for _, asked, divisors in broken[:AT_ONCE])

    def add(self, asked: S, divisors: Divisors) -> int:
        """Add an inequality, rounded or not, divided by its smallest coefficient; 0 where it stands there already."""
        lowest = [column.lower for column in self.whole.columns]
        terms, need = derived([(dict(asked.terms), asked.need(self.problem))], divisors, lowest)
        smallest = min((value for value in terms.values() if value > 0), default=1.0)
        scaled = {column: value / smallest for column, value in sorted(terms.items())}
        least = need / smallest
        key = (*((column, round(value, 6)) for column, value in scaled.items()), (-1, round(least, 6)))
        if key in self._keys:
            return 0
        self._keys.add(key)
        linear = self.linear  # with the rows so far
        row = self.whole.row(f"cut{len(self.whole.rows)}", scaled, lower=least)
        linear.add_row(scaled, least, inf)
        self.kept.append(Kept(asked, divisors, row, smallest))
        return 1

    def keep_tight(self) -> None:
        """Leave out of the integer program the inequalities that the relaxation, just solved, has to spare."""
        values = self.linear.values
        self._idle = {kept.row for kept in self.kept if self._spare(kept.row, values) > SLACK}

    def wake(self, values: Sequence[float]) -> int:
        """Take in again those that were left out and that values break; how many that were."""
        broken = {row for row in self._idle if self._spare(row, values) < -SLACK}
        self._idle -= broken
        return len(broken)

    def _spare(self, row: int, values: Sequence[float]) -> float:
        """Share of its right side by which a row holds with room."""
        one = self.whole.rows[row]
        have = sum(value * values[column] for column, value in one.terms.items())
        return (have - one.lower) / max(1e-9, abs(one.lower))
