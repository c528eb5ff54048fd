"""The links of a job as its collectives see them: what transport leaves of the rates that are lit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.across.cross_layers import SPANNING, messages
from dcplan.training.across.patterns import OPTIMAL
from dcplan.training.across.place import places
from dcplan.training.across.sync import SERVERS, across_sites
from dcplan.training.remember import remembered
from dcplan.training.site.machine import machines
from dcplan.training.step import Links
from dcplan.training.terms import cross_site_gb
from dcplan.training.transport.carried import Carried, carried

if TYPE_CHECKING:
    from dcplan.model.network import Pair, SiteId
    from dcplan.training.step import Layout, Workload


class End(NamedTuple):
    """The accelerators of a job in one site."""

    accelerators: int
    nic_gbps: float
    """The slowest of their NICs."""


SERVER = End(1, math.inf)
"""A site of parameter servers without accelerators of the job: one flow, unless the file says how many."""


@remembered
def sites(workload: Workload) -> dict[SiteId, End]:
    """Each site of a job with what sends from it."""
    found: dict[SiteId, End] = {}
    for share in workload.shares:
        nic, here = share.accelerator.nic_gbps, found.get(share.site)
        end = End(share.count, nic) if here is None else End(here.accelerators + share.count, min(here.nic_gbps, nic))
        found[share.site] = end
    return found


def usable(workload: Workload, layout: Layout, links: Links) -> Links:
    """The links in payload and with all that delays it; as they are where the job says nothing of transport.

    rate_gbps in: bytes on the wire; out: payload. latency_ms out: with encryption and the tail of a message. The bytes
    between sites stay those of the payload, so what is sized for them is sized for the wire.
    """
    if workload.transport is None:
        return links
    pairs = on_pairs(workload, layout, links)
    return Links(
        {**links.rate_gbps, **{one.ends: one.usable_gbps for one in pairs}},
        {**links.latency_ms, **{one.ends: one.latency_ms for one in pairs}},
    )


def on_pairs(workload: Workload, layout: Layout, links: Links) -> tuple[Carried, ...]:
    """What every pair of sites carries that sends to each other and has a path; none where nothing is said of it."""
    transport = workload.transport
    if transport is None:
        return ()
    found = []
    for pair, size in messages_gb(workload, layout).items():
        if pair in links.rate_gbps and pair in links.latency_ms:
            ends = [sites(workload).get(site, SERVER) for site in pair]
            flows = transport.flows or min(end.accelerators for end in ends)
            nic_gbps = min(end.nic_gbps for end in ends)
            found.append(carried(transport, pair, links.rate_gbps[pair], links.latency_ms[pair], size, flows, nic_gbps))
    return tuple(found)


def messages_gb(workload: Workload, layout: Layout) -> dict[Pair, float]:
    """What the sites of a pair wait for at a time [GB].

    Of gradients half of what the pair sends in a step, once to sum them and once to hand out the sum, or all of it in a
    tree or with servers, where the two go opposite ways; of outer steps, of which bytes are a mean, those of one
    fragment; of a pipeline one microbatch.
    """
    return {ends: size / _messages(workload, layout) for ends, size in cross_site_gb(workload, layout).items()}


def _messages(workload: Workload, layout: Layout) -> float:
    """In a step; outer steps are fewer, by turns of fragments more."""
    if layout.across in SPANNING:
        return messages(workload, layout, places(workload, layout), machines(workload)[0])
    if layout.across != "dp":
        return layout.microbatches
    kind = across_sites(workload, layout.spread).kind
    each = 1 if kind in ("tree", "hub", OPTIMAL, SERVERS) else 2
    return each * layout.outer.fragments / layout.outer.every_steps if layout.outer else each
