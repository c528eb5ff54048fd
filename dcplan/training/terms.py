"""The terms of a step: replicas of the model on shares, or stages of a pipeline over sites."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.network import Pair, pair
from dcplan.training import shapes
from dcplan.training.across.cross_layers import SPANNING, cross_layers_gb, cross_layers_s
from dcplan.training.across.place import Place, crossings, places, site_ranks
from dcplan.training.across.split import microbatches, of_batch
from dcplan.training.across.sync import (
    Reduction,
    Window,
    across_s,
    across_sites,
    exchange_s,
    gradient_pairs,
    inside_s,
    rate_gbps,
    reduction,
    with_messages,
)
from dcplan.training.optimizer import optimizer_s, stepped_here
from dcplan.training.outer.loose import Worker, host_s, outer_step_s, quality, server_pairs, with_servers_s
from dcplan.training.passes import repeated
from dcplan.training.pipeline.in_flight import SAME, Way, hidden
from dcplan.training.pipeline.line import by_speed, line, parameters_by_share, room
from dcplan.training.pipeline.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline.schedules import CONTROLLED, folds, multiple, splits_backward
from dcplan.training.pipeline.stages import Stage, hops_s, idle_s, passes_of, stages
from dcplan.training.remember import remembered
from dcplan.training.site.collectives import group
from dcplan.training.site.machine import machines
from dcplan.training.step import Links, Terms

if TYPE_CHECKING:
    from dcplan.model.network import SiteId
    from dcplan.training.outer.quality import Quality
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Workload


def step_terms(workload: Workload, layout: Layout, links: Links) -> tuple[Terms, int]:
    """The terms of a step, and the extra microbatches in flight that it takes."""
    where = places(workload, layout)
    boxes = machines(workload)
    if layout.across == "pp":
        return _over_stages(workload, layout, where, boxes, links)
    return _over_ranks(workload, layout, where, boxes, links), 0


@remembered
def no_distance(workload: Workload) -> Links:
    """Sites side by side: infinite rate, no latency."""
    pairs = [pair(a, b) for a, b in itertools.combinations(dict.fromkeys(share.site for share in workload.shares), 2)]
    return Links(dict.fromkeys(pairs, math.inf), dict.fromkeys(pairs, 0.0))


def cross_site_gb(workload: Workload, layout: Layout) -> dict[Pair, float]:
    """Bytes between each pair of sites in one step, in each direction [GB].

    Over ep, cp and tp: gradients as over dp, as far as they cross, and what layers exchange, see `cross_layers`.
    Over dp: see `sync.gradient_pairs`; with parameter servers `tiers.pair_gb`. Over pp: 2 B s h between neighbouring
    sites (activations one way, their gradients the other way), and the gradient of a tied embedding between the first
    site and the last.
    """
    where = places(workload, layout)
    if layout.across == "dp":
        if layout.outer and layout.sync == "parameter-server":
            workers = workers_of(replicas_of(workload, layout, where, machines(workload)), where)
            return server_pairs(workload, layout, layout.outer, workers)
        return gradient_pairs(workload, layout, where)
    if layout.across == "none":
        return {}
    if layout.across in SPANNING:
        sums, each = (
            gradient_pairs(workload, layout, where),
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


@dataclass(frozen=True, slots=True)
class Replica:
    """One data parallel rank on one share: its terms without exchange across sites, and what that can hide behind."""

    terms: Terms
    work: Reduction
    window: Window
    microbatches: int
    """In its step."""
    outer_nic_s: float = 0.0
    """One exchange of outer gradients through its NICs [s]."""
    outer_state_s: float = 0.0
    """State of outer steps from the host and back [s]."""


def _over_ranks(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...], links: Links
) -> Terms:
    replicas, crossing = replicas_of(workload, layout, where, boxes), across_sites(workload, layout, where)
    slow = fast = replicas[0][1]
    if any(replica is not slow for _, replica in replicas):
        slow = max((replica for _, replica in replicas), key=_total_s)
        fast = min((replica for _, replica in replicas), key=_total_s)
    computed_s, latency_s = _total_s(slow), crossing.waits_s(links.latency_ms)
    pairs = gradient_pairs(workload, layout, where)
    if layout.outer is None:
        sync_s = across_s(layout, slow.work, slow.window, exchange_s(pairs, links)) + latency_s
    elif layout.sync == "parameter-server":
        computed_s, linked_s = with_servers_s(workload, layout, layout.outer, workers_of(replicas, where), links)
        sync_s = linked_s - computed_s
    else:
        workers = set(workers_of(replicas, where).values())
        steps_s = [outer_step_s(workload, layout, layout.outer, one, pairs, latency_s, links) for one in workers]
        sync_s = max(steps_s) - computed_s
    layers_s = max((cross_layers_s(workload, layout, where, box, links) for box in dict.fromkeys(boxes)), default=0.0)
    return replace(fast.terms, straggler_s=computed_s - _total_s(fast), sync_s=sync_s, cross_layers_s=layers_s)


def quality_of(workload: Workload, layout: Layout, links: Links) -> Quality | None:
    """What a plan costs in learning; none where sites agree in every step."""
    if layout.outer is None or layout.across != "dp":
        return None
    where = places(workload, layout)
    workers = workers_of(replicas_of(workload, layout, where, machines(workload)), where)
    return quality(workload, layout, layout.outer, workers, links)


def replicas_of(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> list[tuple[SiteId, Replica]]:
    """A replica of each share, with its site; what sites send in outer steps alone is no part of its own step."""
    ranks, crossing = site_ranks(where), across_sites(workload, layout, where)
    pushes = 1.0 if layout.sync == "parameter-server" and layout.outer else 0.0
    alike: dict[tuple[Machine, int, int, float, int], Replica] = {}
    found = []
    for place, box, own in zip(where, boxes, rounds(workload, layout, where, boxes), strict=True):
        site = place.share.site
        here, sends = ranks[site], pushes or crossing.sends(site)
        key = (box, place.ranks, here, sends, own)
        if key not in alike:
            work, nic_s, state_s = reduction(workload, layout, box, here, sends, layout.dp), 0.0, 0.0
            if layout.outer:
                work = replace(work, cross_s=work.cross_s * layout.outer.bits / workload.gradient_bits)
            if sends and box.message_s:
                work = with_messages(work, crossing, box)
            if layout.outer:
                nic_s, work = work.cross_s, replace(work, cross_s=0.0)
                state_s = host_s(layout.outer, stepped_here(workload, layout), box.host.link)
            mine = layout if own == layout.microbatches else replace(layout, microbatches=own)
            made = replica_of(workload, mine, place, box, stages(workload, layout, box), work)
            alike[key] = replace(made, outer_nic_s=nic_s, outer_state_s=state_s)
        found.append((site, alike[key]))
    return found


def workers_of(replicas: list[tuple[SiteId, Replica]], where: tuple[Place, ...]) -> dict[SiteId, Worker]:
    """Each site as it trains by itself: its ranks stay synchronous, so that its slowest sets its pace."""
    slowest, taken_here = dict[str, Replica](), dict[str, int]()
    for place, (site, replica) in zip(where, replicas, strict=True):
        slowest[site] = max(slowest.get(site, replica), replica, key=_total_s)
        taken_here[site] = taken_here.get(site, 0) + place.ranks * replica.microbatches
    return {
        site: Worker(_total_s(one), taken_here[site], one.work, one.window, one.outer_nic_s, one.outer_state_s)
        for site, one in slowest.items()
    }


def _total_s(replica: Replica) -> float:
    return replica.terms.total_s


def rounds(workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]) -> tuple[int, ...]:
    """Microbatches of each rank, by share: the same for all, or by speed (see `split.microbatches`)."""
    if not by_speed(workload, layout) or layout.across in SPANNING:
        return (layout.microbatches,) * len(where)
    ranks, each_s, once_s = site_ranks(where), [], []
    for place, box in zip(where, boxes, strict=True):
        work = reduction(workload, layout, box, ranks[place.share.site], 0.0, layout.dp)
        kinds = stages(workload, layout, box)
        one, two = (
            replica_of(workload, replace(layout, microbatches=k * layout.microbatches), place, box, kinds, work)
            for k in (1, 2)
        )
        each_s.append((two.terms.total_s - one.terms.total_s) / layout.microbatches)
        once_s.append(one.terms.total_s - layout.microbatches * each_s[-1])
    total, step = workload.batch // layout.microbatch, multiple(layout.schedule, layout.pp, layout.virtual_stages)
    return microbatches(total, [place.ranks for place in where], each_s, once_s, step)


def taken(workload: Workload, layout: Layout) -> tuple[int, ...]:
    """Microbatches of each share, all its ranks together, which add up to the batch."""
    where, boxes = places(workload, layout), machines(workload)
    each = rounds(workload, layout, where, boxes)
    ends = [own * stages(workload, layout, box)[0].total_s for own, box in zip(each, boxes, strict=True)]
    ranks = [place.ranks for place in where]
    if by_speed(workload, layout) and layout.across not in SPANNING:
        return of_batch(workload.batch // layout.microbatch, ranks, each, ends)
    return tuple(count * own for count, own in zip(ranks, each, strict=True))


def replica_of(
    workload: Workload,
    layout: Layout,
    place: Place,
    box: Machine,
    kinds: tuple[Stage, ...],
    work: Reduction,
    own: tuple[float, float] | None = None,
) -> Replica:
    """One data parallel rank on a share with these stages."""
    slowest = max(kinds, key=lambda stage: stage.total_s)
    window = _window(layout, slowest, box)
    tied_s = 0.0
    if layout.pp > 1 and workload.model.tied and not folds(layout.schedule):
        between = group(box, 2, layout.tp * layout.cp * place.ranks)
        tied_s = tied_gb(workload) * 1e9 / layout.tp / min(box.out, between.ring)
    terms = Terms(
        **repeated(layout, slowest),
        pp_s=_transfers_s(workload, layout, box, place, layout.pp - 1)
        if layout.schedule not in CONTROLLED
        else hops_s(layout, kinds, slowest, _transfer_s(workload, layout, box, place)),
        bubble_s=idle_s(layout, kinds, slowest),
        dp_s=inside_s(layout, work, window) + tied_s,
        optimizer_s=optimizer_s(workload, layout, box, own),
        fixed_s=box.step_s,
    )
    return Replica(terms, work, window, layout.microbatches)


def _over_stages(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...], links: Links
) -> tuple[Terms, int]:
    """A pipeline whose stages lie in several sites: its terms, and the extra microbatches in flight."""
    placed = line(workload, layout, where, boxes)
    slowest = max(placed, key=lambda stage: stage.total_s)
    heaviest = heaviest_of(workload, layout, where, boxes, placed)
    fastest = min((*heaviest, slowest), key=lambda stage: stage.total_s)
    m, (forward_s, backward_s, weights_s) = layout.microbatches, passes_of(layout, placed)
    boundaries = boundaries_of(workload, layout, where, boxes, links, placed)
    near = tuple(replace(one, delay_s=0.0, transfer_s=0.0) for one in boundaries)
    joined_s = span_s(forward_s, backward_s, near, m, weights_s)
    held = parameters_by_share(workload, layout, where, boxes)
    worst = []
    unlike = {(box, own): place for place, box, own in zip(where, boxes, held, strict=True)}
    for (box, own), place in unlike.items():
        work = reduction(workload, layout, box, layout.dp, 0.0, layout.dp, own)
        worst.append(replica_of(workload, layout, place, box, (slowest,), work, own=own).terms)
    inner = layout.pp - 1 - len(boundaries)
    terms = Terms(
        **repeated(layout, fastest),
        pp_s=max(_transfers_s(workload, layout, box, place, inner) for place, box in zip(where, boxes, strict=True)),
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
        return [max(stages(workload, layout, box), key=lambda stage: stage.total_s) for box in boxes]
    ends = list(itertools.accumulate((place.stages for place in where), initial=0))
    return [max(placed[a:b], key=lambda stage: stage.total_s) for a, b in itertools.pairwise(ends)]


def _window(layout: Layout, slowest: Stage, box: Machine) -> Window:
    """Weight gradients of the last microbatch are the last work of every stage where a schedule splits them off.

    Then all stages end together; under zb-h2 one after the other, a forward pass apart, as they began.
    """
    backward = slowest.backward.total_s
    if splits_backward(layout.schedule):
        stagger_s = slowest.forward.total_s if layout.schedule == "zb-h2" else 0.0
        return Window(slowest.weights_s, slowest.forward.total_s, stagger_s, box.modern, across=box.overlaps_sites)
    each, v = backward / layout.virtual_stages, layout.virtual_stages
    return Window(backward, slowest.forward.total_s, each, box.modern, v, layout.pp * each, box.overlaps_sites)


def transfer_bytes(workload: Workload, layout: Layout) -> float:
    """What one accelerator sends over a stage boundary for one microbatch: 2 b s h / (c t)."""
    return 2 * layout.microbatch * workload.sequence_length * workload.model.hidden / (layout.cp * layout.tp)


def _transfer_s(workload: Workload, layout: Layout, box: Machine, place: Place) -> float:
    """One microbatch over a stage boundary inside a site [s]."""
    over = group(box, 2, layout.tp * layout.cp * place.ranks)
    return transfer_bytes(workload, layout) / over.ring + over.hop_s


def _transfers_s(workload: Workload, layout: Layout, box: Machine, place: Place, boundaries: int) -> float:
    """Exposed transfers over stage boundaries inside sites.

    One each way to fill and drain every boundary; and two for each microbatch and virtual stage, unless an
    interleaved schedule overlaps them (Megatron-LM, overlap_p2p_comm), or weight gradients stand between (Qi et al.).
    """
    if boundaries <= 0:
        return 0.0
    one_s = _transfer_s(workload, layout, box, place)
    if splits_backward(layout.schedule) or (box.modern and layout.virtual_stages > 1):
        return 2 * boundaries * one_s
    return 2 * (boundaries - 1 + layout.microbatches * layout.virtual_stages) * one_s


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


def tied_gb(workload: Workload) -> float:
    """Gradient of an embedding that the first and the last stage share [GB]; 0 where it is not tied."""
    if not workload.model.tied:
        return 0.0
    return shapes.embedding_parameters(workload.model) * workload.gradient_bits / 8 / 1e9


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
