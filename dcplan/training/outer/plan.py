"""Outer steps of a plan in the file made whole for a workload, and the rules that they break."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.training.outer.exchange import Outer, Tier
from dcplan.training.outer.streaming import default_fragments
from dcplan.training.step import Misfit

if TYPE_CHECKING:
    from dcplan.model.outer import OuterSteps
    from dcplan.training.step import Layout, Workload


def outer_of(sync: str, asked: OuterSteps | None, workload: Workload) -> Outer | None:
    """With every size known; none where sites agree in every step."""
    if asked is None:
        return None
    bits, kappa = asked.bits or workload.gradient_bits, asked.staleness_kappa
    if asked.tiers:
        tiers = tuple(
            Tier(
                tier.every,
                tuple((server, tuple(children)) for server, children in tier.servers.items()),
                tier.ingress_gbps or math.inf,
            )
            for tier in asked.tiers
        )
        return Outer(tiers[0].every, bits, tiers=tiers, staleness_kappa=kappa)
    every = asked.every_steps or 1
    if sync != "streaming":
        return Outer(every, bits, staleness_kappa=kappa)
    count = asked.fragments or default_fragments(workload.model.layers, every)
    overlap = 1 if asked.overlap_steps is None else asked.overlap_steps
    return Outer(every, bits, count, overlap, asked.pattern, asked.state_in_host, staleness_kappa=kappa)


def outer_trouble(layout: Layout, workload: Workload) -> Misfit | None:
    """Outer steps across a pipeline, more fragments than layers or steps, servers that are not what pushes to them."""
    outer = layout.outer
    if outer is None:
        return None
    sites = list(dict.fromkeys(share.site for share in workload.shares))
    if layout.across != "dp":
        reason = f"sync {layout.sync} lets replicas of the model in each site train by themselves; across: dp has them"
        return Misfit(layout.name, "sites", reason)
    if outer.fragments > workload.model.layers:
        return Misfit(
            layout.name, "layout", f"{outer.fragments} fragments of {workload.model.layers} layers leave some empty"
        )
    if outer.fragments > outer.every_steps:
        reason = f"{outer.fragments} fragments do not have a step each in every_steps {outer.every_steps}"
        return Misfit(layout.name, "layout", reason)
    for number, tier in enumerate(outer.tiers, 1):
        if strange := [server for server, _ in tier.servers if server not in sites]:
            reason = f"a server of tier {number} stands in {strange[0]}, where the job has no accelerators"
            return Misfit(layout.name, "sites", reason)
    if outer.tiers and (pushing := {child for _, mine in outer.tiers[0].servers for child in mine}) != set(sites):
        reason = f"the first tier takes from {', '.join(sorted(pushing))}; the job runs in {', '.join(sorted(sites))}"
        return Misfit(layout.name, "sites", reason)
    return None
