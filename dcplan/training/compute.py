"""What one microbatch costs one accelerator in one layer, forward and backward: kernels and collectives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training import shapes
from dcplan.training.launches import host_s
from dcplan.training.recompute import again_s
from dcplan.training.remember import remembered
from dcplan.training.site.collectives import all_reduce_s, all_to_all_s, group, reduce_scatter_s, scatter_and_gather_s
from dcplan.training.state import gradient_bytes

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Tile, Workload

FLASH_EFFICIENCY = {2: 0.5, 3: 0.75}
"""Rate of flash attention over that of large matrix products, by generation: about 640 TFLOP/s forward and 560 backward
with the third and 400 and 330 with the second where those reach 750 to 800 on an H100 (FlashAttention-3, Shah et al.
2024, figures 5 and 6, from memory)."""
EXPERT_BIAS_BYTES = 22
"""Moved for each unit of a routed token where experts have a bias, a third of 28 forward and 38 backward: its product
with the probability in fp32, the sum, all experts' in one tensor, and back to bf16 (Megatron-Core, _apply_bias)."""
MOE_FFN = 2048
"""Inner size of the experts that a calibration's moe_efficiency is for."""
FLASH_BACKWARD = 2.5
"""Products in the backward pass of flash attention over those in the forward (Dao 2023: five against two)."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Time of one pass of one microbatch [s]."""

    compute_s: float = 0.0
    tp_s: float = 0.0
    cp_s: float = 0.0
    ep_s: float = 0.0
    host_s: float = 0.0
    """In which the host launches all of it, at the same time; see `launches`."""

    @property
    def device_s(self) -> float:
        """What the accelerator does [s]."""
        return self.compute_s + self.tp_s + self.cp_s + self.ep_s

    @property
    def waits_s(self) -> float:
        """The accelerator waits for its host [s]."""
        return max(0.0, self.host_s - self.device_s)

    @property
    def total_s(self) -> float:
        """All of it: the accelerator waits for a host that is slower [s]."""
        device_s = self.compute_s + self.tp_s + self.cp_s + self.ep_s
        return self.host_s if self.host_s > device_s else device_s  # noqa: FURB136  no call: searches ask millions

    def __add__(self, other: Pass) -> Pass:
        return Pass(
            self.compute_s + other.compute_s,
            self.tp_s + other.tp_s,
            self.cp_s + other.cp_s,
            self.ep_s + other.ep_s,
            self.host_s + other.host_s,
        )

    def times(self, factor: float) -> Pass:
        """The pass `factor` times over."""
        return Pass(
            self.compute_s * factor,
            self.tp_s * factor,
            self.cp_s * factor,
            self.ep_s * factor,
            self.host_s * factor,
        )


class Cost(NamedTuple):
    """Of one microbatch."""

    forward: Pass
    backward: Pass
    weights_s: float
    """The part of the backward compute that makes gradients of weights, which no other stage waits for [s]."""


class Costs(NamedTuple):
    """Forward and backward of one microbatch in each of what a stage may hold."""

    dense: Cost
    """One layer without experts."""
    moe: Cost
    """One layer with experts; that of a dense layer where there is none."""
    embedding: Cost
    head: Cost


@remembered
def costs(workload: Workload, machine: Machine, tile: Tile) -> Costs:
    """What layers, embedding and logits cost on one kind of accelerator; see the functions below."""
    model, s = workload.model, workload.sequence_length
    dense = layer_cost(workload, tile, machine, moe=False)
    return Costs(
        dense=dense,
        moe=layer_cost(workload, tile, machine, moe=True) if shapes.is_moe(model) else dense,
        embedding=embedding_cost(model, s, tile, machine),
        head=head_cost(model, s, tile, machine),
    )


def imbalance(workload: Workload, tile: Tile) -> float:
    """Tokens routed to the fullest expert parallel rank over the mean; 1 where every rank has all experts."""
    return workload.expert_imbalance if tile.ep > 1 else 1.0


class Kernels(NamedTuple):
    """What one accelerator computes of one layer for one microbatch, forward."""

    products_s: float
    """Matrix products of linear layers and experts [s]."""
    core_s: float
    """Products of the attention core [s]."""
    core_bytes: float
    """What its softmax reads and writes where it is not flash attention."""
    other_bytes: float
    """What element-wise kernels and the operands of products read and write."""
    operand_bytes: float
    """The part of it that is operands of products, weights apart."""
    weights: float
    """Parameters."""


def layer_kernels(workload: Workload, tile: Tile, machine: Machine, *, moe: bool) -> Kernels:
    """The kernels of one layer; see `layer_cost` for what they take."""
    model, s, skew = workload.model, workload.sequence_length, imbalance(workload, tile)
    tokens = tile.microbatch * s / tile.cp
    core, core_traffic = _attention_core(model, s, tokens, tile, machine)
    if workload.attention == "full" and machine.modern:
        core *= 2
    size = shapes.layer_size(model, moe=moe)
    operands = _operand_bytes(model, tokens, tile, moe=moe, skew=skew)
    return Kernels(
        products_s=_products_s(model, tokens, tile, machine, moe=moe, skew=skew),
        core_s=core,
        core_bytes=core_traffic,
        other_bytes=_elementwise_bytes(model, tokens, tile, moe=moe, skew=skew) + operands,
        operand_bytes=operands,
        weights=(size.shared + size.experts / tile.ep) / tile.tp,
    )


def layer_cost(workload: Workload, tile: Tile, machine: Machine, *, moe: bool) -> Cost:
    """Forward and backward of one layer for one microbatch.

    Kernels: FLOPs / (peak × efficiency) + bytes / (HBM × efficiency) + a fixed time per pass, without overlap of the
    two (Isaev et al. 2023, Calculon). Backward of a matrix product is twice its forward. Full recompute adds one
    forward with its collectives; selective recompute adds the pieces of `recompute`, and one attention core where it is
    not flash attention, which recomputes by itself. Element-wise bytes per token: Korthikanti et al. 2022, section 4,
    read and write of each tensor stored there. A weight is read in each pass, its gradient read and written backward.
    The host launches at the same time, see `launches`. In fp8 and fp4
    linear layers and experts multiply faster, and weights and what is gathered or dispatched for them take fewer bytes
    (see `precision`); attention core, logits, element-wise kernels and what is reduced or combined stay as in bf16
    (casts are fused with norms and activation functions; transposes take what reads of fewer bytes save). Gradients of
    weights: as many products as forward, both operands read, the gradient read and written. Full attention has twice
    the products of causal. The step is that of the expert parallel rank that gets most tokens; see `imbalance`.
    """
    model, skew = workload.model, imbalance(workload, tile)
    tokens = tile.microbatch * workload.sequence_length / tile.cp
    products, core, core_traffic, kernels, operands, weights = layer_kernels(workload, tile, machine, moe=moe)
    read = machine.operand_bytes * weights
    forward_compute = products + core + (kernels + core_traffic + read) / machine.hbm + machine.layer_s
    core_backward = core * (FLASH_BACKWARD if machine.modern else 2.0)
    backward_compute = (
        2 * products
        + core_backward
        + (2 * kernels + 19 / 13 * core_traffic + read + 2 * gradient_bytes(tile) * weights) / machine.hbm
    ) + machine.layer_s
    tp = _tp_s(model, tokens, tile, machine, moe=moe)
    cp = _cp_s(model, tokens, tile, machine)
    ep = _ep_s(model, skew * tokens, tile, machine) if moe else 0.0
    if tile.cp_exchange == "ring":
        cp_forward, cp_backward = _hidden(cp, core), _hidden(2 * cp, core_backward)
    else:
        cp_forward, cp_backward = cp, 2 * cp
    host_forward, host_backward = host_s(model, tile, machine, moe=moe)
    forward = Pass(forward_compute, tp, cp_forward, ep, host_forward)
    backward = Pass(backward_compute, tp, cp_backward, ep)
    if tile.recompute == "full":
        backward += forward
    elif tile.recompute == "selective":
        again = again_s(model, tokens, tile, machine, moe=moe, skew=skew)
        backward += Pass(again + (0.0 if machine.modern else core + core_traffic / machine.hbm))
    backward = replace(backward, host_s=host_backward)
    return Cost(forward, backward, products + (operands + 2 * gradient_bytes(tile) * weights) / machine.hbm)


def head_cost(model: ModelShape, s: int, tile: Tile, machine: Machine) -> Cost:
    """Logits and loss of one microbatch: 2 T h V / t products, 12 and 6 bytes per logit, one all-reduce backward."""
    tokens = tile.microbatch * s / tile.cp
    logits = tokens * model.vocab / tile.tp
    products = 2 * logits * model.hidden / machine.bf16_flops
    weights = shapes.embedding_parameters(model) / tile.tp
    added = 2 * gradient_bytes(tile)
    reduce_s = _tp_sum_s(tile, machine, 2 * tokens * model.hidden)
    forward = Pass(products + (12 * logits + 2 * weights) / machine.hbm)
    backward = Pass(2 * products + (6 * logits + (2 + added) * weights) / machine.hbm, reduce_s)
    return Cost(forward, backward, products + added * weights / machine.hbm)


def embedding_cost(model: ModelShape, s: int, tile: Tile, machine: Machine) -> Cost:
    """Look-up and its gradient: 4 bytes and 10 bytes per token and hidden unit; one all-reduce forward."""
    width = tile.microbatch * s / tile.cp * model.hidden
    reduce_s = _tp_sum_s(tile, machine, 2 * width)
    gradient_s = 10 * width / machine.hbm
    return Cost(Pass(4 * width / machine.hbm, reduce_s), Pass(gradient_s), gradient_s)


def _products_s(model: ModelShape, tokens: float, tile: Tile, machine: Machine, *, moe: bool, skew: float) -> float:
    """Products of every token at the rate of large ones, those of routed experts slower by 1 + (1/e − 1) w/f.

    e = moe_efficiency, reached by experts of inner size w = 2,048 (DeepSeek-V3); f = inner size of these; skew: tokens
    of the fullest rank over the mean. To route, gather, pad and cast a token costs the same however large its experts
    are, their products grow with f: DeepSeek-V3 (2,048) and Grok-1 (32,768) run at 17 and 54 % of peak on the same
    H100 (NVIDIA dgxc-benchmarking).
    """
    size = shapes.layer_size(model, moe=moe)
    dense = 2 * tokens * (size.met - size.met_experts) / tile.tp / machine.gemm_flops
    if not moe:
        return dense
    slower = 1 + (1 / machine.moe_efficiency - 1) * MOE_FFN / (model.moe_ffn or model.ffn)
    return dense + slower * 2 * tokens * skew * size.met_experts / tile.tp / machine.gemm_flops


def _attention_core(model: ModelShape, s: int, tokens: float, tile: Tile, machine: Machine) -> tuple[float, float]:
    """Time of its products and bytes of its softmax. Flash skips the masked half and keeps scores on chip."""
    rate = machine.core_flops if tile.fp8_attention else machine.bf16_flops
    full = 2 * tokens * s * shapes.attention_width(model) / tile.tp / rate
    if machine.modern:
        return full / 2 / FLASH_EFFICIENCY[tile.flash_attention], 0.0
    return full, 13 * tokens * s * model.heads / tile.tp


def _elementwise_bytes(model: ModelShape, tokens: float, tile: Tile, *, moe: bool, skew: float) -> float:
    """Norms, residuals and dropout (22 per hidden unit), copies around attention, activation function, routing.

    Where experts are fused, their activation function is part of the first product.
    """
    spread = tile.tp if tile.sequence_parallel else 1
    per_ffn, (width, _) = 6 if model.glu else 4, _feed_forward(model, moe=moe, skew=skew)
    fused = moe and tile.fused_experts
    sharded = 4 * shapes.qkv_width(model) + per_ffn * (width - fused * _routed_width(model, skew))
    biased = EXPERT_BIAS_BYTES if model.expert_bias and not fused else 0
    routed = (8 + biased) * skew * (model.topk or 1) * model.hidden if moe else 0  # gather and scatter of routed tokens
    return tokens * (22 * model.hidden / spread + (sharded + routed) / tile.tp)


def _operand_bytes(model: ModelShape, tokens: float, tile: Tile, *, moe: bool, skew: float) -> float:
    """What matrix products read and write beside their weights, 2 bytes each: input and output of every one.

    4 h + qkv + attention output + inner feed-forward on both sides; where experts are fused, of theirs only what the
    second product takes.
    """
    per_ffn, (width, visited) = 3 if model.glu else 2, _feed_forward(model, moe=moe, skew=skew)
    inner = per_ffn * width - (per_ffn - 1) * (_routed_width(model, skew) if moe and tile.fused_experts else 0.0)
    sharded = 2 * (shapes.qkv_width(model) + shapes.attention_width(model) // 2 + inner)
    return tokens * (4 * (1 + visited) * model.hidden + sharded / tile.tp)


def _routed_width(model: ModelShape, skew: float) -> float:
    """Inner width of the routed experts that a token visits."""
    return skew * (model.topk or 1) * (model.moe_ffn or model.ffn)


def _feed_forward(model: ModelShape, *, moe: bool, skew: float) -> tuple[float, float]:
    """Inner width for each token, and feed-forward blocks that it visits, on the fullest expert parallel rank."""
    if not moe:
        return model.ffn, 1
    visited = skew * (model.topk or 1) + model.shared_experts
    return (model.moe_ffn or model.ffn) * visited, visited


def _tp_s(model: ModelShape, tokens: float, tile: Tile, machine: Machine, *, moe: bool) -> float:
    """Two all-reduces of 2 T h bytes a pass; reduce-scatter and all-gather with sequence parallelism: same bytes.

    In a layer with experts the second one carries the tokens of every expert they visit. In fp8 the gathered half is
    1 byte (Transformer Engine casts before it gathers); without sequence parallelism nothing is gathered.
    """
    if tile.tp == 1:
        return 0.0
    size, second = _tp_bytes(model, tokens, tile, machine, moe=moe)
    return _tp_sum_s(tile, machine, size) + _tp_sum_s(tile, machine, second)


def _tp_bytes(model: ModelShape, tokens: float, tile: Tile, machine: Machine, *, moe: bool) -> tuple[float, float]:
    gathered = machine.operand_bytes if tile.sequence_parallel else 2
    size = (2 + gathered) / 2 * tokens * model.hidden
    return size, size * ((model.topk or 1) + (1 if model.shared_experts else 0)) if moe else size


def tp_bytes(workload: Workload, tile: Tile, machine: Machine, *, moe: bool) -> tuple[float, float]:
    """What the two all-reduces of a layer sum for one microbatch, each pass; see `_tp_s` [bytes]."""
    tokens = tile.microbatch * workload.sequence_length / tile.cp
    return _tp_bytes(workload.model, tokens, tile, machine, moe=moe)


def ring_exchange_s(workload: Workload, tile: Tile, machine: Machine) -> float:
    """Keys and values once round the ring of a site, before any of it is hidden [s]."""
    return _cp_s(workload.model, tile.microbatch * workload.sequence_length / tile.cp, tile, machine)


def attention_core_s(workload: Workload, tile: Tile, machine: Machine) -> tuple[float, float]:
    """Products of the attention core of a layer, forward and backward, which a ring hides behind [s]."""
    tokens = tile.microbatch * workload.sequence_length / tile.cp
    core, _ = _attention_core(workload.model, workload.sequence_length, tokens, tile, machine)
    if workload.attention == "full" and machine.modern:
        core *= 2
    return core, core * (FLASH_BACKWARD if machine.modern else 2.0)


def _tp_sum_s(tile: Tile, machine: Machine, size: float) -> float:
    over = group(machine, tile.tp, 1)
    return scatter_and_gather_s(over, size) if tile.sequence_parallel else all_reduce_s(over, size)


def _cp_s(model: ModelShape, tokens: float, tile: Tile, machine: Machine) -> float:
    """Keys and values go once round the ring: (c−1) × 2 bytes × tokens × width / t.

    Backward as much again, and their gradients the other way. all-gather: the same bytes in one collective before the
    attention core, backward another and a reduce-scatter of gradients (Grattafiori et al. 2024, section 3.3.2).
    """
    if tile.cp == 1:
        return 0.0
    over = group(machine, tile.cp, tile.tp)
    size = 2 * tokens * shapes.kv_width(model) / tile.tp
    if tile.cp_exchange == "all-gather":
        return reduce_scatter_s(over, tile.cp * size)
    return (tile.cp - 1) * (size / over.ring + over.hop_s)


def _ep_s(model: ModelShape, tokens: float, tile: Tile, machine: Machine) -> float:
    """Dispatch and combine of one pass: two all-to-alls of 2 T h topk / t bytes; dispatch in fp8 halves one.

    A token goes to another scale-up domain once, however many of its experts are there, and is copied inside by
    scale-up; its results are added up there on the way back (DeepSeek-V3 report, section 3.2.2). With experts drawn
    evenly over D domains that is (D−1)(1 − (1−1/D)^topk) copies instead of topk (D−1)/D.
    Software before that sends every copy, see `one_copy`.
    """
    over = group(machine, tile.ep, tile.tp)
    topk, domains = model.topk or 1, max(1.0, over.ranks / over.inside)
    one_s = 0.0
    for width in (machine.dispatch_bytes, 2):
        copy = width * tokens * model.hidden / tile.tp
        once = domains * (1 - (1 - 1 / domains) ** topk) if one_copy(tile, machine) else topk
        one_s += all_to_all_s(over, machine, copy * topk, copy * once, tile.tp)
    return one_s


def one_copy(tile: Tile, machine: Machine) -> bool:
    """A token goes to another scale-up domain once, however many of its experts are there."""
    asked = tile.token_dispatcher
    return machine.one_copy if asked is None else asked == "flex"


def _hidden(exchange_s: float, core_s: float) -> float:
    """Ring attention hides the exchange of one block behind the products of another."""
    return max(0.0, exchange_s - core_s)
