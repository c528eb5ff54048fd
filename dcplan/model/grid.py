"""The flexible grid of ITU-T G.694.1: centres at 193.1 THz + n × 6.25 GHz, widths of m × 12.5 GHz."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ANCHOR_THZ = 193.1
"""Centre of n = 0 (ITU-T G.694.1) [THz]."""
STEP_GHZ = 6.25
"""Between neighbouring centres (ITU-T G.694.1) [GHz]."""
SLOT_GHZ = 12.5
"""Unit of width (ITU-T G.694.1) [GHz]."""
ROUNDING = 1e-6
"""An edge this near to a step of the grid stands on it."""


@dataclass(frozen=True, slots=True)
class Band:
    """Spectrum in slots of 12.5 GHz, from an edge that stands on the grid."""

    edge: int = -284
    """Lower edge in steps of 6.25 GHz from 193.1 THz; the default is 191.325 THz, where the C band begins."""
    slots: int = 384
    """Whole slots above that edge; the default is the C band, 4.8 THz."""
    guard: int = 0
    """Slots kept free at all edges and between channels of different width."""
    dark: tuple[tuple[int, int], ...] = ()
    """(first slot, slots) of what no amplifier serves: between two bands."""

    @property
    def start_thz(self) -> float:
        """Lower edge [THz]."""
        return centre_thz(self.edge)

    @property
    def end_thz(self) -> float:
        """Upper edge of the last whole slot [THz]."""
        return centre_thz(self.edge + 2 * self.slots)

    @property
    def amplified(self) -> int:
        """Slots that amplifiers serve."""
        return self.slots - sum(count for _, count in self.dark)

    @property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """(first slot, slots) of what channels may take, guards at edges left out, from low to high frequency."""
        edges = [0, *(edge for first, count in self.dark for edge in (first, first + count)), self.slots]
        inside = [
            (low + self.guard, high - low - 2 * self.guard) for low, high in zip(edges[::2], edges[1::2], strict=True)
        ]
        return tuple((first, count) for first, count in inside if count > 0)

    @property
    def usable(self) -> int:
        """Slots that channels may take."""
        return sum(count for _, count in self.stretches)

    @property
    def open(self) -> int:
        """The slots that channels may take as bits, the lowest frequency in the lowest bit."""
        return sum(((1 << count) - 1) << first for first, count in self.stretches)

    def holds(self, first_slot: int, slots: int) -> bool:
        """A channel stands whole in what channels may take."""
        return any(low <= first_slot and first_slot + slots <= low + size for low, size in self.stretches)

    def first_slot(self, n: int, slots: int) -> int | None:
        """The first slot, counted from the lower edge, of a channel with its centre at n; none off the slots."""
        twice = n - self.edge - slots
        return None if twice % 2 else twice // 2

    def centre(self, first_slot: int, slots: int) -> int:
        """Centre, as n, of a channel that takes `slots` slots from `first_slot`, counted from the lower edge."""
        return self.edge + 2 * first_slot + slots


def centre_thz(n: int) -> float:
    """Frequency of a centre [THz]: 193.1 + n × 0.00625. Source: ITU-T G.694.1."""
    return ANCHOR_THZ + n * STEP_GHZ / 1e3


def lower_edge_thz(start_thz: float) -> float:
    """The lower edge of a band moved up to the grid, by less than 6.25 GHz; as it is where it stands there [THz]."""
    steps = (start_thz - ANCHOR_THZ) * 1e3 / STEP_GHZ
    edge = math.ceil(steps - ROUNDING)
    return start_thz if edge - steps < ROUNDING else centre_thz(edge)


def band(start_thz: float, end_thz: float, guard_ghz: float = 0.0) -> Band:
    """The whole slots of a band: its lower edge moved up to the grid, what is left above in slots of 12.5 GHz."""
    edge = math.ceil((start_thz - ANCHOR_THZ) * 1e3 / STEP_GHZ - ROUNDING)
    steps = (end_thz - ANCHOR_THZ) * 1e3 / STEP_GHZ - edge
    return Band(edge, max(0, math.floor(steps / 2 + ROUNDING)), round(guard_ghz / SLOT_GHZ))


def joined(bands: Sequence[Band]) -> Band:
    """Bands from low to high frequency as one, with what lies between them dark; on the grid of the lowest edge."""
    first, dark, end = bands[0], [], bands[0].slots
    for band in bands[1:]:
        start = -(-(band.edge - first.edge) // 2)
        whole = (band.edge + 2 * band.slots - first.edge) // 2
        if start > end:
            dark.append((end, start - end))
        end = max(end, whole)
    return Band(first.edge, end, first.guard, tuple(dark))


def width_slots(width_ghz: float) -> int:
    """Width as m: the slots that it takes."""
    return math.ceil(width_ghz / SLOT_GHZ - ROUNDING)
