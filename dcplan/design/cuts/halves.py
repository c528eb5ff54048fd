"""Half of three cuts that together cross everything twice or not at all, rounded up.

Two shores and the sites that are in one of them only: what lies between any two of the four parts that they make
crosses exactly two of the three cuts. Each rounded to whole modules, their sum is even on the left, so that an odd sum
of needs leaves half a module to gain: Σ between parts ≥ ceil((R₁ + R₂ + R₃) / 2). Where one shore lies in the other
these are the three-partition inequalities (Agarwal, Networks 47, 2006), all of them zero-half cuts (Caprara and
Fischetti, Mathematical Programming 74, 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.design.cuts.rounding import LEAST_PART, TINY, spread_out
from dcplan.design.cuts.tightness import amounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.design.cuts.shores import ShoreCuts, Sight
    from dcplan.design.cuts.tightness import Side

SHORES = 300
"""Shores with least to spare that are paired."""
CELLS = 200_000
"""Pairs × sizes of what can be bought, where there are so many sizes that fewer shores must do."""


@dataclass(frozen=True, slots=True)
class Half:
    """Three cuts whose half a point breaks by a share of its right side."""

    by: float
    shores: tuple[int, int, int]
    """Sets of sites as bits; the last may not be known yet."""
    over_paths: bool
    divisor: float
    """By which each cut is rounded; their sum is by 2."""


def halves(cuts: ShoreCuts, point: Any, sight: Sight, above: float, most: int) -> list[Half]:
    """Those that a point breaks by more than a share, worst first, of a problem with one state."""
    found: dict[tuple[object, ...], Half] = {}
    for side, (shores, _, _), over_paths in zip(cuts.sides, sight, (True, False), strict=bool(sight)):
        for one in _halves(cuts, side, point, shores, above, most, over_paths=over_paths) if len(shores) > 1 else ():
            key = (*sorted(one.shores), over_paths)
            if key not in found or found[key].by < one.by:
                found[key] = one
    return sorted(found.values(), key=lambda one: (-one.by, one.shores))[:most]


def _halves(
    cuts: ShoreCuts, side: Side, point: Any, shores: Any, above: float, most: int, *, over_paths: bool
) -> Iterator[Half]:
    import numpy as np

    divisors = spread_out(side.kinds)
    each = _Crossing.of(cuts, side, point, shores)
    least = np.min([each.spare(side.kinds, divisor) for divisor in divisors], axis=0)
    most_shores = min(SHORES, int((2 * CELLS / len(side.kinds)) ** 0.5), int((least < 1.0).sum()))
    shores = shores[np.argsort(least, kind="stable")[:most_shores]]
    each = _Crossing.of(cuts, side, point, shores)
    a, b = np.triu_indices(len(shores), 1)
    third = _apart(cuts, side, point, shores, each)
    for divisor in divisors:
        asked, asked_third, spare = each.asked(divisor), third.asked(divisor), each.spare(side.kinds, divisor)
        total = asked[a] + asked[b] + asked_third
        odd = np.flatnonzero((total % 2 == 1) & (spare[a] + spare[b] < 1.0) & (asked_third > 0))
        several = each.only(a[odd]), each.only(b[odd]), third.only(odd)
        have = _half([one.lifted(side.kinds, divisor) for one in several], [one.more for one in several])
        by = 1.0 - have / np.ceil(total[odd] / 2)
        for i in np.argsort(-by, kind="stable")[: 3 * most].tolist():
            if by[i] > above:
                both = cuts.shores[shores[a[odd[i]]]], cuts.shores[shores[b[odd[i]]]]
                yield Half(float(by[i]), (*both, cuts.canonical(both[0] ^ both[1])), over_paths, float(divisor))


def _half(lifts: Sequence[Any], more: Sequence[Any]) -> Any:
    """(triples,) the left side: what crosses two of three cuts each, with half the sum of its coefficients, rounded.

    lifts: its coefficient in each cut, and more: how many cross each; (kinds, triples) all.
    """
    import numpy as np

    have = np.zeros(more[0].shape[1])
    for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        crossing = (more[i] + more[j] - more[k]) / 2
        share = (lifts[i] + lifts[j]) / 2
        whole = np.floor(share + TINY)
        have += (crossing * (whole + np.minimum(1.0, np.maximum(0.0, share - whole) * 2))).sum(axis=0)
    return have


@dataclass(frozen=True, slots=True, eq=False)
class _Crossing:
    """What crosses some shores, beyond what is there in any case, and what must [Tb/s]."""

    more: Any
    """(kinds, shores)"""
    left: Any
    """(shores,)"""

    @classmethod
    def of(cls, cuts: ShoreCuts, side: Side, point: Any, shores: Any) -> _Crossing:
        import numpy as np

        cross, need_tbps = cuts.crossing(shores)
        states = np.full(len(shores), cuts.table.ruling[0])
        kept = amounts(side, cross, side.least, states)
        more = amounts(side, cross, point[side.columns] - side.least, states)
        return cls(more, need_tbps - (side.kinds[:, None] * kept).sum(axis=0))

    def only(self, which: Any) -> _Crossing:
        return _Crossing(self.more[:, which], self.left[which])

    def asked(self, divisor: float) -> Any:
        """(shores,) right sides, divided and rounded; 0 where nothing is asked."""
        import numpy as np

        return np.maximum(0.0, np.ceil(self.left / divisor - TINY))

    def lifted(self, kinds: Any, divisor: float) -> Any:
        """(kinds, shores) coefficients, divided and rounded."""
        import numpy as np

        q = self.left / divisor
        part = q - np.floor(q + TINY)
        part = np.where(part >= LEAST_PART, part, 1.0)
        share = kinds / divisor
        whole = np.floor(share + TINY)
        return whole[:, None] + np.minimum(1.0, np.maximum(0.0, share - whole)[:, None] / part)

    def spare(self, kinds: Any, divisor: float) -> Any:
        """(shores,) what is more than the rounded right side; infinite where nothing is asked."""
        import numpy as np

        asked = self.asked(divisor)
        return np.where(asked > 0, (self.lifted(kinds, divisor) * self.more).sum(axis=0) - asked, np.inf)


def _apart(cuts: ShoreCuts, side: Side, point: Any, shores: Any, each: _Crossing) -> _Crossing:
    """The third cut of each two shores, over what crosses one of them only: all that crosses each, less twice both."""
    import numpy as np

    cross, _ = cuts.crossing(shores)
    a, b = np.triu_indices(len(shores), 1)
    alive = np.ones(len(side.columns), dtype=bool)
    alive[side.lost[cuts.table.ruling[0]]] = False
    more, left = np.zeros((len(side.kinds), len(a))), np.zeros(len(a))
    for joint in np.unique(side.joint[alive]).tolist():
        twice = (cross[joint, a] * cross[joint, b]).astype(float)
        here = np.flatnonzero(alive & (side.joint == joint))
        left -= twice * float((side.least[here] * side.tbps[here]).sum())
        for item in here.tolist():
            amount = float(point[side.columns[item]] - side.least[item])
            if amount:
                more[side.kind[item]] += twice * amount
    for asked, crosses in cuts.asking(shores):
        left += asked * (crosses[a] & crosses[b])
    return _Crossing(each.more[:, a] + each.more[:, b] - 2 * more, each.left[a] + each.left[b] - 2 * left)
