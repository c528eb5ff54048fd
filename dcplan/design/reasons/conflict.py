"""Why there is no design: which limit binds, in words with numbers, and the least that is short."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.arrays import arrays
from dcplan.design.candidates import latency_graph, shortest
from dcplan.design.cuts.shores import ShoreCuts
from dcplan.design.problem import Problem, rate
from dcplan.design.reasons.overfull import densest, overfull
from dcplan.design.reasons.overfull import in_words as overfull_in_words
from dcplan.design.reasons.parts import few, parted, shore_of
from dcplan.design.reasons.reach import out_of_reach
from dcplan.design.reasons.shortage import least_shortages
from dcplan.design.result import Infeasible, Shortage
from dcplan.design.routing.aside import across, both_ways
from dcplan.design.ways.chains import ways_of
from dcplan.design.ways.labels import distances, joined, walked_back
from dcplan.design.ways.protection import chain_risks, risk, risk_pairs
from dcplan.model.ending import crossable_sites
from dcplan.units import rate as in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.candidates import Graph
    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Task
    from dcplan.design.limits import Until
    from dcplan.design.result import Demand
    from dcplan.design.ways.chains import Ways
    from dcplan.design.ways.labels import Near
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known when the master has no answer."""

    late: bool
    """Without latency limits there was one."""
    repaired: bool
    """With the whole band there was one."""
    capped: tuple[str, ...] = ()
    """Of which demands not all ways were considered, in words."""


def structural(
    problem: Problem, lightpaths: Sequence[Lightpath], ways: Mapping[int, Ways], until: Until | None = None
) -> Infeasible | None:
    """A reason that no purchase can remove: parted ends, no closing mode, a limit below the shortest route, no pair.

    ways: of each demand, under one-plus-one. Once `until` is over no further state is looked at.
    """
    near = joined((i, path.route.ends) for i, path in enumerate(problem.lightpaths))
    graph = latency_graph(problem.network)
    in_time: dict[int, list[tuple[int, ...]]] = {}
    found = []
    for state in problem.states:
        for d, demand in enumerate(problem.demands):
            asked = rate(demand, state)
            if asked <= 0 or (until is not None and until.over):
                continue
            if any(not _breaks(problem, state, chain) for chain in in_time.get(d, ())):
                continue
            chain = _shortest_lit(problem, near, demand, state)
            reason = _parted(problem, lightpaths, graph, demand, state, chain)
            if reason is None:
                in_time.setdefault(d, []).append(chain or ())
            else:
                found.append((*reason, Shortage(demand.id, state.name, asked, asked)))
    if not found:
        found = [
            (limit, reason, Shortage(demand.id, problem.states[0].name, asked, asked))
            for d in sorted(problem.protected)
            for demand in (problem.demands[d],)
            for asked in (rate(demand, problem.states[0]),)
            for limit, reason in _no_pair(problem, demand, ways[d])
        ]
    if not found:
        return None
    first = found[0][0]
    reasons = list(dict.fromkeys(reason for limit, reason, _ in found if limit == first))
    more = f"; and {len(reasons) - 3} more like these" if len(reasons) > 3 else ""
    return Infeasible(first, "; ".join(reasons[:3]) + more, tuple(short for _, _, short in found))


def explain(task: Task, known: Tried) -> Infeasible:
    """Which limit leaves no design: fibers too few for what sites need, a latency limit, whole channels in the band."""
    found = _explained(task, known)
    return replace(found, reason="; ".join((found.reason, *known.capped)))


def _explained(task: Task, known: Tried) -> Infeasible:
    problem, shortages = task.problem, least_shortages(task)
    worst = _worst_shore(problem)
    if worst is not None:
        return Infeasible(_what_is_bought(problem), worst, shortages)
    most = None if known.repaired else overfull(task)
    if most is not None:
        within = "within latency limits, " if known.late else ""
        said = overfull_in_words(problem, most, within=within)
        if known.late:
            return Infeasible("latency", f"{said}; without latency limits there is a design", shortages)
        ideal = densest(problem, most)
        if most.weights and ideal <= most.room:
            return Infeasible("spectrum", f"{said}; in the densest modes it would be {ideal:.3g}", shortages)
        return Infeasible(_what_is_bought(problem), said, shortages)
    who = _shortest_by(shortages)
    if known.late:
        return Infeasible("latency", f"without latency limits there is a design; within them {who}", shortages)
    if known.repaired:
        return Infeasible(
            "spectrum",
            "the channels fit by width, not by their places in the spectrum, as far as was searched (not proven to "
            f"have none): {who}",
            shortages,
        )
    if not problem.fibers:
        return Infeasible("circuits", f"the rates would fit, whole modules do not: {who}", shortages)
    return Infeasible("spectrum", f"the rates would fit, whole channels do not: {who}", shortages)


def _shortest_by(shortages: Sequence[Shortage]) -> str:
    short = max(shortages, key=lambda one: one.short_gbps, default=None)
    if short is None:
        return ""
    return (
        f"{short.demand} is short of {in_words(short.short_gbps)} of {in_words(short.asked_gbps)}"
        f"{_after_name(short.state)} at best"
    )


def _what_is_bought(problem: Problem) -> str:
    """The limit where capacity falls short."""
    if not problem.circuits:
        return "fiber pairs"
    return "fiber pairs and circuits" if problem.fibers else "circuits"


def _parted(
    problem: Problem,
    lightpaths: Sequence[Lightpath],
    graph: Graph,
    demand: Demand,
    state: State,
    chain: tuple[int, ...] | None,
) -> tuple[str, str] | None:
    """The limit that keeps the ends of a demand apart in a state, and why; chain: the shortest lit way, if any."""
    a, b = demand.ends
    if chain is None:
        passing = crossable_sites(problem.network) - state.sites
        route = shortest(graph, a, b, passing, len(graph), without=state.fibers)
        if route is None:
            limit, why = parted(problem.network, state, a, b)
            return limit, f"{why} (demand {demand.id})"
        limit, why = out_of_reach(problem.network, lightpaths, route)
        return limit, f"{_after(state)}no chain of closing lightpaths joins {a} and {b}: {why}"
    best_ms = sum(problem.latency_ms(i) for i in chain)
    if demand.max_latency_ms is not None and best_ms > demand.max_latency_ms * (1 + 1e-9):
        return (
            "latency",
            (
                f"{_after(state)}the shortest lit way from {a} to {b} takes {best_ms:.4g} ms, "
                f"{demand.id} allows {demand.max_latency_ms:.4g} ms"
            ),
        )
    return None


def _breaks(problem: Problem, state: State, chain: Sequence[int]) -> bool:
    return any(state.breaks(problem.lightpaths[i].route) for i in chain)


def _shortest_lit(problem: Problem, near: Near, demand: Demand, state: State) -> tuple[int, ...] | None:
    """The chain of surviving lightpaths of least latency, each with its fastest transponders that close."""
    start, end = demand.ends
    lengths = [inf if state.breaks(path.route) else problem.latency_ms(i) for i, path in enumerate(problem.lightpaths)]
    reached = distances(near, lengths, start)
    return walked_back(reached, end) if end in reached else None


def _no_pair(problem: Problem, demand: Demand, listed: Ways) -> Iterator[tuple[str, str]]:
    """One-plus-one: no two ways that no promised failure breaks together."""

    def pairs(of: Demand, ways: Ways) -> bool:
        return bool(risk_pairs(chain_risks(problem, of, ways.ways)))

    if pairs(demand, listed):
        return
    free = replace(demand, max_latency_ms=None)
    a, b = demand.ends
    if demand.max_latency_ms is not None and pairs(free, ways_of(problem, free)):
        limit = f"{demand.max_latency_ms:.4g} ms"
        yield "latency", f"no two ways from {a} to {b} within {limit} fail apart, as {demand.id} needs"
    else:
        shared = _shared(problem, demand, listed)
        yield "disjointness", f"no two ways from {a} to {b} fail apart, as {demand.id} needs: {shared}"


SHARED = 3
"""Pairs of ways that are named with the failure that they share."""


def _shared(problem: Problem, demand: Demand, listed: Ways) -> str:
    """Which failure breaks both, for every two of the ways that are broken by least."""
    way_of: dict[tuple[int, ...], str] = {}
    for way in listed.ways:
        fibers = [fiber for i in way.lightpaths for fiber in problem.lightpaths[i].route.fibers]
        way_of.setdefault(risk(problem, demand, way), " + ".join(fibers))
    least = [one for one in way_of if not any(set(other) < set(one) for other in way_of)]
    said = [
        f"{way_of[one]} and {way_of[other]} share {problem.states[min(set(one) & set(other))].name}"
        for one, other in combinations(least, 2)
    ]
    if not said:
        return f"all share {problem.states[least[0][0]].name}" if least and least[0] else "there is only one way"
    return ", ".join(said[:SHARED]) + (f", and {len(said) - SHARED} more pairs" if len(said) > SHARED else "")


def _worst_shore(problem: Problem) -> str | None:
    """The set of sites whose fibers, all pairs lit and full, fall shortest of what must cross, in which state."""
    cuts = ShoreCuts(problem, across(problem, arrays(problem)))
    most = [float(problem.network.fibers[fiber].pairs) for fiber in problem.fibers]
    leased = _leasable_gbps(problem)
    worst: tuple[float, str] = (1e-6, "")
    for shore, state in [(shore, k) for shore, k, over_paths in cuts.tightest(leased, most, 2000) if not over_paths]:
        cut = cuts.cut(shore, state, over_paths=False)
        need = cut.need_gbps(problem)
        have = sum(problem.network.fibers[f].pairs * cuts.pair_gbps[f] for f in cut.fibers)
        have += sum(leased[i] for i in cut.lightpaths)
        if need - have > worst[0]:
            worst = (need - have, _shore_in_words(problem, cut, need, have))
    return worst[1] or None


def _shore_in_words(problem: Problem, cut: Cut, need: float, have: float) -> str:
    state = problem.states[cut.state]
    sites = ", ".join(few(shore_of(problem.network, cut.shore)))
    over = [f"{fiber} ({_pairs(problem.network.fibers[fiber].pairs)})" for fiber in cut.fibers]
    over += [f"circuit {problem.circuit(i)}" for i in cut.lightpaths]
    had = "lit" if cut.fibers or not cut.lightpaths else "leased"
    return (
        f"{_after(state)}sites {{{sites}}} need {in_words(need)}{both_ways(problem, cut)} to the rest, "
        f"{in_words(have)} can be {had} on {' + '.join(over) or 'no fiber'}"
    )


def _leasable_gbps(problem: Problem) -> list[float]:
    """The most that each circuit can carry; 0 for light over own fibers, which has pairs to count [Gb/s]."""
    most = [0.0] * len(problem.lightpaths)
    for circuit, i in problem.circuits.items():
        sizes = [problem.choices[j] for j in problem.offered[i]]
        if problem.network.circuits[circuit].pick == "one":
            leased = max((choice.gbps for choice in sizes if not choice.least), default=0.0)
            most[i] = leased + sum(choice.gbps for choice in sizes if choice.least)
        else:
            most[i] = sum(choice.gbps * choice.most for choice in sizes)
    return most


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"


def _after(state: State) -> str:
    return "" if state.healthy else f"after losing {state.name}, "


def _after_name(state: str) -> str:
    return "" if state == "healthy" else f" after losing {state}"
