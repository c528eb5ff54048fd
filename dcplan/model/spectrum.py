"""The spectrum of a lit pair, as the file asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model import grid

if TYPE_CHECKING:
    from dcplan.model.grid import Band
    from dcplan.model.network import Network


def band_of(network: Network) -> Band:
    """Whole slots between the edges of the amplified bands, with the guards of the policy."""
    guard_ghz = network.policy.guard_ghz
    return grid.joined([grid.band(one.start_thz, one.end_thz, guard_ghz) for one in network.topology.gear.bands])
