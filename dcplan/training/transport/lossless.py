"""Priority flow control over a long link: what a switch port must hold, and how far its buffer reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.network import CIRCUIT_US_PER_KM
from dcplan.training.transport.packets import packet

if TYPE_CHECKING:
    from dcplan.model.transport import Transport

REACTION_S = 1e-6
"""Time from a pause that arrives to a port that stands still (IEEE 802.1Qbb allows about as much, from memory) [s]."""


def headroom_mb(transport: Transport, rtt_s: float) -> float:
    """What a port must hold, all its lossless priorities [MB]: n (W (RTT + reaction) + 2 frames).

    W: rate of the port. At 400 Gb/s 49 MB for 100 km. Source: IEEE 802.1Qbb, annex O, for the terms.
    """
    one = transport.port_gbps * 1e9 / 8 * (rtt_s + REACTION_S) + 2 * packet(transport).wire_bytes
    return transport.lossless_priorities * one / 1e6


def slowed_to(transport: Transport, rtt_s: float) -> float:
    """Share of its rate at which a port's headroom fits its buffer: (B/n − 2 frames) / (W (RTT + reaction)), at most 1.

    1 where the link is not lossless, or the buffer is not given.
    """
    if not transport.pauses or transport.switch_buffer_mb is None:
        return 1.0
    held = transport.switch_buffer_mb * 1e6 / transport.lossless_priorities - 2 * packet(transport).wire_bytes
    return max(0.0, min(1.0, held / (transport.port_gbps * 1e9 / 8 * (rtt_s + REACTION_S))))


def reach_km(transport: Transport) -> float | None:
    """Fiber over which a port at full rate is lossless with its buffer [km]; None without a given buffer."""
    if transport.switch_buffer_mb is None:
        return None
    held = transport.switch_buffer_mb * 1e6 / transport.lossless_priorities - 2 * packet(transport).wire_bytes
    rtt_s = held / (transport.port_gbps * 1e9 / 8) - REACTION_S
    return max(0.0, rtt_s / 2 / (CIRCUIT_US_PER_KM * 1e-6))
