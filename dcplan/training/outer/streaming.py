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
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTLING = 3
"""Outer periods until waits repeat, where links have time to spare in each."""
COUNTED = 4
"""Outer periods over which waits are averaged after that."""
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
    due, going = _calendar(every, parts, overlap)
    forward_s, backward_s = passes.forward_s / passes.layers, passes.backward_s / passes.layers
    waited_s = links_free_s = counted_s = 0.0
    done_s: dict[tuple[int, int], float] = {}
    for step in sorted(due.keys() | going.keys()):
        for first, key in due.get(step, ()):
            wait_s = max(0.0, done_s[key] - (step * passes.step_s + waited_s + first * forward_s))
            waited_s += wait_s
            counted_s += wait_s if step >= SETTLING * every else 0.0
        end_s = (step + 1) * passes.step_s + waited_s
        for layer, key in going.get(step, ()):
            links_free_s = max(links_free_s, end_s - layer * backward_s) + layer_s
            done_s[key] = links_free_s + delay_s
    sent_s = layer_s * sum(map(len, parts))
    return max(counted_s / COUNTED, sent_s - every * passes.step_s)


_Key = tuple[int, int]
"""Period and number of a fragment that goes."""


@lru_cache(maxsize=256)
def _calendar(
    every: int, parts: tuple[tuple[int, ...], ...], overlap: int
) -> tuple[Mapping[int, Sequence[tuple[int, _Key]]], Mapping[int, Sequence[tuple[int, _Key]]]]:
    """Step -> fragments needed in its forward pass, by first layer; step -> layers sent after it, last layer first."""
    due: dict[int, list[tuple[int, _Key]]] = {}
    going: dict[int, list[tuple[int, _Key]]] = {}
    last = (SETTLING + COUNTED) * every
    for period in range(SETTLING + COUNTED):
        for number, layers in enumerate(parts):
            step = period * every + number * every // len(parts)
            going.setdefault(step, []).extend((layer, (period, number)) for layer in layers)
            if step + 1 + overlap < last:
                due.setdefault(step + 1 + overlap, []).append((layers[0], (period, number)))
    for each in due.values():
        each.sort()
    for each in going.values():
        each.sort(reverse=True)
    return due, going
