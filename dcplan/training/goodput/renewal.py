"""How much of the time a run gets on, with failures that strike at any moment: exact renewal, and the form by hand.

Two kinds of failure, both Poisson: those after which the run goes on from its last checkpoint, and those after which
only the last far checkpoint is left (a remote copy, written every `far_every`-th time).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEVER = 1e-12
"""Far failures that come less often than this in a round are left out: the transform cannot tell them from none."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """What repeats in a run: work, checkpoints, failures."""

    interval_s: float
    """Work between two checkpoints, τ [s]."""
    stall_s: float
    """How long a checkpoint stops the work, δ [s]."""
    rate_per_s: float
    """Failures after which the last checkpoint is there, λ [1/s]."""
    detection_s: float
    """From a failure until it is noticed, D; a failure in it changes nothing [s]."""
    restart_s: float
    """From then until work goes on, R; failures strike in it again [s]."""
    far_every: int = 1
    """Every how many checkpoints one is far, k."""
    far_stall_s: float = 0.0
    """How much longer that one stops the work [s]."""
    far_rate_per_s: float = 0.0
    """Failures after which only a far checkpoint is left, μ [1/s]."""
    far_lag_s: float = 0.0
    """How long after it was taken a far checkpoint counts, P [s]."""

    @property
    def stall_share(self) -> float:
        """Time in checkpoints over time in work."""
        return (self.stall_s + self.far_stall_s / self.far_every) / self.interval_s


def efficiency(cycle: Cycle) -> float:
    """Work over time, exact for Poisson failures at any moment, in checkpoints and restarts too.

    One kind of failure: λτ / (e^(λR) (1 + λD) (e^(λ(τ+δ)) − 1)). With failures that need a far checkpoint, k
    segments of length L = τ + δ make a round of E = (Π φ_i(μ)^−1 − 1) (1/μ + D + P + (e^((λ+μ)R) − 1)(1/(λ+μ) + D)),
    φ(s) = e^(−(λ+s)L) / (1 − ρ(s) λ (1 − e^(−(λ+s)L))/(λ+s)) the transform of the time of a segment, ρ(s) that of a
    recovery. 0 where the exponents pass what can be computed: the run never gets on.
    Source: Daly 2006, Future Generation Computer Systems 22, the complete model, for one kind; the rounds follow by
    the same argument, and a simulation in the tests agrees.
    """
    if math.isinf(cycle.interval_s):
        return 1.0 if cycle.rate_per_s + cycle.far_rate_per_s <= 0 else 0.0
    try:
        return cycle.interval_s * cycle.far_every / _round_s(cycle)
    except OverflowError:
        return 0.0


def _round_s(cycle: Cycle) -> float:
    near, far, alike = cycle.rate_per_s, cycle.far_rate_per_s, cycle.far_every - 1
    length_s = cycle.interval_s + cycle.stall_s
    last_s = length_s + cycle.far_stall_s
    if far * (alike * length_s + last_s) < NEVER:
        return (alike * _segment_s(cycle, length_s) if alike else 0.0) + _segment_s(cycle, last_s)
    quiet = (alike * _log_transform(cycle, far, length_s) if alike else 0.0) + _log_transform(cycle, far, last_s)
    rate = near + far
    recovery_s = cycle.detection_s + math.expm1(rate * cycle.restart_s) * (1 / rate + cycle.detection_s)
    if math.isinf(quiet):
        return math.inf
    return math.expm1(-quiet) * (1 / far + recovery_s + cycle.far_lag_s)


def _segment_s(cycle: Cycle, length_s: float) -> float:
    """Mean time of one segment with near failures only."""
    rate = cycle.rate_per_s
    if rate <= 0:
        return length_s
    return math.exp(rate * cycle.restart_s) * (1 / rate + cycle.detection_s) * math.expm1(rate * length_s)


def _log_transform(cycle: Cycle, s: float, length_s: float) -> float:
    """Ln E[e^(−sT)] of the time T of a segment: of the probability that no far failure comes in it, at rate s."""
    rate = cycle.rate_per_s
    quiet = -(rate + s) * length_s
    if rate <= 0:
        return quiet
    struck = rate * -math.expm1(quiet) / (rate + s)
    unseen = math.exp(-s * cycle.detection_s)
    again = rate * -math.expm1(-(rate + s) * cycle.restart_s) / (rate + s)
    recovered = unseen * math.exp(-(rate + s) * cycle.restart_s) / (1 - unseen * again)
    left = 1 - recovered * struck
    return quiet - math.log(left) if left > 0 else -math.inf


def by_hand(cycle: Cycle) -> float:
    """The same to first order: (1 − λ(D + R + τ/2) − μ(D + R + P + kτ/2)) / (1 + stalls/τ), never below 0.

    Good while what is subtracted stays below 0.2. Source: Kokolis et al., HPCA 2025 (arXiv 2410.21680), their
    expected ETTR (1 − N r_f (u₀ + Δt/2)) / (1 + w/Δt), with N r_f = λ, u₀ = D + R, Δt = τ, w = δ.
    """
    if math.isinf(cycle.interval_s):
        return efficiency(cycle)
    down_s = cycle.detection_s + cycle.restart_s
    lost = cycle.rate_per_s * (down_s + cycle.interval_s / 2)
    lost += cycle.far_rate_per_s * (down_s + cycle.far_lag_s + cycle.far_every * cycle.interval_s / 2)
    return max(0.0, 1 - lost) / (1 + cycle.stall_share)


def young_s(stall_s: float, mtbf_s: float) -> float:
    """Interval between checkpoints √(2δM) [s]. Source: Young 1974, Communications of the ACM 17(9)."""
    return math.sqrt(2 * stall_s * mtbf_s)


def daly_s(stall_s: float, mtbf_s: float) -> float:
    """Interval between checkpoints to higher order [s]; δ: time of a checkpoint, M: time between failures [s].

    √(2δM) (1 + ⅓ √(δ/2M) + ⅑ δ/2M) − δ where δ < 2M, else M. Source: Daly 2006, Future Generation Computer Systems
    22, the last equation (from memory).
    """
    if stall_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = stall_s / (2 * mtbf_s)
    return young_s(stall_s, mtbf_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - stall_s
