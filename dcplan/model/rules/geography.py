"""Codes 30x: lengths of fibers against the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import WITH_JOB, adding, with_change
from dcplan.units import LIGHT_M_PER_S, significant

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

_LEASE = "circuits: {{lease: {{ends: [papillion, lincoln], {}, modules: {{wave: {{gbps: 400, usd: 1e6}}}}}}}}\n"

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

TOO_FAST = Rule(
    "DCP303",
    "faster-than-light",
    Severity.WARNING,
    "The latency of a circuit is less than light takes in vacuum along the great circle between its ends. Traffic would"
    " be held to be faster than it can be; write `latency_ms: 0` where latency is to be left out of the question.",
    adding(_LEASE.format("latency_ms: 0.1")),
    adding(_LEASE.format("latency_ms: 0.3")),
)

RULES = (SHORTER, LONG_WAY, TOO_FAST)


def check(network: Network) -> list[Finding]:
    """Fibers and circuits shorter than the great circle between their ends, or implausibly long or fast."""
    fibers = {name: fiber.total_km for name, fiber in network.fibers.items()}
    circuits = {name: circuit.length_km for name, circuit in network.circuits.items() if circuit.length_km is not None}
    return [
        *(finding for name, km in fibers.items() for finding in _length(network, "fiber", name, km)),
        *(finding for name, km in circuits.items() for finding in _length(network, "circuit", name, km)),
        *_latency(network),
    ]


def _length(network: Network, kind: str, name: FiberId, length_km: float) -> Iterator[Finding]:
    a, b = network.edges[name].ends
    line_km = network.great_circle_km(a, b)
    loc: Loc = (f"{kind}s", name, "length_km" if network.edges[name].length_km is not None else "spans")
    span = network.document.locate(loc)
    if length_km < line_km * (1 - SPHERE_ERROR) - ROUNDING_KM:
        message = (
            f"{kind} `{name}` is {significant(length_km)} km long, but `{a}` and `{b}` are"
            f" {significant(line_km)} km apart"
        )
        hint = "check the unit of the length, and the coordinates: north and east are positive"
        yield Finding(SHORTER, span, message, hint)
    elif length_km > line_km * DETOUR and length_km > line_km + DETOUR_KM:
        message = (
            f"{kind} `{name}` is {significant(length_km)} km long, though `{a}` and `{b}` are only"
            f" {significant(line_km)} km apart"
        )
        yield Finding(LONG_WAY, span, message, "check the length and the coordinates")


def _latency(network: Network) -> Iterator[Finding]:
    for name, circuit in network.circuits.items():
        least_ms = network.great_circle_km(*circuit.ends) / LIGHT_M_PER_S * 1e6
        if (
            circuit.latency_ms
            and circuit.latency_ms < least_ms * (1 - SPHERE_ERROR) - ROUNDING_KM / LIGHT_M_PER_S * 1e6
        ):
            message = (
                f"circuit `{name}` takes {significant(circuit.latency_ms)} ms, light in vacuum"
                f" {significant(least_ms)} ms along the great circle"
            )
            span = network.document.locate(("circuits", name, "latency_ms"))
            yield Finding(TOO_FAST, span, message, "one way, in ms; 0 leaves latency out")
