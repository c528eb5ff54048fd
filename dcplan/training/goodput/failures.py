"""How often a job fails, from how often its parts do, and whether spares are left when one does."""

from __future__ import annotations

import math

HOURS = 3600.0
"""Seconds in an hour."""
HOST = 8
"""Accelerators of one host in the published rates."""
PUBLISHED_H = {
    "llama3": 54 * 24 * 16_384 / 419,
    "meta-rsc-1": 1000 * 24 * HOST / 6.5,
    "meta-rsc-2": 1000 * 24 * HOST / 2.34,
}
"""Hours that one accelerator runs between two failures that stop its job.

llama3: 419 unexpected interruptions in 54 days on 16,384 H100, 50.7 thousand hours (arXiv 2407.21783, 3.3.4).
meta-rsc-1, meta-rsc-2: 6.5 and 2.34 failures per 1,000 days of an 8-GPU node, A100 (Kokolis et al., HPCA 2025).
"""
HARDWARE_PERCENT = 78.0
"""Of unexpected interruptions, those by hardware, which take a host away [%] (arXiv 2407.21783, 3.3.4)."""


def mtbf_s(accelerators: int, accelerator_mtbf_h: float, infant_factor: float = 1.0) -> float:
    """Time between failures of a job, M = 3600 h / (n f) [s].

    n: accelerators, h: hours between failures of one [h], f: how many times as often they fail while new (1: not new).
    Exponential failures in series. Source: Kokolis et al. 2025, MTTF = 1 / (N r_f).
    """
    return accelerator_mtbf_h * HOURS / (accelerators * infant_factor)


def missing(hosts_failing_per_s: float, repair_s: float, hosts: int) -> list[float]:
    """Probability that 0, 1, 2, … of so many hosts are in repair at a time, to all but 10⁻¹² of the mass.

    Poisson with mean ν = rate × repair time, whatever the distribution of repairs (M/G/∞, Palm's theorem); what it
    gives to more hosts than there are counts for all of them.
    """
    mean = hosts_failing_per_s * repair_s
    if mean <= 0:
        return [1.0]
    last = min(hosts, math.ceil(mean + 10 * math.sqrt(mean) + 20))
    found = [math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(last)]
    return [*found, max(0.0, 1 - math.fsum(found))]


def speed_with_spares(
    probability: list[float], spare_hosts: int, ranks: int, rank_hosts: float, *, elastic: bool
) -> float:
    """Mean speed, 1 with all ranks: what is missing beyond the spares stops the job, or if `elastic` whole ranks of it.

    probability: as `missing` gives it; ranks: data parallel ranks, of rank_hosts hosts each. Elastic: the hosts that
    are left form ⌊(N − j)/rank_hosts⌋ ranks, the others wait.
    """
    hosts = ranks * rank_hosts
    total = 0.0
    for n, chance in enumerate(probability):
        lacking = max(0, n - spare_hosts)
        if not lacking:
            total += chance
        elif elastic:
            total += chance * max(0, math.floor((hosts - lacking) / rank_hosts + 1e-9)) / ranks
    return min(1.0, total)
