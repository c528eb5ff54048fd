"""What hollow core saves in time against solid fiber of the same length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.units import LIGHT_M_PER_S

if TYPE_CHECKING:
    from dcplan.model.network import FiberId, Network

SOLID_INDEX = 1.468
"""Group index of the solid fiber that hollow core is compared with: G.652.D (GNPy core/parameters.py)."""


def saved_ms(network: Network, fiber: FiberId) -> float:
    """What the hollow-core spans of a fiber save one way [ms]: length × (1.468 − group index) / c; 0 for solid."""
    cable, types = network.fibers[fiber], network.catalog.fibers
    spans = [(span.type or cable.type, span.length_km) for span in cable.spans or ()] or [(cable.type, cable.total_km)]
    return sum(
        length * (SOLID_INDEX - types[name].group_index) / LIGHT_M_PER_S * 1e6
        for name, length in spans
        if not types[name].nonlinear
    )
