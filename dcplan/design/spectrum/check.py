"""Checks the light of a design: modes that close, channels in their places, pairs that are there."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import isclose
from typing import TYPE_CHECKING

from dcplan.design import existing
from dcplan.design.schemes import scheme_of_all
from dcplan.design.tolerance import CLOSE
from dcplan.model.grid import SLOT_GHZ
from dcplan.model.spectrum import band_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Channel, Design, Wavelengths
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Lightpath, Line


def wavelengths(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Each lit mode exists, closes, and has the rate, width and latency that are counted for it."""
    if design.scheme != (asked := scheme_of_all(network, design.demands)):
        yield f"the scheme is {design.scheme}, asked was {asked}"
    known = {*network.catalog.transponders, *network.catalog.appliances}
    keys = Counter((lit.lightpath, lit.transponder, lit.mode) for lit in design.wavelengths)
    yield from (
        f"{path} {part} {mode} is listed {times} times" for (path, part, mode), times in keys.items() if times > 1
    )
    for lit in design.wavelengths:
        name = f"{lit.lightpath} {lit.transponder} {lit.mode}"
        path = paths.get(lit.lightpath)
        if path is not None and path.route.fibers[0] in network.circuits:
            continue
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
    return path.latency_ms + network.catalog.latency_us(lit.transponder) / 1000


def channels(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Channels are those that are lit, as wide as their mode, and stand in the band."""
    band = band_of(network)
    if design.band != band:
        yield f"the band is {design.band}, the topology asks {band}"
    placed = Counter((channel.lightpath, channel.transponder, channel.mode) for channel in design.channels)
    width = {(lit.lightpath, lit.transponder, lit.mode): lit.width_ghz for lit in design.wavelengths}
    light = [lit for lit in design.wavelengths if lit.transponder not in network.circuits]
    count = {(lit.lightpath, lit.transponder, lit.mode): lit.count for lit in light}
    for key in sorted(count.keys() | placed.keys()):
        if placed[key] != count.get(key, 0):
            yield f"{' '.join(key)}: {count.get(key, 0)} lit, {placed[key]} in the spectrum"
    for channel in design.channels:
        if channel.lightpath not in paths:
            yield f"{channel.lightpath} at slot {channel.first_slot}: there is no such lightpath"
        elif (channel.lightpath, channel.transponder, channel.mode) in width:
            yield from _place(channel, band, width[channel.lightpath, channel.transponder, channel.mode], paths)


def _place(channel: Channel, band: Band, width_ghz: float, paths: Mapping[str, Lightpath]) -> Iterator[str]:
    """A channel is as wide as its mode, whole within the band, on the grid, with a pair for each fiber."""
    name = f"{channel.lightpath} at slot {channel.first_slot}"
    if not isclose(channel.slots * SLOT_GHZ, width_ghz):
        yield f"{name} takes {channel.slots} slots, its mode is {width_ghz:g} GHz wide"
    if not band.holds(channel.first_slot, channel.slots):
        yield f"{name} leaves the band of {band.slots} slots with guards of {band.guard}"
    if channel.n != band.centre(channel.first_slot, channel.slots):
        yield f"{name} has its centre at n = {band.centre(channel.first_slot, channel.slots)}, not {channel.n}"
    if len(paths[channel.lightpath].route.fibers) != len(channel.pairs):
        yield f"{name} names {len(channel.pairs)} pairs for another number of fibers"


def clashes(paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Channels run on lit pairs, and none takes a slot of another."""
    pairs = {lit.fiber: lit.pairs for lit in design.lit}
    taken: dict[tuple[FiberId, int, int], int] = {}
    for number, channel in enumerate(design.channels):
        name = f"{channel.lightpath} at slot {channel.first_slot}"
        slots = range(channel.first_slot, channel.first_slot + channel.slots)
        for fiber, pair in zip(paths[channel.lightpath].route.fibers, channel.pairs, strict=False):
            if not 0 <= pair < pairs.get(fiber, 0):
                yield f"{name} is on pair {pair} of {fiber}, which is not lit"
            if any(taken.setdefault((fiber, pair, slot), number) != number for slot in slots):
                yield f"{name} clashes with another channel on pair {pair} of {fiber}"


def guards(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Channels of different width stand a guard apart."""
    guard = band_of(network).guard
    found: dict[tuple[FiberId, int], list[tuple[int, int]]] = {}
    for channel in design.channels:
        for at in zip(paths[channel.lightpath].route.fibers, channel.pairs, strict=False):
            found.setdefault(at, []).append((channel.first_slot, channel.slots))
    for (fiber, pair), here in found.items():
        for (first, slots), (after, other) in pairwise(sorted(here)):
            if slots != other and after < first + slots + guard:
                yield f"pair {pair} of {fiber}: no guard of {guard} slots between slots {first} and {after}"


def fibers(
    network: Network, line_of: Mapping[FiberId, Line], paths: Mapping[str, Lightpath], design: Design
) -> Iterator[str]:
    """No more pairs are lit than there are, each holds a channel, and what is said of them is so."""
    band_ghz = band_of(network).amplified * SLOT_GHZ
    used = _used(paths, design.channels)
    ever = _used(paths, [*design.channels, *(channel for each in design.relit for channel in each.channels)])
    lit_fibers = [lit.fiber for lit in design.lit]
    kept = existing.pairs_kept(network)
    if sorted({*ever, *(fiber for fiber in kept if fiber in line_of)}) != sorted(lit_fibers):
        yield f"lit are {sorted(lit_fibers)}, channels run on {sorted(ever)}"
    for lit in design.lit:
        here = used.get(lit.fiber, [])
        pairs = {pair for pair, _ in ever.get(lit.fiber, [])}
        width_ghz = sum(slots for _, slots in here) * SLOT_GHZ
        if lit.fiber not in line_of:
            yield f"{lit.fiber} is lit, but it has no line"
        elif not 1 <= lit.pairs <= network.fibers[lit.fiber].pairs:
            yield f"{lit.fiber}: {lit.pairs} pairs lit, {network.fibers[lit.fiber].pairs} exist"
        elif {*pairs, *range(min(lit.pairs, kept.get(lit.fiber, 0)))} != set(range(lit.pairs)):
            yield f"{lit.fiber}: {lit.pairs} pairs lit, channels run on {len(pairs)}"
        elif lit.channels != len(here) or not isclose(lit.used_ghz, width_ghz, rel_tol=CLOSE):
            yield f"{lit.fiber} carries {len(here)} channels in {width_ghz:g} GHz, not what is said of it"
        elif not isclose(lit.fill_percent, 100 * width_ghz / (band_ghz * lit.pairs), rel_tol=CLOSE):
            yield f"{lit.fiber} is said to be {lit.fill_percent:g} % full"


def _used(paths: Mapping[str, Lightpath], channels: Sequence[Channel]) -> dict[FiberId, list[tuple[int, int]]]:
    """Fiber -> pair and slots of each channel on it."""
    used: dict[FiberId, list[tuple[int, int]]] = {}
    for channel in channels:
        for fiber, pair in zip(
            paths[channel.lightpath].route.fibers if channel.lightpath in paths else (), channel.pairs, strict=False
        ):
            used.setdefault(fiber, []).append((pair, channel.slots))
    return used
