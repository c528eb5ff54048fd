"""How tight cuts between shores are at a point, all of them at once: what is bought is counted by what it joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.design.cuts.rounding import LEAST_PART, TINY, spread_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What can be bought across a cut: wavelengths and modules, or lit pairs and modules."""

    columns: Any
    """(items,) column of the master"""
    joint: Any
    """(items,) pair of sites that it joins"""
    tbps: Any
    """(items,) capacity of one [Tb/s]"""
    lost: tuple[Any, ...]
    """Of each state: the items that it takes."""
    kinds: Any
    """(kinds,) the distinct capacities [Tb/s]"""
    kind: Any
    """(items,) index into `kinds`"""
    least: Any
    """(items,) bought in any case"""


def least_left(
    cross: Any, need: Any, row_of: Any, states: Iterable[int], joint: Any, lost: Sequence[Any], gbps: Any
) -> tuple[Any, Any]:
    """Per shore, the least that is left in any state as a share of the need, and that state.

    cross: (pairs of sites, shores); need: (rows of rates, shores); row_of: of each state, its row; joint: of each item,
    the pair of sites that it joins; lost: of each state, the items it takes; gbps: of each item, what is bought.
    Infinite where no state needs anything.
    """
    import numpy as np

    size = len(cross)
    full = spread(cross, np.bincount(joint, weights=gbps, minlength=size))
    least = np.full(cross.shape[1], np.inf)
    worst = np.zeros(cross.shape[1], dtype=np.intp)
    seen: set[int] = set()
    asked = [np.where(row > TINY, row, np.nan) for row in need]
    for k in states:
        gone = np.bincount(joint[lost[k]], weights=gbps[lost[k]], minlength=size)
        row = int(row_of[k])
        if not gone.any():
            if row in seen:
                continue
            seen.add(row)
        share = (full - spread(cross, gone)) / asked[row] - 1.0
        worse = share < least
        least[worse] = share[worse]
        worst[worse] = k
    return least, worst


def rounded_all(side: Side, cross: Any, point: Any, state: Any, need: Any) -> list[tuple[Any, float]]:
    """Of shores in one state each: by what share each rounding is missed at a point, with its divisor.

    The same as `rounding.rounded`, of all shores at once: what crosses is counted by kind of capacity.
    """
    import numpy as np

    kept = amounts(side, cross, side.least, state)
    more = amounts(side, cross, point[side.columns] - side.least, state)
    left = need - (side.kinds[:, None] * kept).sum(axis=0)
    found = []
    for divisor in spread_out(side.kinds):
        q = left / divisor
        part = q - np.floor(q + TINY)
        changed = (part >= LEAST_PART) & (q > 0)
        part, have, base = np.where(changed, part, 1.0), np.zeros(len(need)), np.zeros(len(need))
        for kind, bought, there in zip(side.kinds, more, kept, strict=True):
            whole = np.floor(kind / divisor + TINY)
            lifted = whole + np.minimum(1.0, max(0.0, kind / divisor - whole) / part)
            have += lifted * bought
            base += lifted * there
        asked = np.ceil(q - TINY)
        missing = (asked - have) / np.where(changed, asked + base, 1.0)
        found.append((np.where(changed, missing, -np.inf), float(divisor)))
    return found


def amounts(side: Side, cross: Any, bought: Any, state: Any) -> Any:
    """(kinds, shores) how many of each kind cross some shores and survive their states."""
    import numpy as np

    if not bought.any():
        return np.zeros((len(side.kinds), cross.shape[1]))
    size = len(cross)
    cell = side.kind * size + side.joint

    def by_kind(items: Any, crossed: Any) -> Any:
        several = np.bincount(cell[items], weights=bought[items], minlength=len(side.kinds) * size)
        return np.stack([spread(crossed, one) for one in several.reshape(len(side.kinds), size)])

    amounts = by_kind(slice(None), cross)
    for k in np.unique(state):
        if len(side.lost[k]):
            here = np.flatnonzero(state == k)
            amounts[:, here] -= by_kind(side.lost[k], cross[:, here])
    return amounts


def spread(cross: Any, amounts: Any) -> Any:
    """Per shore Σ of what crosses it. Not by BLAS: its threads wait on each other, and add up in their own order."""
    import numpy as np

    total = np.zeros(cross.shape[1])
    for joint in np.flatnonzero(amounts).tolist():
        total += amounts[joint] * cross[joint]
    return total
