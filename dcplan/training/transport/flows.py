"""One flow over a long link: what it carries with a window and under loss.

Times are in seconds, sizes in packets; `tx_s`: time between two packets of the flow at its share of the line.
A window of infinity never limits. Checked against packet-level simulation in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

MATHIS = math.sqrt(3 / 2)
"""Constant of the law for periodic losses with an answer to every packet."""
NEGLIGIBLE = 1e-12
MOST_SUMMED = 1000.0
"""Up to this mean the slowest of several flows is found by summing the Poisson distribution."""


def go_back_n_s(tx_s: float, rtt_s: float, window: float, loss: float) -> float:
    """Time per delivered packet [s]: max(tx, RTT/w) + RTT p/(1−p).

    A loss is known a round trip later, and all since is sent again. Without a window this is a goodput of
    (1−p)/(1−p+p W), W = RTT/tx packets under way.
    Within 5 % of simulation up to one loss in two windows; above, losses in the same window share a round trip, and
    this is up to 15 % too slow.
    """
    return max(tx_s, rtt_s / window) + rtt_s * loss / (1 - loss)


def selective_repeat_s(tx_s: float, rtt_s: float, window: float, loss: float) -> float:
    """Time per delivered packet [s]: E[max(w tx/(1−p), RTT (1 + G))] / w, G = repeats of the unluckiest of w packets.

    P(G ≥ r) = 1 − (1 − pʳ)^w. What is lost is sent again; the window does not move past it meanwhile, so that a window
    of one bandwidth-delay product stands still for a round trip, and one of two hides a single loss.
    Within 8 % of simulation up to one loss per window; with several up to 16 % too slow.
    """
    if math.isinf(window):
        return tx_s / (1 - loss)
    sent_s = max(window * tx_s / (1 - loss), rtt_s)
    still_s = sum(
        some * min(rtt_s, max(0.0, (1 + repeats) * rtt_s - sent_s))
        for repeats, some in enumerate(lost_again(loss, window), 1)
    )
    return (sent_s + still_s) / window


def mathis_s(rtt_s: float, loss: float) -> float:
    """Least time per packet of a TCP flow [s]: RTT √p / √(3/2); rate = MSS/RTT × √(3/2)/√p.

    Source: Mathis, Semke, Mahdavi, Ott 1997, equation 3.
    """
    return rtt_s * math.sqrt(loss) / MATHIS


@lru_cache(maxsize=256)
def block_loss(loss: float, data: int, parity: int) -> float:
    """Probability that an erasure-coded block lacks more packets than parity mends: P(X > m), X binomial(k + m, p)."""
    if loss <= 0:
        return 0.0
    total = data + parity
    start = max(parity + 1, 0)
    term = math.exp(
        math.lgamma(total + 1)
        - math.lgamma(start + 1)
        - math.lgamma(total - start + 1)
        + start * math.log(loss)
        + (total - start) * math.log1p(-loss)
    )
    found = 0.0
    for lost in range(start, total + 1):
        found += term
        term *= (total - lost) / (lost + 1) * loss / (1 - loss)
    return min(1.0, found)


def lost_again(loss: float, packets: float) -> Iterator[float]:
    """For r = 1, 2, …: the probability that one of so many packets is lost r times, 1 − (1 − pʳ)^n, while it counts."""
    power = loss
    while power > 0 and packets > 0:
        some = -math.expm1(packets * math.log1p(-power)) if power < 1 else 1.0
        if some < NEGLIGIBLE:
            return
        yield some
        power *= loss


@lru_cache(maxsize=4096)
def slowest_excess(mean: float, flows: int) -> float:
    """Losses of the unluckiest of several flows beyond the mean of each: E[max of F Poisson(λ)] − λ.

    For small λ this is 1 − (1−p)^(k F), the probability that a message of k packets on each of F flows is hit. Beyond
    λ = 1000 it grows as √λ, as the order statistic of normal variables does.
    """
    if mean <= 0 or flows <= 1:
        return 0.0
    if mean > MOST_SUMMED:
        return slowest_excess(MOST_SUMMED, flows) * math.sqrt(mean / MOST_SUMMED)
    log_term, below, excess, losses = -mean, 0.0, 0.0, 0
    while True:
        below = min(1.0, below + math.exp(log_term))
        more = -math.expm1(flows * math.log(below)) if below > 0 else 1.0
        excess += more
        losses += 1
        log_term += math.log(mean / losses)
        if losses > mean and flows * math.exp(log_term) < NEGLIGIBLE:  # what is left of 1 − below is rounding
            return max(0.0, excess - mean)
