"""Streaming DiLoCo: fragments of the model go across sites by turns, each behind compute that does not need it yet.

A fragment sent after step t is needed in step t + 1 + τ, when the forward pass comes to its first layer. Its layers go
out as soon as the backward pass has left them, last layer first, one after the other over the links that all fragments
share. That a layer goes before the whole step is over asks for an optimizer that does not wait for a global norm.
Source: Douillard et al. 2025 (arXiv 2501.18512), algorithm 2, section 3.1 and figure 3: one node for each layer's
forward pass, backward pass and reduction. Its table 4 and that of Charles et al. 2025 (arXiv 2503.09799) follow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTLING = 3
"""Outer periods until waits repeat, where links have time to spare in each."""
COUNTED = 4
"""Outer periods over which waits are averaged after that."""
ROUNDING = 1e-9
"""Times that differ by less, relative to the end, may be the same."""
LAYERS_PER_FRAGMENT = 3
"""Where no number of fragments is given (Streaming DiLoCo, section 3)."""


@dataclass(frozen=True, slots=True)
class Passes:
    """A step as layers see it."""

    layers: int
    forward_s: float
    """One microbatch through all layers, the first of the step [s]."""
    backward_s: float
    """One microbatch back through all layers, the last of the step [s]."""
    step_s: float
    """The whole step, without exchange across sites; at least both passes [s]."""


@lru_cache(maxsize=256)
def fragments(layers: int, count: int, pattern: str) -> tuple[tuple[int, ...], ...]:
    """Layers of each fragment, first layer 0: strided, every `count`-th; sequential, neighbours, as even as can be."""
    if pattern == "strided":
        return tuple(tuple(range(first, layers, count)) for first in range(count))
    edges = (-(-layers * i // count) for i in range(count + 1))
    return tuple(tuple(range(a, b)) for a, b in pairwise(edges))


def default_fragments(layers: int, every_steps: int) -> int:
    """Fragments of three layers, but no more than one for each step."""
    return max(1, min(every_steps, round(layers / LAYERS_PER_FRAGMENT)))


def waits_s(
    passes: Passes, every: int, parts: tuple[tuple[int, ...], ...], overlap: int, layer_s: float, delay_s: float
) -> float:
    """What a site waits for fragments in `every` steps, on average once waits repeat [s].

    parts: layers of each of P fragments; fragment p goes after step ⌊p H / P⌋, H = `every`. overlap: τ, at most H.
    layer_s: time of one layer on the links [s]. delay_s: latency that its last bit adds [s].
    By itself a fragment with layers l_1 < l_2 < … makes the site wait max(0, F + delay_s − τ T − l_1 f) with
    F = max over j of (j layer_s − l_j b), from the end of the step: b, f = backward and forward time of a layer [s].
    Here fragments share the links, first come first served, and what one makes the site wait gives others time. In the
    long run waits are at least what the links need beyond H T, though a window of many steps may hide that for long.
    Infinite where the links carry nothing.
    """
    if not math.isfinite(layer_s + delay_s):
        return math.inf
    parts = tuple(layers for layers in parts if layers)
    forward_s, backward_s = passes.forward_s / passes.layers, passes.backward_s / passes.layers
    waited_s = links_free_s = counted_s = 0.0
    spare_s, near_s = math.inf, ROUNDING * (SETTLING + COUNTED) * every * passes.step_s
    done_s = [0.0] * (len(parts) * (SETTLING + COUNTED))
    for step, due, going in _calendar(every, parts, overlap):
        if step > every + overlap and spare_s > near_s:
            break  # idle links whenever a fragment goes, and each in time: the next period is as this one was
        for first, number in due:
            wait_s = done_s[number] - (step * passes.step_s + waited_s + first * forward_s)
            if wait_s > 0:
                waited_s += wait_s
                counted_s += wait_s if step >= SETTLING * every else 0.0
            spare_s = -wait_s if -wait_s < spare_s else spare_s  # noqa: FURB136  no call: searches ask millions
        end_s = (step + 1) * passes.step_s + waited_s
        if going and step:
            spare_s = min(spare_s, end_s - going[0][0][0] * backward_s - links_free_s)
        for layers, number in going:
            for layer in layers:
                ready_s = end_s - layer * backward_s
                links_free_s = (links_free_s if links_free_s > ready_s else ready_s) + layer_s  # noqa: FURB136  no call
            done_s[number] = links_free_s + delay_s
    sent_s = layer_s * sum(map(len, parts))
    return max(counted_s / COUNTED, sent_s - every * passes.step_s)


_Sent = tuple[tuple[int, ...], int]
"""Layers of a fragment in a row on the links, last layer first, and the number of the fragment, counted from the start;
what the last row of it brings is all of it."""


@lru_cache(maxsize=256)
def _calendar(
    every: int, parts: tuple[tuple[int, ...], ...], overlap: int
) -> Sequence[tuple[int, Sequence[tuple[int, int]], Sequence[_Sent]]]:
    """Steps, each with the fragments needed in its forward pass, by first layer, and the layers sent after it."""
    due: dict[int, list[tuple[int, int]]] = {}
    going: dict[int, list[tuple[int, int]]] = {}
    last = (SETTLING + COUNTED) * every
    for period in range(SETTLING + COUNTED):
        for part, layers in enumerate(parts):
            step, number = period * every + part * every // len(parts), period * len(parts) + part
            going.setdefault(step, []).extend((layer, number) for layer in layers)
            if step + 1 + overlap < last:
                due.setdefault(step + 1 + overlap, []).append((layers[0], number))
    return [
        (step, sorted(due.get(step, [])), _rows(sorted(going.get(step, []), reverse=True)))
        for step in sorted(due.keys() | going.keys())
    ]


def _rows(sent: list[tuple[int, int]]) -> list[_Sent]:
    rows = groupby(sent, key=lambda one: one[1])
    return [(tuple(layer for layer, _ in row), number) for number, row in rows]
