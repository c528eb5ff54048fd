"""All rules of the file, and the families that check a network in the last phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.rules import (
    capacity,
    connection,
    effect,
    existing,
    geography,
    latency,
    names,
    periods,
    price,
    promises,
    reading,
    relight,
    schema,
)

if TYPE_CHECKING:
    from dcplan.diagnostics import Finding, Rule
    from dcplan.model.network import Network

RULES: tuple[Rule, ...] = (
    *reading.RULES,
    *schema.RULES,
    *names.RULES,
    *promises.RULES,
    *geography.RULES,
    *connection.RULES,
    *latency.RULES,
    *capacity.RULES,
    *effect.RULES,
    *price.RULES,
    *existing.RULES,
    *periods.RULES,
    *relight.RULES,
)
"""All rules of the file itself; optics and training have their own."""


def check(network: Network) -> list[Finding]:
    """All findings of the last phase: the network makes no sense, cannot be built, or holds what has no effect."""
    families = (
        geography.check,
        connection.check,
        latency.check,
        capacity.check,
        effect.check,
        price.check,
        existing.check,
        periods.check,
        relight.check,
    )
    return [finding for family in families for finding in family(network)]
