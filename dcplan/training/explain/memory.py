"""Memory of the fullest accelerator, part by part, and the bytes between sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.across.place import crossings
from dcplan.training.across.sync import across_sites
from dcplan.training.explain import layers
from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, used
from dcplan.training.memory import (
    held_microbatches,
    kind_memory,
    layer_bytes,
)
from dcplan.training.outer.exchange import host_bytes, state_bytes
from dcplan.training.pipeline.line import by_speed, flights_of, layers_by_speed, memories
from dcplan.training.pipeline.schedules import copies
from dcplan.training.pipeline.stages import device_layers, held
from dcplan.training.shapes import parameters
from dcplan.training.site.offload import KEPT_BYTES
from dcplan.training.state import adam_bytes, gradient_bytes, weight_bytes
from dcplan.training.terms import cross_site_gb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dcplan.model.network import Pair
    from dcplan.training.explain.picture import Picture
    from dcplan.training.pipeline.stages import StageLayers
    from dcplan.training.step import Memory


WORKING = "alive only while it is used: a layer that is recomputed, keys and values that are gathered, logits"


@dataclass(frozen=True, slots=True)
class Stage:
    """The fullest stage of a picture."""

    of: Picture
    kind: StageLayers
    """What it holds."""
    in_flight: float
    """Microbatches."""
    used: Memory


@dataclass(frozen=True, slots=True)
class Part:
    """One part of `step.Memory`."""

    what: str
    source: str
    work: Callable[[Stage], Worked]


def fullest(of: Picture) -> Stage:
    """The stage whose accelerators hold most, in proportion where those differ."""
    layout, load = of.layout, of.workload
    extra = sum(boundary.extra for boundary in of.boundaries)
    own = layers_by_speed(load, layout, of.where, of.boxes) if of.placed and by_speed(load, layout) else None
    if own is not None:
        used, flights = memories(load, layout, own, extra), flights_of(layout, of.where, extra)
        i = max(range(len(used)), key=lambda i: used[i].total_gb / used[i].capacity_gb)
        return Stage(of, own[i], flights[i], used[i])
    kinds = device_layers(load.model, layout.pp, layout.virtual_stages, layout.schedule)
    each = [kind_memory(load, layout, i, extra) for i in range(len(kinds))]
    i = max(range(len(kinds)), key=lambda i: each[i].total_gb)
    return Stage(of, kinds[i], held_microbatches(layout, extra)[i], each[i])


def _weights(stage: Stage) -> Worked:
    layout, each = stage.of.layout, weight_bytes(stage.of.layout, stage.of.workload.precision)
    worked = _spread(stage, each, 3, "weight with its copies")
    if layout.sharding < 3:
        return worked
    spread = sum(each * held / shards for held, shards in _held(stage, 3)) / 1e9
    whole = Quantity("g", stage.used.weights_gb - spread, "GB", "the layer at work and the next one, whole")
    return Worked(f"{worked.formula} + g", (*worked.inputs, whole))


def _gradients(stage: Stage) -> Worked:
    return _spread(stage, gradient_bytes(stage.of.layout), 2, "gradient")


def _optimizer(stage: Stage) -> Worked:
    layout = stage.of.layout
    each = adam_bytes(layout) * (1 - layout.optimizer_offload_percent / 100) + state_bytes(layout.sync, layout.outer)
    return _spread(stage, each, 1, "Adam that is not offloaded, and outer steps")


def _host(stage: Stage) -> Worked:
    layout = stage.of.layout
    offloaded = (KEPT_BYTES + gradient_bytes(layout)) * layout.optimizer_offload_percent / 100
    each = offloaded + host_bytes(layout.outer)
    return _spread(stage, each, 1, "Adam and gradient that are offloaded, state of outer steps") if each else NOTHING


def _held(stage: Stage, since: int) -> tuple[tuple[float, int], tuple[float, int]]:
    """Parameters of an accelerator that every token meets, and routed experts, each with what shards them."""
    layout = stage.of.layout
    mine = held(stage.of.workload, stage.kind)
    group = layout.shard_size * layout.cp * copies(layout.schedule) if layout.sharding >= since else 1
    experts = max(1, group // layout.ep) if layout.sharding >= since else 1
    return (mine.shared / layout.tp, group), (mine.experts / (layout.ep * layout.tp), experts)


def _spread(stage: Stage, each: float, since: int, what: str) -> Worked:
    (shared, group), (experts, expert_group) = _held(stage, since)
    inputs = (
        Quantity("k", each, "bytes", f"a parameter: {what}"),
        number("A", shared, "parameters of one accelerator that every token meets"),
        number("s", group, "accelerators that share them"),
        number("X", experts, "parameters of one accelerator in routed experts"),
        number("e", expert_group, "accelerators that share those"),
    )
    return Worked("k × (A / s + X / e) / 1e9", inputs)


def _activations(stage: Stage) -> Worked:
    kind = stage.kind
    (dense, _), (moe, _) = layer_bytes(stage.of.workload, stage.of.layout.tile)
    kept = (kind.dense * dense + kind.moe * moe) * stage.in_flight
    inputs = (
        number("n", kind.dense, "dense layers of the fullest stage"),
        Quantity("a", dense, "bytes", "kept of one microbatch in a dense layer"),
        number("o", kind.moe, "layers with experts"),
        Quantity("x", moe, "bytes", "kept of one microbatch in a layer with experts"),
        number("q", stage.in_flight, "microbatches in flight"),
        Quantity("u", 1e9 * stage.used.activations_gb - kept, "bytes", WORKING),
    )
    return Worked("((n × a + o × x) × q + u) / 1e9", inputs)


MEMORY: Mapping[str, Part] = {
    "weights_gb": Part("weights", "Rajbhandari et al. 2020 (ZeRO); Megatron-LM", _weights),
    "gradients_gb": Part("gradients", "Rajbhandari et al. 2020 (ZeRO)", _gradients),
    "optimizer_gb": Part("optimizer state", "Rajbhandari et al. 2020 (ZeRO); Douillard et al. 2025", _optimizer),
    "host_gb": Part("optimizer state in the host", "Ren et al. 2021 (ZeRO-Offload)", _host),
    "activations_gb": Part("activations", "Korthikanti et al. 2022, equations 1 to 6, table 2", _activations),
}
"""Field of `Memory`, but capacities -> what it is and how it is worked out."""


def between_sites(of: Picture) -> dict[Pair, Worked]:
    """Bytes of a step between each pair of sites, in each direction [GB]."""
    layout, load = of.layout, of.workload
    sent = cross_site_gb(load, layout)
    if layout.across == "dp" and layout.sync != "parameter-server":
        shares = across_sites(load, layout.spread).share
        outer = layout.outer
        return {
            ends: Worked(
                "u × N × g / 8 / H / 1e9",
                (
                    number("u", shares[ends], "gradients that go between the two, over all"),
                    number("N", parameters(load.model), "parameters"),
                    Quantity("g", outer.bits if outer else load.gradient_bits, "bit", "an element on the wire"),
                    number("H", outer.every_steps if outer else 1, "steps from one exchange to the next"),
                ),
            )
            for ends in sent
        }
    if layout.across in SPANNING:
        return layers.between(of)
    if layout.across == "pp":
        return {ends: _over_boundary(of, ends, size) for ends, size in sent.items()}
    return {
        ends: Worked("G", (Quantity("G", size, "GB", "pushes and pulls while all go through the batch of a step"),))
        for ends, size in sent.items()
    }


def _over_boundary(of: Picture, ends: Pair, size: float) -> Worked:
    load = of.workload
    times = sum(tuple(sorted(both)) == ends for both in crossings(of.where))
    each = 2 * load.batch * load.sequence_length * load.model.hidden / 1e9
    return used(
        "i × 2 × B × s × h / 1e9" + (" + E" if size - times * each > 1e-9 else ""),
        (
            number("i", times, "stage boundaries between the two"),
            number("B", load.batch, "sequences in a step"),
            number("s", load.sequence_length, "tokens of a sequence"),
            number("h", load.model.hidden, "hidden size"),
            Quantity("E", size - times * each, "GB", "gradient of the embedding that first and last stage share"),
        ),
    )
