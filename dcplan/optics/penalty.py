"""Penalties of a receiver: tables of (impairment, penalty)."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.catalog.parts import Table


def penalty_db(table: Table, amount: float) -> float:
    """Penalty [dB] of an impairment: linear between points, from (0, 0) to the first, infinite beyond the last.

    An empty table knows no limit: 0. Source: GNPy core/elements.py, Transceiver penalties.
    """
    if not table:
        return 0.0
    if amount > table[-1][0]:
        return math.inf
    points = table if table[0][0] <= 0 else ((0.0, 0.0), *table)
    right = bisect_left(points, amount, key=lambda point: point[0])
    if right == 0:
        return points[0][1]
    (x0, y0), (x1, y1) = points[right - 1], points[right]
    return y0 + (y1 - y0) * (amount - x0) / (x1 - x0)


def limit_of(table: Table) -> float:
    """The largest impairment that a table allows; infinite for an empty one."""
    return table[-1][0] if table else math.inf
