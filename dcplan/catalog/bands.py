"""Bands of the spectrum by name, and which of them an amplifier made for one covers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedBand:
    """A stretch of spectrum with amplifiers of its own."""

    name: str
    start_thz: float
    end_thz: float

    @property
    def width_ghz(self) -> float:
        """Width [GHz]."""
        return (self.end_thz - self.start_thz) * 1e3


BANDS: dict[str, NamedBand] = {
    band.name: band
    for band in (
        NamedBand("l", 186.125, 190.925),
        NamedBand("super-c", 190.675, 196.775),
        NamedBand("c", 191.325, 196.125),
    )
}
"""C: OIF 400ZR grid, 64 channels of 75 GHz. L: Cisco 800ZR+ L band, 4.8 THz. Super-C: 6.1 THz, edges estimated."""
COVERED: dict[str, tuple[float, float]] = {
    "c": (191.275, 196.125),
    "super-c": (190.675, 196.775),
    "l": (186.125, 190.925),
}
"""What an amplifier made for a band covers [THz]; C: the window of GNPy 3.0.1's amplifiers (core/parameters.py)."""


def covers(made_for: str, band: NamedBand) -> bool:
    """An amplifier made for a band (`any`: wherever it is used) covers the whole of another."""
    if made_for == "any":
        return True
    start, end = COVERED[made_for]
    return start <= band.start_thz + 1e-9 and band.end_thz <= end + 1e-9
