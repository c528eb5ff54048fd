"""Which plans of a table are worth pricing: those that their bounds leave a chance on the front or in a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.training.plans.columns import numbered
from dcplan.training.plans.least import least_losses
from dcplan.training.plans.table import FITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.training.plans.table import Table
    from dcplan.training.step import Links, Workload

    Array = Any

AT_A_TIME = 64
"""Plans that are priced before the others are looked at again."""
BY_STEP = (0,)
"""Order of a ranking by the step alone."""


class Race:
    """Rows in the order of their least step; one drops out when others that are priced beat all that it can be.

    Of two rows that can be equal both stay, so that the first one is taken as if all had been priced.
    """

    def __init__(
        self,
        table: Table,
        links: Links,
        loads: Sequence[Workload],
        usd_per_h: float | None,
        order: Sequence[int],
        ranked: int,
    ) -> None:
        """order: objectives of the ranking of sizes, by number; ranked: how many it has.

        The fastest over each dimension, and those apart by each method, are ranked beside it.
        """
        import numpy as np

        rows = (table.kind == FITS).nonzero()[0]
        least = least_losses(table, rows, links, loads, usd_per_h)
        by_step = np.lexsort((rows, least[:, 0]))
        self._rows, self._least = rows[by_step], least[by_step]
        at = table.columns.at(self._rows)
        self._loose = at.outer
        self._rankings = [
            _Ranking(numbered([at.across, at.tp, at.cp, at.pp, at.ep]), ~at.outer, order, ranked),
            _Ranking(numbered([at.across]), ~at.outer, BY_STEP, len(rows)),
            _Ranking(numbered([at.sync, at.every]), at.outer, BY_STEP, len(rows)),
        ]
        self._front = np.zeros((0, least.shape[1]))
        self._beaten = self._loose.copy()
        """Some plan is at least as good in all, and better in one; plans apart are on no front."""

    def next_rows(self) -> list[int]:
        """Rows to price next; none when no other can be listed."""
        return [int(row) for row in self._rows[:AT_A_TIME]]

    def take(self, losses: Sequence[Sequence[float]]) -> None:
        """What the rows that were next turned out to be."""
        import numpy as np

        many = len(losses)
        for i, point in enumerate(np.array(losses)):
            for ranking in self._rankings:
                ranking.take(i, point)
            if not self._loose[i] and np.isfinite(point).all() and not _beats(self._front, point).any():
                self._front = np.vstack([self._front[~_beats(point[None], self._front)], point])
        self._keep(np.arange(len(self._rows)) >= many)
        for point in self._front:
            left = ~self._beaten
            self._beaten[left] = _beats(point[None], self._least[left])
        behind = np.all([ranking.behind(self._least) for ranking in self._rankings], axis=0)
        self._keep(~(self._beaten & behind))

    def _keep(self, rows: Array) -> None:
        for name in ("_rows", "_least", "_loose", "_beaten"):
            setattr(self, name, getattr(self, name)[rows])
        for ranking in self._rankings:
            ranking.keep(rows)


class _Ranking:
    """Of rows that are alike the best in an order of objectives, and of those the first ones."""

    def __init__(self, group: Array, takes: Array, order: Sequence[int], most: int) -> None:
        import numpy as np

        self._group, self._takes, self._order, self._most = group, takes, list(order), most
        self._best = np.full((1 + group.max(initial=0), len(order)), np.inf)

    def take(self, row: int, point: Array) -> None:
        """What a row turned out to be."""
        group, key = self._group[row], point[self._order]
        if self._takes[row] and tuple(key) < tuple(self._best[group]):
            self._best[group] = key

    def behind(self, least: Array) -> Array:
        """Rows that cannot be in the ranking."""
        keys = least[:, self._order]
        found = ~self._takes | _after(keys, self._best[self._group])
        if len(self._best) >= self._most:
            found |= _after(keys, self._best[[sorted(range(len(self._best)), key=self._of)[self._most - 1]]])
        return found

    def _of(self, group: int) -> tuple[float, ...]:
        return tuple(self._best[group])

    def keep(self, rows: Array) -> None:
        """Forget the others."""
        self._group, self._takes = self._group[rows], self._takes[rows]


def _beats(points: Array, others: Array) -> Array:
    """A point is nowhere worse, and better in one objective; either may be a single one."""
    return (points <= others).all(axis=1) & (points < others).any(axis=1)


def _after(keys: Array, others: Array) -> Array:
    """Keys stand behind others in the order of tuples, row by row."""
    import numpy as np

    after, same = np.zeros(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    for mine, other in zip(keys.T, others.T, strict=True):
        after |= same & (mine > other)
        same &= mine == other
    return after
