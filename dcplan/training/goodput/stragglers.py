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


def waiting(about: Stragglers, ranks: int, hosts: float, every_steps: float = 1.0) -> Waiting:
    """E[max] over the hosts of all ranks that a step waits for, times (1 + slow) unless the slow ranks are dropped.

    ranks: data parallel ranks; hosts: in each, where a rank is less than a host the host counts. every_steps H: steps
    between two waits; noise that is independent from step to step then counts σ/√H, hosts that stay slow all the same.
    ValueError where no rank is left. Source: order statistics (see `order.expected`); backup workers: Chen et al. 2016
    (arXiv 1604.00981); the slow host in lockstep: every member of a synchronous step waits for it.
    """
    if not 0 <= about.dropped < ranks:
        raise ValueError(f"{about.dropped} of {ranks} data parallel ranks cannot be dropped")
    if hosts >= 1:
        groups, each, dropped = ranks, math.ceil(hosts), about.dropped
    else:  # several ranks share a host, so that only whole hosts can be dropped
        groups, each = max(1, math.ceil(ranks * hosts)), 1
        dropped = min(groups - 1, math.floor(about.dropped * hosts))
    noise = expected(about.tail, about.sigma / math.sqrt(every_steps), groups, dropped, each) if about.sigma else 1.0
    slow = about.slow if dropped < about.slow_hosts else 0.0
    return Waiting(noise * (1 + slow), (ranks - about.dropped) / ranks)
