"""What a packet between sites carries and what it takes on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.model.transport import Transport

ETHERNET_BYTES = 38
"""Preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)."""
ROCE_BYTES = 44
"""IPv4 20, UDP 8, base transport header 12, invariant CRC 4 (InfiniBand Architecture, annex A17: RoCEv2)."""
IMMEDIATE_BYTES = 4
"""Place of a packet in its message, which erasure coding needs (InfiniBand immediate data)."""
TCP_BYTES = 52
"""IPv4 20, TCP 20, time stamps 12 (RFC 793, RFC 7323), inside the MTU."""
MACSEC_BYTES = 32
"""SecTAG with channel identifier 16, integrity check value 16 (IEEE 802.1AE)."""
ESP_BYTES = 54
"""Outer IPv4 20, ESP header 8, initialisation vector 8, trailer 2, check value 16 (RFC 4303, RFC 4106), pad apart."""
ESP_ALIGNED_BYTES = 4
DEVICE_US = {"none": 0.0, "macsec": 2.0, "ipsec": 2.0, "otnsec": 2.0}
"""Encryption and decryption one way [µs]: 1 to 3 for MACsec (Cisco Live sessions, second hand); taken for all."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet between sites."""

    payload_bytes: int
    wire_bytes: int
    """With headers, encryption, preamble and gap."""
    copies: float
    """Packets sent for one with data: (k + m)/k with erasure coding, else 1."""

    @property
    def share(self) -> float:
        """Payload over bytes on the wire, before any loss."""
        return self.payload_bytes / (self.wire_bytes * self.copies)


def packet(transport: Transport) -> Packet:
    """The packets of a transport: share = payload / (payload + headers + encryption) × k/(k+m).

    RoCEv2: payload + 44 + 38 bytes; TCP: MTU + 38, of which 52 are headers; MACsec + 32; IPsec in ESP tunnel mode
    + 54 and what pads to four bytes; OTNsec encrypts below the packet and adds none.
    Sources: beside each constant. Answers on the way back are not counted.
    """
    tcp = transport.protocol == "tcp"
    mtu = transport.mtu_bytes or (1500 if tcp else 4096)
    payload = mtu - TCP_BYTES if tcp else mtu
    inner = mtu if tcp else mtu + ROCE_BYTES
    if transport.protocol == "ec":
        inner += IMMEDIATE_BYTES
    copies = 1 + transport.ec_parity / transport.ec_data if transport.protocol == "ec" else 1.0
    return Packet(payload, inner + ETHERNET_BYTES + encryption_bytes(transport.encryption, inner), copies)


def encryption_bytes(encryption: str, inner_bytes: int) -> int:
    """What encryption adds to an IP packet of so many bytes."""
    if encryption == "macsec":
        return MACSEC_BYTES
    if encryption == "ipsec":
        return ESP_BYTES + -(inner_bytes + 2) % ESP_ALIGNED_BYTES
    return 0
