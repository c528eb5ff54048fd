"""Checks a design against topology, link budgets and demands, without the program or the solver that made it."""

from __future__ import annotations

from functools import cache
from math import isclose, isfinite
from typing import TYPE_CHECKING

from dcplan.design import circuits, cost, existing
from dcplan.design.certificate import check as adds_up
from dcplan.design.mixed.verify import anchored_gbps
from dcplan.design.mixed.verify import faults as moved
from dcplan.design.nodes import passed, with_roadms
from dcplan.design.problem import rate
from dcplan.design.relight import verify as relight
from dcplan.design.spectrum import check as light
from dcplan.design.tolerance import CLOSE, FINE
from dcplan.design.ways import check as two_ways
from dcplan.design.ways.check import alive, way
from dcplan.design.ways.route_count import too_many_routes
from dcplan.model.states import HEALTHY
from dcplan.optics.ends import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dcplan.design.result import Demand, Design, Flow
    from dcplan.model.network import FiberId, Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

    Slowest = Callable[[tuple[tuple[float, ...], ...], float], list[float] | None]


def verify(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    design: Design,
    gap: float | None = None,
    rated: Sequence[Lightpath] | None = None,
) -> tuple[str, ...]:
    """What does not hold of a design, in words; nothing when all of it holds.

    Every lit mode closes; channels stand in the band, whole, on the grid, without clash, a guard apart, on lit pairs
    that exist; every demand is carried at its rate in every state over surviving wavelengths within capacity and
    latency limit; pairs of ways under one-plus-one never fail together; the bill is that of what is lit; the proof
    fits it, and its certificate adds up. gap: the relative gap that was asked, within which a design may be called
    optimal; none where that is not known. rated: the lightpaths with the ROADMs of the design; none: as the candidates
    say of themselves.
    """
    roadms = passed(lightpaths, design)
    paths = {path.id: path for path in rated or (settled(path, roadms) for path in lightpaths)}
    line_of = {line.fiber: line for line in lines}
    wanted = list(states)
    faults = [*light.wavelengths(network, paths, design), *circuits.faults(network, paths, design.wavelengths)]
    faults += relight.unknown(network, design)
    if faults:
        return tuple(faults)  # the rest reads what these name
    faults += light.channels(network, paths, design)
    if any(channel.lightpath not in paths for channel in design.channels):
        return tuple(faults)
    faults += existing.faults(network, paths, design)
    faults += light.clashes(paths, design)
    faults += light.guards(network, paths, design)
    faults += _relit(network, paths, wanted, design)
    faults += light.fibers(network, line_of, paths, design)
    faults += _demands(demands, design)
    faults += _states_listed(wanted, design)
    faults += _flows(paths, wanted, demands, design)
    faults += _routed(wanted, demands, design)
    faults += two_ways.faults(paths, wanted, demands, design)
    faults += too_many_routes(demands, design)
    faults += _money(network, line_of, paths, design)
    faults += _proof(wanted, design, gap)
    faults += adds_up.faults(network, lines, lightpaths, demands, states, design)
    return tuple(faults)


def _relit(network: Network, paths: Mapping[str, Lightpath], states: Sequence[State], design: Design) -> Iterator[str]:
    """Under relight, what each failure lights closes and stands in the spectrum as what is lit when healthy does."""
    for each in design.relit:
        lit = design.lit_in(each.state)
        found = [*light.wavelengths(network, paths, lit), *light.channels(network, paths, lit)]
        if not found:
            found = [*light.clashes(paths, lit), *light.guards(network, paths, lit)]
        yield from (f"{each.state}: {fault}" for fault in found)
    yield from relight.faults(network, paths, states, design)
    yield from moved(paths, states, design)


def _demands(demands: Sequence[Demand], design: Design) -> Iterator[str]:
    """The design answers the demands that were asked."""
    mine = {demand.id: demand for demand in design.demands}
    for demand in demands:
        other = mine.get(demand.id)
        same = (
            other is not None
            and (other.ends, other.gbps.keys()) == (demand.ends, demand.gbps.keys())
            and all(isclose(other.gbps[state], gbps, rel_tol=CLOSE) for state, gbps in demand.gbps.items())
            and _same_limits(other, demand)
        )
        if not same:
            yield f"demand {demand.id} is not the one that was asked"
    if len(mine) != len(demands):
        yield f"{len(mine)} demands are answered, {len(demands)} were asked"


def _same_limits(one: Demand, other: Demand) -> bool:
    """A limit is never 0."""
    latency = isclose(one.max_latency_ms or 0.0, other.max_latency_ms or 0.0, rel_tol=CLOSE)
    return latency and (one.max_paths, one.scheme) == (other.max_paths, other.scheme)


def _flows(
    paths: Mapping[str, Lightpath], states: Sequence[State], demands: Sequence[Demand], design: Design
) -> Iterator[str]:
    """In every state, traffic is on surviving wavelengths, within capacity and in time.

    What demands on two ways have is set aside for them in every state, also where one of the ways is broken.
    """
    routing = {state.state: state.flows for state in design.routing}
    asked = {demand.id: demand for demand in demands}
    kept = [flow for flow in routing.get(HEALTHY.name, ()) if flow.demand in asked and asked[flow.demand].protected]
    never = anchored_gbps(design)
    slowest = cache(slowest_ridden)  # of the many flows of all states most are like others
    for state in states:
        flows, lit = routing.get(state.name, ()), design.lit_in(state.name)
        yield from _sound(paths, state, asked, flows, kept, lit, never, slowest)


def _routed(states: Sequence[State], demands: Sequence[Demand], design: Design) -> Iterator[str]:
    """In every state, every demand that shares what is not set aside is carried at its rate."""
    routing = {state.state: state.flows for state in design.routing}
    for state in states:
        carried = {demand.id: 0.0 for demand in demands}
        for flow in routing.get(state.name, ()):
            carried[flow.demand] = carried.get(flow.demand, 0.0) + flow.gbps
        for demand in demands:
            need = rate(demand, state)
            if not demand.protected and not isclose(carried[demand.id], need, rel_tol=CLOSE, abs_tol=CLOSE):
                yield f"{state.name}: {demand.id} asks {need:g} Gb/s, {carried[demand.id]:g} are carried"


def _states_listed(states: Sequence[State], design: Design) -> Iterator[str]:
    names = [state.state for state in design.routing]
    if names != [state.name for state in states]:
        yield f"the states routed are {names}"


def _sound(
    paths: Mapping[str, Lightpath],
    state: State,
    asked: Mapping[str, Demand],
    flows: Sequence[Flow],
    kept: Sequence[Flow],
    design: Design,
    never: Mapping[str, Mapping[float, float]],
    slowest: Slowest,
) -> Iterator[str]:
    """Flows are chains of lit, surviving lightpaths between the ends, in time, and loads fit the capacity.

    The latency of a flow says how slow the wavelengths may be that it rides on; what needs wavelengths so fast or
    faster must fit those. kept: flows on two ways, which count wherever their lightpaths survive. never: of each
    lightpath, by latency, what no failure retunes [Gb/s], which under relight is all that other schemes may use.
    """
    capacity: dict[str, dict[float, float]] = {}
    for lit in design.wavelengths:
        by_latency = capacity.setdefault(lit.lightpath, {})
        by_latency[lit.latency_ms] = by_latency.get(lit.latency_ms, 0.0) + lit.count * lit.rate_gbps
    steps = {name: tuple(sorted(by_latency)) for name, by_latency in capacity.items()}
    riding = [flow for flow in kept if all(name in capacity for name in flow.lightpaths)]
    for flow in flows:
        demand = asked.get(flow.demand)
        if demand is None or flow.gbps < 0 or any(name not in capacity for name in flow.lightpaths):
            yield f"{state.name}: a flow of {flow.demand} is on nothing that is lit"
            continue
        yield from _chained(paths, state, demand, flow)
        if slowest(tuple(steps[name] for name in flow.lightpaths), flow.latency_ms) is None:
            yield f"{state.name}: {way(flow)} takes another time than {flow.latency_ms:g} ms on what is lit"
        if not demand.protected:
            riding.append(flow)
    yield from _fitting(paths, state, riding, capacity, capacity, "are lit", slowest)
    if design.scheme == "relight":
        mine = [flow for flow in riding if not asked[flow.demand].waits]
        yield from _fitting(paths, state, mine, capacity, never, "are retuned in no failure", slowest)


def _fitting(
    paths: Mapping[str, Lightpath],
    state: State,
    riding: Sequence[Flow],
    capacity: Mapping[str, Mapping[float, float]],
    usable: Mapping[str, Mapping[float, float]],
    are: str,
    slowest: Slowest,
) -> Iterator[str]:
    """What rides on surviving lightpaths fits the wavelengths, of those that are usable, that are fast enough."""
    load: dict[str, dict[float, float]] = {}
    steps = {name: tuple(sorted(by_latency)) for name, by_latency in capacity.items()}
    standing = {name for name in capacity if not state.breaks(paths[name].route)}
    for flow in riding:
        lit_on = tuple(steps[name] for name in flow.lightpaths)
        ridden = slowest(lit_on, flow.latency_ms) or [mine[-1] for mine in lit_on]
        for name, latency_ms in zip(flow.lightpaths, ridden, strict=True):
            if name in standing:
                mine = load.setdefault(name, {})
                mine[latency_ms] = mine.get(latency_ms, 0.0) + flow.gbps
    slack = CLOSE * max(1.0, sum(flow.gbps for flow in riding))
    for name, latency_ms in ((name, ms) for name, mine in load.items() for ms in mine):
        gbps = sum(each for ms, each in load[name].items() if ms <= latency_ms)
        lit_gbps = sum(each for ms, each in usable.get(name, {}).items() if ms <= latency_ms)
        if gbps > lit_gbps * (1 + CLOSE) + slack:
            within = "" if latency_ms == max(capacity[name]) else f" within {latency_ms:g} ms"
            yield f"{state.name}: {name} carries {gbps:g} Gb/s{within}, {lit_gbps:g} {are}"


def slowest_ridden(lit: tuple[tuple[float, ...], ...], total_ms: float) -> list[float] | None:
    """Of each lightpath of a flow, the slowest lit latency that it may ride on if all add up to the total [ms].

    None where no latencies add up to it. Where several sums are the same, each lightpath has the slowest of all of
    them: too much is then allowed rather than too little.
    """
    close = CLOSE * abs(total_ms)
    ahead: list[set[float]] = [{0.0}]
    for steps in reversed(lit):
        ahead.append({round(step + rest, 9) for step in steps for rest in ahead[-1]})
    ahead.reverse()
    if not any(abs(total - total_ms) <= close for total in ahead[0]):
        return None
    slowest = [steps[0] for steps in lit]
    before = {0.0}
    for at, steps in enumerate(lit):
        further: set[float] = set()
        for step in steps:
            spent = {
                round(had + step, 9)
                for had in before
                if any(abs(had + step + rest - total_ms) <= close for rest in ahead[at + 1])
            }
            if spent:
                slowest[at] = max(slowest[at], step)
            further |= spent
        before = further
    return slowest


def _chained(paths: Mapping[str, Lightpath], state: State, demand: Demand, flow: Flow) -> Iterator[str]:
    """The flow leads from end to end, survives, and is in time."""
    if not _joins(paths, demand, flow):
        yield f"{state.name}: {way(flow)} does not lead from {demand.ends[0]} to {demand.ends[1]}"
    if not alive(paths, state, flow):
        yield f"{state.name}: {flow.demand} is on {way(flow)}, which is broken"
    if demand.max_latency_ms is not None and flow.latency_ms > demand.max_latency_ms * (1 + CLOSE):
        yield f"{state.name}: {flow.demand} on {way(flow)} takes {flow.latency_ms:g} ms, more than its limit"


def _joins(paths: Mapping[str, Lightpath], demand: Demand, flow: Flow) -> bool:
    here = demand.ends[0]
    for name in flow.lightpaths:
        a, b = paths[name].route.ends
        if here not in (a, b):
            return False
        here = b if here == a else a
    return here == demand.ends[1]


def _money(
    network: Network, line_of: Mapping[FiberId, Line], paths: Mapping[str, Lightpath], design: Design
) -> Iterator[str]:
    """The bill is that of what is lit, and the proof is about that cost."""
    pairs = {lit.fiber: lit.pairs for lit in design.lit if lit.fiber in line_of}
    decided = with_roadms(network, paths, design.ever_lit)
    due = cost.bill(decided, line_of, paths, design.wavelengths, pairs, design.routing, design.owned)
    stated = {(item.part, item.what, round(item.unit_usd, 4)): item for item in design.bill}
    for item in due:
        other = stated.pop((item.part, item.what, round(item.unit_usd, 4)), None)
        if other is None or not isclose(other.total_usd, item.total_usd, rel_tol=CLOSE, abs_tol=0.01):
            yield f"the bill lacks {item.quantity:g} × {item.part} ({item.what})"
        elif not (isclose(other.quantity, item.quantity, rel_tol=CLOSE) and isclose(other.existing, item.existing)):
            counted, due_ = (f"{one.quantity:g} and {one.existing:g} already there" for one in (other, item))
            yield f"the bill counts {counted} of {item.part}, lit are {due_}"
        elif (other.source, other.confidence, other.running) != (item.source, item.confidence, item.running):
            yield f"of {item.part} the bill has another source, how far to trust it, or when it is paid"
    yield from (f"the bill holds {part} ({what}), which nothing needs" for part, what, _ in stated)
    proof, total = design.proof, cost.total(due)
    if not isclose(proof.cost_usd, total, rel_tol=FINE, abs_tol=FINE):
        yield f"the proof is about US$ {proof.cost_usd:.0f}, what is lit costs US$ {total:.0f}"
    if proof.bound_usd is not None and proof.bound_usd > total * (1 + FINE) + FINE:
        yield "the bound lies above the cost"


def _proof(states: Sequence[State], design: Design, asked: float | None) -> Iterator[str]:
    """Gap = (cost − bound) / cost, 0 where nothing costs anything; optimal only within the gap that was asked."""
    proof = design.proof
    if proof.status not in ("optimal", "feasible"):
        yield f"the status is {proof.status}, neither optimal nor feasible"
    if proof.states != len(states):
        yield f"the proof is about {proof.states} states, there are {len(states)}"
    if proof.status == "optimal" and (proof.bound_usd is None or proof.reason != "proven"):
        yield f"a design without a bound, or stopped ({proof.reason}), is not optimal"
    if proof.bound_usd is None:
        if proof.gap is not None:
            yield "a gap is stated without a bound"
        return
    left = max(0.0, proof.cost_usd - proof.bound_usd)
    gap = left / proof.cost_usd if proof.cost_usd > CLOSE else 0.0
    if proof.gap is None or not isclose(proof.gap, gap, rel_tol=CLOSE, abs_tol=FINE):
        yield f"the gap is said to be {proof.gap}, cost and bound are {gap:g} apart"
    if proof.status == "optimal" and asked is not None and isfinite(asked) and gap > asked * (1 + CLOSE) + FINE:
        yield f"a design {gap:g} above its bound is not optimal within the {asked:g} that was asked"
