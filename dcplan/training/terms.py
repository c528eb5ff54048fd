"""The terms of a step: replicas of the model on shares, or stages of a pipeline over sites."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dcplan.model.network import Pair, pair
from dcplan.training.across.cross_layers import SPANNING, cross_layers_gb, cross_layers_s
from dcplan.training.across.place import Place, crossings, places
from dcplan.training.across.sync import across_s, across_sites, exchange_s, gradient_pairs, rate_gbps, reduction
from dcplan.training.outer.loose import Worker, outer_step_s, quality, server_pairs, with_servers_s
from dcplan.training.passes import repeated
from dcplan.training.pipeline.in_flight import SAME, Way, hidden
from dcplan.training.pipeline.line import by_speed, line, parameters_by_share, room
from dcplan.training.pipeline.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline.stages import Stage, pace, pace_of, passes_of
from dcplan.training.remember import remembered
from dcplan.training.replica import Replica, replica_of, replicas_of, tied_gb, transfer_bytes, transfers_s, workers_of
from dcplan.training.site.machine import machines
from dcplan.training.step import Links, Terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import SiteId
    from dcplan.training.outer.quality import Quality
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Workload

_TOTAL_S = attrgetter("total_s")


class Whole(NamedTuple):
    """A step put together."""

    terms: Terms
    extra: int
    """Extra microbatches in flight that it takes."""
    workers: dict[SiteId, Worker] | None
    """Sites that train by themselves; none where they agree in every step."""


def whole_step(workload: Workload, layout: Layout, links: Links) -> Whole:
    """A step on these links."""
    where = places(workload, layout)
    boxes = machines(workload)
    if layout.across == "pp":
        return Whole(*_over_stages(workload, layout, where, boxes, links), None)
    replicas = replicas_of(workload, layout, where, boxes)
    workers = workers_of(replicas, where) if layout.outer else None
    return Whole(_over_ranks(workload, layout, where, boxes, replicas, workers, links), 0, workers)


def step_terms(workload: Workload, layout: Layout, links: Links) -> tuple[Terms, int]:
    """The terms of a step, and the extra microbatches in flight that it takes."""
    return whole_step(workload, layout, links)[:2]


@remembered
def no_distance(workload: Workload) -> Links:
    """Sites side by side: infinite rate, no latency."""
    pairs = [pair(a, b) for a, b in itertools.combinations(dict.fromkeys(share.site for share in workload.shares), 2)]
    return Links(dict.fromkeys(pairs, math.inf), dict.fromkeys(pairs, 0.0))


def cross_site_gb(
    workload: Workload, layout: Layout, workers: Mapping[SiteId, Worker] | None = None
) -> Mapping[Pair, float]:
    """Bytes between each pair of sites in one step, in each direction [GB].

    Over ep, cp and tp: gradients as over dp, as far as they cross, and what layers exchange, see `cross_layers`.
    Over dp: see `sync.gradient_pairs`; with parameter servers `tiers.pair_gb`. Over pp: 2 B s h between neighbouring
    sites (activations one way, their gradients the other way), and the gradient of a tied embedding between the first
    site and the last. workers: of `whole_step`, where that is known.
    """
    if layout.across == "dp":
        if layout.outer and layout.sync == "parameter-server":
            return server_pairs(workload, layout, layout.outer, workers or _workers(workload, layout))
        return gradient_pairs(workload, layout.spread)
    if layout.across == "none":
        return {}
    where = places(workload, layout)
    if layout.across in SPANNING:
        sums, each = (
            gradient_pairs(workload, layout.spread),
            cross_layers_gb(workload, layout, where, machines(workload)[0]),
        )
        return {ends: sums.get(ends, 0.0) + each.get(ends, 0.0) for ends in sorted({*sums, *each})}
    model, result = workload.model, dict[Pair, float]()
    for a, b in crossings(where):
        size = 2 * workload.batch * workload.sequence_length * model.hidden / 1e9
        result[pair(a, b)] = result.get(pair(a, b), 0.0) + size
    if (tied := tied_gb(workload)) and (ends := first_and_last(where)):
        result[ends] = result.get(ends, 0.0) + tied
    return result


def _over_ranks(
    workload: Workload,
    layout: Layout,
    where: tuple[Place, ...],
    boxes: tuple[Machine, ...],
    replicas: list[tuple[SiteId, Replica]],
    workers: Mapping[SiteId, Worker] | None,
    links: Links,
) -> Terms:
    slow = fast = replicas[0][1]
    for _, replica in replicas:
        if replica is not slow and replica is not fast:
            slow = replica if replica.total_s > slow.total_s else slow
            fast = replica if replica.total_s < fast.total_s else fast
    if layout.across == "none" and slow is fast:
        return fast.terms
    crossing = across_sites(workload, layout.spread)
    computed_s, latency_s = slow.total_s, crossing.waits_s(links.latency_ms)
    pairs = gradient_pairs(workload, layout.spread)
    if layout.outer is None or workers is None:
        sync_s = across_s(layout, slow.work, slow.window, exchange_s(pairs, links)) + latency_s
    elif layout.sync == "parameter-server":
        computed_s, linked_s = with_servers_s(workload, layout, layout.outer, workers, links)
        sync_s = linked_s - computed_s
    else:
        unlike = dict.fromkeys(workers.values())
        steps_s = [outer_step_s(workload, layout, layout.outer, one, pairs, latency_s, links) for one in unlike]
        sync_s = max(steps_s) - computed_s
    layers_s = max((cross_layers_s(workload, layout, where, box, links) for box in dict.fromkeys(boxes)), default=0.0)
    return fast.terms.apart(sync_s, computed_s - fast.total_s, layers_s)


def quality_of(
    workload: Workload, layout: Layout, links: Links, workers: Mapping[SiteId, Worker] | None
) -> Quality | None:
    """What a plan costs in learning; none where sites agree in every step."""
    if layout.outer is None or workers is None or layout.across != "dp":
        return None
    return quality(workload, layout, layout.outer, workers, links)


def _workers(workload: Workload, layout: Layout) -> dict[SiteId, Worker]:
    where = places(workload, layout)
    return workers_of(replicas_of(workload, layout, where, machines(workload)), where)


def _over_stages(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...], links: Links
) -> tuple[Terms, int]:
    """A pipeline whose stages lie in several sites: its terms, and the extra microbatches in flight."""
    placed = line(workload, layout, where, boxes)
    alone = pace_of((max(placed, key=_TOTAL_S),), layout.pp)
    slowest = alone.slowest
    heaviest = heaviest_of(workload, layout, where, boxes, placed)
    fastest = min((*heaviest, slowest), key=_TOTAL_S)
    both, waits_s = fastest.forward + fastest.backward, fastest.forward.waits_s + fastest.backward.waits_s
    m, (forward_s, backward_s, weights_s) = layout.microbatches, passes_of(layout, placed)
    boundaries = boundaries_of(workload, layout, where, boxes, links, placed)
    near = tuple(replace(one, delay_s=0.0, transfer_s=0.0) for one in boundaries)
    joined_s = span_s(forward_s, backward_s, near, m, weights_s)
    held = parameters_by_share(workload, layout, where, boxes)
    worst = []
    unlike = {(box, own): place for place, box, own in zip(where, boxes, held, strict=True)}
    for (box, own), place in unlike.items():
        work = reduction(workload, layout.spread, box, layout.dp, 0.0, layout.dp, own)
        worst.append(replica_of(workload, layout, place, box, alone, work, own=own).terms)
    inner = layout.pp - 1 - len(boundaries)
    terms = Terms(
        **repeated(layout, both, waits_s),
        pp_s=max(transfers_s(workload, layout, box, place, inner) for place, box in zip(where, boxes, strict=True)),
        bubble_s=_beyond_s(joined_s, m * slowest.total_s),
        cross_pipeline_s=_beyond_s(span_s(forward_s, backward_s, boundaries, m, weights_s), joined_s),
        dp_s=max(part.dp_s for part in worst),
        sync_s=_tied_s(workload, layout, where, boxes, links),
        optimizer_s=max(part.optimizer_s for part in worst),
        straggler_s=m * (slowest.total_s - fastest.total_s),
        fixed_s=max(part.fixed_s for part in worst),
    )
    return terms, sum(boundary.extra for boundary in boundaries)


def _beyond_s(whole_s: float, part_s: float) -> float:
    """What a sum takes beyond a part of it [s]; 0 where it is only rounding."""
    return 0.0 if abs(whole_s - part_s) <= SAME * part_s else whole_s - part_s


def heaviest_of(
    workload: Workload,
    layout: Layout,
    where: tuple[Place, ...],
    boxes: tuple[Machine, ...],
    placed: tuple[Stage, ...],
) -> list[Stage]:
    """The slowest stage of each share: as they lie there by speed, or what an equal one would take there."""
    if not by_speed(workload, layout):
        return [pace(workload, layout, box).slowest for box in boxes]
    ends = list(itertools.accumulate((place.stages for place in where), initial=0))
    return [max(placed[a:b], key=_TOTAL_S) for a, b in itertools.pairwise(ends)]


def boundaries_of(
    workload: Workload,
    layout: Layout,
    where: tuple[Place, ...],
    boxes: tuple[Machine, ...],
    links: Links,
    placed: tuple[Stage, ...],
) -> tuple[Boundary, ...]:
    """Boundaries between shares with delay, transfer and extra microbatches in flight.

    Without a given number, as few as are as fast as any that memory holds (see `in_flight.hidden`).
    """
    ways = _ways(workload, layout, where, boxes, links)
    if layout.extra_in_flight is not None:
        return tuple(Boundary(*way, layout.extra_in_flight) for way in ways)
    most = room(workload, layout, len(ways)) // len(ways)
    forward_s, backward_s, weights_s = passes_of(layout, placed)
    return hidden(forward_s, backward_s, ways, layout.microbatches, most, weights_s)


def _ways(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...], links: Links
) -> list[Way]:
    """Of each boundary between shares, stages before it, delay and transfer of a microbatch."""
    size = transfer_bytes(workload, layout)
    parts = []
    upstream = 0
    for i, (a, b) in enumerate(itertools.pairwise(where)):
        upstream += a.stages
        transfer_s, latency_s_ = size / min(boxes[i].leaving, boxes[i + 1].leaving), 0.0
        if a.share.site != b.share.site:
            ends = pair(a.share.site, b.share.site)
            all_ranks_gb = size * layout.tp * layout.cp * layout.dp / 1e9
            transfer_s = max(transfer_s, 8 * all_ranks_gb / rate_gbps(links, ends))
            latency_s_ = links.latency_ms.get(ends, math.inf) / 1e3
        parts.append((upstream, latency_s_ + transfer_s, transfer_s))
    return parts


def first_and_last(where: tuple[Place, ...]) -> Pair | None:
    """Sites of the first and of the last stage; none where it is the same."""
    a, b = where[0].share.site, where[-1].share.site
    return pair(a, b) if a != b else None


def _tied_s(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...], links: Links
) -> float:
    """Exchange of a tied embedding's gradient between sites, beyond what NICs take (which is in dp_s)."""
    ends = first_and_last(where)
    if not workload.model.tied or ends is None:
        return 0.0
    nic_s = tied_gb(workload) * 1e9 / layout.tp / min(box.leaving for box in boxes)
    link_s = 8 * tied_gb(workload) / rate_gbps(links, ends)
    return max(0.0, link_s - nic_s) + links.latency_ms.get(ends, math.inf) / 1e3
