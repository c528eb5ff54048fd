"""How the bytes of a job travel between its sites."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.parts import Count, Positive, Strict

ROCE_MTU_BYTES = (256, 512, 1024, 2048, 4096)
"""What a RoCE packet may carry (InfiniBand Architecture, path MTU)."""
TCP_MTU_BYTES = (576, 9216)
"""Least (RFC 791) and largest usual IP packet of TCP."""
MOST_CODED = 255
"""Packets of a Reed–Solomon block over bytes."""


class Transport(Strict):
    """How the bytes of a job travel between its sites. Without it, or with no key given, every bit that is lit carries
    payload, whatever the distance.
    """

    protocol: Literal["roce-gbn", "roce-sr", "tcp", "ec"] = "roce-sr"
    """roce-gbn: RDMA that sends everything again from a lost packet on (go-back-N); roce-sr: only what was lost
    (selective repeat); tcp: by the law of Mathis; ec: erasure coding, which repeats only what parity does not mend."""
    mtu_bytes: Annotated[int, Field(ge=256, le=9216)] | None = None
    """roce-gbn, roce-sr, ec: payload of a packet, a power of two from 256 to 4096 [bytes]; tcp: IP packet with its
    headers, 576 to 9216. Without it 4096, or 1500 for tcp."""
    packet_loss: Annotated[float, Field(ge=0, le=0.1)] = 0.0
    """Probability that a packet between two sites is lost, each by itself."""
    flows: Count | None = None
    """Flows (queue pairs, connections) between two sites, all together, in each direction, which share the rate evenly
    and of which none is faster than a NIC; without it, one for each accelerator of the smaller site."""
    window_mb: Positive | None = None
    """Most bytes of a flow under way without an answer [MB]; without it, as many as it takes."""
    rto_ms: Positive | None = None
    """Time-out after which a lost packet is sent again that no later one gives away [ms]; without it one round trip."""
    ec_data: Annotated[int, Field(ge=1, le=254)] = 32
    """Data packets of an erasure-coded block."""
    ec_parity: Annotated[int, Field(ge=1, le=254)] = 8
    """Parity packets of an erasure-coded block: as many lost ones are mended without a round trip."""
    encryption: Literal["none", "macsec", "ipsec", "otnsec"] = "none"
    """Encryption between sites: its bytes in every packet (none for otnsec), and its latency."""
    lossless: bool = False
    """Priority flow control between sites, for roce-gbn and roce-sr: a switch port must hold what arrives until a pause
    takes hold."""
    switch_buffer_mb: Positive | None = None
    """Buffer of a switch port for lossless traffic, all priorities together [MB]; where it does not hold what arrives
    in a round trip at full rate, the port is slowed until it does. Without it, any amount."""
    port_gbps: Annotated[float, Field(ge=1, le=10_000)] = 400.0
    """Rate of a switch port between sites [Gb/s]."""
    lossless_priorities: Annotated[int, Field(ge=1, le=8)] = 1
    """Lossless priorities of a port, each of which needs its own headroom."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.mtu_bytes is not None:
            if self.protocol == "tcp" and not TCP_MTU_BYTES[0] <= self.mtu_bytes <= TCP_MTU_BYTES[1]:
                raise ValueError(f"mtu_bytes of tcp must lie between {TCP_MTU_BYTES[0]} and {TCP_MTU_BYTES[1]}")
            if self.protocol != "tcp" and self.mtu_bytes not in ROCE_MTU_BYTES:
                raise ValueError(f"mtu_bytes of {self.protocol} must be one of {', '.join(map(str, ROCE_MTU_BYTES))}")
        if self.ec_data + self.ec_parity > MOST_CODED:
            raise ValueError(f"ec_data and ec_parity together must not exceed {MOST_CODED}, the length of a code")
        return self

    @property
    def pauses(self) -> bool:
        """Priority flow control is used: tcp and erasure coding take losses instead."""
        return self.lossless and self.protocol in {"roce-gbn", "roce-sr"}

    @property
    def said(self) -> bool:
        """Something is given: an empty object changes nothing."""
        return bool(self.model_fields_set)
