"""What stops a mode, in words: the next faster one of a lightpath, and those that are nowhere considered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.optics.allowed import allowed_transponders, fits, on_grid
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.parts import Part
    from dcplan.model.network import Network
    from dcplan.optics.budget import Budget, Lightpath

AMOUNTS = {"dispersion": "chromatic dispersion", "PMD": "PMD", "PDL": "PDL", "power": "received"}
"""Limit -> the line of a link budget that says how much there is and how much may be."""


def next_faster(path: Lightpath) -> Budget | None:
    """Of the modes that do not close, the least of those faster than all that do, widest margin first; none: no such.

    Where no mode closes, the one that comes nearest.
    """
    best = max((budget.rate_gbps for budget in path.closing), default=0.0)
    faster = [budget for budget in path.budgets if not budget.closes and budget.rate_gbps > best]
    if not path.closing:
        return max(faster, key=_margin, default=None)
    return min(faster, key=lambda budget: (budget.rate_gbps, -_margin(budget)), default=None)


def stop_of(budget: Budget) -> str:
    """What stops a mode, with how much is missing: `OSNR, 1.2 dB short`; empty for a mode that closes."""
    if budget.closes:
        return ""
    if budget.limit == "OSNR" and budget.margin_db is not None:
        return f"OSNR, {_db(-budget.margin_db)} short"
    name = AMOUNTS.get(budget.limit)
    item = next((item for item in budget.items if item.name == name and item.why), None)
    if item is None:
        short = "" if budget.margin_db is None else f", {_db(-budget.margin_db)} short"
        return budget.limit + short
    if item.kind == "level":
        return f"{budget.limit}, {item.value_db:.1f} dBm received, {item.why.split(',')[0]}"
    return f"{budget.limit}, {item.why}"


def next_in_words(path: Lightpath) -> str:
    """The next faster mode and what stops it; where none closes, the nearest; empty where there is none."""
    faster = next_faster(path)
    if faster is None:
        return ""
    return f"{'' if path.closing else 'nearest '}{faster.transponder} {faster.mode}: {stop_of(faster)}"


def left_out(network: Network) -> tuple[str, ...]:
    """Allowed modes that no lightpath is tried with: wider than grid or band, or without a published OSNR."""
    widths = network.topology.gear.grid_ghz
    widest_ghz = max(band.width_ghz for band in network.topology.gear.bands)
    found = []
    for part, transponder in allowed_transponders(network).items():
        for name, own in transponder.modes.items():
            mode = on_grid(network, own)
            if mode is None:
                found.append(f"{part} {name}: width, {own.width_ghz:g} GHz, the grid has {max(widths or [0]):g}")
            elif not fits(network, mode):
                found.append(f"{part} {name}: width, {mode.width_ghz:g} GHz, the band has {widest_ghz:g}")
            elif mode.required_osnr_db is None and network.topology.gear.allow.transponders is not None:
                found.append(f"{part} {name}: its required OSNR is not published")
    return tuple(found)


def doubtful(network: Network) -> dict[str, str]:
    """Optical parts of low confidence that the network may use, by id, with what their entry notes."""
    catalog = network.catalog
    fibers = {name: kind for name, kind in catalog.fibers.items() if name in fiber_types(network)}
    parts: Mapping[str, Part] = {**fibers, **catalog.amplifiers, **catalog.transponders, **catalog.appliances}
    return {name: part.note or part.source for name, part in parts.items() if part.confidence == "low"}


def fiber_types(network: Network) -> list[str]:
    """Catalog ids of the types of all fibers and spans, sorted."""
    spans = {span.type for fiber in network.fibers.values() for span in fiber.spans or () if span.type}
    return sorted(spans | {fiber.type for fiber in network.fibers.values()})


def _db(value: float) -> str:
    """One decimal, or as many as it takes to show that something is missing."""
    return f"{value:.1f} dB" if value >= 0.05 else f"{significant(value, 1)} dB"


def _margin(budget: Budget) -> float:
    return -math.inf if budget.margin_db is None else budget.margin_db
