"""Brute force for tiny networks: every purchase is tried, and judged by other means than the engine uses.

Reroute: in a graph of at most four sites, splittable traffic fits exactly when every set of sites has enough capacity
to the rest (Papernov 1976: true wherever all traffic is among four sites). One-plus-one: an LP over couples of chains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product

from dcplan.design import cost
from dcplan.model.spectrum import band_of


def bins_needed(widths, band):
    """Fewest pairs that hold channels of these widths (exact, by trying)."""
    widths = sorted(widths, reverse=True)
    if not widths:
        return 0
    count = max(1, math.ceil(sum(widths) / band))
    while not _packs(widths, [band] * count):
        count += 1
    return count


def _packs(widths, room):
    if not widths:
        return True
    for i in sorted(range(len(room)), key=lambda i: room[i]):
        if room[i] >= widths[0] and _packs(widths[1:], [*room[:i], room[i] - widths[0], *room[i + 1 :]]):
            return True
    return False


def options(net, paths):
    """(lightpath, budget, width in slots, price) of every mode that closes."""
    return [
        (
            path,
            budget,
            round(budget.width_ghz / 12.5),
            cost.total(cost.wavelength_items(net, path, budget.transponder, 1)),
        )
        for path in paths
        for budget in path.closing
    ]


def cheapest(net, lines, paths, demands, states, carries, most):
    """Least cost over all numbers of wavelengths 0…most per option; None where nothing carries."""
    choices = options(net, paths)
    line_of = {line.fiber: line for line in lines}
    band = band_of(net).usable
    best = math.inf
    for counts in product(range(most + 1), repeat=len(choices)):
        waves = sum(n * usd for n, (*_, usd) in zip(counts, choices, strict=True))
        if waves >= best:
            continue
        total = waves
        lit = (path for n, (path, *_) in zip(counts, choices, strict=True) if n)
        decided = replace(net, roadms=frozenset(site for path in lit for site in path.route.through))
        for fiber in net.fibers:
            widths = [
                width
                for n, (path, _, width, _) in zip(counts, choices, strict=True)
                if fiber in path.route.fibers
                for _ in range(n)
            ]
            pairs = bins_needed(widths, band)
            if pairs > net.fibers[fiber].pairs:
                total = math.inf
                break
            if pairs:
                total += cost.total(cost.pair_items(decided, line_of[fiber], pairs))
                total += cost.total(cost.build_items(net, fiber))
        if total < best and carries(net, choices, counts, demands, states):
            best = total
    return None if best == math.inf else best


def by_cuts(net, choices, counts, demands, states):
    """Every set of sites can send what it must, in every state."""
    sites = sorted(net.sites)
    assert len(sites) <= 4
    for state in states:
        for size in range(1, len(sites)):
            for shore in combinations(sites, size):
                have = sum(
                    n * budget.rate_gbps
                    for n, (path, budget, *_) in zip(counts, choices, strict=True)
                    if not state.breaks(path.route) and (path.route.ends[0] in shore) != (path.route.ends[1] in shore)
                )
                need = sum(
                    demand.gbps.get(state.name, 0.0)
                    for demand in demands
                    if (demand.ends[0] in shore) != (demand.ends[1] in shore)
                )
                if have < need - 1e-6:
                    return False
    return True


def chains(paths, a, b):
    """All chains of lightpaths from a to b that visit no site twice."""
    found = []

    def go(site, seen, chain):
        if site == b:
            found.append(tuple(chain))
            return
        for path in paths:
            if site in path.route.ends:
                there = path.route.ends[0] if path.route.ends[1] == site else path.route.ends[1]
                new = set(path.route.sites) - {site}
                if not new & seen:
                    go(there, seen | new, [*chain, path])

    go(a, {a}, [])
    return found


def late_ms(net, chain, demand):
    """How much longer a chain takes than a demand allows [ms]; every transponder takes as long as any other."""
    (about,) = net.catalog.transponders.values()
    most_ms = math.inf if demand.max_latency_ms is None else demand.max_latency_ms
    return sum(path.latency_ms + about.latency_us / 1000 for path in chain) - most_ms


def by_couples(net, choices, counts, demands, states):
    """Couples of chains in time without a common failure carry each demand twice: an LP with a column per couple."""
    import highspy
    import numpy as np

    capacity = {}
    for n, (path, budget, *_) in zip(counts, choices, strict=True):
        capacity[path.id] = capacity.get(path.id, 0.0) + n * budget.rate_gbps
    lit = [path for path in {choice[0].id: choice[0] for choice in choices}.values() if capacity[path.id] > 0]
    columns = []
    for d, demand in enumerate(demands):
        whole = max(demand.gbps.values())
        in_time = [chain for chain in chains(lit, *demand.ends) if late_ms(net, chain, demand) <= 1e-9]
        for one, other in combinations(in_time, 2):
            hurts = [
                state
                for state in states
                if demand.gbps.get(state.name, 0.0) > 0
                and any(state.breaks(path.route) for path in one)
                and any(state.breaks(path.route) for path in other)
            ]
            if not hurts:
                columns.append((d, whole, [path.id for path in (*one, *other)]))
    if {d for d, *_ in columns} != set(range(len(demands))):
        return False
    names = [path.id for path in lit]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    for _ in demands:
        solver.addRow(1.0, 1.0, 0, np.array([], np.int32), np.array([]))
    for name in names:
        solver.addRow(-highspy.kHighsInf, capacity[name], 0, np.array([], np.int32), np.array([]))
    for d, whole, used in columns:
        rows = [d, *(len(demands) + names.index(name) for name in sorted(set(used)))]
        values = [1.0, *(whole * used.count(name) for name in sorted(set(used)))]
        solver.addCol(0.0, 0.0, 1.0, len(rows), np.array(rows, np.int32), np.array(values))
    solver.run()
    return solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
