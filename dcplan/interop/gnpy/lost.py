"""What of a network does not reach GNPy, an item each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.interop.gnpy.boost import ADDED
from dcplan.interop.gnpy.roadm import roadm
from dcplan.optics.budget import Line
from dcplan.optics.journey import ways_of
from dcplan.optics.lightpath import kinds_of
from dcplan.optics.tilt import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.interop.gnpy.boost import Boost, WayId
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.line import NoLine

GNPY_INDEX = 1.468
"""Group index of every fiber in GNPy (core/parameters.py)."""


def notes(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    boost: Mapping[WayId, Boost],
    transponder: str,
    name: str,
) -> Iterator[str]:
    """First what the files hold for, then what they leave out."""
    yield f"launch powers, gains and noise figures are those under a full load of {transponder} {name}"
    yield from _lines(network, lines)
    yield from _levels(boost)
    yield from (f"circuit {name} is left out: GNPy knows light only" for name in network.circuits)
    for site, about in network.sites.items():
        if not about.express and sum(1 for key in boost if key[1] == site) > 1:
            yield f"{roadm(site)} lets light pass in GNPy, which has no `express: false`"
    for kind in dict.fromkeys(fiber.type for fiber in network.fibers.values()):
        part = network.catalog.fibers[kind]
        if not part.nonlinear:
            yield f"{kind}: GNPy has no fiber without nonlinearity; its effective area leaves as little as it can"
        if abs(part.group_index - GNPY_INDEX) > 5e-4:
            yield f"{kind}: GNPy computes every latency with a group index of {GNPY_INDEX}, not {part.group_index:g}"


def _lines(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[str]:
    bands = network.topology.gear.bands
    if len(bands) > 1:
        yield f"only the band {bands[0].name} is written; GNPy wants a multiband network for more"
    shape = Shape.of(network)
    for fiber, line in lines.items():
        if not isinstance(line, Line):
            yield f"fiber {fiber} is left out: {line.reason}"
        elif not line.booster:
            yield f"fiber {fiber} is left out: it has no amplifiers, and GNPy would put some in"
        elif any(shape.matters(kinds_of(network, way)) for way in ways_of(network, {fiber: line}).values()):
            yield f"fiber {fiber}: tilt between channels is counted here and not in GNPy, unless it runs with Raman on"


def _levels(boost: Mapping[WayId, Boost]) -> Iterator[str]:
    for key, one in boost.items():
        for source in one.starved:
            what = "light added" if source == ADDED else f"light from {source[0]}"
            yield f"{what} at {key[1]} is too weak for the launch into {key[0]}: weaker here, at full launch in GNPy"
