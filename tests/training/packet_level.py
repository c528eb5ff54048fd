"""Go-back-N and selective repeat, packet by packet, in slots of one packet: independent of the formulas of dcplan.

The answer to a packet, that it came or that it is missing, reaches the sender `rtt` slots after it was sent.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


def go_back_n(packets: int, rtt: int, window: int, loss: float, dice: Random) -> int:
    """Slots until the sender knows that all packets came, where the receiver keeps nothing behind a gap."""
    acked = following = came = rewinds = now = 0
    answers: deque[tuple[int, bool, int, int]] = deque()  # when, good, up to which packet, after how many rewinds sent
    while acked < packets:
        while answers and answers[0][0] <= now:
            _, good, upto, sent_after = answers.popleft()
            acked = max(acked, upto)
            if not good and sent_after == rewinds:
                following, rewinds = upto, rewinds + 1
        if following < packets and following < acked + window:
            if following == came:
                good = dice.random() >= loss
                came += good
                answers.append((now + rtt, good, came, rewinds))
            following += 1
            now += 1
        elif acked < packets:
            now = max(now + 1, answers[0][0])
    return now


def selective_repeat(packets: int, rtt: int, window: int, loss: float, dice: Random) -> int:
    """The same where only what was lost is sent again, before anything new; the window moves with the first gap."""
    came, first, following, now = bytearray(packets), 0, 0, 0
    answers: list[tuple[int, int, bool]] = []
    again: list[int] = []
    while True:
        while answers and answers[0][0] <= now:
            _, packet, good = heapq.heappop(answers)
            if good:
                came[packet] = 1
            else:
                heapq.heappush(again, packet)
        while first < packets and came[first]:
            first += 1
        if first == packets:
            return now
        if again:
            packet = heapq.heappop(again)
        elif following < min(packets, first + window):
            packet, following = following, following + 1
        else:
            now = max(now + 1, answers[0][0])
            continue
        heapq.heappush(answers, (now + rtt, packet, dice.random() >= loss))
        now += 1
