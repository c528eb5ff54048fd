"""Memory of the fullest accelerator: weights, gradients, optimizer state and activations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dcplan.training import shapes
from dcplan.training.compute import imbalance
from dcplan.training.outer.exchange import host_bytes, state_bytes
from dcplan.training.pipeline import schedules
from dcplan.training.pipeline.stages import device_layers, held, layer_sizes, stage_parameters
from dcplan.training.recompute import dropped_bytes
from dcplan.training.remember import remembered
from dcplan.training.site.machine import is_modern
from dcplan.training.site.offload import KEPT_BYTES
from dcplan.training.state import adam_bytes, gradient_bytes, weight_bytes
from dcplan.training.step import Memory

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.pipeline.stages import Held, StageLayers
    from dcplan.training.step import Layout, Share, Spread, Tile, Workload

USABLE = 0.95
"""Share of the memory that a framework can fill; the rest is for the driver, NCCL buffers and fragmentation."""
_Layers = tuple[tuple[float, float], tuple[float, float]]


def memory(workload: Workload, layout: Layout, extra_in_flight: int = 0) -> Memory:
    """Memory of the fullest accelerator, on the share with the least memory.

    Weights 2 B (4 B with fp8 copies, 3.1 B with fp4 copies), gradients 4 B, Adam 12 B per parameter (or as `state`
    has them), each divided by
    the sharding group from sharding 3, 2 and 1 on (ZeRO, Rajbhandari et al. 2020; Megatron-LM README); state of outer
    steps with Adam's, see `outer.state_bytes`; what is offloaded of Adam's lies in the host. Activations: see
    `activation_bytes` times the microbatches in flight: min(p, m) in the first stage, + (p−1)/v when interleaved, + 1/v
    where passes are paired, + extra_in_flight upstream of boundaries between sites; `schedules.in_flight` for schedules
    that split the backward pass. The fullest of first, second and last stage is taken. dualpipe keeps weights and
    gradients twice; its copies are ranks of the sharding group.
    """
    kinds, flights = _kept_by_kind(workload, layout.spread), held_microbatches(layout, extra_in_flight)
    layers = layer_bytes(workload, layout.tile)
    each = [
        (kept, _activations_gb(workload, layout, layers, kept.kind, flight))
        for kept, flight in zip(kinds, flights, strict=False)  # two kinds if folded
    ]
    return _with_activations(*max(each, key=lambda one: one[0].total_gb + one[1]), smallest(workload))


def fits(used: Memory) -> bool:
    """It fits, with room for driver, NCCL and fragmentation."""
    return used.total_gb <= USABLE * used.capacity_gb


def in_host(used: Memory) -> bool:
    """What lies in the host fits there, as far as is known."""
    return used.host_capacity_gb is None or used.host_gb <= USABLE * used.host_capacity_gb


@remembered
def smallest(workload: Workload) -> Share:
    """The share whose accelerators have the least memory."""
    return min(workload.shares, key=lambda share: share.accelerator.hbm_gb)


@remembered
def room_alike(workload: Workload, layout: Layout) -> int:
    """Extra microbatches in flight that memory holds; never more than there are microbatches.

    Every stage is looked at: the first one may hold all microbatches already while others come to hold more.
    """
    least, most = 0, layout.microbatches
    if fits(memory(workload, layout, most)):
        return most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(memory(workload, layout, middle)) else (least, middle)
    return least


def activation_bytes(model: ModelShape, s: int, tile: Tile, *, moe: bool, flash: bool, skew: float = 1.0) -> float:
    """Bytes kept for the backward pass of one layer and one microbatch.

    none: s b h (10 + 24/t + 5 a s/(h t)) for GPT shapes; with sequence parallelism all of it is divided by t;
    selective, or flash attention: without the term in a s; full: 2 s b h, divided by t with sequence parallelism.
    Less what selective recompute drops beside, see `recompute`. Gated blocks keep three inner tensors instead of two,
    experts those of topk + shared blocks and the routed tokens; skew: tokens routed to the fullest expert parallel rank
    over the mean.
    Source: Korthikanti et al. 2022, equations 1–6 and table 2; Megatron-LM theoretical_memory_usage.py.
    """
    tokens = tile.microbatch * s / tile.cp
    spread = tile.tp if tile.sequence_parallel else 1
    h = model.hidden
    if tile.recompute == "full":
        return 2 * tokens * h / spread
    width: float = model.ffn
    routed = 0.0
    if moe:
        topk = skew * (model.topk or 1)
        width = (model.moe_ffn or model.ffn) * (topk + model.shared_experts)
        routed = 2 * h * topk
    output = shapes.attention_width(model) // 2
    sharded = 2 * shapes.qkv_width(model) + 2 * output + (6 if model.glu else 4) * width + routed
    kept = 10 * h / spread - dropped_bytes(model, tile, moe=moe, skew=skew)
    scores = 0.0 if flash or tile.recompute == "selective" else 5 * model.heads * s
    return tokens * (kept + (sharded + scores) / tile.tp)


def held_microbatches(layout: Layout, extra: int) -> tuple[float, ...]:
    """Microbatches whose activations the first, second and last stage hold; of two stages on a device, of each."""
    p, m = layout.pp, layout.microbatches
    if p == 1:
        return (float(min(m, 1 + layout.paired)),)
    if schedules.splits_backward(layout.schedule):
        held = schedules.in_flight(layout.schedule, p, m) / schedules.copies(layout.schedule)
        upstream = min(m, held + extra)
        return (upstream, upstream, held) if p > 2 else (upstream, held)
    ahead = (p - 1) / layout.virtual_stages if layout.virtual_stages > 1 else 0.0
    ahead += layout.paired / layout.virtual_stages
    first, second, last = min(m, p + ahead + extra), min(m, p - 1 + ahead + extra), min(m, 1 + ahead)
    return (first, second, last) if p > 2 else (first, last)


@remembered
def layer_bytes(workload: Workload, tile: Tile) -> _Layers:
    """Of a layer without experts and of one with: bytes kept for each microbatch, and alive while it is recomputed."""
    model, s, flash = workload.model, workload.sequence_length, is_modern(smallest(workload))
    whole, skew = tile._replace(recompute="selective", recompute_modules=()), imbalance(workload, tile)
    return tuple(
        (
            activation_bytes(model, s, tile, moe=moe, flash=flash, skew=skew),
            activation_bytes(model, s, whole, moe=moe, flash=True, skew=skew) if tile.recompute == "full" else 0.0,
        )
        for moe in (False, shapes.is_moe(model))
    )  # type: ignore[return-value]


def kind_memory(workload: Workload, layout: Layout, i: int, extra_in_flight: int) -> Memory:
    """That of one kind of stage, in the order of `device_layers`."""
    kept = _kept_by_kind(workload, layout.spread)[i]
    flight = held_microbatches(layout, extra_in_flight)[i]
    activations_gb = _activations_gb(workload, layout, layer_bytes(workload, layout.tile), kept.kind, flight)
    return _with_activations(kept, activations_gb, smallest(workload))


def stage_memory(workload: Workload, layout: Layout, kind: StageLayers, in_flight: float, share: Share) -> Memory:
    """Memory of an accelerator of a share whose stage holds so much, with so many microbatches in flight."""
    kept = _kept(workload, layout.spread, kind, held(workload, kind))
    activations_gb = _activations_gb(workload, layout, layer_bytes(workload, layout.tile), kind, in_flight)
    return _with_activations(kept, activations_gb, share)


class _Kept(NamedTuple):
    """What an accelerator keeps of its parameters, whatever the microbatches [GB]."""

    kind: StageLayers
    weights_gb: float
    gradients_gb: float
    optimizer_gb: float
    total_gb: float
    """Of the three."""
    host_gb: float


@remembered
def _kept_by_kind(workload: Workload, spread: Spread) -> tuple[_Kept, ...]:
    """Of each kind of stage, in the order of `device_layers`."""
    kinds = device_layers(workload.model, spread.pp, spread.virtual_stages, spread.schedule)
    parameters = stage_parameters(workload, spread.pp, spread.virtual_stages, spread.schedule)
    return tuple(_kept(workload, spread, kind, mine) for kind, mine in zip(kinds, parameters, strict=True))


def _kept(workload: Workload, spread: Spread, kind: StageLayers, parameters: Held) -> _Kept:
    shared, experts = parameters.shared / spread.tp, parameters.experts / (spread.ep * spread.tp)
    group = spread.shard_size * spread.cp * schedules.copies(spread.schedule)
    whole, part = shared + experts, shared / group + experts / max(1, group // spread.ep)
    each = weight_bytes(spread, workload.precision)
    weights = each * (part if spread.sharding >= 3 else whole)
    if spread.sharding == 3:  # the layer at work and the next one are whole
        layer = layer_sizes(workload)[kind.moe > 0]
        weights += 2 * each * (layer.shared + layer.experts / spread.ep) / spread.tp
    offloaded, stepped = spread.optimizer_offload_percent / 100, part if spread.sharding >= 1 else whole
    optimizer_bytes = adam_bytes(spread) * (1 - offloaded) + state_bytes(spread.sync, spread.outer)
    weights_gb, optimizer_gb = weights / 1e9, optimizer_bytes * stepped / 1e9
    gradients_gb = gradient_bytes(spread) * (part if spread.sharding >= 2 else whole) / 1e9
    host_gb = ((KEPT_BYTES + gradient_bytes(spread)) * offloaded + host_bytes(spread.outer)) * stepped / 1e9
    return _Kept(kind, weights_gb, gradients_gb, optimizer_gb, weights_gb + gradients_gb + optimizer_gb, host_gb)


def _activations_gb(workload: Workload, layout: Layout, layers: _Layers, kind: StageLayers, in_flight: float) -> float:
    """Of so many microbatches, of the layer at work, and of the logits, in bf16 and fp32 [GB]."""
    (dense, dense_again), (moe, moe_again) = layers
    working = moe_again if kind.moe else dense_again
    if layout.cp > 1 and layout.cp_exchange == "all-gather":
        working += gathered_bytes(workload, layout.tile)
    if kind.head:
        working += 6 * layout.microbatch * workload.sequence_length / layout.cp * workload.model.vocab / layout.tp
    return ((kind.dense * dense + kind.moe * moe) * in_flight + working) / 1e9


def _with_activations(kept: _Kept, activations_gb: float, share: Share) -> Memory:
    part = share.accelerator
    return Memory(
        weights_gb=kept.weights_gb,
        gradients_gb=kept.gradients_gb,
        optimizer_gb=kept.optimizer_gb,
        activations_gb=activations_gb,
        capacity_gb=part.hbm_gb,
        host_gb=kept.host_gb,
        host_capacity_gb=part.host_memory_gb if kept.host_gb else None,
    )


def gathered_bytes(workload: Workload, tile: Tile) -> float:
    """Keys and values of the whole sequence in the layer at work, bf16, and their gradients: 2 × 2 b s width / t."""
    return 4 * tile.microbatch * workload.sequence_length * shapes.kv_width(workload.model) / tile.tp
