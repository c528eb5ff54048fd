"""Codes 32x: latency limits that light in the fiber cannot keep, whatever is built."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.graph import adjacency, fastest
from dcplan.model.promises import survived_by
from dcplan.model.rules.examples import with_change
from dcplan.model.states import HEALTHY, promised_states, promised_to
from dcplan.units import LIGHT_M_PER_S, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.model.graph import Adjacency
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.model.states import State

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
    """Demands whose latency limit fibers and circuits cannot keep, healthy or in a promised failure."""
    limited = {name: demand for name, demand in network.topology.demands.items() if demand.max_latency_ms is not None}
    if not limited:
        return []
    around = adjacency(network)
    latency_ms = {edge: network.edge_latency_ms(edge) for edge in network.edges}
    healthy: dict[tuple[SiteId, SiteId], tuple[float, Route]] = {}
    starts: dict[SiteId, list[SiteId]] = {}
    for demand in limited.values():
        starts.setdefault(demand.between[0], []).append(demand.between[1])
    for start, ends in starts.items():
        routes = fastest(around, latency_ms, start, ends, HEALTHY)
        healthy |= {(start, end): found for end, found in routes.items()}
    failures = Failures(network, around, latency_ms)
    found = []
    for name, demand in limited.items():
        a, b = demand.between
        if (a, b) in healthy:  # another rule tells what is cut off
            found += list(_demand(network, failures, name, *healthy[a, b]))
    return found


class Failures:
    """The promised failures by what they hit, and detours around them, each searched once."""

    def __init__(self, network: Network, around: Adjacency, latency_ms: Mapping[FiberId, float]) -> None:
        self.network, self.around, self.latency_ms = network, around, latency_ms
        self.states = promised_states(network)
        self.promised: dict[tuple[str, ...], frozenset[str]] = {}
        self.hitting: dict[tuple[str, str], list[State]] = {}
        for state in self.states[1:]:
            for site in sorted(state.sites):
                self.hitting.setdefault(("site", site), []).append(state)
            for fiber in sorted(state.fibers) if not state.sites else ():
                self.hitting.setdefault(("fiber", fiber), []).append(state)
        self.detours: dict[tuple[str, SiteId, SiteId], float | None] = {}

    def promised_to(self, survive: tuple[str, ...]) -> frozenset[str]:
        """Names of the states that somebody with these promises survives."""
        if survive not in self.promised:
            self.promised[survive] = promised_to(self.network, self.states, survive)
        return self.promised[survive]

    def of(self, route: Route) -> list[State]:
        """The failures that hit a route and leave its ends alive."""
        keys = [("fiber", fiber) for fiber in route.fibers] + [("site", site) for site in route.through]
        return list({state.name: state for key in keys for state in self.hitting.get(key, ())}.values())

    def detour_ms(self, state: State, a: SiteId, b: SiteId) -> float | None:
        """Least latency between two sites in a failure [ms]; None when it parts them."""
        key = (state.name, a, b)
        if key not in self.detours:
            found = fastest(self.around, self.latency_ms, a, [b], state).get(b)
            self.detours[key] = found[0] if found else None
        return self.detours[key]

    def at_most_ms(self, state: State, route: Route) -> float:
        """A bound from above: the route with a detour around each stretch that the failure takes [ms]."""
        total, left = 0.0, route.sites[0]
        for fiber, site in zip(route.fibers, route.sites[1:], strict=True):
            if site in state.sites:
                continue  # the detour begins before the lost site and ends behind it
            whole = fiber not in state.fibers
            step = self.latency_ms[fiber] if whole else self.detour_ms(state, left, site)
            total += math.inf if step is None else step
            left = site
        return total


def _demand(network: Network, failures: Failures, name: str, best_ms: float, route: Route) -> Iterator[Finding]:
    demand = network.topology.demands[name]
    a, b = demand.between
    limit_ms = demand.max_latency_ms or 0.0
    span = network.document.locate(("demands", name, "max_latency_ms"))
    allowed = f"demand `{name}` allows {significant(limit_ms)} ms one way"
    if best_ms > limit_ms:
        line_ms = network.great_circle_km(a, b) / LIGHT_M_PER_S * 1e6
        alone = f"the great circle alone takes light {significant(line_ms)} ms in vacuum"
        hint = alone if line_ms > limit_ms else f"a shorter or faster route is needed; {alone}"
        message = f"{allowed}, but light takes {significant(best_ms)} ms on the fastest route, {route.name}"
        yield Finding(BEYOND_LIGHT, span, message, hint)
        return
    if demand.under_failure_percent == 0:
        return
    mine = failures.promised_to(survived_by(network, demand))
    hit = [state for state in failures.of(route) if state.name in mine]
    doubtful = [state for state in hit if failures.at_most_ms(state, route) > limit_ms]
    exact = [(failures.detour_ms(state, a, b), state) for state in doubtful]
    slow = [(ms, state.name) for ms, state in exact if ms is not None and ms > limit_ms]
    if slow:
        worst_ms, lost = max(slow)
        message = f"{allowed}, but after losing {lost} light takes {significant(worst_ms)} ms"
        yield Finding(BEYOND_IN_FAILURE, span, message, "a shorter second route is needed, or a looser limit")
