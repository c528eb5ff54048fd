"""One state projected onto what is bought: inequalities over transponders, pairs and modules that it asks for.

The wavelengths of a state cost nothing and matter to no other state, so that they need not stand in the master
(Benders, Numerische Mathematik 4, 1962). Here they stand by themselves, not whole, with the cuts that their traffic
asks for; the duals of that program say what a purchase must have. Since purchases are whole, what they say is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.inequality import terms_of
from dcplan.design.relight.block import light, things
from dcplan.design.relight.pool import Pool
from dcplan.design.relight.shores import Asked
from dcplan.design.solver.program import Program
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.design.relight.shores import Shores
    from dcplan.design.routing.check import StateCheck
    from dcplan.model.network import FiberId

LOOKED_AT = 24
"""Tightest shores that are looked at in a round."""
ROUNDS = 500
"""Rounds of cuts on the wavelengths of a state for one purchase."""
SMALL = 1e-4
"""Share of the largest coefficient below which a thing counts with the most of it that can be bought instead."""
LITTLE = 1e-10
"""Share by which an inequality is weakened for rounding of numbers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Σ terms ≥ least over what is bought, in the prices that a state puts on things [thousand US$]."""

    state: int
    terms: Mapping[int, float]
    least: float
    short: float
    """What the purchase that was asked about falls short by; infinite where none would do."""
    per_demand: Mapping[int, float]
    """By how much `least` rises with the rate of a demand in the state [thousand US$ per Tb/s]."""

    def need(self, _problem: Problem) -> float:
        """The right side."""
        return self.least


class Projected:
    """The wavelengths of one state, as parts of wholes, within what is bought."""

    def __init__(
        self, shores: Shores, check: StateCheck, state: int, slots: Mapping[FiberId, int], *, rounding: bool
    ) -> None:
        import numpy as np

        self.problem, self.shores, self.check, self.state = shores.problem, shores, check, state
        program = Program()
        bought = things(program, self.problem, shores.stood)
        self.useful = list(bought.useful)
        program.columns = [
            one if i in set(self.useful) else replace(one, cost=0.0) for i, one in enumerate(program.columns)
        ]
        program.rows.clear()  # what opening and keeping ask for is the master's
        self.lit = light(program, self.problem, shores.stood, bought, state, slots)
        self.pool: Pool[Asked] = Pool(self.problem, program, rounding=rounding)
        self._most = np.array([column.upper for column in program.columns])

    def wanted(self, bought: Sequence[float], little: float) -> Wanted | None:
        """What the state asks beyond a purchase, by more than `little`; none where parts of wavelengths carry it.

        bought: by useful column [whole or parts].
        """
        import numpy as np

        linear, upper = self.pool.linear, self._most[self.useful]
        linear.bound_columns(self.useful, np.clip(bought, 0.0, upper).tolist(), upper.tolist())
        for _ in range(ROUNDS):
            if linear.solve() != "optimal":
                return Wanted(self.state, {}, 1.0, inf, {})
            found = self._priced(bought)
            if found.short > little:
                return found
            if not self._cut(linear.values):
                return None
        raise SolverError("the wavelengths of a state need more cuts than were foreseen")

    @property
    def counts(self) -> list[float]:
        """Wavelengths and modules per choice with the purchase that was asked about last."""
        return [self.pool.linear.values[i] for i in self.lit.wavelengths]

    def _priced(self, bought: Sequence[float]) -> Wanted:
        """The inequality of the duals π, computed anew from the rows so that it holds whatever they are.

        Σ π A x ≥ π b over rows A x ≥ b; what is no purchase, or counts next to nothing, counts with its most.
        """
        import numpy as np

        duals = self.pool.linear.duals
        left, least = np.zeros(len(self._most)), 0.0
        for row, dual in zip(self.pool.whole.rows, duals, strict=True):
            price = max(0.0, dual) if row.upper == inf else min(0.0, dual)
            if price:
                least += price * (row.lower if price > 0 else row.upper)
                for column, value in row.terms.items():
                    left[column] += price * value
        counted = np.zeros(len(left), dtype=bool)
        counted[self.useful] = True
        counted &= np.abs(left) > SMALL * np.abs(left[self.useful]).max(initial=0.0)
        least -= float(np.maximum(left[~counted], 0.0) @ self._most[~counted])
        least -= LITTLE * abs(least)
        terms = {i: float(left[i]) for i in self.useful if counted[i]}
        have = sum(terms.get(i, 0.0) * count for i, count in zip(self.useful, bought, strict=True))
        per_demand: dict[int, float] = {}
        for kept in self.pool.kept:
            price = max(0.0, duals[kept.row]) / kept.smallest
            for d, distance in kept.asked.distances.items() if price else ():
                per_demand[d] = per_demand.get(d, 0.0) + price * distance
        return Wanted(self.state, terms, least, least - have, per_demand)

    def _cut(self, values: Sequence[float]) -> int:
        """Add what the wavelengths break; how many inequalities that were."""
        counts = [values[i] for i in self.lit.wavelengths]
        added = self.pool.offer(self.shores.lit(self.state, counts, self.lit, LOOKED_AT), values)
        if added:
            return added
        broken = metrics(self.check, self.state, counts, self.lit)
        added = self.pool.offer(broken, values, 0.0)
        if broken and not added:
            raise SolverError("a state is short of capacity although every inequality that says so is there")
        return added


def metrics(check: StateCheck, state: int, counts: Sequence[float], columns: Bought) -> list[Asked]:
    """What traffic asks of the wavelengths of a state beyond what is lit; nothing where they carry it."""
    return [
        Asked(terms_of(short.cut, check.problem, columns, {}), state, short.cut.distances, metric=short.cut)
        for short in check.broken(counts, [state], 1)
    ]
