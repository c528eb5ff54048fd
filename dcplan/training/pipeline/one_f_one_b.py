"""The 1F1B schedule of a pipeline whose stages may differ and whose boundaries may be slow, to the last microbatch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EQUAL = 1e-12
"""Times that differ by less than this, relative to the end, are the same."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A stage boundary between two sites (or two kinds of accelerators)."""

    upstream: int
    """Stages before it."""
    delay_s: float
    """One way: latency and transfer of one microbatch [s]."""
    transfer_s: float
    """The part that occupies the link, in each direction [s]."""
    extra: int
    """Extra microbatches in flight upstream of it."""


@lru_cache(maxsize=4096)
def span_s(
    forward_s: tuple[float, ...],
    backward_s: tuple[float, ...],
    boundaries: tuple[Boundary, ...],
    m: int,
    weights_s: tuple[float, ...] = (),
) -> float:
    """Time from the first forward pass to the end of the last backward pass of m microbatches [s].

    forward_s, backward_s: of one microbatch in each stage [s]. Stage s runs w_s = min(m, p−1−s + Σe of boundaries
    behind it) forward passes, then one forward and one backward in turn, then what is left of the backward passes:
        F(s,i) ends at max(F(s−1,i) + d, what stage s does before) + tF,
        B(s,j) ends at max(B(s+1,j) + d, what stage s does before) + tB,
    d = 0, or the way over a boundary: messages queue for its link, one queue each way, occupy it for the transfer and
    arrive a latency later. Exact: the recurrence is what a discrete-event simulation does, O(p) for a microbatch. Once
    every time is a constant later than that of c microbatches before, for as long as the recurrence looks back, it
    stays so (it is linear over max and +): whole periods are then not worked out one by one.
    Where stages are alike and nothing waits, (m+p−1)(tF+tB) + Σ 2d. Infinite where a boundary has no path.
    weights_s: the part of backward_s that makes gradients of weights, under zb-h1 (Qi et al. 2024): the others go to
    the stage before at once, and stage s makes those of microbatch j−s behind them.
    """
    if any(math.isinf(boundary.delay_s) for boundary in boundaries):
        return math.inf
    period_s, alike = forward_s[0] + backward_s[0], len({*forward_s}) == len({*backward_s}) == 1
    if alike and not weights_s and _nothing_waits(forward_s[0], backward_s[0], boundaries):
        return (m + len(forward_s) - 1) * period_s + 2 * math.fsum(each.delay_s for each in boundaries)
    return _Run(forward_s, backward_s, boundaries, m, weights_s or (0.0,) * len(forward_s)).span_s()


def _nothing_waits(forward_s: float, backward_s: float, boundaries: Sequence[Boundary]) -> bool:
    """Extra microbatches in flight hide every boundary, and no link is busy for longer than a pass takes.

    Then 2 Σd ≤ t Σe for any boundaries in a row as well, since it holds for each.
    """
    pass_s, period_s = min(forward_s, backward_s), forward_s + backward_s
    return all(each.transfer_s <= pass_s and 2 * each.delay_s <= period_s * each.extra for each in boundaries)


class _Run:
    """One pass over the schedule."""

    def __init__(
        self,
        forward_s: Sequence[float],
        backward_s: Sequence[float],
        boundaries: Sequence[Boundary],
        m: int,
        weights_s: Sequence[float],
    ) -> None:
        self.p, self.m = len(forward_s), m
        self.forward_s, self.weights_s = forward_s, weights_s
        self.inputs_s = [whole - part for whole, part in zip(backward_s, weights_s, strict=True)]
        self.slow = {boundary.upstream: boundary for boundary in boundaries}
        ahead = [0, *accumulate(1 + (self.slow[s].extra if s in self.slow else 0) for s in range(self.p - 1, 0, -1))]
        self.warm = [min(m, each) for each in reversed(ahead)]
        self.deepest = 2 + max((boundary.extra for boundary in boundaries), default=0)
        self.free = [0.0] * self.p
        """When a stage is done with what it did last."""
        self.comes: list[list[float]] = [[] for _ in range(self.p)]
        """When gradients are there, by stage; at the last one, when its forward pass is done."""
        self.sent = {(upstream, way): 0.0 for upstream in self.slow for way in "FB"}
        """When the link of a boundary is free again."""

    def span_s(self) -> float:
        """See the function of the same name."""
        period = self._period()
        settled = self.warm[0] + period
        history, steady, skipped_s, i = list[list[float]](), 0, 0.0, 0
        while i < self.m:
            ends = self._round(i)
            if not skipped_s and self.m > settled + self.deepest + period:
                history.append(ends)
                shift = self._shift(history, period) if i >= settled else None
                steady = steady + 1 if shift is not None else 0
                if shift is not None and steady > self.deepest + period:
                    left = (self.m - 1 - i) // period
                    self.m -= left * period
                    skipped_s = left * shift
            i += 1
        for s in range(self.p - 1, -1, -1):
            self._backward(s, self.m - self.warm[s], self.m)
            self.free[s] += min(s, self.m) * self.weights_s[s]
        return max(self.free) + skipped_s

    def _round(self, i: int) -> list[float]:
        """Forward passes of microbatch i in all stages, each followed by the backward pass that is due.

        When each stage is done with either.
        """
        free, slow, comes, at = self.free, self.slow, self.comes, 0.0
        for s, took in enumerate(self.forward_s):
            if s in slow:
                at = self._over(s, "F", at)
            before = free[s]
            free[s] = at = (at if at > before else before) + took  # noqa: FURB136  no call: this runs p m times
        comes[-1].append(at)
        ends = free.copy()
        for s in range(self.p - 1, -1, -1):
            j = i - self.warm[s]
            if j < 0:
                break
            at, before = comes[s][j], free[s]
            at = (at if at > before else before) + self.inputs_s[s]  # noqa: FURB136  as above
            free[s] = at + self.weights_s[s] if j >= s else at
            if s:
                comes[s - 1].append(self._over(s, "B", at) if s in slow else at)
        return ends + free

    def _backward(self, s: int, first: int, end: int) -> None:
        """Backward passes that are left in a stage, when no forward pass is."""
        free, comes, took, late = self.free[s], self.comes[s], self.inputs_s[s], self.weights_s[s]
        goes, slow = self.comes[s - 1] if s else None, s in self.slow
        for j in range(first, end):
            before = comes[j]
            done = (free if free > before else before) + took  # noqa: FURB136  as above
            free = done + late if j >= s else done
            if goes is not None:
                goes.append(self._over(s, "B", done) if slow else done)
        self.free[s] = free

    def _over(self, upstream: int, way: str, ready: float) -> float:
        boundary = self.slow[upstream]
        self.sent[upstream, way] = max(self.sent[upstream, way], ready) + boundary.transfer_s
        return self.sent[upstream, way] + boundary.delay_s - boundary.transfer_s

    def _period(self) -> int:
        """Microbatches in the cycle that sets the pace: a stage or link alone, or stages that wait for each other.

        Stages a to b wait for each other in a cycle of b−a+1 + Σe microbatches that takes Σ (tF+tB) + Σ 2d, gradients
        of weights in a alone.
        """
        both = [f + b for f, b in zip(self.forward_s, self.inputs_s, strict=True)]
        total = [each + w for each, w in zip(both, self.weights_s, strict=True)]
        pace, period = max([*total, *(boundary.transfer_s for boundary in self.slow.values())]), 1
        inside = sorted(self.slow)
        for k, first in enumerate(inside):
            for last in inside[k:]:
                run = [self.slow[each] for each in inside if first <= each <= last]
                shift = last - first + 2 + sum(each.extra for each in run)
                ways_s = 2 * math.fsum(each.delay_s for each in run)
                took = math.fsum(both[first - 1 : last + 1]) + self.weights_s[first - 1] + ways_s
                if took / shift > pace * (1 + EQUAL):
                    pace, period = took / shift, shift
        return period

    def _shift(self, history: Sequence[Sequence[float]], period: int) -> float | None:
        """By how much all of a round is later than `period` rounds before; None where that is not one number."""
        now, then = history[-1], history[-1 - period]
        shift, near = now[0] - then[0], EQUAL * now[self.p]
        return shift if all(abs(a - b - shift) <= near for a, b in zip(now, then, strict=True)) else None
