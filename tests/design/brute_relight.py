"""Brute force for scheme relight on tiny networks: every way to light every state, then the cheapest purchase for all.

Each state by itself: all numbers of wavelengths 0…most per option that carry it (every set of sites can send what it
must), with the transponders by site, the fiber pairs and, where light passes, the ROADMs that they take. Of these only
what no other beats is kept; the states are joined one by one by the larger of what they take.

Beside demands of other schemes: the same for every choice of what is never retuned, with a linear program over all
chains in place of the sets of sites.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

from dcplan.design import cost
from dcplan.design.problem import band_of
from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from tests.design import brute


def cheapest_beside(net, lines, paths, demands, states, most):
    """The same where only demands of scheme relight wait for retuning.

    Of those on two ways each must have two chains of lightpaths and no more, so that it takes both.
    """
    choices = brute.options(net, paths)
    others = [demand for demand in demands if demand.scheme != "relight"]
    best = None
    for never in product(range(most + 1), repeat=len(choices)):
        if not all(_fits(choices, never, never, others, state) for state in states):
            continue
        costs = cheapest(
            net, lines, paths, demands, states, most, never,
            lambda counts, state, never=never: _fits(choices, never, counts, demands, state),
        )  # fmt: skip
        best = costs if best is None or (costs is not None and costs < best) else best
    return best


def _fits(choices, never, counts, demands, state):
    """All chains of each demand written out: neither what is lit nor what is never retuned is overfull."""
    program, short = Program(), []
    paths = list({path.id: path for path, *_ in choices if not state.breaks(path.route)}.values())
    every = list({path.id: path for path, *_ in choices}.values())
    on = {(path.id, kind): {} for path in every for kind in ("lit", "never")}
    room = dict.fromkeys(on, 0.0)
    for (path, budget, *_), lit, stays in zip(choices, counts, never, strict=True):
        room[path.id, "lit"] += lit * budget.rate_gbps
        room[path.id, "never"] += stays * budget.rate_gbps
    for demand in demands:
        kinds = ("lit",) if demand.scheme == "relight" else ("lit", "never")
        gbps = demand.gbps.get(state.name, 0.0)
        if demand.scheme == "one-plus-one":
            both = brute.chains(every, *demand.ends)
            assert len(both) == 2
            for path in (path for chain in both for path in chain if path in paths):
                for kind in kinds:
                    room[path.id, kind] -= max(demand.gbps.values())
        else:
            taken = {program.column("short", 1.0): 1.0}
            short += taken
            for chain in brute.chains(paths, *demand.ends):
                column = program.column("flow")
                taken[column] = 1.0
                for path in chain:
                    on |= {(path.id, kind): {**on[path.id, kind], column: 1.0} for kind in kinds}
            program.row("asked", taken, gbps, gbps)
    if any(room[path.id, kind] < -1e-6 for path in paths for kind in ("lit", "never")):
        return False
    for path in paths:
        for kind in ("lit", "never"):
            program.row("room", on[path.id, kind], upper=room[path.id, kind])
    if not short:
        return True
    simplex = Simplex(program)
    assert simplex.solve() == "optimal"
    return sum(simplex.values[column] for column in short) < 1e-6


def cheapest(net, lines, paths, demands, states, most, never=None, carries=None):
    """Least cost of transponders and pairs with which every state can be lit; None where some state cannot.

    What is lit already is spared its price; without `removable` it is lit when healthy, and its pairs always. never:
    wavelengths per option that are lit wherever they survive. carries: tells whether so many carry a state.
    """
    choices = brute.options(net, paths)
    sites = sorted(net.sites)
    parts = sorted({budget.transponder for _, budget, *_ in choices})
    places = [(site, part) for site in sites for part in parts]
    fibers = list(net.fibers)
    had = there(net, paths, places, fibers)
    kept = net.topology.existing is not None and not net.topology.existing.removable
    carries = carries or (lambda counts, state: brute.by_cuts(net, choices, counts, demands, [state]))
    front = {(*(had if kept else (0,) * (len(places) + len(fibers))), *(0 for _ in sites))}
    stays = lit_already(net, choices) if kept else {}
    for state in states:
        front = _undominated(
            tuple(map(max, one, other))
            for one in front
            for other in _lit(net, choices, carries, state, most, never, places, fibers, sites, stays)
        )
        if not front:
            return None
    line_of = {line.fiber: line for line in lines}

    def price(needs):
        total = math.fsum(
            cost.total(cost.end_items(net, *place, count, min(count, was)))
            for place, count, was in zip(places, needs, had, strict=False)
        )
        passed = zip(sites, needs[len(places) + len(fibers) :], strict=True)
        decided = replace(net, roadms=frozenset(site for site, passes in passed if passes))
        for fiber, pairs, was in zip(fibers, needs[len(places) :], had[len(places) :], strict=False):
            if pairs:
                total += cost.total(cost.pair_items(decided, line_of[fiber], pairs, min(pairs, was)))
                total += cost.total(cost.build_items(net, fiber))
        return total

    return min(map(price, front))


def there(net, paths, places, fibers):
    """Transponders by place and pairs by fiber that are there already."""
    existing = net.topology.existing
    if existing is None:
        return (0,) * (len(places) + len(fibers))
    ends = {path.route.fibers: path.route.ends for path in paths}
    owned = [
        sum(lit.count for lit in existing.wavelengths if site in ends[tuple(lit.route)] and lit.transponder == part)
        + existing.transponders.get(site, {}).get(part, 0)
        for site, part in places
    ]
    return (*owned, *(existing.fibers[fiber].pairs if fiber in existing.fibers else 0 for fiber in fibers))


def lit_already(net, choices):
    """Choice -> wavelengths of it that are lit already."""
    return {
        c: lit.count
        for lit in net.topology.existing.wavelengths
        for c, (path, budget, *_) in enumerate(choices)
        if (path.route.fibers, budget.transponder, budget.mode) == (tuple(lit.route), lit.transponder, lit.mode)
    }


def _lit(net, choices, carries, state, most, never, places, fibers, sites, stays):
    """Transponders by place, pairs by fiber and passes by site of every way to light a state."""
    band = band_of(net).usable
    least = never or (0,) * len(choices)
    limits = [
        range(1) if state.breaks(path.route) else range(least[c], most + 1) for c, (path, *_) in enumerate(choices)
    ]
    found = set()
    for counts in product(*limits):
        if state.healthy and any(counts[c] < count for c, count in stays.items()):
            continue
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
        lit = [path for n, (path, *_) in zip(counts, choices, strict=True) if n]
        passes = tuple(int(any(site in path.route.through for path in lit)) for site in sites)
        if any(all(a <= b for a, b in zip(one, (*owned, *pairs, *passes), strict=True)) for one in found):
            continue
        if carries(counts, state):
            found.add((*owned, *pairs, *passes))
    return _undominated(found)


def _undominated(several):
    kept = []
    for one in sorted(set(several)):
        if not any(all(a <= b for a, b in zip(other, one, strict=True)) for other in kept):
            kept.append(one)
    return kept
