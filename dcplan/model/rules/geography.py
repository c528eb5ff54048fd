"""Codes 30x: lengths of fibers against the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import WITH_JOB, with_change
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import FiberId, Network
    from dcplan.model.source import Loc

SPHERE_ERROR = 0.005
"""The sphere is within 0.5 % of the ellipsoid."""
ROUNDING_KM = 1.0
"""Coordinates with two decimals place a site within about 0.7 km."""
DETOUR = 3.0
DETOUR_KM = 50.0

SHORTER = Rule(
    "DCP301",
    "shorter-than-line",
    Severity.ERROR,
    "No cable is shorter than the great circle between its ends; 0.5 % and 1 km are allowed for the shape of the Earth"
    " and rounded coordinates. A wrong unit (miles), a wrong coordinate or swapped latitude and longitude are the"
    " usual causes, and every loss and latency that follows would be too small.",
    with_change("length_km: 58", "length_km: 28"),
    WITH_JOB,
)
LONG_WAY = Rule(
    "DCP302",
    "long-way",
    Severity.WARNING,
    "The cable is more than three times as long as the great circle, and more than 50 km longer. Real routes follow"
    " roads and rails and are 1.1 to 2 times as long; more is often a wrong coordinate or a length with a digit too"
    " many.",
    with_change("length_km: 58", "length_km: 580"),
    WITH_JOB,
)

RULES = (SHORTER, LONG_WAY)


def check(network: Network) -> list[Finding]:
    """Fibers shorter than the great circle between their ends, or implausibly long."""
    return [finding for name in network.fibers for finding in _length(network, name)]


def _length(network: Network, name: FiberId) -> Iterator[Finding]:
    fiber = network.fibers[name]
    a, b = fiber.ends
    length_km, line_km = fiber.total_km, network.great_circle_km(a, b)
    loc: Loc = ("fibers", name, "length_km" if fiber.length_km is not None else "spans")
    span = network.document.locate(loc)
    if length_km < line_km * (1 - SPHERE_ERROR) - ROUNDING_KM:
        message = (
            f"fiber `{name}` is {significant(length_km)} km long, but `{a}` and `{b}` are"
            f" {significant(line_km)} km apart"
        )
        hint = "check the unit of the length, and the coordinates: north and east are positive"
        yield Finding(SHORTER, span, message, hint)
    elif length_km > line_km * DETOUR and length_km > line_km + DETOUR_KM:
        message = (
            f"fiber `{name}` is {significant(length_km)} km long, though `{a}` and `{b}` are only"
            f" {significant(line_km)} km apart"
        )
        yield Finding(LONG_WAY, span, message, "check the length and the coordinates")
