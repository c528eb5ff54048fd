"""Times of collective operations, by the latency–bandwidth model of Thakur, Rabenseifner and Gropp (2005)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.training.machine import Machine

UP_HOP_S = 3.4e-6
"""Latency of one ring step inside a scale-up domain, Simple protocol (NCCL tuning table, from memory) [s]."""
OUT_HOP_S = 14e-6
"""The same over the scale-out network [s]."""


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks that work together, and the wires between them."""

    ranks: int
    inside: int
    """Ranks of the group in one scale-up domain."""
    ring: float
    """What a ring through all ranks carries, one direction [bytes/s]."""
    hop_s: float
    """Latency of its slowest step [s]."""


def group(machine: Machine, ranks: int, stride: int) -> Group:
    """`ranks` accelerators that stand `stride` apart in rank order.

    A ring that leaves the scale-up domain is carried by the NICs of all its ranks in the domain:
    W = min(scale-up, NIC × ranks in the domain).
    """
    inside = max(1, min(ranks, machine.domain // stride))
    if inside >= ranks:
        return Group(ranks, ranks, machine.up, UP_HOP_S)
    return Group(ranks, inside, min(machine.up, machine.out * inside), OUT_HOP_S)


def reduce_scatter_s(over: Group, size: float) -> float:
    """Reduce-scatter or all-gather of `size` bytes: (n−1)/n S/W + hops, hops = min(n−1, 2 log2 n) α."""
    n = over.ranks
    if n == 1:
        return 0.0
    return (n - 1) / n * size / over.ring + _hops(over)


def all_reduce_s(over: Group, size: float) -> float:
    """All-reduce of `size` bytes: the better of a ring, 2(n−1)/n S/W + 2(n−1) α, and a tree, 2 S/W + 2 log2(n) α."""
    n = over.ranks
    if n == 1:
        return 0.0
    ring = 2 * ((n - 1) / n * size / over.ring + (n - 1) * over.hop_s)
    tree = 2 * (size / over.ring + math.log2(n) * over.hop_s)
    return min(ring, tree)


def all_to_all_s(over: Group, machine: Machine, size: float, out_size: float) -> float:
    """All-to-all where each rank holds `size` bytes: the part for its domain by scale-up, the rest by its own NIC.

    (n_in − 1)/n S/W_up and (n − n_in)/n S_out/W_nic at the same time, plus one hop; S_out: `out_size`, less than S
    where what several ranks of a domain need crosses once, and scale-up then carries (n_in − 1)/n_in S in all.
    """
    n = over.ranks
    if n == 1:
        return 0.0
    forwarded = n if out_size == size else over.inside
    near = (over.inside - 1) / forwarded * size / machine.up
    far = (n - over.inside) / n * out_size / machine.out
    return max(near, far) + over.hop_s


def _hops(over: Group) -> float:
    """Ring for few ranks, recursive halving for many."""
    return min(over.ranks - 1, 2 * math.log2(over.ranks)) * over.hop_s
