"""The pieces that a step was put together from, taken from the functions that put it together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from dcplan.training.across.place import places
from dcplan.training.across.sync import reduction
from dcplan.training.pipeline.line import line, parameters_by_share
from dcplan.training.pipeline.stages import device_layers, pace_of, stages
from dcplan.training.replica import replica_of, replicas_of, rounds
from dcplan.training.site.machine import machines
from dcplan.training.terms import boundaries_of, heaviest_of

if TYPE_CHECKING:
    from dcplan.training.across.place import Place
    from dcplan.training.pipeline.one_f_one_b import Boundary
    from dcplan.training.pipeline.stages import Stage, StageLayers
    from dcplan.training.replica import Replica
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Links, Workload

_TOTAL = attrgetter("total_s")


@dataclass(frozen=True, slots=True)
class Picture:
    """A layout on links, taken apart."""

    workload: Workload
    layout: Layout
    links: Links
    """As the collectives see them: payload, and all that delays it."""
    where: tuple[Place, ...]
    boxes: tuple[Machine, ...]
    mine: Layout
    """The layout as the fastest share runs it, with its own microbatches."""
    stage: Stage
    """Whose work on all microbatches is shown: the fullest stage, of the fastest share where shares differ."""
    slowest: Stage
    """Which sets the pace of all."""
    kinds: tuple[Stage, ...]
    """All stages of the fastest share."""
    fast: int
    """The fastest share."""
    holds: StageLayers | None
    """What the stage that is shown holds; none where it is part of a pipeline over sites."""
    replica: Replica
    """The share whose gradients inside a site are shown."""
    replicas: tuple[Replica, ...]
    """Every share, as a replica of the model or with the stages that it holds."""
    held: tuple[tuple[float, float] | None, ...]
    """Parameters on an accelerator of each share, those that all tokens meet and experts; none: as everywhere."""
    boundaries: tuple[Boundary, ...] = ()
    """Stage boundaries between shares of a pipeline."""
    placed: tuple[Stage, ...] = ()
    """Every stage of a pipeline over sites."""


def picture(workload: Workload, layout: Layout, links: Links) -> Picture:
    """A layout on links, taken apart as `terms.step_terms` puts it together."""
    return (_over_stages if layout.across == "pp" else _over_ranks)(workload, layout, links)


def _over_ranks(workload: Workload, layout: Layout, links: Links) -> Picture:
    where, boxes = places(workload, layout), machines(workload)
    replicas = tuple(replica for _, replica in replicas_of(workload, layout, where, boxes))
    fast = min(range(len(replicas)), key=lambda i: replicas[i].total_s)
    kinds = stages(workload, layout, boxes[fast])
    i = max(range(len(kinds)), key=lambda i: kinds[i].total_s)
    stage, holds = kinds[i], device_layers(workload.model, layout.pp, layout.virtual_stages, layout.schedule)[i]
    mine = replace(layout, microbatches=rounds(workload, layout, where, boxes)[fast])
    return Picture(
        workload=workload, layout=layout, links=links, where=where, boxes=boxes, mine=mine, stage=stage, slowest=stage,
        kinds=kinds, fast=fast, holds=holds, replica=replicas[fast], replicas=replicas, held=(None,) * len(where),
    )  # fmt: skip


def _over_stages(workload: Workload, layout: Layout, links: Links) -> Picture:
    where, boxes = places(workload, layout), machines(workload)
    placed = line(workload, layout, where, boxes)
    slowest = max(placed, key=_TOTAL)
    heaviest = heaviest_of(workload, layout, where, boxes, placed)
    stage = min((*heaviest, slowest), key=_TOTAL)
    held = parameters_by_share(workload, layout, where, boxes)
    replicas, alone = [], pace_of((slowest,), layout.pp)
    for place, box, own in zip(where, boxes, held, strict=True):
        work = reduction(workload, layout.spread, box, layout.dp, 0.0, layout.dp, own)
        replicas.append(replica_of(workload, layout, place, box, alone, work, own=own))
    return Picture(
        workload=workload, layout=layout, links=links, where=where, boxes=boxes, mine=layout, stage=stage,
        slowest=slowest, kinds=placed, fast=0, holds=None, replica=max(replicas, key=lambda one: one.terms.dp_s),
        replicas=tuple(replicas), held=held, boundaries=boundaries_of(workload, layout, where, boxes, links, placed),
        placed=placed,
    )  # fmt: skip
