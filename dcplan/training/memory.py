"""Memory of the fullest accelerator: weights, gradients, optimizer state and activations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.machine import is_modern
from dcplan.training.pipeline import StageLayers, stage_layers
from dcplan.training.step import Memory

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.step import Layout, Share, Workload

GRADIENT_BYTES = 4
"""Gradients are accumulated in fp32."""
OPTIMIZER_BYTES = 12
"""Adam: fp32 master weight and two moments."""
USABLE = 0.95
"""Share of the memory that a framework can fill; the rest is for the driver, NCCL buffers and fragmentation."""


def memory(workload: Workload, layout: Layout, extra_in_flight: int = 0) -> Memory:
    """Memory of the fullest accelerator, on the share with the least memory.

    Weights 2 B (4 B with fp8 copies), gradients 4 B, Adam 12 B per parameter, each divided by the sharding group
    from sharding 3, 2 and 1 on (ZeRO, Rajbhandari et al. 2020; Megatron-LM README). Activations: see
    `activation_bytes` times the microbatches in flight: min(p, m) in the first stage, + (p−1)/v when interleaved,
    + extra_in_flight upstream of boundaries between sites. The fullest of first, second and last stage is taken.
    """
    share = smallest(workload)
    in_flight = _in_flight(layout, extra_in_flight)
    kinds = stage_layers(workload.model, layout.pp, layout.virtual_stages)
    options = [_stage(workload, layout, share, kind, flight) for kind, flight in zip(kinds, in_flight, strict=True)]
    return max(options, key=lambda memory: memory.total_gb)


def fits(used: Memory) -> bool:
    """It fits, with room for driver, NCCL and fragmentation."""
    return used.total_gb <= USABLE * used.capacity_gb


def smallest(workload: Workload) -> Share:
    """The share whose accelerators have the least memory."""
    return min(workload.shares, key=lambda share: share.accelerator.hbm_gb)


def in_flight_gb(workload: Workload, layout: Layout) -> float:
    """Activations that one more microbatch in flight takes in the first stage [GB]."""
    one, two = memory_of_first(workload, layout, 0), memory_of_first(workload, layout, 1)
    return two.activations_gb - one.activations_gb


def memory_of_first(workload: Workload, layout: Layout, extra: int) -> Memory:
    """Memory of the first stage, which holds most microbatches."""
    kind = stage_layers(workload.model, layout.pp, layout.virtual_stages)[0]
    return _stage(workload, layout, smallest(workload), kind, _in_flight(layout, extra)[0])


def activation_bytes(model: ModelShape, s: int, layout: Layout, *, moe: bool, flash: bool) -> float:
    """Bytes kept for the backward pass of one layer and one microbatch.

    none: s b h (10 + 24/t + 5 a s/(h t)) for GPT shapes; with sequence parallelism all of it is divided by t;
    selective, or flash attention: without the term in a s; full: 2 s b h, divided by t with sequence parallelism.
    Gated blocks keep three inner tensors instead of two, experts those of topk + shared blocks and the routed tokens.
    Source: Korthikanti et al. 2022, equations 1–6 and table 2; Megatron-LM theoretical_memory_usage.py.
    """
    tokens = layout.microbatch * s / layout.cp
    spread = layout.tp if layout.sequence_parallel else 1
    h = model.hidden
    if layout.recompute == "full":
        return 2 * tokens * h / spread
    width = model.ffn
    routed = 0
    if moe:
        visited = (model.topk or 1) + model.shared_experts
        width = (model.moe_ffn or model.ffn) * visited
        routed = 2 * h * (model.topk or 1)
    output = shapes.attention_width(model) // 2
    sharded = 2 * shapes.qkv_width(model) + 2 * output + (6 if model.glu else 4) * width + routed
    scores = 0.0 if flash or layout.recompute == "selective" else 5 * model.heads * s
    return tokens * (10 * h / spread + (sharded + scores) / layout.tp)


def _in_flight(layout: Layout, extra: int) -> tuple[float, ...]:
    """Microbatches whose activations the first, second and last stage hold."""
    p, m = layout.pp, layout.microbatches
    if p == 1:
        return (1.0,)
    ahead = (p - 1) / layout.virtual_stages if layout.virtual_stages > 1 else 0.0
    first, second, last = min(m, p + ahead + extra), min(m, p - 1 + ahead + extra), min(m, 1 + ahead)
    return (first, second, last) if p > 2 else (first, last)


def _stage(workload: Workload, layout: Layout, share: Share, kind: StageLayers, in_flight: float) -> Memory:
    model, s = workload.model, workload.sequence_length
    flash = is_modern(share)
    dense = shapes.layer_size(model, moe=False)
    sparse = shapes.layer_size(model, moe=True) if kind.moe else dense
    ends = shapes.embedding_parameters(model) * (1 if model.tied and layout.pp == 1 else kind.embedding + kind.head)
    shared = (kind.dense * dense.shared + kind.moe * sparse.shared + ends) / layout.tp
    experts = kind.moe * sparse.experts / (layout.ep * layout.tp)
    group = layout.shard_size * layout.cp
    shards = (group, max(1, group // layout.ep))

    def spread(bytes_each: float, since: int) -> float:
        parts = shards if layout.sharding >= since else (1, 1)
        return bytes_each * (shared / parts[0] + experts / parts[1])

    weight_bytes = 4 if workload.precision == "fp8" else 2
    gathered = 0.0
    if layout.sharding == 3:  # the layer at work and the next one are whole
        gathered = 2 * weight_bytes * (sparse.shared + sparse.experts / layout.ep) / layout.tp
    kept = kind.dense * activation_bytes(model, s, layout, moe=False, flash=flash)
    if kind.moe:
        kept += kind.moe * activation_bytes(model, s, layout, moe=True, flash=flash)
    return Memory(
        weights_gb=(spread(weight_bytes, 3) + gathered) / 1e9,
        gradients_gb=spread(GRADIENT_BYTES, 2) / 1e9,
        optimizer_gb=spread(OPTIMIZER_BYTES, 1) / 1e9,
        activations_gb=(kept * in_flight + _working(workload, layout, kind)) / 1e9,
        capacity_gb=share.accelerator.hbm_gb,
    )


def _working(workload: Workload, layout: Layout, kind: StageLayers) -> float:
    """What is alive only while it is used: one recomputed layer, and logits in bf16 and fp32."""
    model, s = workload.model, workload.sequence_length
    working = 0.0
    if layout.recompute == "full":
        whole = replace(layout, recompute="selective")
        working += activation_bytes(model, s, whole, moe=kind.moe > 0, flash=True)
    if kind.head:
        working += 6 * layout.microbatch * s / layout.cp * model.vocab / layout.tp
    return working
