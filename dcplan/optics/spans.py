"""The spans of a fiber: as built, or cut to the limits of length, loss and amplifier gain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dcplan.optics.amplifier import largest_gain_db

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.parts import Amplifier, FiberType
    from dcplan.model.network import FiberId, Network
    from dcplan.model.schema import Fiber, Policy


@dataclass(frozen=True, slots=True)
class PlainSpan:
    """A span before it has an amplifier."""

    length_km: float
    fiber_loss_db: float
    """Fiber and its splices [dB]."""
    loss_db: float
    """Fiber, two connectors and the repair allowance [dB]."""
    measured: bool
    type: str = ""
    """Catalog id of its fiber type; empty: that of the fiber."""
    amplifier: str | None = None
    """Catalog id of the amplifier that stands behind it already."""


@dataclass(frozen=True, slots=True)
class NoSplit:
    """Why a fiber cannot be cut into spans."""

    reason: str
    key: str
    """The key of the fiber at fault."""


GNPY_TARGET_KM = 90.0
GNPY_LONGEST_KM = 150.0
"""GNPy's rule for span lengths: what it aims at, and from where on it splits (core/network.py)."""


def fixed_loss_db(policy: Policy) -> float:
    """What a span loses beside its fiber [dB]: two connectors and the allowance for repairs."""
    return 2 * policy.connector_db + policy.repair_db_per_span


def span_of(
    kind: FiberType,
    policy: Policy,
    length_km: float,
    measured_db: float | None = None,
    named: str = "",
    amplifier: str | None = None,
) -> PlainSpan:
    """A span with its losses: measured where given, else length × attenuation and the splices at both ends."""
    fiber = length_km * kind.attenuation_db_per_km + 2 * kind.splice_db if measured_db is None else measured_db
    return PlainSpan(length_km, fiber, fiber + fixed_loss_db(policy), measured_db is not None, named, amplifier)


def standing(fiber: Fiber) -> list[tuple[tuple[str | int, ...], str]]:
    """Amplifiers that a fiber has already: the key that says so, and the catalog id."""
    there: list[tuple[tuple[str | int, ...], str | None]] = [(("booster",), fiber.booster), (("preamp",), fiber.preamp)]
    there += [(("spans", i, "amplifier"), span.amplifier) for i, span in enumerate(fiber.spans or ())]
    return [(at, name) for at, name in there if name is not None]


def spans_of(network: Network, fiber: FiberId, allowed: Mapping[str, Amplifier]) -> tuple[PlainSpan, ...] | NoSplit:
    """The spans of a fiber from its first end to its second.

    As built where the file lists them. On huts where it lists these: the fewest spans within the limits. Else equal
    spans, the fewest that keep to policy.max_span_km, to policy.max_span_loss_db and to the largest gain of the
    allowed amplifiers, or as many as GNPy makes. Where connectors, splices and repairs alone exceed these, shorter
    spans do not help: then by length only, and no line comes of it. Without amplifiers, one span.
    """
    cable, kind, policy = network.fibers[fiber], network.fiber_type(fiber), network.policy
    if cable.spans is not None:
        types = network.catalog.fibers
        return tuple(
            span_of(
                types[span.type or cable.type], policy, span.length_km, span.loss_db, span.type or "", span.amplifier
            )
            for span in cable.spans
        )
    if not cable.amplified:
        return (span_of(kind, policy, cable.total_km),)
    preamp, line = largest_gain_db(allowed, "preamp"), largest_gain_db(allowed, "line")
    if cable.preamp is not None:
        preamp = network.catalog.amplifiers[cable.preamp].gain_max_db
    if cable.huts_km is not None:
        return _on_huts(cable.total_km, cable.huts_km, kind, policy, (preamp, line))
    if policy.span_split == "gnpy":
        count = gnpy_count(cable.total_km)
        return (span_of(kind, policy, cable.total_km / count),) * count

    def least_count(gain_db: float) -> int:
        by_length = _ceil(cable.total_km / policy.max_span_km)
        glass_db = min(gain_db, policy.max_span_loss_db) - fixed_loss_db(policy) - 2 * kind.splice_db
        by_loss = _ceil(cable.total_km * kind.attenuation_db_per_km / glass_db) if glass_db > 0 else 1
        return max(by_length, by_loss)

    count = least_count(preamp)
    if count > 1:
        count = least_count(min(preamp, line))
    return (span_of(kind, policy, cable.total_km / count),) * count


def gnpy_count(length_km: float) -> int:
    """Into how many equal spans GNPy splits a fiber: one below 150 km; else near 90 km each.

    Of the two counts whose lengths lie on both sides of 90 km, the one that comes nearer, the fewer at a tie.
    Source: GNPy core/network.py, calculate_new_length with padding 10 dB and max_length 150 km; its bounds of 50 and
    150 km never decide, as from 150 km on the nearer of the two keeps to them.
    """
    if length_km < GNPY_LONGEST_KM:
        return 1
    fewer = math.floor(length_km / GNPY_TARGET_KM)
    longer, shorter = length_km / fewer, length_km / (fewer + 1)
    return fewer if longer - GNPY_TARGET_KM <= GNPY_TARGET_KM - shorter else fewer + 1


def _on_huts(
    total_km: float, huts_km: Sequence[float], kind: FiberType, policy: Policy, gains_db: tuple[float, float]
) -> tuple[PlainSpan, ...] | NoSplit:
    """The fewest spans that end on huts and keep to all limits; of these, those whose largest loss is least.

    A span at an end of the fiber meets a preamplifier one way and, where there are huts, an amplifier in one the
    other way; its loss keeps to the gain of both.
    """
    if huts_km[-1] >= total_km or any(b <= a for a, b in pairwise(huts_km)):
        return NoSplit(f"huts must rise and stand before the end at {total_km:g} km", "huts_km")
    stops = (0.0, *huts_km, total_km)
    last = len(stops) - 1
    preamp, line = gains_db

    def fits(i: int, j: int) -> PlainSpan | None:
        span = span_of(kind, policy, stops[j] - stops[i])
        gain = preamp if (i, j) == (0, last) else min(preamp, line) if i == 0 or j == last else line
        within = span.length_km <= policy.max_span_km + 1e-9 and span.loss_db <= policy.max_span_loss_db + 1e-9
        return span if within and span.loss_db <= gain + 1e-9 else None

    best: list[tuple[int, float, tuple[PlainSpan, ...]] | None] = [(0, 0.0, ())] + [None] * last
    for j in range(1, last + 1):
        for i in range(j):
            before, span = best[i], fits(i, j)
            if before is not None and span is not None:
                reached = (before[0] + 1, max(before[1], span.loss_db), (*before[2], span))
                if (here := best[j]) is None or reached[:2] < here[:2]:
                    best[j] = reached
    if (found := best[last]) is not None:
        return found[2]
    far = max(j for j in range(last) if best[j] is not None)
    span = span_of(kind, policy, stops[far + 1] - stops[far])
    reason = (
        f"no choice of huts keeps every span within limits: from {stops[far]:g} km the next stop is "
        f"{span.length_km:g} km and {span.loss_db:.1f} dB away"
    )
    return NoSplit(reason, "huts_km")


def _ceil(quotient: float) -> int:
    return max(1, math.ceil(quotient - 1e-9))
