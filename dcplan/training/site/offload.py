"""Optimizer state in the memory of the host: what its step takes over the link and on the processor.

Gradients go down, Adam runs on the processor, new weights come up, bucket by bucket, so that the slowest of the three
sets the pace, beside the part that stays on the accelerator. Source: Ren et al. 2021 (ZeRO-Offload), section 4;
Megatron-LM --optimizer-cpu-offload, --optimizer-offload-fraction, --overlap-cpu-optimizer-d2h-h2d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.catalog.parts import Accelerator

HOST_EFFICIENCY = 0.8
"""Share of link and of host memory bandwidth that copies and a streaming loop reach (from memory: pinned copies move 25
of 31.5 GB/s over PCIe 4, STREAM triad 80 % of DDR5)."""
ASSUMED_LINK_GB_PER_S = 31.5
"""PCIe 4 x16, one direction, where the catalog has no link."""
ASSUMED_MEMORY_GB_PER_S = 51.0
"""An eighth of two processors with eight channels of DDR4-3200 each, where the catalog has no host memory."""
UP_BYTES = 2
"""A weight, bf16."""
STEP_BYTES = 26
"""Adam in host memory: master weight and two moments read and written, and the bf16 weight; the gradient besides."""
KEPT_BYTES = 14
"""Master weight, two moments and bf16 weight of a parameter; the gradient besides."""


@dataclass(frozen=True, slots=True)
class Host:
    """The part of its host that one accelerator has, in SI units."""

    link: float
    """To the accelerator, one direction [bytes/s]."""
    memory: float
    """Host memory [bytes/s]."""


def host_of(part: Accelerator) -> Host:
    """Link and host memory of an accelerator from the catalog, else the assumptions above."""
    link = part.host_gb_per_s or ASSUMED_LINK_GB_PER_S
    memory = part.host_memory_gb_per_s or ASSUMED_MEMORY_GB_PER_S
    return Host(link * 1e9 * HOST_EFFICIENCY, memory * 1e9 * HOST_EFFICIENCY)


def is_assumed(part: Accelerator) -> bool:
    """The catalog does not say how the accelerator is joined to its host."""
    return part.host_gb_per_s is None or part.host_memory_gb_per_s is None


def host_step_s(host: Host, parameters: float, gradient: int) -> float:
    """Optimizer step of so many parameters in host memory [s]: max(g n / link, (26 + g) n / memory, 2 n / link).

    gradient: bytes g of one, 4 in fp32, 2 in bf16.
    """
    return parameters * max(max(gradient, UP_BYTES) / host.link, (STEP_BYTES + gradient) / host.memory)
