"""How many extra microbatches in flight a pipeline over sites takes: as few as are as fast as any number that fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.training.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline import to_hide

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME = 1e-12
"""Steps closer than this are the same."""

Way = tuple[int, float, float]
"""Of a boundary: stages before it, delay and transfer [s]."""


def hidden(
    forward_s: tuple[float, ...], backward_s: tuple[float, ...], ways: Sequence[Way], m: int, most: int
) -> tuple[Boundary, ...]:
    """The boundaries, each with the extra microbatches in flight that it takes, `most` at most.

    The same for all of 0, 1, 2, 4, … and `most` are tried until nothing can be faster, those first that hide each delay
    by itself, ceil(2 d / t); the choice does not depend on rate or latency otherwise, so that the step never rises with
    rate and never falls with latency. Then each boundary gets as few as make no difference.
    """
    if any(math.isinf(delay) for _, delay, _ in ways):
        return _with(ways, [most] * len(ways))
    period_s = max(f + b for f, b in zip(forward_s, backward_s, strict=True))
    wanted = [to_hide(delay, period_s) for _, delay, _ in ways]
    counts = sorted({0, most, *(2**k for k in range(most.bit_length()) if 2**k < most)})
    first = next((count for count in counts if count >= max(wanted)), most)
    least_s = _least_s(forward_s, backward_s, ways, m)

    def took_s(extras: Sequence[int]) -> float:
        return span_s(forward_s, backward_s, _with(ways, extras), m)

    best, chosen = took_s([first] * len(ways)), first
    if best > least_s * (1 + SAME):
        best, chosen = min((took_s([count] * len(ways)), count) for count in counts)
    fewer = [min(chosen, want) for want in wanted]
    if took_s(fewer) <= best * (1 + SAME):
        return _with(ways, fewer)
    low, high = 0, chosen
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if took_s([middle] * len(ways)) <= best * (1 + SAME) else (middle + 1, high)
    return _with(ways, [low if took_s([low] * len(ways)) <= best * (1 + SAME) else chosen] * len(ways))


def _with(ways: Sequence[Way], extras: Sequence[int]) -> tuple[Boundary, ...]:
    return tuple(Boundary(*way, extra) for way, extra in zip(ways, extras, strict=True))


def _least_s(forward_s: Sequence[float], backward_s: Sequence[float], ways: Sequence[Way], m: int) -> float:
    """No number in flight is faster: each stage works on all microbatches, from when one comes until the last goes."""
    delay = {upstream: delay for upstream, delay, _ in ways}
    before = least = 0.0
    for s, (f, b) in enumerate(zip(forward_s, backward_s, strict=True)):
        before += 2 * delay.get(s, 0.0)
        least = max(least, before + m * (f + b))
        before += f + b
    return least
