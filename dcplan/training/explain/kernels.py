"""What one layer takes of one microbatch on one accelerator, from its products and the bytes that it moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.compute import FLASH_BACKWARD, costs, imbalance, layer_kernels
from dcplan.training.explain.quantities import Quantity, Worked, number, seconds, used
from dcplan.training.recompute import again_s, pieces
from dcplan.training.state import gradient_bytes

if TYPE_CHECKING:
    from dcplan.training.explain.picture import Picture


def of_layers(of: Picture) -> dict[str, tuple[float, Worked]]:
    """Compute of a layer, forward and backward, by name [s]: of each kind that the stage shown holds."""
    found: dict[str, tuple[float, Worked]] = {}
    if of.holds is None:
        return found
    takes = costs(of.workload, of.boxes[of.fast], of.layout.tile)
    for count, cost, name in (
        (of.holds.dense, takes.dense, "layer"),
        (of.holds.moe, takes.moe, "layer with experts"),
    ):
        if count:
            moe = name != "layer"
            forward, backward, inputs = _formulas(of, moe=moe)
            if not moe:
                found["products of a layer"] = (
                    layer_kernels(of.workload, of.layout.tile, of.boxes[of.fast], moe=False).products_s,
                    _products(of),
                )
            found[f"{name}, forward"] = (cost.forward.compute_s, used(forward, inputs))
            found[f"{name}, backward"] = (cost.backward.compute_s, used(backward, inputs))
    return found


def _products(of: Picture) -> Worked:
    """2 × tokens × parameters / tp over the rate that products reach."""
    tile, model = of.layout.tile, of.workload.model
    inputs = (
        number("T", tile.microbatch * of.workload.sequence_length / tile.cp, "tokens of a microbatch on a rank"),
        number("N", shapes.layer_size(model, moe=False).met, "parameters in products that a token meets"),
        number("t", tile.tp, "tensor parallel size"),
        Quantity("R", of.boxes[of.fast].gemm_flops, "FLOP/s", "rate of products: peak × efficiency as calibrated"),
    )
    return Worked("2 × T × N / t / R", inputs)


def _formulas(of: Picture, *, moe: bool) -> tuple[str, str, tuple[Quantity, ...]]:
    """Forward and backward, and what they are of."""
    box, tile = of.boxes[of.fast], of.layout.tile
    kernels = layer_kernels(of.workload, tile, box, moe=moe)
    inputs: tuple[Quantity, ...] = (
        seconds("P", kernels.products_s, "matrix products of linear layers and experts, forward"),
        seconds("C", kernels.core_s, "products of the attention core, forward"),
        number("u", FLASH_BACKWARD if box.modern else 2.0, "the same backward over forward"),
        Quantity("Z", kernels.other_bytes, "bytes", "element-wise kernels, and operands of products"),
        Quantity("V", kernels.core_bytes, "bytes", "softmax of the attention core; on chip with flash attention"),
        number("N", kernels.weights, "parameters of the layer on one accelerator"),
        Quantity("r", box.operand_bytes, "bytes", "a weight as products read it"),
        Quantity("g", gradient_bytes(tile), "bytes", "a gradient as it is added up"),
        Quantity("w", box.hbm, "bytes/s", "memory of one accelerator, as calibrated"),
        seconds("k", box.layer_s, "fixed time of a pass through a layer, as calibrated"),
    )
    forward = "P + C + (Z + V + r × N) / w + k"
    backward = "2 × P + u × C + (2 × Z + 19 / 13 × V + (r + 2 × g) × N) / w + k"
    if tile.recompute == "full":
        return forward, f"{backward} + {forward}", inputs
    if again := pieces(of.workload.model, tile, moe=moe):
        backward += " + y"
        tokens = tile.microbatch * of.workload.sequence_length / tile.cp
        again_s_ = again_s(of.workload.model, tokens, tile, box, moe=moe, skew=imbalance(of.workload, tile))
        inputs = (*inputs, seconds("y", again_s_, f"{', '.join(again)} made anew"))
    if tile.recompute == "selective" and not box.modern:
        return forward, f"{backward} + C + V / w", inputs
    return forward, backward, inputs
