"""Steps of sites that train by themselves: what the exchange of outer gradients adds to the mean step of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training.across.sync import across_s, exchange_s, gradient_gb, inside_s
from dcplan.training.outer.exchange import host_bytes
from dcplan.training.outer.quality import of_outer_steps, of_servers
from dcplan.training.outer.streaming import Passes, fragments, waits_s
from dcplan.training.outer.tiers import mean_step_s, pair_gb, slowed_s, staleness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import Pair, SiteId
    from dcplan.training.across.sync import Reduction, Window
    from dcplan.training.outer.exchange import Outer
    from dcplan.training.outer.quality import Quality
    from dcplan.training.step import Layout, Links, Workload


@dataclass(frozen=True, slots=True)
class Worker:
    """A site as it trains by itself."""

    step_s: float
    """Its own step, without exchange across sites [s]."""
    microbatches: int
    """In its own step, all its ranks together."""
    work: Reduction
    """In a step of its own, so nothing across sites."""
    window: Window
    nic_s: float
    """One whole exchange of outer gradients, as far as the NICs are concerned [s]."""
    state_s: float = 0.0
    """From the host and back, all state of outer steps [s]; 0 where it is on the accelerators."""


def outer_gb(workload: Workload, outer: Outer) -> float:
    """Outer gradients of all parameters once, as they go between sites [GB]: parameters × bits / 8."""
    return gradient_gb(workload) * outer.bits / workload.gradient_bits


def outer_step_s(
    workload: Workload,
    layout: Layout,
    outer: Outer,
    worker: Worker,
    pairs: Mapping[Pair, float],
    latency_s: float,
    links: Links,
) -> float:
    """Mean step of a worker with what it waits for the exchange [s]: its own step + waits in H steps / H.

    Others meet it at every exchange, so that the largest of all workers is the step of the job. See `waits`.
    """
    return worker.step_s + waits(workload, layout, outer, worker, pairs, latency_s, links).total_s / outer.every_steps


@dataclass(frozen=True, slots=True)
class Waits:
    """What a worker waits for the exchange in H steps."""

    nics_s: float = 0.0
    """What its NICs expose of the step with an exchange beyond other steps [s]."""
    links_s: float = 0.0
    """What the links expose beyond that [s]."""
    latency_s: float = 0.0
    fragments_s: float = 0.0
    """For fragments that come late [s]."""
    layer_s: float = 0.0
    """Streaming: one layer on the links or its stage's NICs [s]; part of the above."""

    @property
    def total_s(self) -> float:
        """All of it [s]."""
        return self.nics_s + self.links_s + self.latency_s + self.fragments_s


def waits(
    workload: Workload,
    layout: Layout,
    outer: Outer,
    worker: Worker,
    pairs: Mapping[Pair, float],
    latency_s: float,
    links: Links,
) -> Waits:
    """What a worker waits in H steps, part by part.

    pairs: bytes between sites as a mean of all steps [GB]; latency_s: trips of the last part.
    local-sgd: all parameters after the last backward pass of H steps, hidden as gradients are in each step of a
    hierarchical plan, so that H = 1 is one; the tail and the latency are not.
    streaming: see `streaming.waits_s`; a layer takes as long as its part of the links, or of its stage's NICs. What
    goes on inside the site meanwhile has NICs of its own. A fragment whose state is in the host is taken over only
    when that has come and gone.
    """
    every, whole = outer.every_steps, {ends: size * outer.every_steps for ends, size in pairs.items()}
    links_s = exchange_s(whole, links)
    if layout.sync == "local-sgd":
        sending = worker.work._replace(cross_s=worker.nic_s)
        nics_s = inside_s(layout, sending, worker.window) - inside_s(layout, worker.work, worker.window)
        return Waits(nics_s, across_s(layout, sending, worker.window, links_s), latency_s)
    layers, stages = workload.model.layers, layout.pp
    passes = Passes(layers, stages * worker.window.forward_s, stages * worker.window.backward_s, worker.step_s)
    layer_s = max(links_s, stages * worker.nic_s) / layers
    parts = fragments(layers, outer.fragments, outer.pattern)
    late_s = latency_s + worker.state_s / outer.fragments
    waited_s = waits_s(passes, every, parts, outer.overlap_steps, layer_s, late_s)
    return Waits(fragments_s=waited_s, layer_s=layer_s)


def with_servers_s(
    workload: Workload, layout: Layout, outer: Outer, workers: Mapping[SiteId, Worker], links: Links
) -> tuple[float, float]:
    """Mean step of all sites together with parameter servers: as they compute, and as links let them [s]."""
    own, batch = own_steps_s(outer, workers), batches(layout, workers)
    slowed = slowed_s(outer, own, outer_gb(workload, outer), links)
    return mean_step_s(own, batch), mean_step_s(slowed, batch)


def host_s(outer: Outer, parameters: float, link: float) -> float:
    """All state of outer steps from the host and back [s]: 2 × 8 B × parameters / link, link in bytes/s each way."""
    return 2 * host_bytes(outer) * parameters / link


def server_pairs(
    workload: Workload, layout: Layout, outer: Outer, workers: Mapping[SiteId, Worker]
) -> dict[Pair, float]:
    """Bytes between two sites while all go through the batch of a step, in each direction [GB]."""
    return pair_gb(outer, own_steps_s(outer, workers), batches(layout, workers), outer_gb(workload, outer))


def own_steps_s(outer: Outer, workers: Mapping[SiteId, Worker]) -> dict[SiteId, float]:
    """Steps of each site by itself [s]; H of them are never shorter than its NICs need for a push."""
    return {site: max(worker.step_s, worker.nic_s / outer.every_steps) for site, worker in workers.items()}


def batches(layout: Layout, workers: Mapping[SiteId, Worker]) -> dict[SiteId, float]:
    """Sequences in a step of each site."""
    return {site: worker.microbatches * layout.microbatch for site, worker in workers.items()}


def quality(
    workload: Workload, layout: Layout, outer: Outer, workers: Mapping[SiteId, Worker], links: Links
) -> Quality:
    """What the plan costs in learning, beside its step time."""
    if layout.sync != "parameter-server":
        return of_outer_steps(workload, outer, len(workers))
    own = own_steps_s(outer, workers)
    return of_servers(workload, outer, len(workers), staleness(outer, own, outer_gb(workload, outer), links))
