"""Exchange of outer gradients: sites train by themselves for many steps, then agree on what each of them has learned.

Local SGD, DiLoCo: every H steps each site sends θ(t−H) − θ(t), and an optimizer of its own (SGD with Nesterov momentum)
takes their mean. Between sites that is 1/H of the bytes of synchronous training. A worker is a whole site: its data
parallel ranks stay synchronous among themselves, as in any plan inside a site.
Source: Douillard et al. 2023 (DiLoCo, arXiv 2311.08105), 2025 (Streaming DiLoCo, arXiv 2501.18512, sections 2.1–2.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

OUTER_BYTES = 8
"""Outer optimizer state of a parameter: the weight that all sites last agreed on, and its momentum, both fp32."""
SERVED_BYTES = 8
"""With parameter servers, which have the momentum: the weight that a site last had from them, and a buffer of what it
pushes without waiting, both fp32."""
OUTER_TRAFFIC, SERVED_TRAFFIC = 32, 24
"""Bytes through memory per parameter and outer step, fp32, counted, not measured: both weights read, their difference
written; the mean read, momentum read and written, both weights written. Servers have the momentum of their sites."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Parameter servers of one tier."""

    every: int
    """H: own steps of a site, or periods of a server of the tier below, from one push to the next."""
    servers: tuple[tuple[str, tuple[str, ...]], ...]
    """Site of each server, and who pushes to it: sites, or servers of the tier below."""
    ingress_gbps: float = math.inf
    """What each server takes in, from all that push to it [Gb/s]."""


@dataclass(frozen=True, slots=True)
class Outer:
    """How sites exchange outer gradients."""

    every_steps: int
    """H; of parameter servers that of the first tier."""
    bits: int
    """Of an element on the wire."""
    fragments: int = 1
    """P: parts of the model that are sent by turns, each once in H steps."""
    overlap_steps: int = 0
    """τ: whole steps that a site goes on before it waits for what was sent."""
    pattern: str = "strided"
    """Layers of a fragment: strided, every P-th; sequential, neighbours."""
    state_in_host: bool = False
    """Outer weights and momentum are in the host; one fragment's at a time is on the accelerators."""
    tiers: tuple[Tier, ...] = ()
    """Parameter servers, those that sites push to first."""
    staleness_kappa: float | None = None
    """κ of the discount 1 / (1 + κ τ); none where the user gives none."""


def in_flight(outer: Outer) -> int:
    """Fragments of which outer gradients are under way at a time: ⌈τ P / H⌉, at least one, at most all."""
    return min(outer.fragments, max(1, math.ceil(outer.overlap_steps * outer.fragments / outer.every_steps)))


def state_bytes(sync: str, outer: Outer | None) -> float:
    """Bytes per parameter that a site keeps for outer steps, spread as the optimizer's state is.

    Outer weight and momentum, 8 B. While a site goes on training, outer gradients under way have a buffer of their own,
    4 B of the fragments in flight; otherwise they use that of the gradients. With parameter servers: `SERVED_BYTES`.
    With Adam's 12 B that is 5/3 of a data parallel rank in fp32 (Streaming DiLoCo, section 2.5). With the state in the
    host one fragment's is here, as it says there.
    """
    if outer is None:
        return 0.0
    if sync == "parameter-server":
        return SERVED_BYTES
    here = OUTER_BYTES / (outer.fragments if outer.state_in_host else 1)
    return here + (4 * in_flight(outer) / outer.fragments if outer.overlap_steps else 0.0)


def host_bytes(outer: Outer | None) -> float:
    """Bytes per parameter that lie in the host for outer steps, spread in the same way."""
    return OUTER_BYTES if outer and outer.state_in_host else 0.0


def traffic_bytes(sync: str, outer: Outer | None) -> float:
    """Bytes per parameter through memory for outer steps, as a mean of all steps."""
    if outer is None:
        return 0.0
    return (SERVED_TRAFFIC if sync == "parameter-server" else OUTER_TRAFFIC) / outer.every_steps
