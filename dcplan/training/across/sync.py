"""Gradients: reduction inside a site, exchange across sites, and how much of either hides behind the backward pass.

Across sites one pattern is used for each way to synchronise, so that bytes and demands agree:
hierarchical: reduce-scatter inside, the job's collective among sites (see `patterns`), gather inside;
synchronous: one ring through all ranks that goes round the sites by the shortest way, halves both ways round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training import shapes
from dcplan.training.across.patterns import Pattern, flat_ring, pattern, shortest_ring
from dcplan.training.across.place import placed, site_ranks
from dcplan.training.pipeline.schedules import copies
from dcplan.training.pipeline.stages import fullest_layers, layer_sizes, stage_parameters
from dcplan.training.remember import remembered
from dcplan.training.site.collectives import all_reduce_s, group, reduce_scatter_s
from dcplan.training.state import gathered_bytes, gradient_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import Pair, SiteId
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Links, Spread, Workload

SERVERS = "parameter servers"
"""The pattern of those: sites do not sum gradients among themselves."""
BUCKET_PARAMETERS = 40e6
"""Parameters in a gradient bucket (Megatron-LM, --ddp-bucket-size)."""


class Reduction(NamedTuple):
    """What one accelerator's collectives of gradients and weights take in a step, before any of it is hidden [s]."""

    reduce_s: float
    """Reduce-scatter in the sharding group, and with sharding 0 the gather of gradients that mirrors it."""
    mirror_s: float
    """All-reduce of its shard over the other sharding groups of the site and over copies of its stage, once a step."""
    cross_s: float
    """Its NIC's share of the exchange across sites."""
    gather_s: float
    """One all-gather of weights inside the sharding group; 0 without sharding."""
    buckets: int


def local_parameters(workload: Workload, layout: Layout | Spread) -> tuple[float, float]:
    """Parameters on one accelerator of the fullest stage: those met by every token, and routed experts."""
    stages = stage_parameters(workload, layout.pp, layout.virtual_stages, layout.schedule)
    return max(((stage.shared / layout.tp, stage.experts / (layout.ep * layout.tp)) for stage in stages), key=sum)


@remembered
def gradient_gb(workload: Workload) -> float:
    """All gradients once, as they go between sites: parameters × gradient_bits / 8 [GB]."""
    return shapes.parameters(workload.model) * workload.gradient_bits / 8 / 1e9


@remembered
def shared_gradient_gb(workload: Workload) -> float:
    """The same without routed experts [GB]."""
    routed = shapes.moe_layers(workload.model) * layer_sizes(workload)[1].experts
    return gradient_gb(workload) - routed * workload.gradient_bits / 8 / 1e9


@remembered
def across_sites(workload: Workload, spread: Spread) -> Pattern:
    """The pattern in which the sites of a job sum its gradients; nothing where each has all ranks of its parameters."""
    ranks = site_ranks(placed(workload, spread))
    sites = tuple(ranks)
    if spread.across == "tp":
        return Pattern("", sites, {}, ())
    if spread.sync == "parameter-server":
        return Pattern(SERVERS, sites, {}, ())
    if spread.sync != "synchronous":
        return pattern(workload.collective, sites)
    return flat_ring(_ring_order(workload, sites), sum(ranks.values()) * spread.cp)


@remembered
def _ring_order(workload: Workload, sites: tuple[SiteId, ...]) -> tuple[SiteId, ...]:
    return shortest_ring(sites, dict(workload.collective.latency_ms))


@remembered
def gradient_pairs(workload: Workload, spread: Spread) -> Mapping[Pair, float]:
    """Gradient bytes between two sites in a step, in each direction [GB]: share × parameters × gradient_bits / 8.

    Outer gradients go in their own bits, and once in H steps: a mean of all steps. Where experts are spread over sites
    (across: ep) all ranks of one are in the same site, and only the other parameters cross.
    """
    size = shared_gradient_gb(workload) if spread.across == "ep" else gradient_gb(workload)
    if spread.outer:
        size *= spread.outer.bits / workload.gradient_bits / spread.outer.every_steps
    return {ends: share * size for ends, share in across_sites(workload, spread).share.items()}


def exchange_s(size_gb: Mapping[Pair, float], links: Links) -> float:
    """Time in which every pair of sites has sent its bytes: max over pairs of 8 bytes / rate; infinite without path."""
    return max([8 * size / rate_gbps(links, ends) for ends, size in size_gb.items()], default=0.0)


def rate_gbps(links: Links, ends: Pair) -> float:
    """The rate of a pair, never zero: a hair above it where there is no path, so that times are infinite."""
    return links.rate_gbps.get(ends) or math.ulp(0.0)


@remembered
def reduction(
    workload: Workload,
    spread: Spread,
    machine: Machine,
    ranks: int,
    sends: float,
    total: int,
    own: tuple[float, float] | None = None,
) -> Reduction:
    """Collectives of one accelerator whose site has `ranks` of `total` data parallel ranks.

    sends: bytes that the site sends to others, over all gradients; 0 where the job is in one site. own: its parameters
    where they are not those of the fullest stage (`local_parameters`).
    Inside: reduce-scatter in the sharding group, all-reduce of the shards over the groups and over the copies that
    dualpipe keeps (two hops: Zhang et al. 2022, MiCS, section 3.4), all-gather.
    Inside, gradients are reduced as they are added up (fp32 or bf16). Across, its share of what the site sends goes in
    gradient_bits through its own NIC; a flat ring carries all of them in gradient_bits. Experts are spread over the
    data parallel ranks already, so theirs go over ep times fewer. Buckets are of 40M parameters, with sharding 3 of a
    layer (PyTorch FSDP, MaxText).
    """
    locals_, kept = own or local_parameters(workload, spread), copies(spread.schedule)
    reduce_s = mirror_s = cross_s = gather_s = 0.0
    for held, thinner in zip(locals_, (1, spread.ep), strict=True):
        if not held:
            continue
        inside = max(1, ranks * spread.cp // thinner)
        shard = max(1, min(spread.shard_size * spread.cp // thinner, inside)) if spread.sharding else inside
        size, wire = held * gradient_bytes(spread), held / kept * workload.gradient_bits / 8
        over = group(machine, shard, spread.tp * thinner)
        if sends and spread.sync == "synchronous":
            everyone = max(1, total * spread.cp // thinner)
            reduce_s += all_reduce_s(group(machine, everyone, spread.tp * thinner), wire)
        else:
            if spread.sharding or machine.all_reduce == "auto":
                reduce_s += reduce_scatter_s(over, size)
            groups = inside // shard
            mirror_s += all_reduce_s(group(machine, groups, spread.tp * thinner * shard), size / shard)
            if not spread.sharding:
                reduce_s += reduce_scatter_s(over, size) if machine.all_reduce == "auto" else all_reduce_s(over, size)
            stays = spread.across == "ep" and thinner > 1  # all ranks of an expert are in one site
            cross_s += 0.0 if stays else sends * wire / inside / machine.leaving
        if spread.sharding:
            gather_s += reduce_scatter_s(over, gathered_bytes(spread) * held)
        if kept > 1:
            mirror_s += all_reduce_s(group(machine, kept, spread.tp * spread.cp * ranks), size / shard)
    buckets = math.ceil(sum(locals_) / BUCKET_PARAMETERS)
    if spread.sharding == 3:
        buckets = fullest_layers(workload.model, spread.pp, spread.virtual_stages)
    return Reduction(reduce_s, mirror_s, cross_s, gather_s, max(1, buckets))


def with_messages(work: Reduction, crossing: Pattern, machine: Machine) -> Reduction:
    """The same where every message to another site costs the host some time: buckets × messages × that time."""
    return work._replace(cross_s=work.cross_s + work.buckets * crossing.messages * machine.message_s)


def exposed_s(cost_s: float, window_s: float, buckets: int) -> float:
    """What of a collective is not hidden: max(C − w, C / buckets); the last bucket has nothing to hide behind."""
    return max(cost_s - window_s, cost_s / buckets)


class Window(NamedTuple):
    """What gradients can hide behind: the last microbatch's backward pass, and the cool-down of the pipeline."""

    backward_s: float
    forward_s: float
    stagger_s: float
    """How much later than its neighbour a stage has its gradients: tB / v [s]."""
    overlap: bool
    chunks: int = 1
    """Virtual stages: in an interleaved schedule the gradients of each go off when its last microbatch is through."""
    spacing_s: float = 0.0
    """From one of them to the next: p backward passes of one virtual stage, p tB / v [s]."""
    across: bool = True
    """Where it overlaps: the exchange across sites does too; else that begins with all gradients there."""

    def exposed_s(self, cost_s: float, window_s: float, buckets: int) -> float:
        """What of an exchange inside a site is not hidden behind `window_s` or, interleaved, behind later chunks."""
        return self.chunked_s(cost_s) if self.chunks > 1 else exposed_s(cost_s, window_s, buckets)

    def chunked_s(self, cost_s: float) -> float:
        """What is left of chunks that go off one after another: max(C/v, C − (v−1) p tB/v) [s].

        An interleaved schedule runs the last p microbatches through one virtual stage, then through the one before
        it; the gradients of a virtual stage are complete after p of its backward passes, and only those of the last
        one have nothing to hide behind. Source: Megatron-LM core/pipeline_parallel/schedules.py, grad_sync_func.
        """
        return max(cost_s / self.chunks, cost_s - (self.chunks - 1) * self.spacing_s)


def inside_s(layout: Layout, work: Reduction, window: Window) -> float:
    """Exposed gradient and weight exchange inside a site in one step [s].

    Sharding 0 and 1 reduce once, behind the last microbatch's backward pass; 2 and 3 behind every one's inside their
    group, and across groups once. Sharding 1 and 2 gather the weights once, behind the next forward pass; 3 gathers
    them forward and backward for each microbatch, on the same NICs as its gradients.
    """
    m = layout.microbatches
    if not window.overlap:
        times, gathers = m if layout.sharding >= 2 else 1, 2 * m if layout.sharding == 3 else 1
        return times * work.reduce_s + work.mirror_s + work.cross_s + gathers * work.gather_s
    last = _last_backward_s(layout, work, window) + window.exposed_s(work.gather_s, window.forward_s, work.buckets)
    if layout.sharding == 3:
        both = window.forward_s + window.backward_s
        return last + (m - 1) * exposed_s(2 * work.gather_s + work.reduce_s, both, work.buckets)
    if layout.sharding == 2:
        return last + (m - 1) * exposed_s(work.reduce_s, window.backward_s, work.buckets)
    return last


def _last_backward_s(layout: Layout, work: Reduction, window: Window) -> float:
    """What the last microbatch's backward pass does not hide of the exchange on the NICs."""
    nics = work.reduce_s + work.mirror_s + work.cross_s + (work.gather_s if layout.sharding == 3 else 0.0)
    if not window.across:
        return window.exposed_s(nics - work.cross_s, window.backward_s, work.buckets) + work.cross_s
    return window.exposed_s(nics, window.backward_s, work.buckets)


def across_s(layout: Layout, work: Reduction, window: Window, wan_s: float) -> float:
    """Exposed exchange across sites in one step, beyond what the NICs expose anyway, latency apart [s].

    max(backlog, C/(p buckets)) less what the NICs expose, C = time on the links [s]: the last bucket has nothing to
    hide behind. Interleaved, all stages send a virtual stage at a time: see `Window.chunked_s`. Chunks are pipelined
    through the steps of the hierarchy. Software that does not overlap starts when a stage has all its gradients.
    """
    p = layout.pp
    if not (window.overlap and window.across):
        base = work.reduce_s if layout.sync == "synchronous" else work.cross_s
        return max(0.0, backlog_s(wan_s, p, 0.0, window.stagger_s) - base)
    if window.chunks > 1:
        return max(0.0, window.chunked_s(wan_s) - _last_backward_s(layout, work, window))
    exposed = max(backlog_s(wan_s, p, window.backward_s, window.stagger_s), wan_s / p / work.buckets)
    return max(0.0, exposed - _last_backward_s(layout, work, window))


def backlog_s(wan_s: float, pp: int, window_s: float, stagger_s: float) -> float:
    """What is left on the links between sites, which all stages share, when the last stage has its gradients [s].

    Stage i makes its C/p evenly during w and ends i δ before stage 0, δ = tB/v. The backlog is the largest excess of
    what came since some moment over the time since: at the end of stage 0's window or of one of the last stages',
    max(C/p (1 + r − δ/w r(r+1)/2) − w, C − w − (p−1)δ + n δ − C/p δ/w n(n+1)/2), r = min(p−1, ⌊w/δ⌋),
    n = min(r, ⌊w p/C⌋). At most C; negative where the links are idle at the end.
    """
    each = wan_s / pp
    if math.isinf(wan_s):
        return wan_s
    first, last = each - window_s, wan_s - window_s - (pp - 1) * stagger_s
    if window_s > 0 and each > 0:
        slope = stagger_s / window_s
        r = pp - 1 if stagger_s * (pp - 1) <= window_s else int(window_s / stagger_s)
        n = min(r, int(window_s / each))
        first += each * (r - slope * r * (r + 1) / 2)
        last += n * stagger_s - each * slope * n * (n + 1) / 2
    return max(first, last)
