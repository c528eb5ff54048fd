"""What the host does for a layer: it launches every operator, and an accelerator with too little work waits for it.

A framework walks through a layer in Python and hands operators to the accelerator one by one; a CUDA graph hands over
many at once. Operators of one forward pass, counted in the modules of Megatron-Core 0.15 with Transformer Engine 2.9
(norms, quantisation, products, position codes, copies, exchange, activation functions): an estimate, to 20 % or so.
What one takes on the host is `launch_us` of the accelerator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Tile

ATTENTION = 14
"""Norm, queries, keys and values in one product, position codes, attention core, output, residual."""
LATENT_ATTENTION = 30
"""The same with low-rank chains of queries and of keys and values, each with its norm."""
FEED_FORWARD = 8
"""Norm, two products, activation function, residual; shared experts are one as well."""
ROUTER = 12
"""Logits, choice of experts, auxiliary loss, and the counts that prepare the exchange."""
EXCHANGE = 10
"""Tokens are sorted, go to their experts, come back and are added up."""
EXPERT = 2
"""Two products of each expert on the accelerator; as many quantisations of their operands in fp8 and fp4, and where it
has a bias, its product with the probability of a token and the sum."""
BACKWARD = 2
"""Operators of a backward pass over those of a forward pass: every product has two gradients."""
GRAPH = 1
"""A graph is one launch."""


def launches(model: ModelShape, tile: Tile, machine: Machine, *, moe: bool) -> int:
    """Launches of one layer forward, by what of it CUDA graphs hold.

    none: attention + feed-forward, or attention + router + exchange + experts (+ shared experts) where there are any;
    router: router and the counts are one graph; layer: also attention and feed-forward blocks that every token meets,
    all with fixed shapes; step: nothing is left, the whole step is one graph.
    """
    if tile.cuda_graphs == "step":
        return 0
    layer = tile.cuda_graphs == "layer"
    attention = GRAPH if layer else LATENT_ATTENTION if model.mla else ATTENTION
    if not moe:
        return attention + (0 if layer else FEED_FORWARD)
    router = {"none": ROUTER, "router": GRAPH}.get(tile.cuda_graphs, 0)
    shared = FEED_FORWARD if model.shared_experts and not layer else 0
    each = EXPERT * (2 if machine.operand_bytes < 2 else 1) + (EXPERT if model.expert_bias else 0)
    return attention + router + shared + EXCHANGE + each * ((model.experts or 0) // tile.ep)


def host_s(model: ModelShape, tile: Tile, machine: Machine, *, moe: bool) -> tuple[float, float]:
    """What the host takes for one layer and microbatch, forward and backward; with full recompute forward twice [s]."""
    forward = launches(model, tile, machine, moe=moe) * machine.launch_s
    return forward, BACKWARD * forward + (forward if tile.recompute == "full" else 0.0)
