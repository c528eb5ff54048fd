"""How a batch or a row of layers falls on accelerators that are not alike, so that all end as early as they can.

A synchronous step waits for the slowest. Over dp sites get microbatches, over pp stages get layers; equal parts for all
make the oldest set the pace. Gradients are then the mean weighted by sequences, Σ n_i g_i / Σ n_i.
"""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CLOSE = 1e-9
"""Relative width at which the search for the least time stops."""


def microbatches(
    total: int, ranks: Sequence[int], each_s: Sequence[float], once_s: Sequence[float], step: int = 1
) -> tuple[int, ...]:
    """Microbatches n_i of each rank of a part, multiples of `step`, with the least max_i (once_i + n_i each_i) [s].

    Together they take the batch: Σ ranks_i n_i ≥ total, where some ranks of a part may have `step` fewer. Exact: from
    what fits before the end of a split into fractions, the part that would end first with `step` more gets them, until
    all are given.
    """
    bound_s = _level_s(total, ranks, each_s, once_s)
    found = [
        max(0, math.floor((bound_s - once) / each / step * (1 - CLOSE)) * step)
        for each, once in zip(each_s, once_s, strict=True)
    ]
    ends = [(once_s[i] + (n + step) * each_s[i], i) for i, n in enumerate(found)]
    heapq.heapify(ends)
    left = total - sum(count * n for count, n in zip(ranks, found, strict=True))
    while left > 0:
        end, i = heapq.heappop(ends)
        found[i] += step
        left -= ranks[i] * step
        heapq.heappush(ends, (end + step * each_s[i], i))
    return tuple(found)


def _level_s(total: int, ranks: Sequence[int], each_s: Sequence[float], once_s: Sequence[float]) -> float:
    """The end of a split into fractions [s], which no split comes before: the T with Σ ranks (T − once) / each = total.

    Only over parts that begin before it.
    """
    weight, work = 0.0, float(total)
    level_s = math.inf
    for count, each, once in sorted(zip(ranks, each_s, once_s, strict=True), key=lambda part: part[2]):
        if once >= level_s:
            break
        weight, work = weight + count / each, work + count * once / each
        level_s = work / weight
    return level_s


def of_batch(total: int, ranks: Sequence[int], each: Sequence[int], ends_s: Sequence[float]) -> tuple[int, ...]:
    """Microbatches of each part, all ranks together; what is more than the batch is left out where time is longest."""
    found = [count * n for count, n in zip(ranks, each, strict=True)]
    over = sum(found) - total
    for i in sorted(range(len(found)), key=lambda i: -ends_s[i]):
        less = min(over, found[i])
        found[i], over = found[i] - less, over - less
    return tuple(found)


def cuts(
    layers: int,
    stages: int,
    time_s: Callable[[int, int, int], float],
    holds: Callable[[int, int, int], bool],
) -> tuple[int, ...] | None:
    """First layer of each stage, and `layers`, with the least largest time; None where memory does not hold them.

    time_s and holds are of stage, first layer and the one after its last; both grow with the layers. Every stage has a
    layer. The least time is found by bisection; whether it is enough by giving each stage in turn all that it can take.
    """
    most = max(time_s(stage, 0, layers) for stage in range(stages))
    best = _greedy(layers, stages, holds)
    if best is None:
        return None
    low, high = 0.0, most
    while high - low > CLOSE * high:
        limit = (low + high) / 2
        found = _greedy(layers, stages, lambda *at: time_s(*at) <= limit and holds(*at))  # noqa: B023
        if found is None:
            low = limit
        else:
            high = max(time_s(i, a, b) for i, (a, b) in enumerate(pairwise(found)))
            best = found
    return best


def _greedy(layers: int, stages: int, takes: Callable[[int, int, int], bool]) -> tuple[int, ...] | None:
    found = [0]
    for stage in range(stages):
        first, last = found[-1], layers - (stages - 1 - stage)
        end = first + 1
        if end > last or not takes(stage, first, end):
            return None
        while end < last and takes(stage, first, end + 1):
            end += 1
        found.append(end)
    return tuple(found) if found[-1] == layers else None
