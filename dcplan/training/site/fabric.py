"""The scale-out network inside a site: tiers of switches with less bandwidth upwards than their accelerators have."""

from __future__ import annotations

import math
from typing import NamedTuple


class Tier(NamedTuple):
    """Accelerators that reach each other without leaving a block of switches, and how scarce its uplinks are."""

    accelerators: int
    oversubscription: float
    """NIC bandwidth of all its accelerators over the bandwidth of its uplinks, each way."""


def ring_rate(tiers: tuple[Tier, ...], nic: float, ranks: int, stride: int) -> float:
    """What uplinks leave each of the rings that go over them, one direction [bytes/s]; infinite where none does.

    Ranks of a ring stand `stride` apart, in rank order, so that a ring enters and leaves a block of B accelerators
    once, and min(stride, B) rings share its B/o NICs' worth of uplinks: W ≤ B nic / (o min(stride, B)). A ring of
    neighbours hardly sees oversubscription; ranks that stand alone in their block have nic/o. So Llama 3's
    1:7 between blocks of 3,072 did not slow its data parallel rings (Grattafiori et al. 2024, section 3.3.1).
    """
    if not tiers:
        return math.inf
    left = (tier for tier in tiers if ranks * stride > tier.accelerators)
    rates = (tier.accelerators * nic / tier.oversubscription / min(stride, tier.accelerators) for tier in left)
    return min(rates, default=math.inf)


def scattered_s(tiers: tuple[Tier, ...], nic: float, ranks: int, stride: int, size: float) -> float:
    """All-to-all over the uplinks [s]: of `size` bytes of a rank (n − n_B)/n leave its block, at nic/o.

    n_B = B / stride ranks of the group in a block of B accelerators, one at least.
    """
    if not tiers:
        return 0.0
    left = (tier for tier in tiers if ranks * stride > tier.accelerators)
    inside = ((tier, max(1, tier.accelerators // stride)) for tier in left)
    return max(((ranks - here) / ranks * size * tier.oversubscription / nic for tier, here in inside), default=0.0)


def leaving(tiers: tuple[Tier, ...], nic: float) -> float:
    """What one accelerator has to another site where all send at once: nic over the scarcest tier [bytes/s]."""
    return nic / max((tier.oversubscription for tier in tiers), default=1.0)
