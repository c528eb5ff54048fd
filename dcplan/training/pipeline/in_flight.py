"""How many extra microbatches in flight a pipeline over sites takes: as few as are as fast as any number that fits."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from dcplan.training.pipeline.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline.stages import to_hide

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME = 1e-11
"""Steps closer than this are the same."""
EVERY_COUNT = 33
"""Counts below this are all compared, above it the powers of two."""
SHORT = 20_000
"""Stages times microbatches times counts up to which they are."""

Way = tuple[int, float, float]
"""Of a boundary: stages before it, delay and transfer [s]."""


def hidden(
    forward_s: tuple[float, ...],
    backward_s: tuple[float, ...],
    ways: Sequence[Way],
    m: int,
    most: int,
    weights_s: tuple[float, ...] = (),
) -> tuple[Boundary, ...]:
    """The boundaries, each with the extra microbatches in flight that it takes, `most` at most.

    The same for all boundaries: what hides each delay by itself, ceil(2 d / t), or `most` where that is less; and where
    that is not as fast as can be, the fastest of 0, 1, 2, … to `most`. These do not depend on rate or latency, so that
    the step never rises with rate and never falls with latency. Of long pipelines and many microbatches, where the
    first of them weigh nothing, only the two are compared. Then each boundary gets no more than hides it where that
    makes no difference.
    """
    if any(math.isinf(delay) for _, delay, _ in ways):
        return _with(ways, [most] * len(ways))
    period_s = max(f + b for f, b in zip(forward_s, backward_s, strict=True))
    wanted = [to_hide(delay, period_s) for _, delay, _ in ways]
    counts = sorted({most, *range(min(most, EVERY_COUNT)), *(2**k for k in range(most.bit_length()) if 2**k < most)})
    first = next((count for count in counts if count >= max(wanted)), most)
    least_s = _least_s(forward_s, backward_s, weights_s or (0.0,) * len(forward_s), ways, m)

    def took_s(extras: Sequence[int]) -> float:
        return span_s(forward_s, backward_s, _with(ways, extras), m, weights_s)

    def as_fast(count: int) -> bool:
        return took_s([count] * len(ways)) <= best * (1 + SAME)

    best, chosen = took_s([first] * len(ways)), first
    if best > least_s * (1 + SAME):
        tried = counts if m * len(forward_s) * len(counts) <= SHORT else [first, most]
        best = min(took_s([count] * len(ways)) for count in tried)
        chosen = ([*counts, most])[bisect_left(counts, 1, key=as_fast)]  # more in flight is hardly ever slower
        if not as_fast(chosen):
            chosen = min(filter(as_fast, tried))
    fewer = [min(chosen, want) for want in wanted]
    if abs(took_s(fewer) - best) <= best * SAME:  # faster would be better here, and no longer so with less rate
        return _with(ways, fewer)
    return _with(ways, [chosen] * len(ways))


def _with(ways: Sequence[Way], extras: Sequence[int]) -> tuple[Boundary, ...]:
    return tuple(Boundary(*way, extra) for way, extra in zip(ways, extras, strict=True))


def _least_s(
    forward_s: Sequence[float], backward_s: Sequence[float], weights_s: Sequence[float], ways: Sequence[Way], m: int
) -> float:
    """No number in flight is faster [s].

    Each stage works on all microbatches, from when one comes until the last goes; and the last of them goes over each
    boundary behind all others, and through all stages forth and back besides.
    """
    delay = {upstream: delay for upstream, delay, _ in ways}
    before = least = 0.0
    for s, (f, b, w) in enumerate(zip(forward_s, backward_s, weights_s, strict=True)):
        before += 2 * delay.get(s, 0.0)
        least = max(least, before + m * (f + b))
        before += f + b - w
    return max(least, before + (m - 1) * max(transfer for _, _, transfer in ways))
