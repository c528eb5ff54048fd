"""A network as it is: nothing is bought, traffic is routed on what is lit, state by state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf
from typing import TYPE_CHECKING

from dcplan.design.given.concurrent import Asked, concurrent, quickest
from dcplan.design.problem import Problem, rate
from dcplan.design.result import Flow, Routing
from dcplan.design.ways.labels import Arc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.given.concurrent import Concurrent, Path
    from dcplan.model.network import Pair
    from dcplan.model.states import State

OBJECTIVES = ("fraction", "utilisation", "latency")
"""What the routing of a given network is for."""
WHOLE = 1 - 1e-6
"""A fraction from which on all is carried; the rest is rounding."""


@dataclass(frozen=True, slots=True)
class GivenState:
    """How the network carries its traffic in one state."""

    state: str
    fraction: float | None
    """Largest common fraction of all demands; none where none asks."""
    apart: tuple[str, ...]
    """Demands whose ends nothing lit joins within their latency limit; the fraction of the others is `rest`."""
    rest: float | None
    """Largest common fraction of the demands that something joins."""
    routed_gbps: float
    """With the objective utilisation it may be more than there is room for."""
    asked_gbps: float
    worst_link: Pair | None
    """The link that is fullest."""
    utilisation: float
    """Load over capacity there."""
    mean_ms: float | None
    """Latency of the traffic, weighed by its rate."""
    latest: str
    """The demand with the longest route."""
    latest_ms: float | None

    @property
    def whole(self) -> bool:
        """Everything that was promised is carried."""
        return self.fraction is None or self.fraction >= WHOLE


@dataclass(frozen=True, slots=True)
class GivenRouting:
    """What a given network carries, and how."""

    objective: str
    states: tuple[GivenState, ...]
    routing: tuple[Routing, ...]
    """At the rates that the objective asks for."""

    @property
    def whole(self) -> bool:
        """Everything that was promised is carried in every state."""
        return all(state.whole for state in self.states)

    @property
    def fraction(self) -> float:
        """The least over all states."""
        return min((state.fraction for state in self.states if state.fraction is not None), default=inf)


def arcs_of(problem: Problem, counts: Sequence[int]) -> dict[int, Arc]:
    """So many of each choice as arcs, by choice."""
    return {
        j: Arc(
            choice.lightpath, problem.lightpaths[choice.lightpath].route.ends, count * choice.gbps, choice.latency_ms
        )
        for j, (choice, count) in enumerate(zip(problem.choices, counts, strict=True))
        if count
    }


def alive(problem: Problem, arcs: Mapping[int, Arc], state: State) -> dict[int, Arc]:
    """The arcs that survive."""
    left = frozenset(problem.alive(state))
    return {e: arc for e, arc in arcs.items() if arc.lightpath in left}


def asked_in(problem: Problem, state: State) -> list[Asked]:
    """What each demand asks in a state."""
    return [
        Asked(d, demand.ends, gbps, demand.max_latency_ms)
        for d, demand in enumerate(problem.demands)
        if (gbps := rate(demand, state)) > 0
    ]


def route_given(
    problem: Problem, counts: Sequence[int], objective: str, say: Callable[[str], None] = lambda _: None
) -> GivenRouting:
    """Route on so many of each choice in each state.

    fraction: the largest common fraction of all demands, also beyond 1. utilisation: all that they ask with the fullest
    wavelengths as empty as can be, also beyond full; the same routes, since the least utilisation is 1 / fraction.
    latency: what they ask, or the largest common fraction where that is less, within capacity at the least latency.
    Of equal routings that of least latency.
    """
    arcs = arcs_of(problem, counts)
    states: list[GivenState] = []
    routing: list[Routing] = []
    for number, state in enumerate(problem.states, 1):
        say(f"state {number} of {len(problem.states)}: {state.name}")
        here, asked = alive(problem, arcs, state), asked_in(problem, state)
        most = concurrent(here, asked)
        joined = [one for one in asked if one.demand not in most.apart]
        flows = _flows(here, joined, most, objective)
        routing.append(_routing(problem, state, here, joined, flows))
        states.append(_state(problem, state, here, asked, most, routing[-1]))
    return GivenRouting(objective, tuple(states), tuple(routing))


def _flows(
    arcs: Mapping[int, Arc], asked: Sequence[Asked], most: Concurrent, objective: str
) -> tuple[tuple[Path, float], ...]:
    if not asked or most.fraction in (0.0, inf):
        return ()
    known = [path for path, _ in most.flows]
    if objective == "latency":
        return quickest(arcs, asked, min(1.0, most.fraction), 1.0, known)
    at_one = quickest(arcs, asked, 1.0, 1 / most.fraction, known)
    scale = most.fraction if objective == "fraction" else 1.0
    return tuple((path, scale * gbps) for path, gbps in at_one)


def _routing(
    problem: Problem,
    state: State,
    arcs: Mapping[int, Arc],
    asked: Sequence[Asked],
    flows: Sequence[tuple[Path, float]],
) -> Routing:
    """Flows by demand, those over the same lightpaths at the same latency as one, the largest first."""
    total: dict[tuple[int, tuple[str, ...], float], float] = {}
    for (d, way), gbps in flows:
        demand = asked[d].demand
        names = tuple(problem.lightpaths[arcs[e].lightpath].id for e in way)
        key = (demand, names, fsum(arcs[e].latency_ms for e in way))
        total[key] = total.get(key, 0.0) + gbps
    order = sorted(total, key=lambda key: (key[0], -round(total[key], 6), key[1:]))
    return Routing(
        state.name, tuple(Flow(problem.demands[d].id, names, total[d, names, ms], ms) for d, names, ms in order)
    )


def _state(
    problem: Problem,
    state: State,
    arcs: Mapping[int, Arc],
    asked: Sequence[Asked],
    most: Concurrent,
    routing: Routing,
) -> GivenState:
    rest = None if most.fraction == inf else most.fraction
    if len(most.apart) == len(asked):
        rest = None
    link, utilisation = _fullest(problem, arcs, routing)
    carried = fsum(flow.gbps for flow in routing.flows)
    last = max(routing.flows, key=lambda flow: (flow.latency_ms, flow.demand), default=None)
    return GivenState(
        state=state.name,
        fraction=0.0 if most.apart else rest,
        apart=tuple(problem.demands[d].id for d in most.apart),
        rest=rest,
        routed_gbps=carried,
        asked_gbps=fsum(one.gbps for one in asked),
        worst_link=link,
        utilisation=utilisation,
        mean_ms=fsum(flow.gbps * flow.latency_ms for flow in routing.flows) / carried if carried else None,
        latest=last.demand if last else "",
        latest_ms=last.latency_ms if last else None,
    )


def _fullest(problem: Problem, arcs: Mapping[int, Arc], routing: Routing) -> tuple[Pair | None, float]:
    """The link with the largest load over capacity, of equal ones the first by name."""
    capacity: dict[Pair, float] = {}
    for arc in arcs.values():
        capacity[arc.ends] = capacity.get(arc.ends, 0.0) + arc.gbps
    ends = {problem.lightpaths[arc.lightpath].id: arc.ends for arc in arcs.values()}
    load: dict[Pair, float] = {}
    for flow in routing.flows:
        for name in flow.lightpaths:
            load[ends[name]] = load.get(ends[name], 0.0) + flow.gbps
    if not load:
        return None, 0.0
    worst = max(sorted(load), key=lambda link: round(load[link] / capacity[link], 9))
    return worst, load[worst] / capacity[worst]


def promised(routing: GivenRouting, problem: Problem) -> tuple[Routing, ...]:
    """The flows at what each demand asks: what a plan holds. Only where everything is carried."""
    found = []
    for state, one in zip(problem.states, routing.routing, strict=True):
        carried: dict[str, float] = {}
        for flow in one.flows:
            carried[flow.demand] = carried.get(flow.demand, 0.0) + flow.gbps
        wanted = {demand.id: rate(demand, state) for demand in problem.demands}
        flows = tuple(replace(flow, gbps=flow.gbps * wanted[flow.demand] / carried[flow.demand]) for flow in one.flows)
        found.append(Routing(one.state, flows))
    return tuple(found)
