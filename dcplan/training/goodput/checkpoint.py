"""Checkpoints: how large, how long to write, how often, near and far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.goodput.renewal import Cycle, daly_s, young_s
from dcplan.training.state import ADAM_BYTES, adam_bytes

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.model.job import ParallelismPlan
    from dcplan.training.step import Layout

WEIGHT_BYTES = 2
"""bf16 weights beside the optimizer's fp32 master copy."""
STORE_GB_PER_S = 2000 / 16_384
"""Storage bandwidth for each accelerator where none is given [GB/s]: 2 TB/s for 16,384 (Llama 3, arXiv 2407.21783,
3.3.1, from memory)."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How checkpoints are written."""

    size_gb: float
    far_s: float
    """Writing it to storage, which survives everything [s]."""
    near_s: float | None
    """Copying it beside the accelerators, from where it is then written to storage while work goes on [s]; none: work
    waits for storage."""
    by_plan: bool = False
    """Nobody says how many bytes of a parameter are saved: these are with fp32 moments, see `under`."""

    def under(self, plan: Layout | ParallelismPlan) -> Writing:
        """The same under a plan, which may keep moments in fewer bytes; what bytes are given for stays as it is."""
        if not self.by_plan:
            return self
        part = (WEIGHT_BYTES + adam_bytes(plan)) / (WEIGHT_BYTES + ADAM_BYTES)
        near_s = None if self.near_s is None else self.near_s * part
        return Writing(self.size_gb * part, self.far_s * part, near_s)


def size_gb(model: ModelShape, bytes_per_parameter: float = WEIGHT_BYTES + ADAM_BYTES) -> float:
    """Weights and optimizer of all parameters, once: bf16 weight, fp32 master copy and two moments, 14 B each [GB]."""
    return shapes.parameters(model) * bytes_per_parameter / 1e9


def cycle(
    how: str | float,
    far_interval_s: float | None,
    writing: Writing,
    near_rate_per_s: float,
    far_rate_per_s: float,
    detection_s: float,
    restart_s: float,
    step_s: float,
) -> Cycle:
    """Checkpoints every so many whole steps, and what they meet.

    how: young or daly, from the time that a checkpoint stops the work and the failures that need it, or seconds.
    With near copies, one in k is written on to storage while work goes on: as often as the one before is done, or
    every far_interval_s; it counts once it is there. Where nothing fails, or nothing waits, there is one every step.
    """
    stall_s = writing.far_s if writing.near_s is None else writing.near_s
    rate = near_rate_per_s + (far_rate_per_s if writing.near_s is None else 0.0)
    if isinstance(how, str):
        wanted_s = (daly_s if how == "daly" else young_s)(stall_s, 1 / rate) if rate > 0 else math.inf
    else:
        wanted_s = how
    interval_s = step_s * max(1, round(wanted_s / step_s)) if math.isfinite(wanted_s) else math.inf
    if writing.near_s is None:
        return Cycle(interval_s, stall_s, rate, detection_s, restart_s)
    least_s = max(writing.far_s, far_interval_s or 0.0)
    every = max(1, math.ceil(least_s / (interval_s + stall_s) - 1e-9))
    return Cycle(
        interval_s, stall_s, near_rate_per_s, detection_s, restart_s, every, 0.0, far_rate_per_s, writing.far_s
    )
