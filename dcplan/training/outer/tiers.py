"""Asynchronous tiers of parameter servers: rates without a barrier, loads of links and servers, staleness.

A site pushes what it has learned every H_1 of its own steps and takes the server's weights when they come; it waits
for nobody, so that unequal sites each go at their own pace. A server of tier l pushes on every H_l of its periods.
What changed in its weights comes down as gradients go up, in as many bits.
Source: Dean et al. 2012 (DistBelief, Downpour SGD); Ho et al. 2013 for staleness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.network import pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import Pair, SiteId
    from dcplan.training.outer.exchange import Outer, Tier
    from dcplan.training.step import Links


@dataclass(frozen=True, slots=True)
class Push:
    """Who pushes to which server, and how often."""

    tier: int
    """First tier 0."""
    child: SiteId
    server: SiteId
    period_s: float


def pushes(outer: Outer, steps_s: Mapping[SiteId, float]) -> tuple[Push, ...]:
    """All pushes of a job whose sites make their own steps in `steps_s`.

    T_1 = H_1 t of a site. A round of a server is the time in which it gets as many updates as it has children,
    n / Σ 1/T; its own period is T_l = H_l × that.
    """
    below = dict(steps_s)
    found: list[Push] = []
    for number, tier in enumerate(outer.tiers):
        rounds: dict[SiteId, float] = {}
        for server, children in tier.servers:
            mine = [Push(number, child, server, tier.every * below[child]) for child in children]
            found += mine
            rounds[server] = len(mine) / math.fsum(1 / push.period_s for push in mine)
        below = rounds
    return tuple(found)


def mean_step_s(steps_s: Mapping[SiteId, float], batch: Mapping[SiteId, float]) -> float:
    """Time in which all sites together go through the batch of a step: Σ b_i / Σ (b_i / t_i) [s].

    Rates add up, for there is no barrier; with equal shares it is n / Σ 1/t_i, never more than the slowest site's step.
    """
    fastest_s = min(steps_s.values())
    if math.isinf(max(steps_s.values())):
        return math.inf  # a site without a path to its server stops the job, as with any other plan
    return fastest_s * (sum(batch.values()) / math.fsum(batch[site] * (fastest_s / steps_s[site]) for site in steps_s))


def pair_gb(
    outer: Outer, steps_s: Mapping[SiteId, float], batch: Mapping[SiteId, float], size_gb: float
) -> dict[Pair, float]:
    """Bytes between two sites while all go through the batch of a step, in each direction [GB]: Σ S T_step / T_push."""
    step_s = mean_step_s(steps_s, batch)
    found: dict[Pair, float] = {}
    for push in pushes(outer, steps_s):
        if push.child != push.server:
            ends = pair(push.child, push.server)
            found[ends] = found.get(ends, 0.0) + size_gb * step_s / push.period_s
    return found


def slowed_s(outer: Outer, steps_s: Mapping[SiteId, float], size_gb: float, links: Links) -> dict[SiteId, float]:
    """Own steps of each site where links and servers take no more than they can [s].

    What goes over a pair of sites, Σ 8 S / T, may not exceed its rate, nor what a server takes in its `ingress_gbps`;
    sites on whose way up it would are slower by the largest excess there. Infinite without a path.
    """
    every = pushes(outer, steps_s)
    over, into = dict[object, float](), dict[object, float]()
    for push in every:
        load = 8 * size_gb / push.period_s
        into[push.tier, push.server] = into.get((push.tier, push.server), 0.0) + load
        if push.child != push.server:
            ends = pair(push.child, push.server)
            over[ends] = over.get(ends, 0.0) + load
    up = {(push.tier, push.child): push.server for push in every}
    found = {}
    for site, step_s in steps_s.items():
        excess, here = 1.0, site
        for number, tier in enumerate(outer.tiers):
            server = up[number, here]
            excess = max(excess, into[number, server] / tier.ingress_gbps)
            if here != server:
                ends = pair(here, server)
                rate = links.rate_gbps.get(ends) if ends in links.latency_ms else None
                excess = max(excess, over[ends] / rate if rate else math.inf)
            here = server
        found[site] = step_s * excess
    return found


def staleness(outer: Outer, steps_s: Mapping[SiteId, float], size_gb: float, links: Links) -> tuple[float, float]:
    """Updates of others between what a site computes on and what its update is added to: mean and worst, all tiers.

    A child whose period is T and whose exchange takes d sees Σ over the others (T + d) / T_j; over all updates of n
    children the mean is n − 1, however unequal they are, and what comes during d on top.
    Worst: ⌈T_max / T_min⌉ (n − 1), with d of the slowest in T_max.
    """
    mean = worst = 0.0
    every = pushes(outer, steps_s)
    for number, tier in enumerate(outer.tiers):
        heaviest = (0.0, 0.0)
        for server, _ in tier.servers:
            mine = [push for push in every if (push.tier, push.server) == (number, server)]
            late = {push.child: _exchange_s(push, size_gb, links) for push in mine}
            rate = math.fsum(1 / push.period_s for push in mine)
            seen = [(push.period_s + late[push.child]) * (rate - 1 / push.period_s) for push in mine]
            average = math.fsum(age / push.period_s for age, push in zip(seen, mine, strict=True)) / rate
            slowest = max(push.period_s + late[push.child] for push in mine)
            if math.isinf(slowest):
                return math.inf, math.inf
            bound = math.ceil(slowest / min(push.period_s for push in mine) - 1e-9) * (len(mine) - 1)
            heaviest = max(heaviest, (average, float(bound)))
        mean, worst = mean + heaviest[0], worst + heaviest[1]
    return mean, worst


def without(outer: Outer, lost: frozenset[SiteId]) -> Outer | None:
    """The tiers after the loss of sites; none where a server is lost, or nothing is left to push."""
    left: list[Tier] = []
    for tier in outer.tiers:
        if any(server in lost for server, _ in tier.servers):
            return None
        servers = tuple(
            (server, tuple(child for child in children if child not in lost)) for server, children in tier.servers
        )
        lost = lost | {server for server, children in servers if not children}
        left.append(replace(tier, servers=tuple(entry for entry in servers if entry[1])))
    return replace(outer, tiers=tuple(left))


def _exchange_s(push: Push, size_gb: float, links: Links) -> float:
    """Push and pull: 2 (8 S / rate + latency); nothing inside a site."""
    if push.child == push.server:
        return 0.0
    ends = pair(push.child, push.server)
    rate = links.rate_gbps.get(ends) or math.ulp(0.0)
    return 2 * (8 * size_gb / rate + links.latency_ms.get(ends, math.inf) / 1e3)
