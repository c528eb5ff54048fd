"""A designed network as its users see it in a state: what survives, who gets how much, on which routes."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from dcplan.design.routing import max_min
from dcplan.training.step import Links

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Demand, Design, Flow
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Pair
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath

RESERVED = "one-plus-one"
"""The scheme under which capacity is set aside for each demand, so that nobody gets more than was asked."""


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What is lit, state by state."""

    lightpaths: tuple[Lightpath, ...]
    design: Design

    def left_gbps(self, state: State) -> float:
        """Capacity of the wavelengths that survive, each direction [Gb/s]."""
        routes = {lightpath.id: lightpath.route for lightpath in self.lightpaths}
        return sum(
            lit.count * lit.rate_gbps for lit in self.design.wavelengths if not state.breaks(routes[lit.lightpath])
        )

    def lost_gbps(self, state: State) -> float:
        """Capacity of the wavelengths that are gone, each direction [Gb/s]."""
        return sum(lit.count * lit.rate_gbps for lit in self.design.wavelengths) - self.left_gbps(state)

    def flows(self, state: State) -> tuple[Flow, ...]:
        """The routes of the plan in a state."""
        return next((routing.flows for routing in self.design.routing if routing.state == state.name), ())

    def fractions(self, state: State, asked: Sequence[Demand]) -> dict[str, float]:
        """Rate that each demand gets over what it asks in a state: fixed ones first, the rest max-min fair."""
        if self.design.scheme == RESERVED:
            return self._reserved(state, asked)
        wanted = [(demand.id, demand.ends, demand.gbps[state.name]) for demand in asked]
        fixed = frozenset(demand.id for demand in asked if demand.job is None)
        return max_min(self.lightpaths, self.design.wavelengths, state, wanted, fixed)

    def _reserved(self, state: State, asked: Sequence[Demand]) -> dict[str, float]:
        carried: dict[str, float] = {}
        for flow in self.flows(state):
            carried[flow.demand] = carried.get(flow.demand, 0.0) + flow.gbps
        sides = 2 if state.healthy else 1  # both routes of a demand stand in the healthy state
        return {demand.id: carried.get(demand.id, 0.0) / sides / demand.gbps[state.name] for demand in asked}

    def links_for(self, job: JobTraffic) -> Callable[[State, Mapping[Pair, float]], Links]:
        """For a job, what any pattern of bytes between its sites would get: the other demands keep what they ask."""
        known: dict[tuple[str, tuple[tuple[Pair, float], ...]], Links] = {}

        def links_in(state: State, pattern: Mapping[Pair, float]) -> Links:
            most = max(pattern.values(), default=0.0)
            key = (state.name, tuple(sorted((ends, round(size / most, 9)) for ends, size in pattern.items() if size > 0)))
            if key not in known:
                known[key] = self._links(state, dict(key[1]), job)
            return known[key]

        return links_in

    def _links(self, state: State, pattern: Mapping[Pair, float], job: JobTraffic) -> Links:
        mine = {str(ends): ends for ends in pattern}
        others = [demand for demand in self.design.demands if demand.job != job.job and state.name in demand.gbps]
        wanted = [(demand.id, demand.ends, demand.gbps[state.name]) for demand in others]
        asked = [(name, ends, pattern[ends]) for name, ends in mine.items()]
        first = frozenset(demand.id for demand in others)
        fractions = max_min(self.lightpaths, self.design.wavelengths, state, [*wanted, *asked], first)
        own = {demand.id: demand.ends for demand in job.demands}
        latency_ms = dict(job.plans.latency_ms)
        for flow in self.flows(state):
            if flow.demand in own:
                latency_ms[own[flow.demand]] = 0.0
        for flow in self.flows(state):
            if flow.demand in own:
                ends = own[flow.demand]
                latency_ms[ends] = max(latency_ms[ends], flow.latency_ms)
        rates = {ends: fractions[name] * pattern[ends] for name, ends in mine.items()}
        return Links({ends: gbps for ends, gbps in rates.items() if gbps > 0 and isfinite(gbps)}, latency_ms)
