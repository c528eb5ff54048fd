"""Brute force for scheme relight on tiny networks: every way to light every state, then the cheapest purchase for all.

Each state by itself: all numbers of wavelengths 0…most per option that carry it (every set of sites can send what it
must), with the transponders by site and the fiber pairs that they take. Of these only what no other beats is kept; the
states are joined one by one by the larger of what they take.
"""

from __future__ import annotations

import math
from itertools import product

from dcplan.design import cost
from dcplan.design.problem import band_of
from tests.design import brute


def cheapest(net, lines, paths, demands, states, most):
    """Least cost of transponders and pairs with which every state can be lit; None where some state cannot."""
    choices = brute.options(net, paths)
    sites = sorted(net.sites)
    parts = sorted({budget.transponder for _, budget, *_ in choices})
    places = [(site, part) for site in sites for part in parts]
    fibers = list(net.fibers)
    front = {(0,) * (len(places) + len(fibers))}
    for state in states:
        front = _undominated(
            tuple(map(max, one, other))
            for one in front
            for other in _lit(net, choices, demands, state, most, places, fibers)
        )
        if not front:
            return None
    line_of = {line.fiber: line for line in lines}

    def price(needs):
        total = math.fsum(
            cost.total(cost.end_items(net, *place, count)) for place, count in zip(places, needs, strict=False)
        )
        for fiber, pairs in zip(fibers, needs[len(places) :], strict=True):
            if pairs:
                total += cost.total(cost.pair_items(net, line_of[fiber], pairs))
                total += cost.total(cost.build_items(net, fiber))
        return total

    return min(map(price, front))


def _lit(net, choices, demands, state, most, places, fibers):
    """Transponders by place and pairs by fiber of every way to light a state."""
    band = band_of(net).usable
    limits = [range(1 if state.breaks(path.route) else most + 1) for path, *_ in choices]
    found = set()
    for counts in product(*limits):
        pairs = tuple(
            brute.bins_needed(
                [w for n, (path, _, w, _) in zip(counts, choices, strict=True) if f in path.route.fibers
                 for _ in range(n)],
                band,
            )
            for f in fibers
        )  # fmt: skip
        if any(need > net.fibers[f].pairs for f, need in zip(fibers, pairs, strict=True)):
            continue
        owned = tuple(
            sum(
                n
                for n, (path, budget, *_) in zip(counts, choices, strict=True)
                if budget.transponder == part and site in path.route.ends
            )
            for site, part in places
        )
        if any(all(a <= b for a, b in zip(one, (*owned, *pairs), strict=True)) for one in found):
            continue
        if brute.by_cuts(net, choices, counts, demands, [state]):
            found.add((*owned, *pairs))
    return _undominated(found)


def _undominated(several):
    kept = []
    for one in sorted(set(several)):
        if not any(all(a <= b for a, b in zip(other, one, strict=True)) for other in kept):
            kept.append(one)
    return kept
