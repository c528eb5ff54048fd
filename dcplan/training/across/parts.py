"""What falls on each site of a job whose sites are not alike, or are stages: batch or layers, time and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.network import SiteId
from dcplan.training.across.place import places
from dcplan.training.memory import memory
from dcplan.training.pipeline.line import fullest, line, memories, stage_layers_of
from dcplan.training.pipeline.stages import stages
from dcplan.training.replica import rounds, taken
from dcplan.training.site.machine import machines
from dcplan.training.terms import boundaries_of

if TYPE_CHECKING:
    from dcplan.training.pipeline.stages import Stage
    from dcplan.training.step import Layout, Links, Memory, Workload


@dataclass(frozen=True, slots=True)
class SitePart:
    """The part of one kind of accelerator in one site."""

    site: SiteId
    accelerator: str
    accelerators: int
    batch_percent: float
    """Of the sequences of a step; over pp all of them pass every site."""
    layers: float
    """Of the model; over dp every site has all."""
    microbatch_s: float
    """One microbatch in its slowest stage, forward and backward [s]."""
    busy_s: float
    """All its microbatches in that stage [s]."""
    memory_gb: float
    """Of its fullest accelerator [GB]."""
    capacity_gb: float
    extra_in_flight: int | None = None
    """Over pp, microbatches in flight in its stages beyond those of one site: for all boundaries behind them."""


def parts(workload: Workload, layout: Layout, links: Links) -> tuple[SitePart, ...]:
    """Each part in the order of the job; none where all are alike, and no pipeline crosses sites."""
    if layout.across == "pp":
        return _over_stages(workload, layout, links)
    if len(set(machines(workload))) < 2:
        return ()
    where, boxes = places(workload, layout), machines(workload)
    each, all_ = rounds(workload, layout, where, boxes), taken(workload, layout)
    found = []
    for place, box, own, batch in zip(where, boxes, each, all_, strict=True):
        here = replace(workload, shares=(place.share,))
        used = memory(here, replace(layout, microbatches=own))
        one_s = _slowest(stages(workload, layout, box)).total_s
        percent = 100 * batch * layout.microbatch / workload.batch
        share = place.share
        found.append(
            SitePart(
                share.site,
                share.accelerator_id,
                share.count,
                percent,
                workload.model.layers,
                one_s,
                own * one_s,
                used.total_gb,
                used.capacity_gb,
            )
        )
    return tuple(found)


def _over_stages(workload: Workload, layout: Layout, links: Links) -> tuple[SitePart, ...]:
    where, boxes = places(workload, layout), machines(workload)
    held, times = stage_layers_of(workload, layout, where, boxes), line(workload, layout, where, boxes)
    extras = [each.extra for each in boundaries_of(workload, layout, where, boxes, links, times)]
    used = memories(workload, layout, held, extras)
    found, first = [], 0
    for i, place in enumerate(where):
        here = slice(first, first + place.stages)
        first += place.stages
        most: Memory | None = fullest(used[here])
        one_s, share = _slowest(times[here]).total_s, place.share
        layers = math.fsum(kind.stages * (kind.dense + kind.moe) for kind in held[here])
        found.append(
            SitePart(
                share.site,
                share.accelerator_id,
                share.count,
                100.0,
                layers,
                one_s,
                layout.microbatches * one_s,
                most.total_gb if most else 0.0,
                share.accelerator.hbm_gb,
                sum(extras[i:]),
            )
        )
    return tuple(found)


def _slowest(of: tuple[Stage, ...]) -> Stage:
    return max(of, key=lambda stage: stage.total_s)
