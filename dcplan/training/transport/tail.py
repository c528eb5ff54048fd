"""What losses add to a message beyond the rate of its flows: it is whole when its unluckiest packet is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NEGLIGIBLE = 1e-12
MOST_REPEATS = 64
NEARLY_LEVEL = 1e-4
"""Pieces that change less are taken at their middle: the difference of two exponentials would be rounding."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message spread evenly over flows, each of which sends its packets one after the other."""

    packets: float
    """Of each flow."""
    each_s: float
    """Time between two of them [s]."""
    flows: int

    def last(self, seconds: float) -> float:
        """Packets sent in the last so many seconds, all flows together, without the very last of each flow."""
        others = max(0.0, self.packets - 1)
        if seconds <= 0:
            return 0.0
        return self.flows * (min(others, seconds / self.each_s) if self.each_s > 0 else others)


def tail_s(message: Message, rtt_s: float, rto_s: float, loss: float) -> float:
    """Mean time from when a message would be whole without loss to when it is [s]: ∫ P(whole after y) dy.

    A packet that is lost r times comes D_r = RTT + (r−1) RTO later, the very last of a flow, whose loss no later packet
    gives away, r RTO later; RTO ≥ RTT. Repeats of what was sent long before the end hide behind what follows: y after
    the end a packet sent x before it still lacks if D_r > x + y, so that
    P = 1 − exp(−Σ q_r (n(D_r − y) − n(D_{r−1} − y)) − F Σ q_r [(r−1) RTO ≤ y < r RTO]), q_r = −ln(1 − pʳ),
    n(x) = packets of the last x seconds. For a message of k packets on each of F flows that is sent at once this is
    RTT (1 − (1−p)^(kF)) plus what is lost again. The exponent is linear between its breaks, so the integral is exact.
    """
    if loss <= 0 or message.packets <= 0 or rtt_s <= 0:
        return 0.0
    rto_s = max(rto_s, rtt_s)
    odds = _odds(loss, message.packets * message.flows)
    late = [rtt_s + repeat * rto_s for repeat in range(len(odds))]
    long = message.packets * message.each_s

    def exponent(after_s: float) -> float:
        found, before = 0.0, 0.0
        for repeat, odd in enumerate(odds):
            now = message.last(late[repeat] - after_s)
            found += odd * (now - before)
            before = now
            if repeat * rto_s <= after_s < (repeat + 1) * rto_s:
                found += odd * message.flows
        return found

    breaks = {0.0, *late, *(one - long for one in late), *((repeat + 1) * rto_s for repeat in range(len(odds)))}
    return math.fsum(
        _piece_s(exponent, start, end) for start, end in pairwise(sorted(one for one in breaks if one >= 0))
    )


def _odds(loss: float, packets: float) -> list[float]:
    """−ln(1 − pʳ) for r = 1, 2, …, while it counts."""
    found: list[float] = []
    while len(found) < MOST_REPEATS and (not found or packets * found[-1] > NEGLIGIBLE):
        found.append(-math.log1p(-min(loss ** (len(found) + 1), 1 - 1e-15)))
    return found


def _piece_s(exponent: Callable[[float], float], start: float, end: float) -> float:
    """∫ 1 − exp(−e(y)) dy over a piece in which e is linear; asked inside it, for e jumps at its ends."""
    long = end - start
    near, far = exponent(start + long / 4), exponent(end - long / 4)
    first, last = max(0.0, 1.5 * near - 0.5 * far), max(0.0, 1.5 * far - 0.5 * near)
    if abs(last - first) < NEARLY_LEVEL:
        return long * -math.expm1(-(near + far) / 2)
    return long * (1 - (math.exp(-first) - math.exp(-last)) / (last - first))
