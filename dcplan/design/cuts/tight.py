"""Sets of sites whose surviving wavelengths are nearly all needed, and what needing less of them is worth."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dcplan.design.arrays import arrays
from dcplan.design.cuts.shores import ShoreCuts
from dcplan.design.formulation import TBPS, USD
from dcplan.design.reasons.parts import few, shore_of
from dcplan.design.result import Binding
from dcplan.design.routing.aside import across, both_ways
from dcplan.units import money, rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Loop
    from dcplan.design.problem import Problem

LISTED = 5
"""Sets of sites listed."""
LOOKED_AT = 400
"""Tightest sets of sites that are looked at."""


def tight_shores(
    problem: Problem, counts: Sequence[int], loop: Loop | None, like: Loop | None = None
) -> Iterator[Binding]:
    """Those across which no wavelength that is lit can be spared: what has a price first, then the tightest.

    loop: of the linear relaxation, for prices. like: see `loop.start`. Of sets that part the same wavelengths the
    smallest is named.
    """
    yield from islice(_tight(problem, counts, loop, like), LISTED)


def tightest(problem: Problem, counts: Sequence[int]) -> Iterator[Binding]:
    """All that may be listed, without prices."""
    return _tight(problem, counts, None, None)


def _tight(problem: Problem, counts: Sequence[int], loop: Loop | None, like: Loop | None) -> Iterator[Binding]:
    table = like.table if like else arrays(problem)
    cuts = ShoreCuts(problem, across(problem, table), like=like.shore_cuts if like else None)
    capacity = problem.capacity_gbps(counts)
    found: dict[tuple[int, frozenset[int]], tuple[float, float, int, Cut]] = {}
    for shore, state, over_paths in cuts.tightest(capacity, [0.0] * len(problem.fibers), LOOKED_AT):
        cut = cuts.cut(shore, state, over_paths=True)
        lit = [
            choice.gbps
            for choice, count in zip(problem.choices, counts, strict=True)
            if count and choice.lightpath in cut.lightpaths
        ]
        have, need = sum(capacity[i] for i in cut.lightpaths), cut.need_gbps(problem)
        if not over_paths or not lit or have - need >= min(lit):
            continue
        key = state, frozenset(i for i in cut.lightpaths if capacity[i])
        price = 0.0 if loop is None else _price_usd(loop, key)
        mine = (-price, (have - need) / need, len(shore_of(problem.network, cut.shore)), cut)
        if key not in found or mine[2] < found[key][2]:
            found[key] = mine
    ordered = sorted(found.values(), key=lambda item: (round(item[0], 6), round(item[1], 9), item[2], item[3].shore))
    for price, _, _, cut in ordered:
        yield _binding(problem, cut, sum(capacity[i] for i in cut.lightpaths), -price)


def _price_usd(loop: Loop, key: tuple[int, frozenset[int]]) -> float:
    """What each further Gb/s across would cost in the relaxation: the duals of the cuts over the same wavelengths."""
    state, lit = key
    total = 0.0
    for held in loop.cuts.values():
        for cut in held.cuts:
            if cut.shore and not cut.fibers and cut.state == state and lit <= cut.lightpaths.keys():
                total += loop.linear.duals[held.relaxed] / held.scale
    return total * TBPS / USD


def _binding(problem: Problem, cut: Cut, have: float, price_usd: float) -> Binding:
    lost, need = problem.states[cut.state], cut.need_gbps(problem)
    when = "healthy" if lost.healthy else f"after losing {lost.name}"
    sites = ", ".join(few(shore_of(problem.network, cut.shore)))
    what = f"{when}, sites {{{sites}}} need {rate(need)}{both_ways(problem, cut)} to the rest, {rate(have)} is lit"
    spare = f"{rate(have - need)} to spare" if have - need > 1e-6 else "nothing to spare"
    worth = f"; each Gb/s less would save {money(price_usd)} (relaxation)" if price_usd > 1e-6 else ""
    return Binding(what, spare + worth)
