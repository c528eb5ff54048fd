"""The collective of each parallelism plan where rates between sites are given: the one with the shortest step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.collective.optimal import packings
from dcplan.training.across.patterns import KINDS, OPEN, OPTIMAL, Collective, as_trees, pattern
from dcplan.training.terms import step_terms
from dcplan.training.transport.links import usable

if TYPE_CHECKING:
    from dcplan.design.traffic import JobPlans
    from dcplan.model.network import Network
    from dcplan.training.step import Layout, Links


def at_rates(network: Network, plans: JobPlans, links: Links) -> JobPlans:
    """The job with the collective of each of its plans, where its file leaves it open.

    optimal: of the packings that none beats on these links in both time and wait (see `optimal_collective`), and of the
    trees of direct exchange, ring, tree and hub, so that none of these is ever better. auto: of both, as trees or as
    they are.
    """
    options = options_at(network, plans, links)
    if not options:
        return plans

    def step_s(layout: Layout, option: Collective) -> float:
        load = replace(plans.workload, collective=option)
        return round(step_terms(load, layout, usable(load, layout, links))[0].total_s, 12)

    open_to = [layout for layout in plans.layouts if layout.across not in ("pp", "tp")]
    own = {layout.name: min(options, key=lambda option, layout=layout: step_s(layout, option)) for layout in open_to}  # type: ignore[misc]
    first = next(iter(own.values()), options[0])
    return replace(plans, own=own, workload=replace(plans.workload, collective=first))


def options_at(network: Network, plans: JobPlans, links: Links) -> list[Collective]:
    """The collectives among which `at_rates` takes one for each plan; none where the file leaves nothing open."""
    asked = network.jobs[plans.job].collective
    sites = tuple(dict.fromkeys(share.site for share in plans.workload.shares))
    if asked not in OPEN or len(sites) < 3:
        return []
    ms = plans.workload.collective.latency_ms
    simple = [Collective(kind, ms) for kind in KINDS]
    trees = [*packings(sites, links.rate_gbps, links.latency_ms)]
    trees += [as_trees(pattern(one, sites), dict(ms)) for one in simple]
    options = [Collective(OPTIMAL, ms, packing) for packing in trees]
    return [*simple, *options] if asked == "auto" else options
