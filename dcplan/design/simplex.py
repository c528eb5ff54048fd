"""Small linear programs solved here, so that a plan can be checked without the solver that made it.

The bounded primal simplex method on a dense tableau (Dantzig 1955; Chvátal, Linear Programming, 1983, chapter 8): rows
a x − s = 0 with logical variables s between the bounds of the row; infeasible basic variables are driven to their
bounds first. Bland's rule takes over where steps stay at zero. Columns may be added and bounds moved between solves:
the next one begins where the last one ended.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.solver.program import Program

FEASIBLE = 1e-9
"""Violation of a bound, relative to the largest amount, that is rounding."""
PAYS = 1e-9
"""Reduced cost that is worth a step."""
PIVOT = 1e-9
"""Smallest pivot."""
IDLE = 30
"""Steps of no length after which Bland's rule takes over."""
MOST_STEPS = 50_000
FRESH = 500
"""Pivots after which the tableau is worked out anew from its basis, so that rounding does not add up."""


class Simplex:
    """A program without integers, minimised; `values` and `duals` as of `solver.Linear`."""

    def __init__(self, program: Program) -> None:
        import numpy as np

        rows, size = len(program.rows), len(program.columns)
        self._rows = rows
        matrix = np.zeros((rows, rows + size))
        matrix[np.arange(rows), np.arange(rows)] = -1.0
        for i, row in enumerate(program.rows):
            matrix[i, [rows + column for column in row.terms]] = list(row.terms.values())
        bounds = [(one.lower, one.upper) for one in program.rows]
        bounds += [(one.lower, one.upper) for one in program.columns]
        self._matrix: Any = matrix
        """Logical variables first, so that columns can be added behind."""
        self._lower: Any = np.array([lower for lower, _ in bounds], dtype=float)
        self._upper: Any = np.array([upper for _, upper in bounds], dtype=float)
        self._cost: Any = np.array([0.0] * rows + [column.cost for column in program.columns])
        self._at: Any = np.zeros(rows + size)
        self._basis: Any = np.arange(rows)
        self._tableau: Any = -matrix  # the basis of logical variables is −1
        self._pivots = 0
        self._near = FEASIBLE
        self.values: list[float] = []
        self.duals: list[float] = []

    def add_columns(self, costs: Sequence[float], rows: Sequence[Sequence[int]]) -> None:
        """Add columns from 0 up that stand in some rows with the coefficient 1."""
        import numpy as np

        more = np.zeros((self._rows, len(costs)))
        here = np.zeros((self._rows, len(costs)))
        for column, some in enumerate(rows):
            more[list(some), column] = 1.0
            here[:, column] = -self._tableau[:, list(some)].sum(axis=1)
        self._matrix = np.hstack([self._matrix, more])
        self._tableau = np.hstack([self._tableau, here])
        self._lower = np.append(self._lower, np.zeros(len(costs)))
        self._upper = np.append(self._upper, np.full(len(costs), inf))
        self._cost = np.append(self._cost, costs)
        self._at = np.append(self._at, np.zeros(len(costs)))

    def bound_rows(self, rows: Sequence[int], lower: Sequence[float], upper: Sequence[float]) -> None:
        """Move the bounds of rows."""
        self._lower[list(rows)], self._upper[list(rows)] = lower, upper

    def bound_columns(self, columns: Sequence[int], lower: Sequence[float], upper: Sequence[float]) -> None:
        """Move the bounds of columns."""
        self.bound_rows([self._rows + column for column in columns], lower, upper)

    def solve(self) -> str:
        """optimal, infeasible or failed (unbounded, or too many steps)."""
        import numpy as np

        if not self._pivots:
            self._fill()
        lower, upper = self._lower, self._upper
        resting = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        high = np.isfinite(upper) & (self._at >= upper)
        self._at = np.where(high, upper, resting)
        self._settle()
        largest = max(1.0, float(np.abs(self._at).max(initial=0.0)))
        self._near = FEASIBLE * max(largest, float(np.abs(lower[np.isfinite(lower)]).max(initial=0.0)))
        status = self._improve()
        if status == "optimal":
            self._settle()
            self.values = self._at[self._rows :].tolist()
            self.duals = (-self._cost[self._basis] @ self._tableau[:, : self._rows]).tolist()
        return status

    def _fill(self) -> None:
        """Begin with a column in each row that asks for something: the first that gives it, and nothing to other such.

        Without it each would take a step of its own.
        """
        import numpy as np

        asking = np.flatnonzero((self._lower[: self._rows] > 0) & ~np.isfinite(self._upper[: self._rows]))
        giving = self._matrix[asking, self._rows :] > 0
        giving[:, giving.sum(axis=0) != 1] = False
        for row, columns in zip(asking.tolist(), giving, strict=True):
            if columns.any() and not np.isfinite(self._upper[entering := self._rows + int(columns.argmax())]):
                self._pivot(row, entering)

    def _settle(self) -> None:
        """Basic variables from those that are not."""
        others = self._at.copy()
        others[self._basis] = 0.0
        self._at[self._basis] = -(self._tableau @ others)

    def _improve(self) -> str:
        import numpy as np

        idle = 0
        for _ in range(MOST_STEPS):
            basic = self._at[self._basis]
            below = basic < self._lower[self._basis] - self._near
            above = basic > self._upper[self._basis] + self._near
            broken = bool(below.any() or above.any())
            cost = above.astype(float) - below.astype(float) if broken else self._cost[self._basis]
            reduced = (0.0 if broken else self._cost) - cost @ self._tableau
            entering = self._entering(reduced, bland=idle > IDLE)
            if entering is None:
                return "infeasible" if broken else "optimal"
            step = self._step(entering, -np.sign(reduced[entering]), below, above)
            if step is None:
                return "failed"
            idle = 0 if step > self._near else idle + 1
        return "failed"

    def _entering(self, reduced: Any, *, bland: bool) -> int | None:
        """A variable that is not basic and pays to move off its bound: the one that pays most, or the first."""
        import numpy as np

        room_up = self._at < self._upper - self._near
        room_down = self._at > self._lower + self._near
        pays = np.where((reduced < -PAYS) & room_up, -reduced, 0.0) + np.where(
            (reduced > PAYS) & room_down, reduced, 0.0
        )
        pays[self._basis] = 0.0
        if not pays.any():
            return None
        return int(np.flatnonzero(pays)[0]) if bland else int(pays.argmax())

    def _step(self, entering: int, sign: float, below: Any, above: Any) -> float | None:
        """Move a variable as far as it or a basic one comes; None where nothing stops it."""
        import numpy as np

        change: Any = -sign * self._tableau[:, entering]  # of basic variables per unit
        basic, lower, upper = self._at[self._basis], self._lower[self._basis], self._upper[self._basis]
        down: Any = np.where(above, upper, np.where(below, -inf, lower))
        up: Any = np.where(below, lower, np.where(above, inf, upper))
        limit: Any = np.full(len(change), inf)
        falls, rises = change < -PIVOT, change > PIVOT
        limit[falls] = (down - basic)[falls] / change[falls]
        limit[rises] = (up - basic)[rises] / change[rises]
        limit = np.maximum(limit, 0.0)
        own = (self._upper - self._lower)[entering]
        length = float(min(own, limit.min(initial=inf)))
        if not np.isfinite(length):
            return None
        self._at[self._basis] = basic + change * length
        self._at[entering] += sign * length
        if own > length:
            ties = np.flatnonzero(limit <= length + 1e-12 * max(1.0, length))
            row = int(ties[np.abs(change[ties]).argmax()])
            leaving = self._basis[row]
            self._at[leaving] = up[row] if change[row] > 0 else down[row]
            self._pivot(row, entering)
        return length

    def _pivot(self, row: int, entering: int) -> None:
        import numpy as np

        self._basis[row] = entering
        self._pivots += 1
        if self._pivots % FRESH == 0:
            self._tableau = np.linalg.solve(self._matrix[:, self._basis], self._matrix)
            self._settle()
            return
        self._tableau[row] /= self._tableau[row, entering]
        factors = self._tableau[:, entering].copy()
        factors[row] = 0.0
        some, columns = np.flatnonzero(factors), np.flatnonzero(self._tableau[row])
        if 2 * len(columns) > self._tableau.shape[1]:
            self._tableau[some] -= np.outer(factors[some], self._tableau[row])
        else:
            self._tableau[np.ix_(some, columns)] -= np.outer(factors[some], self._tableau[row, columns])
