"""Bytes that each parameter keeps and moves: weight, gradient, and what Adam has of it.

Source: Megatron-LM --grad-reduce-in-bf16, --fp8-param-gather, --exp-avg-dtype and --exp-avg-sq-dtype (precision-aware
optimizer); Rajbhandari et al. 2020 (ZeRO) for what is kept without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training.site.precision import PRECISIONS

if TYPE_CHECKING:
    from dcplan.model.job import ParallelismPlan
    from dcplan.training.step import Layout, Spread, Tile

MASTER_BYTES = 4
"""The weight that Adam steps, fp32."""
MOMENTS = {"fp32": 4, "bf16": 2, "fp8": 1}
"""Bytes of each of its two moments."""
ADAM_BYTES = MASTER_BYTES + 2 * MOMENTS["fp32"]
"""Adam's own where nothing is said."""
FP8_WEIGHT_BYTES = 2
"""A weight in fp8 alone, once along rows and once along columns, without one in bf16."""


def gradient_bytes(of: Layout | Spread | Tile) -> int:
    """A gradient as it is added up and reduced inside a site: fp32, or bf16."""
    return 4 if of.grad_reduce_in_fp32 else 2


def weight_bytes(layout: Layout | Spread, precision: str) -> float:
    """A weight as kept: bf16 with what the precision copies of it, or fp8 alone."""
    return FP8_WEIGHT_BYTES if layout.fp8_param_gather else PRECISIONS[precision].weight_bytes


def gathered_bytes(layout: Layout | Spread) -> int:
    """A weight on its way from the rank that stepped it: bf16, or fp8."""
    return 1 if layout.fp8_param_gather else 2


def adam_bytes(of: Layout | Spread | ParallelismPlan) -> int:
    """Adam's own: the fp32 weight and two moments."""
    return MASTER_BYTES + 2 * MOMENTS[of.exp_avg_dtype]


def adam_traffic(layout: Layout | Spread) -> int:
    """What a step of Adam reads and writes: the gradient once, its own twice, and the new weight; 30 as a rule."""
    return gradient_bytes(layout) + 2 * adam_bytes(layout) + 2


def refusal(layout: Layout, precision: str) -> str | None:
    """Why a parameter cannot be kept so, in words; None where it can."""
    if layout.fp8_param_gather and precision != "fp8":
        return f"fp8_param_gather keeps weights in fp8 alone, the job multiplies in {precision}"
    if layout.exp_avg_dtype != "fp32" and layout.optimizer_offload_percent:
        return f"an optimizer in the host keeps its moments in fp32, exp_avg_dtype is {layout.exp_avg_dtype}"
    return None
