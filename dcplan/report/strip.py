"""Spectrum as a strip of marks: one per slot in the data, as many as fit on the page, with a scale above."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.model.grid import SLOT_GHZ

GOES_ON, FREE, DARK = "━", "·", "░"
"""A channel beyond its first slot, a free slot, a slot that no amplifier serves. Any other mark begins a channel."""
STEPS_THZ = (5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
"""Between two ticks of a scale [THz]."""
TICKS = 4
"""At least so many of the coarsest step, the same on a page of any width."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a strip lies: its lower edge, and how many slots it shows."""

    start_thz: float
    slots: int


def per_column(slots: int, width: int) -> float:
    """Slots that one column shows: the fewest whole ones that fit, or where there is room a whole part of one."""
    return -(-slots // width) if width < slots else 1 / (width // max(1, slots))


def shrink(marks: str, width: int) -> str:
    """A strip in at most `width` columns: each shows the channel that begins in it, else one that goes on, or free."""
    share = per_column(len(marks), width)
    if share < 1:
        return "".join(mark + (mark if mark in (FREE, DARK) else GOES_ON) * (round(1 / share) - 1) for mark in marks)
    step = int(share)
    return "".join(_strongest(marks[i : i + step]) for i in range(0, len(marks), step))


def _strongest(marks: str) -> str:
    begins = next((mark for mark in marks if mark not in (GOES_ON, FREE, DARK)), None)
    return begins or (GOES_ON if GOES_ON in marks else FREE if FREE in marks else DARK)


def ruler(scale: Scale, width: int) -> tuple[str, str]:
    """Numbers in THz above a strip of `width` columns; below them a rule with a tick under the first digit of each.

    Under a later digit where the number would go beyond the edge.
    """
    column_thz, span_thz = per_column(scale.slots, width) * SLOT_GHZ / 1e3, scale.slots * SLOT_GHZ / 1e3
    numbers, rule = [" "] * width, ["─"] * width
    step = next((step for step in STEPS_THZ if span_thz / step >= TICKS), STEPS_THZ[-1])
    decimals = 2 if step < 0.1 else 1 if step < 1 else 0
    tick, free = math.ceil((scale.start_thz - 1e-9) / step), 0
    while (at := int((tick * step - scale.start_thz) / column_thz + 1e-6)) < width:
        text = f"{tick * step:.{decimals}f}"
        start = min(at, width - len(text))
        if start >= free:
            numbers[start : start + len(text)] = text
            free = start + len(text) + 1
        rule[at] = "┴"
        tick += 1
    return "".join(numbers).rstrip(), "".join(rule)
