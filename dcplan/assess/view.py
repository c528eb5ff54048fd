"""A designed network as its users see it in a state: what survives, who gets how much, on which routes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dcplan.design.routing.fair import max_min
from dcplan.design.solver.solve import Linear
from dcplan.model.states import HEALTHY
from dcplan.training.step import Links

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Demand, Design, Flow
    from dcplan.design.simplex import Simplex
    from dcplan.design.solver.program import Program
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Pair, Route
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath

ROUNDED = 1e-8
"""Share of a rate that its parts may be short by where they come from a plan file: nine digits each, 5e-9 at worst."""


@dataclass(frozen=True)
class NetworkView:
    """What is lit, state by state.

    Under relight a promised failure has wavelengths of its own; in any other, what survives is left as it is.
    """

    lightpaths: tuple[Lightpath, ...]
    design: Design
    programs: Callable[[Program], Linear | Simplex] = Linear
    """What solves the programs of fair rates; where a plan is checked, not what made it."""

    @cached_property
    def _routes(self) -> dict[str, Route]:
        return {lightpath.id: lightpath.route for lightpath in self.lightpaths}

    def left_gbps(self, state: State) -> float:
        """Capacity of the wavelengths that survive, or are lit anew, each direction [Gb/s]."""
        return self._surviving_gbps(state, self.design.lit_in(state.name))

    def _surviving_gbps(self, state: State, lit: Design) -> float:
        return sum(
            group.count * group.rate_gbps
            for group in lit.wavelengths
            if not state.breaks(self._routes[group.lightpath])
        )

    def lost_gbps(self, state: State) -> float:
        """Capacity of the wavelengths that are gone, each direction, whatever is tuned anew in their place [Gb/s]."""
        return self._surviving_gbps(HEALTHY, self.design) - self._surviving_gbps(state, self.design)

    def traffic_state(self, state: State) -> State:
        """The state whose traffic counts: healthy where a failure takes nothing that is lit or asked for."""
        ends = {site for demand in self.design.demands for site in demand.ends}
        return state if self.lost_gbps(state) > 0 or not ends.isdisjoint(state.sites) else HEALTHY

    def breaks(self, state: State, flow: Flow) -> bool:
        """The state takes a lightpath that the flow uses."""
        return any(state.breaks(self._routes[lightpath]) for lightpath in flow.lightpaths)

    def flows(self, state: State) -> tuple[Flow, ...]:
        """The routes of the plan in a state."""
        return next((routing.flows for routing in self.design.routing if routing.state == state.name), ())

    def fractions(self, state: State, asked: Sequence[Demand], besides: Sequence[Demand] = ()) -> dict[str, float]:
        """Rate that each demand gets over what it asks in a state: fixed ones first, the rest max-min fair.

        What is set aside for a demand on two ways is its own, in every state, and it gets no more; nor does another
        that does not wait for retuning, where some is retuned. `besides`: demands that are promised nothing in this
        state; they come last, with what they ask when healthy.
        """
        rates = [(demand, demand.gbps[state.name]) for demand in asked]
        rates += [(demand, demand.gbps[HEALTHY.name]) for demand in besides]
        found = self._reserved(state, [(demand, gbps) for demand, gbps in rates if demand.protected])
        wanted = [(demand.id, demand.ends, gbps) for demand, gbps in rates if not demand.protected]
        fixed = frozenset(demand.id for demand in asked if demand.job is None)
        late = frozenset(demand.id for demand in besides)
        return found | self._shared(state, wanted, fixed, late)

    def _shared(
        self,
        state: State,
        wanted: Sequence[tuple[str, Pair, float]],
        fixed: frozenset[str],
        late: frozenset[str] = frozenset(),
    ) -> dict[str, float]:
        """Fractions on what is lit and not set aside."""
        if not wanted:
            return {}
        names = frozenset(name for name, _, _ in wanted)
        fixed |= names & self._on_anchored(state)
        carried = self._carries(state, [one for one in wanted if one[0] in fixed])
        if names <= fixed and carried:
            return dict.fromkeys(sorted(names), 1.0)
        return max_min(
            self.lightpaths,
            self.design.lit_in(state.name).wavelengths,
            state,
            wanted,
            fixed & names,
            last=late & names,
            reserved=self._set_aside,
            held=self._held(state, names),
            likely=self._likely(state, names),
            carried=carried,
            programs=self.programs,
        )

    def _on_anchored(self, state: State) -> frozenset[str]:
        """Demands that share nothing of what is retuned in a state: they have their routes of the plan, and no more."""
        if not any(relit.state == state.name for relit in self.design.relit):
            return frozenset()
        return frozenset(demand.id for demand in self.design.demands if not demand.waits)

    def _carries(self, state: State, wanted: Sequence[tuple[str, Pair, float]]) -> bool:
        """The routes of the plan carry all that is wanted in a state, more than which fixed demands never get."""
        carried: dict[str, float] = {}
        for flow in self.flows(state):
            carried[flow.demand] = carried.get(flow.demand, 0.0) + flow.gbps
        return all(carried.get(name, 0.0) >= gbps * (1 - ROUNDED) for name, _, gbps in wanted)

    def _held(self, state: State, names: frozenset[str]) -> dict[str, list[tuple[str, ...]]]:
        """The routes of demands that may take few, or may not ride on all that is lit: those of the plan in the state,
        else what is left when healthy.
        """
        counted = {demand.id for demand in self.design.demands if demand.max_paths is not None} & names
        counted |= names & self._on_anchored(state)
        found: dict[str, list[tuple[str, ...]]] = {}
        for source in (state, HEALTHY):
            routes: dict[str, dict[tuple[str, ...], None]] = {}
            for flow in self.flows(source):
                if flow.demand in counted:
                    routes.setdefault(flow.demand, {})[flow.lightpaths] = None
            found = {name: list(chains) for name, chains in routes.items()} | found
        return found

    def _likely(self, state: State, names: frozenset[str]) -> dict[str, list[tuple[str, ...]]]:
        """The routes of the plan in the state, else those that it has when healthy: where to begin."""
        found: dict[str, dict[tuple[str, ...], None]] = {}
        for flow in self.flows(state) or self.flows(HEALTHY):
            if flow.demand in names:
                found.setdefault(flow.demand, {})[flow.lightpaths] = None
        return {name: list(chains) for name, chains in found.items()}

    @cached_property
    def _couples(self) -> dict[str, list[tuple[Flow, Flow]]]:
        """The pairs of ways of each demand that goes two at once."""
        flows: dict[str, list[Flow]] = {demand.id: [] for demand in self.design.demands if demand.protected}
        for flow in self.flows(HEALTHY):
            if flow.demand in flows:
                flows[flow.demand].append(flow)
        return {name: list(zip(mine[::2], mine[1::2], strict=True)) for name, mine in flows.items()}

    @cached_property
    def _set_aside(self) -> dict[str, float]:
        """On each lightpath what only demands on two ways may use, in every state [Gb/s]."""
        found: dict[str, float] = {}
        for couples in self._couples.values():
            for couple in couples:
                for flow in couple:
                    for lightpath in flow.lightpaths:
                        found[lightpath] = found.get(lightpath, 0.0) + flow.gbps
        return found

    def _reserved(self, state: State, rates: Sequence[tuple[Demand, float]]) -> dict[str, float]:
        """Of demands on two ways, what the pairs carry of which a way survives, over what they ask."""
        found = {}
        for demand, gbps in rates:
            left = sum(
                one.gbps
                for one, other in self._couples[demand.id]
                if not (self.breaks(state, one) and self.breaks(state, other))
            )
            found[demand.id] = left / gbps
        return found

    def links_for(self, job: JobTraffic) -> Callable[[State, Mapping[Pair, float]], Links]:
        """For a job, the rates that any pattern of bytes between its sites would get beside all other demands.

        The pattern takes the place of the job's own demands, its largest rate that of the largest of them.
        """
        known: dict[tuple[str, tuple[tuple[Pair, float], ...]], Links] = {}

        def links_in(failure: State, pattern: Mapping[Pair, float]) -> Links:
            state = self.traffic_state(failure)
            most = max(pattern.values(), default=0.0)
            shape = tuple(sorted((ends, round(size / most, 9)) for ends, size in pattern.items() if size > 0))
            if (state.name, shape) not in known:
                known[state.name, shape] = Links(self._rates(state, dict(shape), job), self._latency_ms(state, job))
            return known[state.name, shape]

        return links_in

    def _rates(self, state: State, shape: Mapping[Pair, float], job: JobTraffic) -> dict[Pair, float]:
        own = [demand for demand in job.demands if state.name in demand.gbps]
        if any(demand.protected for demand in own):
            fractions = self._reserved(state, [(demand, demand.gbps[state.name]) for demand in own])
            return {demand.ends: fractions[demand.id] * demand.gbps[state.name] / job.several for demand in own}
        largest = max((demand.gbps[state.name] for demand in own), default=1.0)
        others = [demand for demand in self.design.demands if demand.job != job.job and state.name in demand.gbps]
        wanted = [(demand.id, demand.ends, demand.gbps[state.name]) for demand in others if not demand.protected]
        mine = [(f"{job.job}: {a} - {b}", (a, b), share * largest) for (a, b), share in shape.items()]
        fixed = frozenset(demand.id for demand in others if demand.job is None)
        fractions = self._shared(state, [*wanted, *mine], fixed)
        return {ends: fractions[name] * gbps / job.several for name, ends, gbps in mine if fractions[name] > 0}

    def _latency_ms(self, state: State, job: JobTraffic) -> dict[Pair, float]:
        """Longest route in use between two of the job's sites; what was assumed where none is [ms]."""
        ends = {demand.id: demand.ends for demand in job.demands}
        used: dict[Pair, float] = {}
        for flow in self.flows(state):
            if flow.demand in ends:
                used[ends[flow.demand]] = max(used.get(ends[flow.demand], 0.0), flow.latency_ms)
        return {**job.plans.latency_ms, **used}
