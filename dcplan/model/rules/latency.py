"""Codes 32x: latency limits that light in the fiber cannot keep, whatever is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.graph import adjacency, fastest
from dcplan.model.rules.examples import with_change
from dcplan.model.states import HEALTHY, promised_states
from dcplan.units import LIGHT_M_PER_S, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.model.graph import Adjacency
    from dcplan.model.network import FiberId, Network

BEYOND_LIGHT = Rule(
    "DCP320",
    "beyond-light",
    Severity.ERROR,
    "The fastest chain of fibers takes longer than the demand allows, counting nothing but light in the fiber. If the"
    " limit lies below the great circle at the speed of light in vacuum, no fiber on Earth can help.",
    with_change("gbps: 400", "gbps: 400, max_latency_ms: 0.2"),
    with_change("gbps: 400", "gbps: 400, max_latency_ms: 2"),
)
BEYOND_IN_FAILURE = Rule(
    "DCP321",
    "beyond-light-in-failure",
    Severity.ERROR,
    "In a promised failure the fastest surviving chain of fibers takes longer than the demand allows. A latency limit"
    " holds in every state; the promise cannot be kept without another fiber.",
    with_change("length_km: 64", "length_km: 120", with_change("gbps: 400", "gbps: 400, max_latency_ms: 0.4")),
    with_change("gbps: 400", "gbps: 400, max_latency_ms: 0.4"),
)

RULES = (BEYOND_LIGHT, BEYOND_IN_FAILURE)


def check(network: Network) -> list[Finding]:
    """Demands whose latency limit the fibers cannot keep, healthy or in a promised failure."""
    around = adjacency(network)
    latency_ms = {fiber: network.fiber_latency_ms(fiber) for fiber in network.fibers}
    limited = [name for name, demand in network.topology.demands.items() if demand.max_latency_ms is not None]
    return [finding for name in limited for finding in _demand(network, around, latency_ms, name)]


def _demand(network: Network, around: Adjacency, latency_ms: Mapping[FiberId, float], name: str) -> Iterator[Finding]:
    demand = network.topology.demands[name]
    a, b = demand.between
    limit_ms = demand.max_latency_ms or 0.0
    span = network.document.locate(("demands", name, "max_latency_ms"))
    healthy = fastest(around, latency_ms, a, b, HEALTHY)
    if healthy is None:
        return  # another rule says so
    best_ms, route = healthy
    if best_ms > limit_ms:
        line_ms = network.great_circle_km(a, b) / LIGHT_M_PER_S * 1e6
        hint = (
            f"the great circle alone takes light {significant(line_ms)} ms in vacuum"
            if line_ms > limit_ms
            else f"a shorter or faster fiber is needed: the great circle is {significant(line_ms)} ms in vacuum"
        )
        message = (
            f"demand `{name}` allows {significant(limit_ms)} ms one way, but light takes"
            f" {significant(best_ms)} ms on the fastest route, {route.name}"
        )
        yield Finding(BEYOND_LIGHT, span, message, hint)
        return
    if demand.under_failure_percent == 0:
        return
    slow = []
    for state in promised_states(network)[1:]:
        if state.breaks(route) and state.sites.isdisjoint((a, b)):
            left = fastest(around, latency_ms, a, b, state)
            if left is not None and left[0] > limit_ms:
                slow.append((left[0], state.name))
    if slow:
        worst_ms, state_name = max(slow)
        message = (
            f"demand `{name}` allows {significant(limit_ms)} ms one way, but after losing {state_name} light takes"
            f" {significant(worst_ms)} ms"
        )
        yield Finding(BEYOND_IN_FAILURE, span, message, "a shorter second route is needed, or a looser limit")
