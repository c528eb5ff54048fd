"""The pipeline: how layers fall on stages, the bubble, and stage boundaries between sites."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training import shapes
from dcplan.training.compute import Cost, Costs, Pass, costs
from dcplan.training.pipeline import controlled, schedules
from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.shapes import LayerSize
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Tile, Workload

_TOTAL_S = attrgetter("total_s")


@dataclass(frozen=True, slots=True)
class StageLayers:
    """Layers of one kind of stage, and how many stages are of it."""

    stages: float
    """Uneven inner stages count by the layers they hold: 14 stages that want one layer of four count as 13.75."""
    dense: float
    moe: float
    embedding: bool
    head: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """One microbatch in one stage, all its virtual stages together."""

    forward: Pass
    backward: Pass
    weights_s: float
    """The part of the backward pass that makes gradients of weights [s]."""
    stages: float
    """How many stages are like this one; see `StageLayers`."""
    total_s: float = field(init=False)
    """Forward and backward [s]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "total_s", self.forward.total_s + self.backward.total_s)


class Pace(NamedTuple):
    """The stages of a pipeline, and what the slowest of them does and waits for with each microbatch."""

    kinds: tuple[Stage, ...]
    slowest: Stage
    both: Pass
    """Forward and backward pass of the slowest."""
    alone_s: float
    """It waits for its host, where no passes are paired [s]."""
    whole_s: float
    """Forward and backward through all stages [s]."""
    others: schedules.Times
    """Mean of all but the slowest; nothing where it is alone."""


def divides(model: ModelShape, pp: int, virtual_stages: int) -> bool:
    """Layers fall evenly on stages, with embedding and logits counted as no layer, or as one layer each.

    The second is Megatron's account-for-embedding-in-pipeline-split and what Llama 3 405B ran (126 + 2 on 16 stages).
    """
    chunks = pp * virtual_stages
    return model.layers % chunks == 0 or (pp > 1 and (model.layers + 2) % chunks == 0)


def fills(model: ModelShape, pp: int, virtual_stages: int) -> bool:
    """No stage is empty: each has a layer, the embedding or the logits."""
    return pp * virtual_stages <= model.layers + (2 if pp > 1 else 0)


def fullest_layers(model: ModelShape, pp: int, virtual_stages: int) -> int:
    """Layers of the fullest stage: v ceil(L / (p v)); it sets the pace where layers do not fall evenly."""
    return _fullest(model.layers, pp, virtual_stages)


def stage_layers(model: ModelShape, pp: int, virtual_stages: int = 1) -> tuple[StageLayers, ...]:
    """First, inner and last stages; dense layers come first.

    Where layers do not fall evenly, inner stages hold `fullest_layers` and first and last, which have embedding and
    logits, share what is missing while each virtual stage keeps a layer. More than that the inner stages miss: they
    are then counted by their layers, since the fullest of them sets the pace and fills the memory.
    """
    return _stage_layers(model.layers, shapes.moe_layers(model), pp, virtual_stages)


def device_layers(model: ModelShape, pp: int, virtual_stages: int, schedule: str) -> tuple[StageLayers, ...]:
    """What devices hold: a stage each, or under zbv and dualpipe two, the outer ones of the model together.

    A pipeline of n stages folded in the middle has the first and the last of them on one device. zbv folds 2 p stages;
    dualpipe folds p, keeps each pair on two devices, and a microbatch visits one stage of the pair.
    """
    if not schedules.folds(schedule):
        return stage_layers(model, pp, virtual_stages)
    return _folded(model.layers, shapes.moe_layers(model), pp, schedule)


@lru_cache(maxsize=1024)
def _folded(layers: int, moe: int, pp: int, schedule: str) -> tuple[StageLayers, ...]:
    first, *inner, last = _stage_layers(layers, moe, pp * schedules.chunks(schedule), 1)
    copies = schedules.copies(schedule)
    ends = StageLayers(copies, first.dense + last.dense, first.moe + last.moe, embedding=True, head=True)
    pairs = [replace(kind, stages=copies * kind.stages / 2, dense=2 * kind.dense, moe=2 * kind.moe) for kind in inner]
    return (ends, *pairs)


@lru_cache(maxsize=1024)
def _stage_layers(layers: int, moe: int, pp: int, virtual_stages: int) -> tuple[StageLayers, ...]:
    dense = layers - moe
    if pp == 1:
        return (StageLayers(1, dense, moe, embedding=True, head=True),)
    per = _fullest(layers, pp, virtual_stages)
    first, last = _ends(layers, pp, per, per - virtual_stages)
    first_dense, last_dense = min(dense, first), 0 if moe else last
    inner = (layers - first - last) / per
    ends = (
        StageLayers(1, first_dense, first - first_dense, embedding=True, head=False),
        StageLayers(1, last_dense, last - last_dense, embedding=False, head=True),
    )
    if inner <= 0:
        return ends
    inner_dense = (dense - first_dense - last_dense) / inner
    middle = StageLayers(inner, inner_dense, per - inner_dense, embedding=False, head=False)
    return (ends[0], middle, ends[1])


def _fullest(layers: int, pp: int, virtual_stages: int) -> int:
    return virtual_stages * -(-layers // (pp * virtual_stages))


def _ends(layers: int, pp: int, per: int, spare: int) -> tuple[int, int]:
    """Layers of the first and the last stage, which can go without `spare` of `per` each, but one at least."""
    short = per * pp - layers
    if pp == 2 and short > 2:  # one of the two is the fullest
        return per, layers - per
    most = max(spare, 1)
    return per - min(short // 2, most), per - min(short - short // 2, most)


def stages(workload: Workload, layout: Layout, machine: Machine) -> tuple[Stage, ...]:
    """The cost of one microbatch in the first, an inner and the last stage on one kind of accelerator."""
    return pace(workload, layout, machine).kinds


def pace(workload: Workload, layout: Layout, machine: Machine) -> Pace:
    """The pace of a pipeline on one kind of accelerator."""
    return _pace(workload, machine, layout.tile, layout.pp, layout.virtual_stages, layout.schedule)


@remembered
def _pace(workload: Workload, machine: Machine, tile: Tile, pp: int, virtual_stages: int, schedule: str) -> Pace:
    return pace_of(_stages(workload, machine, tile, pp, virtual_stages, schedule), pp)


def pace_of(kinds: tuple[Stage, ...], pp: int) -> Pace:
    """The pace of so many stages, which are of these kinds."""
    slowest = max(kinds, key=_TOTAL_S)
    forward, backward = slowest.forward, slowest.backward
    whole_s = math.fsum(stage.total_s * stage.stages for stage in kinds)
    alone_s = forward.waits_s + backward.waits_s
    return Pace(kinds, slowest, forward + backward, alone_s, whole_s, _others(kinds, slowest, whole_s, pp - 1))


def _others(kinds: tuple[Stage, ...], slowest: Stage, whole_s: float, count: int) -> schedules.Times:
    if not count:
        return schedules.Times(0.0, 0.0, 0.0)
    forward_s = math.fsum(stage.forward.total_s * stage.stages for stage in kinds) - slowest.forward.total_s
    weights_s = math.fsum(stage.weights_s * stage.stages for stage in kinds) - slowest.weights_s
    inputs_s = whole_s - slowest.total_s - forward_s - weights_s
    return schedules.Times(forward_s / count, inputs_s / count, weights_s / count)


def _stages(
    workload: Workload, machine: Machine, tile: Tile, pp: int, virtual_stages: int, schedule: str
) -> tuple[Stage, ...]:
    parts, visited = costs(workload, machine, tile), 1 / schedules.copies(schedule)
    result = []
    for kind in device_layers(workload.model, pp, virtual_stages, schedule):
        whole = stage_of(parts, kind)
        if visited < 1:
            forward, backward = whole.forward.times(visited), whole.backward.times(visited)
            whole = Stage(forward, backward, whole.weights_s * visited, kind.stages)
        result.append(whole)
    return tuple(result)


def stage_of(parts: Costs, kind: StageLayers) -> Stage:
    """The cost of one microbatch in a stage that holds so much."""
    return Stage(_pass(parts, kind, 0), _pass(parts, kind, 1), _weights_s(parts, kind), kind.stages)


def _weights_s(parts: Costs, kind: StageLayers) -> float:
    ends_s = kind.embedding * parts.embedding.weights_s + kind.head * parts.head.weights_s
    return kind.dense * parts.dense.weights_s + kind.moe * parts.moe.weights_s + ends_s


def _pass(parts: Costs, kind: StageLayers, way: int) -> Pass:
    """Forward (0) or backward (1) pass of one microbatch through all that a stage holds."""
    whole = _way(parts.dense, way).times(kind.dense)
    if kind.moe:
        whole += _way(parts.moe, way).times(kind.moe)
    if kind.embedding:
        whole += _way(parts.embedding, way)
    if kind.head:
        whole += _way(parts.head, way)
    return whole


def _way(cost: Cost, way: int) -> Pass:
    return cost.backward if way else cost.forward


class Held(NamedTuple):
    """Parameters of one stage, before tp and ep divide them."""

    shared: float
    """Seen by every token; a tied embedding counts once where one stage has both ends."""
    experts: float
    """Routed experts, all of them."""


@remembered
def layer_sizes(workload: Workload) -> tuple[LayerSize, LayerSize]:
    """Parameters of a layer without experts and of one with; the former again where the model is dense."""
    dense = shapes.layer_size(workload.model, moe=False)
    return dense, shapes.layer_size(workload.model, moe=True) if shapes.is_moe(workload.model) else dense


@remembered
def stage_parameters(workload: Workload, pp: int, virtual_stages: int, schedule: str) -> tuple[Held, ...]:
    """Parameters of each kind of stage, as `device_layers` lists them."""
    return tuple(held(workload, kind) for kind in device_layers(workload.model, pp, virtual_stages, schedule))


def held(workload: Workload, kind: StageLayers) -> Held:
    """Parameters of a stage that holds so much."""
    model = workload.model
    dense, sparse = layer_sizes(workload)
    ends = 1 if model.tied and kind.embedding and kind.head else kind.embedding + kind.head
    shared = kind.dense * dense.shared + kind.moe * sparse.shared + ends * shapes.embedding_parameters(model)
    return Held(shared, kind.moe * sparse.experts)


def bubble_s(all_stages_s: float, slowest_s: float, virtual_stages: int) -> float:
    """Idle time of the slowest stage: (Σ t_i − t_max) / v; with equal stages (p−1)(tF+tB)/v.

    Source: Narayanan et al. 2021 (SC21), section 2.2.
    """
    return (all_stages_s - slowest_s) / virtual_stages


def idle_s(layout: Layout, of: Pace) -> float:
    """Idle time of the slowest stage in a step [s]: `bubble_s` for 1F1B and interleaved, else that of `schedules`."""
    if layout.schedule == "1f1b":
        return bubble_s(of.whole_s, of.slowest.total_s, layout.virtual_stages)
    return schedules.bubble_s(layout.schedule, layout.pp, layout.microbatches, of.others)


def hops_s(layout: Layout, of: Pace, hop_s: float) -> float:
    """What way from device to device adds to a step where memory is controlled, see `controlled.bubble_s` [s]."""
    p, m, times = layout.pp, layout.microbatches, of.others
    each = (times.forward_s, times.inputs_s, times.weights_s)
    return controlled.bubble_s(layout.schedule, p, m, *each, hop_s) - controlled.bubble_s(layout.schedule, p, m, *each)


class Passes(NamedTuple):
    """Of one microbatch in each stage [s]."""

    forward_s: tuple[float, ...]
    backward_s: tuple[float, ...]
    weights_s: tuple[float, ...]
    """Gradients of weights where the schedule splits them off, else nothing."""


def passes_of(layout: Layout, placed: tuple[Stage, ...]) -> Passes:
    """Those of a pipeline over sites."""
    return Passes(
        tuple(stage.forward.total_s for stage in placed),
        tuple(stage.backward.total_s for stage in placed),
        tuple(stage.weights_s for stage in placed) if schedules.splits_backward(layout.schedule) else (),
    )


def to_hide(delay_s: float, period_s: float) -> int:
    """Extra microbatches in flight that hide a delay: ceil(2 d / (tF + tB)); a hair of rounding does not count."""
    return math.ceil(2 * delay_s / period_s - 1e-9)
