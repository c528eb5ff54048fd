"""What a pair of sites carries for a job, given what is lit between them: rate, latency, and what limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.model.network import Pair
from dcplan.training.transport.flows import (
    block_loss,
    go_back_n_s,
    lost_again,
    mathis_s,
    selective_repeat_s,
    slowest_excess,
)
from dcplan.training.transport.lossless import headroom_mb, reach_km, slowed_to
from dcplan.training.transport.packets import DEVICE_US, packet
from dcplan.training.transport.tail import Message, tail_s
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.model.transport import Transport

MATTERS = 1.1
"""Losses are what limits where without them at least this much more would be carried."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One pair of sites of a job in one state."""

    ends: Pair
    rate_gbps: float
    """What is lit for the job, in each direction, in bytes on the wire."""
    rtt_ms: float
    """Twice the one-way latency of the pair in this state, encryption included."""
    bdp_mb: float
    """Bandwidth-delay product of all flows together: rate × RTT [MB]."""
    flows: int
    window_mb: float | None
    """Of a flow; none where it does not limit."""
    window_needed_mb: float
    """Payload of a flow under way at its share of the rate: a smaller window limits [MB]."""
    limit: str
    """line, port, NIC, window, or loss: what keeps the usable rate where it is."""
    usable_gbps: float
    """Payload, in each direction."""
    goodput_percent: float | None
    """Usable over lit; none where the latter is infinite or nothing [%]."""
    message_gb: float
    """Payload that the sites wait for: what a step sends, or one microbatch in a pipeline."""
    wire_gb: float
    """The same with headers, encryption and parity; what is repeated comes on top."""
    tail_ms: float
    """What losses add to a message on average, beyond the usable rate: it is whole when its unluckiest packet is."""
    headroom_mb: float | None
    """What a lossless switch port must hold; none where the link is not lossless."""
    reach_km: float | None
    """Fiber over which its buffer keeps a port lossless at full rate; none without a given buffer."""
    state: str = ""
    """Name of the state of the network, where several are compared."""

    @property
    def latency_ms(self) -> float:
        """One way, encryption and the tail of a message included [ms]."""
        return self.rtt_ms / 2 + self.tail_ms


def carried(
    transport: Transport,
    ends: Pair,
    rate_gbps: float,
    latency_ms: float,
    message_gb: float,
    flows: int,
    nic_gbps: float,
) -> Carried:
    """One pair of sites.

    flows: those of the file, or as many as there are pairs of NICs, which then share the rate without limiting it.
    Payload share of the line: see `packets.packet`; ports that are slowed: `lossless.slowed_to`; time per packet and
    flow: go-back-N, selective repeat (of erasure-coded blocks for ec), or the most of line, window and Mathis for tcp.
    The tail of go-back-N: a round trip for each loss of the unluckiest flow beyond the mean, and the time-out where the
    very last packet of a flow is lost; of the others: see `tail.tail_s`.
    Sources: `packets`, `flows`, `tail`, `lossless`; SDR-RDMA (SC 2025) for erasure coding over long links.
    """
    form, slowed = packet(transport), 1.0
    rtt_s = 2 * (latency_ms / 1e3 + DEVICE_US[transport.encryption] / 1e6)
    if transport.pauses:
        slowed = slowed_to(transport, rtt_s)
    bits = 8 * form.payload_bytes
    nics_gbps = math.inf if transport.flows is None else flows * nic_gbps
    line_gbps = form.share * min(rate_gbps * slowed, nics_gbps)
    tx_s = bits * flows / line_gbps / 1e9 if line_gbps > 0 else math.inf
    window = math.inf if transport.window_mb is None else transport.window_mb * 1e6 / form.payload_bytes
    each_s = _packet_s(transport, tx_s, rtt_s, window)
    usable_gbps = flows * bits / each_s / 1e9 if each_s > 0 else math.inf
    clean_s = tx_s / (1 - transport.packet_loss)
    line = "NIC" if rate_gbps * slowed > nics_gbps else "port" if slowed < 1 else "line"
    packets = message_gb * 1e9 / form.payload_bytes
    return Carried(
        ends=ends,
        rate_gbps=rate_gbps,
        rtt_ms=rtt_s * 1e3,
        bdp_mb=_product(rate_gbps, rtt_s),
        flows=flows,
        window_mb=transport.window_mb,
        window_needed_mb=_product(line_gbps / flows, rtt_s),
        limit=_limit(each_s, clean_s, rtt_s / window, line),
        usable_gbps=usable_gbps,
        goodput_percent=100 * usable_gbps / rate_gbps if 0 < rate_gbps < math.inf else None,
        message_gb=message_gb,
        wire_gb=message_gb / form.share,
        tail_ms=1e3 * _tail_s(transport, rtt_s, each_s, packets, flows),
        headroom_mb=headroom_mb(transport, rtt_s) if transport.pauses else None,
        reach_km=reach_km(transport) if transport.pauses else None,
    )


def stopped(pairs: Iterable[Carried]) -> str:
    """Why nothing at all comes through between two sites that are joined, in words; empty where something does.

    Only a lossless port stands still for good: its buffer must hold two frames before any rate is left.
    """
    still = next((one for one in pairs if one.rate_gbps > 0 and one.usable_gbps == 0), None)
    if still is None or still.headroom_mb is None:
        return ""
    return (
        f"its lossless ports between {' and '.join(still.ends)} stand still: the switch buffer does not hold two "
        f"frames, and {significant(still.headroom_mb)} MB arrive in a round trip of {significant(still.rtt_ms)} ms at "
        "full rate"
    )


def _limit(each_s: float, clean_s: float, window_s: float, line: str) -> str:
    """What keeps a flow at its time per packet: losses, the window, or what stands for its line."""
    if each_s > MATTERS * max(clean_s, window_s):
        return "loss"
    return "window" if window_s > clean_s else line


def _product(gbps: float, rtt_s: float) -> float:
    """Rate × round trip [MB]; nothing is under way without a distance."""
    return gbps * rtt_s * 1e3 / 8 if rtt_s > 0 else 0.0


def _packet_s(transport: Transport, tx_s: float, rtt_s: float, window: float) -> float:
    """Time per packet with data of one flow [s]."""
    loss = transport.packet_loss
    if transport.protocol == "roce-gbn":
        return go_back_n_s(tx_s, rtt_s, window, loss)
    if transport.protocol == "roce-sr":
        return selective_repeat_s(tx_s, rtt_s, window, loss)
    if transport.protocol == "tcp":
        return max(tx_s / (1 - loss), rtt_s / window, mathis_s(rtt_s, loss))
    data = transport.ec_data
    lost = block_loss(loss, data, transport.ec_parity)
    return selective_repeat_s(data * tx_s, rtt_s, window / data, lost) / data


def _tail_s(transport: Transport, rtt_s: float, each_s: float, packets: float, flows: int) -> float:
    """What losses add to a message of so many packets, all flows together [s]; flows without a packet do not count."""
    loss, rto_s = transport.packet_loss, (transport.rto_ms or 0.0) / 1e3
    if loss <= 0 or packets <= 0 or not math.isfinite(each_s):
        return 0.0
    data = transport.ec_data if transport.protocol == "ec" else 1
    blocks = packets / data
    busy = min(flows, math.ceil(blocks))
    if transport.protocol == "roce-gbn":
        unseen = next(lost_again(loss, busy), 0.0)
        return rtt_s * slowest_excess(blocks / busy * loss / (1 - loss), busy) + max(0.0, rto_s - rtt_s) * unseen
    lost = block_loss(loss, data, transport.ec_parity) if transport.protocol == "ec" else loss
    return tail_s(Message(blocks / busy, each_s * data * busy / flows, busy), rtt_s, rto_s, lost)
