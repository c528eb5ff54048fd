"""What exchange inside sites and the optimizer add to the steps of many plans at least, all at once with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.training.across.place import places, site_ranks
from dcplan.training.across.sync import reduction
from dcplan.training.optimizer import optimizer_s
from dcplan.training.pipeline.line import may_be_by_speed
from dcplan.training.pipeline.schedules import CONTROLLED
from dcplan.training.plans.once import once
from dcplan.training.site.collectives import group
from dcplan.training.site.machine import machines

if TYPE_CHECKING:
    from dcplan.training.plans.bounds import Near
    from dcplan.training.plans.columns import Columns
    from dcplan.training.plans.table import Table
    from dcplan.training.step import Layout

    Array = Any


def inside_s(found: Table, rows: Array, at: Columns, near: Near) -> tuple[Array, Array]:
    """No step has less of it [s]: exchange of gradients and weights; and the rest, transfers and the optimizer.

    Of exchange that overlaps, what microbatches but the last one expose, for that one is in `far`. By speed 0.
    """
    import numpy as np

    workload = found.workload
    if may_be_by_speed(workload) or not len(rows):
        return np.zeros(len(rows)), np.zeros(len(rows))

    def parts(layout: Layout) -> list[float]:
        where, boxes = places(workload, layout), machines(workload)
        ranks, each = site_ranks(where), []
        for (box, count), place in {(box, place.ranks): place for box, place in zip(boxes, where, strict=True)}.items():
            here = layout.dp if layout.across == "pp" else ranks[place.share.site]
            work = reduction(workload, layout.spread, box, here, 0.0, layout.dp)
            over = group(box, 2, layout.tp * layout.cp * count)
            each.append((
                work.reduce_s, work.mirror_s, work.gather_s, -work.buckets, 1 / over.ring, over.hop_s,
                optimizer_s(workload, layout.spread, box, None),
            ))  # fmt: skip
        return [min(values) for values in zip(*each, strict=True)]

    keys = [at.across, at.tp, at.cp, at.ep, at.dp, at.pp, at.virtual_stages, at.schedule, at.sharding, at.shard_size,
            at.every, at.has("sync", "parameter-server")]  # fmt: skip
    reduce_s, mirror_s, gather_s, buckets, per_byte_s, hop_s, stepped_s = once(found, rows, keys, parts)
    m, split = at.microbatches, ~at.has("schedule", "1f1b")
    if all(box.modern for box in machines(workload)):
        both = np.where(at.sharding == 3, 2 * gather_s + reduce_s, np.where(at.sharding == 2, reduce_s, 0.0))
        window = near.backward_s + np.where(at.sharding == 3, near.forward_s, 0.0)
        exchange_s = (m - 1) * np.maximum(both - window, both / -buckets)
    else:
        times = np.where(at.sharding >= 2, m, 1)
        gathers = np.where(at.sharding == 3, 2 * m, 1)
        alone = times * reduce_s + mirror_s + gathers * gather_s
        exchange_s = alone if not any(box.modern for box in machines(workload)) else np.zeros(len(rows))
    one_s = 2 * at.microbatch * workload.sequence_length * workload.model.hidden / (at.cp * at.tp) * per_byte_s + hop_s
    boundaries = at.pp - 1 - np.where(at.has("across", "pp"), len(workload.shares) - 1, 0)
    few = split | (at.virtual_stages > 1)
    transfers_s = 2 * np.where(few, boundaries, boundaries - 1 + m * at.virtual_stages) * one_s
    transfers_s = np.where(at.has("schedule", *CONTROLLED), 0.0, transfers_s)
    return exchange_s, np.where(boundaries > 0, transfers_s, 0.0) + stepped_s
