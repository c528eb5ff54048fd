"""Inequalities between shores that an answer of the master breaks: of one state, halves of three, sums over states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dcplan.design.cuts.explore import explored
from dcplan.design.cuts.halves import halves
from dcplan.design.cuts.rounding import summed
from dcplan.design.formulation import TBPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Loop
    from dcplan.design.cuts.rounding import Divisors, Roundings, Row
    from dcplan.design.cuts.shores import Sight

    Inequality = tuple[tuple[Cut, ...], Divisors]

MOST = 60
"""Inequalities that are looked for in each round."""
FEW = 10
"""Broken cuts of single states below which sums over states are looked at too."""
SUMMED = 60
"""Tightest shores of which sums over states are looked at in each round."""
HALVED = 60
"""Halves of three cuts that are added in each round."""
VIOLATED = 1e-5
"""Relative violation from which a shore cut is worth adding."""


def between_shores(loop: Loop, point: Any, *, explore: bool) -> Iterator[list[Inequality]]:
    """The worst that are broken: over shores that were near before, then over all of them.

    Who has use for some of the former need not ask for the latter. explore: look for shores that are not known yet.
    """
    cuts = loop.shore_cuts
    for every in (False, True):
        sight = cuts.sight(point, every=every)
        broken = cuts.broken(point, sight, VIOLATED, MOST, rounding=loop.rounding)
        if (
            (explore or len(broken) < FEW)
            and not cuts.complete
            and cuts.grow(explored(cuts, point, sight, loop.chance))
        ):
            sight = cuts.sight(point, every=every)
            broken = cuts.broken(point, sight, VIOLATED, MOST, rounding=loop.rounding)
        made: list[tuple[float, tuple[Cut, ...], Divisors]] = [
            (one.by, (cuts.cut(one.shore, one.state, over_paths=one.over_paths),), (one.divisor, None))
            for one in broken
        ]
        if loop.rounding and len(made) < FEW:
            made += _sums(loop, point, sight) if len(loop.table.ruling) > 1 else _halved(loop, point, sight)
        made.sort(key=lambda one: -one[0])
        yield [(several, divisors) for _, several, divisors in made[:MOST]]


def _sums(loop: Loop, point: Any, sight: Sight) -> Iterator[tuple[float, tuple[Cut, ...], Divisors]]:
    """Broken sums over the states of the tightest shores."""
    for (shores, _, _), over_paths in zip(sight, (True, False), strict=bool(sight)):
        for shore in shores[:SUMMED].tolist():
            key = shore, over_paths
            known = loop.sums[key] if key in loop.sums else _summed(loop, *key)
            if known is not None:
                for by, divisors in known[1].broken(point, VIOLATED)[:1]:
                    yield by, known[0], divisors


def _halved(loop: Loop, point: Any, sight: Sight) -> Iterator[tuple[float, tuple[Cut, ...], Divisors]]:
    """Broken halves of three cuts each."""
    cuts, state = loop.shore_cuts, loop.table.ruling[0]
    for one in halves(cuts, point, sight, VIOLATED, HALVED):
        numbers = [number for number in map(cuts.number, one.shores) if number is not None]
        if len(numbers) == len(one.shores):
            several = tuple(cuts.cut(number, state, over_paths=one.over_paths) for number in numbers)
            yield one.by, several, (one.divisor, 2.0)


def _summed(loop: Loop, shore: int, over_paths: bool) -> tuple[tuple[Cut, ...], Roundings] | None:  # noqa: FBT001
    """The cuts of a shore over the states of its family with their sums; kept while there is room."""
    cuts = loop.shore_cuts
    family = tuple(cuts.cut(shore, k, over_paths=over_paths) for k in cuts.family(shore))
    made = (family, summed([plain(loop, cut) for cut in family], loop.least)) if len(family) > 1 else None
    loop.room -= 0 if made is None else made[1].left.size
    if loop.room > 0:
        loop.sums[shore, over_paths] = made
    return made


def plain(loop: Loop, cut: Cut) -> Row:
    """A cut as it stands, not rounded: terms over the master's columns and least value [Tb/s]."""
    import numpy as np

    table = loop.table
    weights = np.zeros(len(table.link_of))
    weights[list(cut.lightpaths)] = list(cut.lightpaths.values())
    each = weights[table.owner]
    each[list(cut.faster)] += list(cut.faster.values())
    each *= table.gbps * TBPS
    bought = np.flatnonzero(each)
    terms = {loop.bought.wavelengths[j]: value for j, value in zip(bought.tolist(), each[bought].tolist(), strict=True)}
    for fiber, weight in cut.fibers.items():
        terms[loop.bought.pairs[fiber]] = weight * loop.shore_cuts.pair_gbps[fiber] * TBPS
    terms |= {loop.bought.aside[hop]: -weight for hop, weight in cut.aside.items()}
    need = math.fsum(cut.distances[d] * table.rates[cut.state, d] for d in cut.distances)
    return terms, need * TBPS
