"""Waiting for slow accelerators: hosts whose time varies from step to step, and hosts that stay slow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.training.goodput.order import expected


@dataclass(frozen=True, slots=True)
class Stragglers:
    """What makes the hosts of a job unequal. Times are those of the work between two exchanges of gradients."""

    tail: str = "normal"
    """normal, lognormal or exponential."""
    sigma: float = 0.0
    """Standard deviation of one host's time in one step, over its mean."""
    slow: float = 0.0
    """How much longer a host that is slow takes in every step: 0.1 is a tenth longer."""
    slow_hosts: int = 1
    """Hosts that stay slow, in as many data parallel ranks."""
    dropped: int = 0
    """Slowest data parallel ranks whose gradients a step does not wait for."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What stragglers cost."""

    longer: float
    """Work between two exchanges lasts so many times the mean time of a sound host."""
    used: float
    """Share of the batch that still counts: (n − dropped) / n."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Sites that do not wait for each other in every step."""

    sites: int
    every_steps: float
    """Steps from one wait to the next, H; infinite for parameter servers, at which nobody waits."""


def waiting(about: Stragglers, ranks: int, hosts: float, apart: Apart | None = None) -> Waiting:
    """E[max] over the hosts that a step waits for, times (1 + slow) unless the slow ranks are dropped.

    ranks: data parallel ranks; hosts: in each, where a rank is less than a host the host counts. Where sites are apart,
    a step waits for its own site, E_site, and every H steps for the others: E_site + (E_all − E_site)/√H, for noise
    that is independent from step to step; a host that stays slow holds up all of them, or with parameter servers only
    its own site, one n-th of the speed. ValueError where no rank is left.
    Source: order statistics (see `order.expected`); backup workers: Chen et al. 2016 (arXiv 1604.00981).
    """
    if not 0 <= about.dropped < ranks:
        raise ValueError(f"{about.dropped} of {ranks} data parallel ranks cannot be dropped")
    noise, dropped = _noise(about, ranks, hosts, about.dropped)
    slow = 1 + about.slow if dropped < about.slow_hosts else 1.0
    if apart is not None:
        own, _ = _noise(about, math.ceil(ranks / apart.sites), hosts, about.dropped // apart.sites)
        noise = own + (noise - own) / math.sqrt(apart.every_steps)
        if math.isinf(apart.every_steps):
            slow = apart.sites / (apart.sites - 1 + 1 / slow)
    return Waiting(noise * slow, (ranks - about.dropped) / ranks)


def _noise(about: Stragglers, ranks: int, hosts: float, dropped: int) -> tuple[float, int]:
    """E[max] of so many ranks, and how many groups of hosts the dropped ranks make."""
    if hosts >= 1:
        groups, each = ranks, math.ceil(hosts)
    else:  # several ranks share a host, so that only whole hosts can be dropped
        groups, each = max(1, math.ceil(ranks * hosts)), 1
        dropped = min(groups - 1, math.floor(dropped * hosts))
    return (expected(about.tail, about.sigma, groups, dropped, each) if about.sigma else 1.0), dropped
