"""Mixed-integer rounding: what an inequality over whole numbers implies beyond itself (Nemhauser and Wolsey 1990)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

TINY = 1e-9
LEAST_PART = 1e-6
"""A right side that is whole but for this share is not rounded."""
MOST_DIVISORS = 12
"""Divisors tried on one inequality, spread over its coefficients."""

Divisors = tuple[float | None, float | None]
"""Of each of the inequalities that are added up, and of their sum; none where it is not rounded."""
Row = tuple[dict[int, float], float]
"""Σ coefficient × column ≥ right side."""


def rounded(left: Any, need: Any, divisor: Any, least: Any = 0.0) -> tuple[Any, Any, Any]:
    """Inequalities Σ a x ≥ r over whole x ≥ least, divided and rounded, and which of them rounding changes.

    With x = least + y, q = (r − Σ a least) / divisor, f = q − floor(q) and a' = a / divisor:
    Σ (floor(a') + min(1, frac(a') / f)) y ≥ ceil(q), written in x again. One whose q is whole, or not above 0, is
    divided only. A column with a negative coefficient (what is set aside, at least 0 and not whole) is left out of what
    is rounded, which only weakens it. left: (…, columns); need, divisor: (…); least: (columns,).
    """
    import numpy as np

    share = left / divisor[..., None]
    q = need / divisor - (share * least).sum(axis=-1)
    part = q - np.floor(q + TINY)
    changed = (part >= LEAST_PART) & (q > 0)
    whole = np.floor(share + TINY)
    rest = np.minimum(1.0, np.maximum(0.0, share - whole) / np.where(changed, part, 1.0)[..., None])
    lifted = np.where(share < 0, 0.0, whole + rest)
    asked = np.ceil(q - TINY) + (lifted * least).sum(axis=-1)
    return np.where(changed[..., None], lifted, share), np.where(changed, asked, need / divisor), changed


def divisors_of(left: Any) -> Any:
    """The distinct positive coefficients, at most `MOST_DIVISORS` of them."""
    import numpy as np

    return spread_out(np.unique(np.round(left[left > TINY], 9)))


def spread_out(divisors: Any) -> Any:
    """At most `MOST_DIVISORS` of some sorted divisors, the first and the last among them."""
    import numpy as np

    if len(divisors) <= MOST_DIVISORS:
        return divisors
    return divisors[np.unique(np.linspace(0, len(divisors) - 1, MOST_DIVISORS).astype(int))]


def derived(rows: Sequence[Row], divisors: Divisors, least: Any) -> Row:
    """The sum of inequalities, each rounded by the first divisor if any, itself rounded by the second if any.

    least: (columns of the master,) what is bought in any case.
    """
    import numpy as np

    first, second = divisors
    columns, left, need = as_arrays(rows)
    lowest = np.asarray(least)[columns]
    if first is not None:
        left, need, _ = rounded(left, need, np.full(len(rows), first), lowest)
    left, need = left.sum(axis=0, keepdims=True), need.sum(keepdims=True)
    if second is not None:
        left, need, _ = rounded(left, need, np.array([second]), lowest)
    terms = zip(columns.tolist(), left[0].tolist(), strict=True)
    return {column: value for column, value in terms if value}, float(need[0])


def as_arrays(rows: Sequence[Row]) -> tuple[Any, Any, Any]:
    """Columns, coefficients (rows, columns) and right sides (rows,)."""
    import numpy as np

    columns = sorted({column for terms, _ in rows for column in terms})
    left = np.array([[terms.get(column, 0.0) for column in columns] for terms, _ in rows], dtype=float)
    need = np.array([need for _, need in rows], dtype=float)
    return np.array(columns, dtype=np.intp), left.reshape(len(rows), len(columns)), need


@dataclass(frozen=True, slots=True, eq=False)
class Roundings:
    """Inequalities that follow from the same few, over the same columns, with how each was made."""

    columns: Any
    left: Any
    """(inequalities, columns)"""
    need: Any
    """(inequalities,)"""
    divisors: tuple[Divisors, ...]

    def broken(self, point: Any, above: float) -> list[tuple[float, Divisors]]:
        """Those that a point breaks by more than a share of their right side, worst first."""
        if not self.divisors:
            return []
        by = 1.0 - (self.left * point[self.columns]).sum(axis=1) / self.need
        found = [(float(by[m]), self.divisors[m]) for m in (by > above).nonzero()[0]]
        return sorted(found, key=lambda one: -one[0])


def roundings(row: Row, least: Any) -> Roundings:
    """An inequality as it stands, and rounded by each of its coefficients."""
    import numpy as np

    columns, left, need = as_arrays([row])
    divisors = divisors_of(left)
    several = np.repeat(left, len(divisors), axis=0), np.repeat(need, len(divisors))
    lefts, needs, changed = rounded(*several, divisors, least[columns])
    made: list[Divisors] = [(None, None), *((float(one), None) for one in divisors[changed])]
    every = np.concatenate([left, lefts[changed]]), np.concatenate([need, needs[changed]])
    return Roundings(columns, *every, tuple(made))


def summed(rows: Sequence[Row], least: Any) -> Roundings:
    """The sum of inequalities, each rounded by one divisor, the sum rounded by another, for all coefficients.

    Where each of k failures takes another part of a cut, this asks for ceil(R k / (k − 1)) over the whole cut, R being
    what must be left after any of them.
    """
    import numpy as np

    columns, left, need = as_arrays(rows)
    lowest = least[columns]
    lefts: list[Any] = [np.zeros((0, len(columns)))]
    needs: list[Any] = [np.zeros(0)]
    made: list[Divisors] = []
    for first in divisors_of(left):
        once, asked, _ = rounded(left, need, np.full(len(rows), first), lowest)
        total, whole = once.sum(axis=0, keepdims=True), asked.sum(keepdims=True)
        seconds = divisors_of(total)
        several = np.repeat(total, len(seconds), axis=0), np.repeat(whole, len(seconds))
        twice, needed, changed = rounded(*several, seconds, lowest)
        lefts.append(twice[changed])
        needs.append(needed[changed])
        made += [(float(first), float(second)) for second in seconds[changed]]
    return Roundings(columns, np.concatenate(lefts), np.concatenate(needs), tuple(made))
