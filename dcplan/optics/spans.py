"""The spans of a fiber: as built, or cut to the limits of length, loss and amplifier gain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.amplifier import largest_gain_db

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.parts import Amplifier, FiberType
    from dcplan.model.network import FiberId, Network
    from dcplan.model.schema import Policy


@dataclass(frozen=True, slots=True)
class PlainSpan:
    """A span before it has an amplifier."""

    length_km: float
    fiber_loss_db: float
    """Fiber and its splices [dB]."""
    loss_db: float
    """Fiber, two connectors and the repair allowance [dB]."""
    measured: bool


def fixed_loss_db(policy: Policy) -> float:
    """What a span loses beside its fiber [dB]: two connectors and the allowance for repairs."""
    return 2 * policy.connector_db + policy.repair_db_per_span


def span_of(kind: FiberType, policy: Policy, length_km: float, measured_db: float | None = None) -> PlainSpan:
    """A span with its losses: measured where given, else length × attenuation and the splices at both ends."""
    fiber = length_km * kind.attenuation_db_per_km + 2 * kind.splice_db if measured_db is None else measured_db
    return PlainSpan(length_km, fiber, fiber + fixed_loss_db(policy), measured_db is not None)


def spans_of(network: Network, fiber: FiberId, allowed: Mapping[str, Amplifier]) -> tuple[PlainSpan, ...]:
    """The spans of a fiber from its first end to its second.

    As built where the file lists them. Else equal spans, the fewest that keep to policy.max_span_km, to
    policy.max_span_loss_db and to the largest gain of the allowed amplifiers. Where connectors, splices and repairs
    alone exceed these, shorter spans do not help: then by length only, and no line comes of it.
    """
    cable, kind, policy = network.fibers[fiber], network.fiber_type(fiber), network.policy
    if cable.spans is not None:
        return tuple(span_of(kind, policy, span.length_km, span.loss_db) for span in cable.spans)

    def least_count(gain_db: float) -> int:
        by_length = _ceil(cable.total_km / policy.max_span_km)
        glass_db = min(gain_db, policy.max_span_loss_db) - fixed_loss_db(policy) - 2 * kind.splice_db
        by_loss = _ceil(cable.total_km * kind.attenuation_db_per_km / glass_db) if glass_db > 0 else 1
        return max(by_length, by_loss)

    preamp = largest_gain_db(allowed, "preamp")
    count = least_count(preamp)
    if count > 1:
        count = least_count(min(preamp, largest_gain_db(allowed, "line")))
    return (span_of(kind, policy, cable.total_km / count),) * count


def _ceil(quotient: float) -> int:
    return max(1, math.ceil(quotient - 1e-9))
