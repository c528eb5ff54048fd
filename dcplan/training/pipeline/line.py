"""Stages of a pipeline over sites as they lie on the shares: what each holds, how long it takes, and its memory."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.across.place import places
from dcplan.training.across.split import cuts
from dcplan.training.compute import costs
from dcplan.training.memory import USABLE, memory, room_alike, stage_memory
from dcplan.training.pipeline.schedules import splits_backward
from dcplan.training.pipeline.stages import Stage, StageLayers, held, stage_layers, stage_of, stages
from dcplan.training.site.machine import machines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.training.across.place import Place
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Memory, Workload


def may_be_by_speed(workload: Workload) -> bool:
    """The job asks for parts by speed, and there is a slower accelerator."""
    return workload.split == "by-speed" and len(set(machines(workload))) > 1


def by_speed(workload: Workload, layout: Layout) -> bool:
    """Parts go by speed, there is a slower accelerator, and equal parts are not as good for this layout."""
    return may_be_by_speed(workload) and not layout.equal_parts


def line(workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]) -> tuple[Stage, ...]:
    """Every stage, first to last: layers in equal parts, or by speed as far as memory holds them."""
    own = layers_by_speed(workload, layout, where, boxes) if by_speed(workload, layout) else None
    if own is None:
        return _equal(where, [stages(workload, layout, box) for box in boxes])
    over = _boxes(where, boxes)
    return tuple(stage_of(costs(workload, box, layout.tile), kind) for kind, box in zip(own, over, strict=True))


def _boxes(where: tuple[Place, ...], boxes: tuple[Machine, ...]) -> list[Machine]:
    return [box for place, box in zip(where, boxes, strict=True) for _ in range(place.stages)]


def _equal(where: tuple[Place, ...], kinds: list[tuple[Stage, ...]]) -> tuple[Stage, ...]:
    result: list[Stage] = []
    inner_stages = sum(place.stages for place in where) - 2
    for place, (first, *inner, last) in zip(where, kinds, strict=True):
        head, tail = place is where[0], place is where[-1]
        left = place.stages - head - tail
        here = _inner(inner[0], left, left * inner[0].stages / inner_stages) if left > 0 else []
        result += [*([first] if head else []), *here, *([last] if tail else [])]
    return tuple(result)


def _inner(stage: Stage, count: int, full: float) -> list[Stage]:
    """So many inner stages with the layers of `full` of them: the fullest sets the pace, the others share the rest."""
    if count == 1 or full >= count:
        return [stage] * count
    rest = max(0.0, full - 1) / (count - 1)
    part = Stage(stage.forward.times(rest), stage.backward.times(rest), stage.weights_s * rest, rest)
    return [stage, *[part] * (count - 1)]


def layers_by_speed(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> tuple[StageLayers, ...] | None:
    """What each stage holds so that the slowest is as fast as can be; None where memory does not hold that.

    Layers stay in their order, dense ones first; embedding and logits count with the first and the last stage.
    """
    key = (layers_by_speed, layout.tile, layout.dp, layout.pp, layout.sharding, layout.shard_size,
           layout.microbatches, layout.extra_in_flight)  # fmt: skip
    if key not in workload.answers:
        workload.answers[key] = _cut(workload, layout, where, boxes)
    return workload.answers[key]  # type: ignore[return-value]


def _cut(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> tuple[StageLayers, ...] | None:
    over, shares = _boxes(where, boxes), [place.share for place in where for _ in range(place.stages)]
    flights = flights_of(layout, where, (layout.extra_in_flight or 0) * (len(where) - 1))
    dense, boxed = workload.model.layers - shapes.moe_layers(workload.model), [boxes.index(box) for box in over]
    room: dict[tuple[int, int, int], bool] = {}
    took: dict[tuple[int, int, int, bool, bool], float] = {}

    def kind(stage: int, first: int, end: int) -> StageLayers:
        some = min(end, dense) - min(first, dense)
        return StageLayers(1, some, end - first - some, embedding=stage == 0, head=stage == len(over) - 1)

    def time_s(stage: int, first: int, end: int) -> float:
        some = min(end, dense) - first if first < dense else 0
        alike = (boxed[stage], some, end - first, stage == 0, stage == len(over) - 1)
        if alike not in took:
            took[alike] = stage_of(costs(workload, over[stage], layout.tile), kind(stage, first, end)).total_s
        return took[alike]

    def holds(stage: int, first: int, end: int) -> bool:
        if (stage, first, end) not in room:
            used = stage_memory(workload, layout, kind(stage, first, end), flights[stage], shares[stage])
            room[stage, first, end] = used.total_gb <= USABLE * used.capacity_gb
        return room[stage, first, end]

    found = cuts(workload.model.layers, len(over), time_s, holds)
    if found is None:
        return None
    return tuple(kind(stage, *found[stage : stage + 2]) for stage in range(len(over)))


def parameters_by_share(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> tuple[tuple[float, float] | None, ...]:
    """Parameters on an accelerator of the fullest stage of each share, shared and experts, where layers go by speed."""
    own = layers_by_speed(workload, layout, where, boxes) if by_speed(workload, layout) else None
    if own is None:
        return (None,) * len(where)
    found, first = [], 0
    for place in where:
        here = [held(workload, kind) for kind in own[first : first + place.stages]]
        first += place.stages
        local = [(each.shared / layout.tp, each.experts / (layout.ep * layout.tp)) for each in here]
        found.append(max(local, key=sum))
    return tuple(found)


def flights_of(layout: Layout, where: tuple[Place, ...], extra: float | Sequence[float]) -> list[float]:
    """Microbatches in flight in each stage: p − s (zb-h1: p), and the extra ones of all boundaries behind it.

    extra: of each boundary; or of all of them together, as many of each.
    """
    several = len(where) - 1
    each = [extra / max(1, several)] * several if isinstance(extra, int | float) else list(extra)
    behind = [math.fsum(each[i:]) for i, place in enumerate(where) for _ in range(place.stages)]
    late = splits_backward(layout.schedule)
    return [min(layout.microbatches, layout.pp - (0 if late else s) + more) for s, more in enumerate(behind)]


def memory_of(workload: Workload, layout: Layout, extra_in_flight: int = 0) -> Memory:
    """Memory of the fullest accelerator: on the share with the least, or where layers go by speed, share by share."""
    return fullest(memory_by_stage(workload, layout, extra_in_flight)) or memory(workload, layout, extra_in_flight)


def fullest(of: tuple[Memory, ...]) -> Memory | None:
    """The one with the least room in proportion."""
    return max(of, key=lambda one: one.total_gb / one.capacity_gb, default=None)


def memory_by_stage(workload: Workload, layout: Layout, extra_in_flight: float) -> tuple[Memory, ...]:
    """Memory of each stage of a pipeline over sites whose layers go by speed; else, and where none fits, nothing."""
    if layout.across != "pp" or not by_speed(workload, layout):
        return ()
    own = layers_by_speed(workload, layout, places(workload, layout), machines(workload))
    return () if own is None else memories(workload, layout, own, extra_in_flight)


def stage_layers_of(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> tuple[StageLayers, ...]:
    """What each stage of a pipeline over sites holds, first to last; inner ones as so much of a full one."""
    own = layers_by_speed(workload, layout, where, boxes) if by_speed(workload, layout) else None
    if own is not None:
        return own
    first, *inner, last = stage_layers(workload.model, layout.pp, layout.virtual_stages)
    count = layout.pp - 2
    return (first, *[replace(inner[0], stages=inner[0].stages / count)] * count, last) if count else (first, last)


def memories(
    workload: Workload, layout: Layout, held_by: tuple[StageLayers, ...], extra_in_flight: float | Sequence[float]
) -> tuple[Memory, ...]:
    """Memory of each stage of a pipeline over sites, on the accelerators of its share; extra as of `flights_of`."""
    where = places(workload, layout)
    shares = [place.share for place in where for _ in range(place.stages)]
    flights = flights_of(layout, where, extra_in_flight)
    return tuple(
        stage_memory(workload, layout, kind, flight, share)
        for kind, flight, share in zip(held_by, flights, shares, strict=True)
    )


def room(workload: Workload, layout: Layout, boundaries: int) -> int:
    """Extra microbatches in flight, over all boundaries, that memory holds; never more than there are microbatches."""
    none, some = (memory_by_stage(workload, layout, extra) for extra in (0, boundaries))
    if not none:
        return room_alike(workload, layout)
    left = [layout.microbatches]
    for one, other in zip(none, some, strict=True):
        each = (other.activations_gb - one.activations_gb) / boundaries
        if each > 0:
            left.append(max(0, int((USABLE * one.capacity_gb - one.total_gb) / each)))
    return min(left)
