"""The scale-out network inside a site, as a file gives it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.parts import Count, Strict


class FabricTier(Strict):
    """A tier of the scale-out network: blocks with less bandwidth upwards than their accelerators have."""

    accelerators: Count
    """Accelerators in a block, which reach each other at full rate."""
    oversubscription: Annotated[float, Field(ge=1, le=1000)]
    """NIC bandwidth of all accelerators of a block over the bandwidth of its uplinks."""


class Inside(Strict):
    """How the accelerators of a site are joined."""

    fabric: list[FabricTier] = []
    """Oversubscribed tiers of its scale-out network, blocks from small to large; without it none is."""
    all_reduce: Literal["auto", "ring", "tree", "hierarchical", "in-network"] = "auto"
    """How groups in the site sum: auto, the better of ring and tree; hierarchical, inside scale-up domains first;
    in-network, switches add up (NVLS, SHARP), from which reduce-scatter and gather apart gain nothing."""

    @model_validator(mode="after")
    def _tiers_rise(self) -> Self:
        sizes = [tier.accelerators for tier in self.fabric]
        if any(b <= a or b % a for a, b in pairwise(sizes)):
            raise ValueError("blocks of the fabric go from small to large, each a whole number of those before")
        return self
