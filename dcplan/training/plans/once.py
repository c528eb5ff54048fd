"""What follows from a few keys of many plans, worked out for one plan of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.training.plans.columns import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.training.plans.table import Table
    from dcplan.training.step import Layout

    Array = Any


def once(found: Table, rows: Array, keys: Sequence[Array], value: Callable[[Layout], Sequence[float]]) -> Array:
    """The values of a function that looks at these keys of a plan alone: value by value, row by row."""
    import numpy as np

    first, where = alike(keys)
    known = [value(found.layout(rows[i])) for i in first]
    return np.array(known, dtype=float).T[..., where]
