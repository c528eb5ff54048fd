"""Checks a design against topology, link budgets and demands, without the program or the solver that made it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import isclose
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.problem import SLOT_GHZ, band_slots, rate, whole_rate
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Demand, Design, Flow, Wavelengths
    from dcplan.model.network import FiberId, Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

CLOSE = 1e-6
"""Relative difference that is rounding: plan files keep nine digits."""
LATE_MS = 1e-9


def verify(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    design: Design,
) -> tuple[str, ...]:
    """What does not hold of a design, in words; nothing when all of it holds.

    Every lit mode closes; channels stand in the band, whole, without clash, on lit pairs that exist; every demand is
    carried at its rate in every state over surviving wavelengths within capacity and latency limit; pairs of ways
    under one-plus-one never fail together; the bill is that of what is lit; the proof fits it.
    """
    paths = {lightpath.id: lightpath for lightpath in lightpaths}
    line_of = {line.fiber: line for line in lines}
    wanted = [HEALTHY] if network.policy.scheme == "none" else list(states)
    faults = [*_wavelengths(network, paths, design)]
    if faults:
        return tuple(faults)  # the rest reads what these name
    faults += _channels(network, paths, design)
    faults += _fibers(network, line_of, design)
    faults += _demands(demands, design)
    if design.scheme == "one-plus-one":
        faults += _protected(paths, wanted, demands, design)
    else:
        faults += _routed(paths, wanted, demands, design)
    faults += _money(network, line_of, paths, design)
    return tuple(faults)


def _wavelengths(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Each lit mode exists, closes, and has the rate, width and latency that are counted for it."""
    if design.scheme != network.policy.scheme:
        yield f"the scheme is {design.scheme}, asked was {network.policy.scheme}"
    known = set(network.catalog.transponders)
    keys = Counter((lit.lightpath, lit.transponder, lit.mode) for lit in design.wavelengths)
    yield from (f"{path} {part} {mode} is listed {times} times" for (path, part, mode), times in keys.items() if times > 1)
    for lit in design.wavelengths:
        name = f"{lit.lightpath} {lit.transponder} {lit.mode}"
        path = paths.get(lit.lightpath)
        if path is None or lit.transponder not in known:
            yield f"{name}: there is no such lightpath or transponder"
            continue
        budget = next((b for b in path.budgets if (b.transponder, b.mode) == (lit.transponder, lit.mode)), None)
        if budget is None or not budget.closes:
            yield f"{name} does not close"
        elif not (isclose(budget.rate_gbps, lit.rate_gbps) and isclose(budget.width_ghz, lit.width_ghz)):
            yield f"{name} is counted with another rate or width than its link budget has"
        elif not isclose(_latency_ms(network, path, lit), lit.latency_ms, rel_tol=CLOSE):
            yield f"{name} is counted with {lit.latency_ms} ms, it takes {_latency_ms(network, path, lit)} ms"
        if lit.count < 1:
            yield f"{name} is lit {lit.count} times"


def _latency_ms(network: Network, path: Lightpath, lit: Wavelengths) -> float:
    return path.latency_ms + network.catalog.transponders[lit.transponder].latency_us / 1000


def _channels(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Channels are those that are lit, whole, in the band, on lit pairs, and none takes the slot of another."""
    band = band_slots(network)
    pairs = {lit.fiber: lit.pairs for lit in design.lit}
    placed = Counter((channel.lightpath, channel.transponder, channel.mode) for channel in design.channels)
    width = {(lit.lightpath, lit.transponder, lit.mode): lit.width_ghz for lit in design.wavelengths}
    count = {(lit.lightpath, lit.transponder, lit.mode): lit.count for lit in design.wavelengths}
    for key in sorted(count.keys() | placed.keys()):
        if placed[key] != count.get(key, 0):
            yield f"{' '.join(key)}: {count.get(key, 0)} lit, {placed[key]} in the spectrum"
    taken: dict[tuple[FiberId, int, int], str] = {}
    for channel in design.channels:
        key = (channel.lightpath, channel.transponder, channel.mode)
        name = f"{channel.lightpath} at slot {channel.first_slot}"
        if key not in width:
            continue
        if not isclose(channel.slots * SLOT_GHZ, width[key]):
            yield f"{name} takes {channel.slots} slots, its mode is {width[key]:g} GHz wide"
        if channel.first_slot < 0 or channel.first_slot + channel.slots > band:
            yield f"{name} leaves the band of {band} slots"
        fibers = paths[channel.lightpath].route.fibers
        if len(fibers) != len(channel.pairs):
            yield f"{name} names {len(channel.pairs)} pairs for {len(fibers)} fibers"
            continue
        for fiber, pair in zip(fibers, channel.pairs, strict=True):
            if not 0 <= pair < pairs.get(fiber, 0):
                yield f"{name} is on pair {pair} of {fiber}, which is not lit"
            for slot in range(channel.first_slot, channel.first_slot + channel.slots):
                other = taken.setdefault((fiber, pair, slot), name)
                if other != name or taken[fiber, pair, slot] is not name:
                    yield f"{name} clashes with {other} on pair {pair} of {fiber}"
                    break


def _fibers(network: Network, line_of: Mapping[FiberId, Line], design: Design) -> Iterator[str]:
    """No more pairs are lit than there are, each holds a channel, and what is said of them is so."""
    band_ghz = band_slots(network) * SLOT_GHZ
    routes = {}
    for channel in design.channels:
        routes.setdefault(channel.lightpath, []).append(channel)
    for lit in design.lit:
        if lit.fiber not in line_of:
            yield f"{lit.fiber} is lit, but it has no line"
        elif not 1 <= lit.pairs <= network.fibers[lit.fiber].pairs:
            yield f"{lit.fiber}: {lit.pairs} pairs lit, {network.fibers[lit.fiber].pairs} exist"
        elif not isclose(lit.fill_percent, 100 * lit.used_ghz / (band_ghz * lit.pairs), rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{lit.fiber} is said to be {lit.fill_percent:g} % full"


def _demands(demands: Sequence[Demand], design: Design) -> Iterator[str]:
    """The design answers the demands that were asked."""
    mine = {demand.id: demand for demand in design.demands}
    for demand in demands:
        other = mine.get(demand.id)
        same = (
            other is not None
            and other.ends == demand.ends
            and other.gbps.keys() == demand.gbps.keys()
            and all(isclose(other.gbps[state], gbps, rel_tol=CLOSE) for state, gbps in demand.gbps.items())
            and _same_limit(other.max_latency_ms, demand.max_latency_ms)
        )
        if not same:
            yield f"demand {demand.id} is not the one that was asked"
    if len(mine) != len(demands):
        yield f"{len(mine)} demands are answered, {len(demands)} were asked"


def _same_limit(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and isclose(one, other, rel_tol=CLOSE))
