"""What groups of every layer over sites wait for, and send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.across.cross_layers import SPANNING, added, sizes_gb
from dcplan.training.across.sync import across_sites
from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, seconds, used

if TYPE_CHECKING:
    from dcplan.model.network import Pair
    from dcplan.training.explain.picture import Picture


def cross_layers(of: Picture) -> Worked:
    """Exchange of every layer between sites."""
    layout = of.layout
    if layout.across not in SPANNING:
        return NOTHING
    found = max((added(of.workload, layout, of.where, box, of.links) for box in of.boxes), key=lambda one: one.total_s)
    inputs = (
        number("D", found.kind.dense, "layers without experts in the fullest stage"),
        seconds("d", found.dense_s, "what each waits for between sites, for one microbatch forward and backward"),
        number("M", found.kind.moe, "layers with experts there"),
        seconds("e", found.moe_s, "the same of each"),
        number("E", found.kind.embedding + found.kind.head, "embedding and logits there"),
        seconds("h", found.ends_s, "the same of each"),
        number("m", layout.microbatches, "microbatches"),
        number("p", layout.pp, "stages"),
        number("v", layout.virtual_stages, "virtual stages"),
    )
    return Worked("(D × d + M × e + E × h) × (m + (p − 1) / v)", inputs)


def between(of: Picture) -> dict[Pair, Worked]:
    """Bytes of a step between each pair of sites: gradients as far as they cross, and what layers exchange [GB]."""
    load, layout = of.workload, of.layout
    moe = shapes.moe_layers(load.model)
    routed = moe * shapes.layer_size(load.model, moe=True).experts if layout.across == "ep" else 0.0
    share = across_sites(load, layout.spread).share
    layers = sizes_gb(load, layout, of.where, of.boxes[0])
    found = {}
    for ends in sorted({*share, *layers}):
        dense, sparse, head = layers.get(ends, (0.0, 0.0, 0.0))
        inputs = (
            number("u", share.get(ends, 0.0), "gradients that go between the two, over all that cross"),
            number("N", shapes.parameters(load.model) - routed, "parameters whose gradients cross"),
            Quantity("g", load.gradient_bits, "bit", "an element on the wire"),
            number("m", layout.microbatches, "microbatches"),
            number("D", load.model.layers - moe, "layers without experts"),
            Quantity("d", dense, "GB", "what each exchanges for one microbatch of all ranks"),
            number("M", moe, "layers with experts"),
            Quantity("e", sparse, "GB", "the same of each"),
            Quantity("h", head, "GB", "the same of embedding and logits, each"),
        )
        found[ends] = used("u × N × g / 8 / 1e9 + m × (D × d + M × e + 2 × h)", inputs)
    return found
