"""Times of collective operations, by the latency–bandwidth model of Thakur, Rabenseifner and Gropp (2005)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.site.fabric import ring_rate, scattered_s

if TYPE_CHECKING:
    from dcplan.training.site.machine import Machine

UP_HOP_S = 3.4e-6
"""Latency of one ring step inside a scale-up domain, Simple protocol (NCCL tuning table, from memory) [s]."""
OUT_HOP_S = 14e-6
"""The same over the scale-out network [s]."""


class Group(NamedTuple):
    """Ranks that work together, and the wires between them."""

    ranks: int
    inside: int
    """Ranks of the group in one scale-up domain."""
    ring: float
    """What a ring through all ranks carries, one direction [bytes/s]."""
    hop_s: float
    """Latency of its slowest step [s]."""
    up: float = math.inf
    """Scale-up of one rank, one direction [bytes/s]."""
    out: float = math.inf
    """What one rank has to those outside its domain where all of them send [bytes/s]."""
    sums: str = "auto"
    """How it sums: auto (the better of ring and tree), ring, tree, hierarchical or in-network."""


@lru_cache(maxsize=4096)
def group(machine: Machine, ranks: int, stride: int) -> Group:
    """`ranks` accelerators that stand `stride` apart in rank order.

    A ring that leaves the scale-up domain is carried by the NICs of all its ranks in the domain:
    W = min(scale-up, NIC × ranks in the domain), and what uplinks of the fabric leave it; see `fabric.ring_rate`.
    """
    inside = max(1, min(ranks, machine.domain // stride))
    if inside >= ranks:
        return Group(ranks, ranks, machine.up, UP_HOP_S, machine.up, machine.out, machine.all_reduce)
    uplinks = ring_rate(machine.fabric, machine.out, ranks, stride)
    ring = min(machine.up, machine.out * inside, uplinks)
    return Group(ranks, inside, ring, OUT_HOP_S, machine.up, min(machine.out, uplinks / inside), machine.all_reduce)


def reduce_scatter_s(over: Group, size: float) -> float:
    """Reduce-scatter or all-gather of `size` bytes: (n−1)/n S/W + hops, hops = min(n−1, 2 log2 n) α."""
    n = over.ranks
    if n == 1:
        return 0.0
    return (n - 1) / n * size / over.ring + _hops(over)


def all_reduce_s(over: Group, size: float) -> float:
    """All-reduce of `size` bytes, in the way of the group.

    ring: 2(n−1)/n S/W + 2(n−1) α. tree: 2 S/W + 2 log2(n) α. auto: the better of the two.
    hierarchical: reduce-scatter in each scale-up domain, all-reduce of its shard by each rank with those of the other
    domains, gather: 2(q−1)/q S/W_up + 2(q−1) α_up + AR(S/q) over n/q domains; auto where there is one level.
    in-network: switches add up (NVLS, SHARP), every rank sends and receives S once: S/W + 2 α, + 2 α_up over domains.
    Source: Thakur, Rabenseifner, Gropp 2005; Graham et al. 2016 (SHARP); NCCL algorithms Ring, Tree, NVLS, CollNet.
    """
    n, q = over.ranks, over.inside
    if n == 1:
        return 0.0
    if over.sums == "in-network":
        return size / over.ring + 2 * over.hop_s + (2 * UP_HOP_S if 1 < q < n else 0.0)
    if over.sums == "hierarchical" and 1 < q < n:
        across = Group(math.ceil(n / q), 1, over.out, over.hop_s)
        near = (q - 1) / q * size / over.up + (q - 1) * UP_HOP_S
        return 2 * near + all_reduce_s(across, size / q)
    ring = 2 * ((n - 1) / n * size / over.ring + (n - 1) * over.hop_s)
    tree = 2 * (size / over.ring + math.log2(n) * over.hop_s)
    return {"ring": ring, "tree": tree}.get(over.sums, min(ring, tree))


def scatter_and_gather_s(over: Group, size: float) -> float:
    """Reduce-scatter and all-gather apart, as sequence parallelism has them: no switch that adds up saves bytes here.

    A rank gives (n−1)/n S to the one and takes as much from the other, whoever adds up. Ring, or recursive halving with
    2 log2(n) steps.
    """
    return all_reduce_s(over._replace(sums="auto"), size)


def all_to_all_s(over: Group, machine: Machine, size: float, out_size: float, stride: int) -> float:
    """All-to-all where each rank holds `size` bytes: the part for its domain by scale-up, the rest by its own NIC.

    (n_in − 1)/n S/W_up and (n − n_in)/n S_out/W_nic at the same time, plus one hop; S_out: `out_size`, less than S
    where what several ranks of a domain need crosses once, and scale-up then carries (n_in − 1)/n_in S in all. Over
    oversubscribed tiers: see `fabric.scattered_s`; ranks stand `stride` apart.
    """
    n = over.ranks
    if n == 1:
        return 0.0
    forwarded = n if out_size == size else over.inside
    near = (over.inside - 1) / forwarded * size / machine.up
    far = (n - over.inside) / n * out_size / machine.out
    uplinks = scattered_s(machine.fabric, machine.out, n, stride, out_size)
    return max(near, far, uplinks) + over.hop_s


def _hops(over: Group) -> float:
    """Ring for few ranks, recursive halving for many."""
    return min(over.ranks - 1, 2 * math.log2(over.ranks)) * over.hop_s
