"""Small linear programs solved here, so that a plan can be checked without the solver that made it.

The bounded primal simplex method on a dense tableau (Dantzig 1955; Chvátal, Linear Programming, 1983, chapter 8): rows
a x − s = 0 with logical variables s between the bounds of the row; infeasible basic variables are driven to their
bounds first. Bland's rule takes over where steps stay at zero.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcplan.design.program import Program

FEASIBLE = 1e-9
"""Violation of a bound, relative to the largest amount, that is rounding."""
PAYS = 1e-9
"""Reduced cost that is worth a step."""
PIVOT = 1e-9
"""Smallest pivot."""
IDLE = 30
"""Steps of no length after which Bland's rule takes over."""
MOST_STEPS = 50_000


class Simplex:
    """A program without integers, minimised; `values` and `duals` as of `solver.Linear`."""

    def __init__(self, program: Program) -> None:
        import numpy as np

        rows, size = len(program.rows), len(program.columns)
        self._rows, self._size = rows, size
        matrix = np.zeros((rows, size + rows))
        for i, row in enumerate(program.rows):
            matrix[i, list(row.terms)] = list(row.terms.values())
            matrix[i, size + i] = -1.0
        bounds = [(one.lower, one.upper) for one in program.columns] + [(one.lower, one.upper) for one in program.rows]
        self._matrix: Any = matrix
        self._lower: Any = np.array([lower for lower, _ in bounds], dtype=float)
        self._upper: Any = np.array([upper for _, upper in bounds], dtype=float)
        self._cost: Any = np.array([column.cost for column in program.columns] + [0.0] * rows)
        self._at: Any = None
        self._basis: Any = None
        self._tableau: Any = None
        self._near = FEASIBLE
        self.values: list[float] = []
        self.duals: list[float] = []

    def solve(self) -> str:
        """optimal, infeasible or failed (unbounded, or too many steps)."""
        import numpy as np

        lower, upper = self._lower, self._upper
        self._at = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        self._basis = np.arange(self._size, self._size + self._rows)
        self._tableau = -self._matrix  # the basis of logical variables is −1
        self._settle()
        largest = max(1.0, float(np.abs(self._at).max(initial=0.0)))
        self._near = FEASIBLE * max(largest, float(np.abs(lower[np.isfinite(lower)]).max(initial=0.0)))
        status = self._improve()
        if status == "optimal":
            self._settle()
            self.values = self._at[: self._size].tolist()
            self.duals = (-self._cost[self._basis] @ self._tableau[:, self._size :]).tolist()
        return status

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

        self._tableau[row] /= self._tableau[row, entering]
        factors = self._tableau[:, entering].copy()
        factors[row] = 0.0
        some = np.flatnonzero(factors)
        self._tableau[some] -= np.outer(factors[some], self._tableau[row])
        self._basis[row] = entering
