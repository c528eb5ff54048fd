"""Replicas of the model: what a data parallel rank does in a step, share by share, before sites exchange gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training import shapes
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.across.place import placed, places, site_ranks
from dcplan.training.across.split import microbatches, of_batch
from dcplan.training.across.sync import Reduction, Window, across_sites, inside_s, reduction, with_messages
from dcplan.training.optimizer import optimizer_s, stepped_here
from dcplan.training.outer.loose import Worker, host_s
from dcplan.training.passes import repeated
from dcplan.training.pipeline.line import by_speed
from dcplan.training.pipeline.schedules import CONTROLLED, folds, multiple, splits_backward
from dcplan.training.pipeline.stages import hops_s, idle_s, pace, stages
from dcplan.training.remember import remembered
from dcplan.training.site.collectives import group
from dcplan.training.site.machine import machines
from dcplan.training.step import Terms

if TYPE_CHECKING:
    from dcplan.model.network import SiteId
    from dcplan.training.across.place import Place
    from dcplan.training.pipeline.stages import Pace, Stage
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Spread, Workload


class Replica(NamedTuple):
    """One data parallel rank on one share: its terms without exchange across sites, and what that can hide behind."""

    terms: Terms
    total_s: float
    """Of its terms [s]."""
    work: Reduction
    window: Window
    microbatches: int
    """In its step."""
    outer_nic_s: float = 0.0
    """One exchange of outer gradients through its NICs [s]."""
    outer_state_s: float = 0.0
    """State of outer steps from the host and back [s]."""


class _Exchanging(NamedTuple):
    """A share, and what one of its ranks exchanges in a step whatever its microbatches."""

    site: SiteId
    place: Place
    box: Machine
    work: Reduction
    outer_nic_s: float
    outer_state_s: float
    kind: int
    """The same where all but the site is alike."""


@remembered
def _exchanging(workload: Workload, spread: Spread) -> tuple[_Exchanging, ...]:
    """All shares; what sites send in outer steps alone is no part of their own step."""
    where, crossing = placed(workload, spread), across_sites(workload, spread)
    ranks, outer = site_ranks(where), spread.outer
    pushes = 1.0 if spread.sync == "parameter-server" and outer else 0.0
    kinds: dict[tuple[Machine, int, int, float], int] = {}
    found = []
    for place, box in zip(where, machines(workload), strict=True):
        site, nic_s, state_s = place.share.site, 0.0, 0.0
        here, sends = ranks[site], pushes or crossing.sends(site)
        work = reduction(workload, spread, box, here, sends, spread.dp)
        if outer:
            work = work._replace(cross_s=work.cross_s * outer.bits / workload.gradient_bits)
        if sends and box.message_s:
            work = with_messages(work, crossing, box)
        if outer:
            nic_s, work = work.cross_s, work._replace(cross_s=0.0)
            state_s = host_s(outer, stepped_here(workload, spread), box.host.link)
        kind = kinds.setdefault((box, place.ranks, here, sends), len(kinds))
        found.append(_Exchanging(site, place, box, work, nic_s, state_s, kind))
    return tuple(found)


def replicas_of(
    workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]
) -> list[tuple[SiteId, Replica]]:
    """A replica of each share, with its site."""
    alike: dict[tuple[int, int], Replica] = {}
    found = []
    each = rounds(workload, layout, where, boxes)
    for share, own in zip(_exchanging(workload, layout.spread), each, strict=True):
        key = (share.kind, own)
        if key not in alike:
            mine = layout if own == layout.microbatches else replace(layout, microbatches=own)
            made = replica_of(workload, mine, share.place, share.box, pace(workload, layout, share.box), share.work)
            if layout.outer:
                made = made._replace(outer_nic_s=share.outer_nic_s, outer_state_s=share.outer_state_s)
            alike[key] = made
        found.append((share.site, alike[key]))
    return found


def workers_of(replicas: list[tuple[SiteId, Replica]], where: tuple[Place, ...]) -> dict[SiteId, Worker]:
    """Each site as it trains by itself: its ranks stay synchronous, so that its slowest sets its pace."""
    slowest, taken_here = dict[str, Replica](), dict[str, int]()
    for place, (site, replica) in zip(where, replicas, strict=True):
        if site not in slowest or replica.total_s > slowest[site].total_s:
            slowest[site] = replica
        taken_here[site] = taken_here.get(site, 0) + place.ranks * replica.microbatches
    return {
        site: Worker(one.total_s, taken_here[site], one.work, one.window, one.outer_nic_s, one.outer_state_s)
        for site, one in slowest.items()
    }


def rounds(workload: Workload, layout: Layout, where: tuple[Place, ...], boxes: tuple[Machine, ...]) -> tuple[int, ...]:
    """Microbatches of each rank, by share: the same for all, or by speed (see `split.microbatches`)."""
    if not by_speed(workload, layout) or layout.across in SPANNING:
        return (layout.microbatches,) * len(where)
    ranks, each_s, once_s = site_ranks(where), [], []
    for place, box in zip(where, boxes, strict=True):
        work = reduction(workload, layout.spread, box, ranks[place.share.site], 0.0, layout.dp)
        here = pace(workload, layout, box)
        one, two = (
            replica_of(workload, replace(layout, microbatches=k * layout.microbatches), place, box, here, work)
            for k in (1, 2)
        )
        each_s.append((two.total_s - one.total_s) / layout.microbatches)
        once_s.append(one.total_s - layout.microbatches * each_s[-1])
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
    here: Pace,
    work: Reduction,
    own: tuple[float, float] | None = None,
) -> Replica:
    """One data parallel rank on a share with these stages."""
    window = _window(layout, here.slowest, box)
    tied_s = 0.0
    if layout.pp > 1 and workload.model.tied and not folds(layout.schedule):
        between = group(box, 2, layout.tp * layout.cp * place.ranks)
        tied_s = tied_gb(workload) * 1e9 / layout.tp / min(box.out, between.ring)
    terms = Terms(
        **repeated(layout, here.both, here.alone_s),
        pp_s=transfers_s(workload, layout, box, place, layout.pp - 1)
        if layout.schedule not in CONTROLLED
        else hops_s(layout, here, _transfer_s(workload, layout, box, place)),
        bubble_s=idle_s(layout, here),
        dp_s=inside_s(layout, work, window) + tied_s,
        optimizer_s=optimizer_s(workload, layout.spread, box, own),
        fixed_s=box.step_s,
    )
    return Replica(terms, terms.total_s, work, window, layout.microbatches)


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


def transfers_s(workload: Workload, layout: Layout, box: Machine, place: Place, boundaries: int) -> float:
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


def tied_gb(workload: Workload) -> float:
    """Gradient of an embedding that the first and the last stage share [GB]; 0 where it is not tied."""
    if not workload.model.tied:
        return 0.0
    return shapes.embedding_parameters(workload.model) * workload.gradient_bits / 8 / 1e9
