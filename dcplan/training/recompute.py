"""Pieces of a layer that selective recompute drops and makes anew in the backward pass, beside the attention core.

layernorm: outputs of both norms; mla_up_proj: queries, keys and values, from the latent vectors, which stay; mlp: all
of a feed-forward block without experts but its input; moe_act: what leaves the activation function of routed experts.
Source: Megatron-LM --recompute-modules; DeepSeek-V3 report, section 3.2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training import shapes

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Tile


def pieces(model: ModelShape, tile: Tile, *, moe: bool) -> tuple[str, ...]:
    """Those that a layer has, where recompute is selective."""
    if tile.recompute != "selective":
        return ()
    there = {"layernorm": True, "mla_up_proj": model.mla is not None, "mlp": not moe, "moe_act": moe}
    return tuple(piece for piece in tile.recompute_modules if there[piece])


def dropped_bytes(model: ModelShape, tile: Tile, *, moe: bool, skew: float) -> float:
    """What is not kept of one token [bytes on one accelerator]."""
    dropped = 0.0
    for piece in pieces(model, tile, moe=moe):
        if piece == "layernorm":
            dropped += 4 * model.hidden / (tile.tp if tile.sequence_parallel else 1)
        elif piece == "mla_up_proj" and model.mla:
            latent = model.mla.q_lora + model.mla.kv_lora + model.mla.qk_rope
            dropped += 2 * (shapes.qkv_width(model) / tile.tp - latent)
        elif piece == "mlp":
            dropped += (6 if model.glu else 4) * model.ffn / tile.tp
        else:
            dropped += 2 * skew * (model.topk or 1) * (model.moe_ffn or model.ffn) / tile.tp
    return dropped


def again_s(model: ModelShape, tokens: float, tile: Tile, machine: Machine, *, moe: bool, skew: float) -> float:
    """What making them anew takes of one microbatch: products, and bytes that element-wise kernels move [s]."""
    flops = moved = 0.0
    for piece in pieces(model, tile, moe=moe):
        if piece == "layernorm":
            moved += 8 * model.hidden / (tile.tp if tile.sequence_parallel else 1)
        elif piece == "mla_up_proj" and model.mla:
            mla = model.mla
            key_value = mla.kv_lora * (mla.qk_nope + mla.v)
            flops += 2 * model.heads * (mla.q_lora * (mla.qk_nope + mla.qk_rope) + key_value) / tile.tp
            moved += 4 * shapes.qkv_width(model) / tile.tp
        elif piece == "mlp":
            flops += 2 * (3 if model.glu else 2) * model.hidden * model.ffn / tile.tp
            moved += (6 if model.glu else 4) * model.ffn / tile.tp
        else:
            moved += (6 if model.glu else 4) * skew * (model.topk or 1) * (model.moe_ffn or model.ffn) / tile.tp
    return tokens * (flops / machine.gemm_flops + moved / machine.hbm)
