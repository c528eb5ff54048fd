"""Which few routes the counted demands take in a state, on what is lit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dcplan.design.few.program import hold
from dcplan.design.formulation import TBPS, hop_name, route, split_by_price
from dcplan.design.problem import rate
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear, solve
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.few.program import Few
    from dcplan.design.limits import Until
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.routing.states import Routes
    from dcplan.design.ways.chains import Way

Picked = Mapping[int, "Routes"]
"""Of each counted demand that asks for something: the routes that it takes."""
MOVE_MS = 1e3
"""Price of a route that a demand does not take when healthy: more than any detour, so that what can stay does [ms]."""
GAP = 1e-6
"""Relative gap within which picked routes are the cheapest."""
NODES = 5000
"""Branch-and-bound nodes within which routes are picked: the same answer on every machine."""
LESS = 1e-6
"""Weight of latency beside the price of traffic."""
DUST = 1e-5
"""Share of a demand's traffic that a route carries by the solver's tolerance only."""
AT_LEAST_S = 3.0
"""Time that picking routes is given where none is left [s]."""


@dataclass(frozen=True)
class Lit:
    """Wavelengths per choice, and the ways that traffic may take over them."""

    problem: Problem
    ways: Mapping[int, Sequence[Way]]
    """Of demands held to listed ways."""
    few: Few
    counts: Sequence[float]
    until: Until

    @cached_property
    def capacity_gbps(self) -> dict[int, float]:
        """Of each lit lightpath [Gb/s]."""
        return {i: gbps for i, gbps in enumerate(self.problem.capacity_gbps(self.counts)) if gbps > 0}

    @cached_property
    def within_gbps(self) -> dict[Hop, float]:
        """What is lit on each lit lightpath up to each tier [Gb/s]."""
        problem = self.problem
        hops = [(i, tier) for i in self.capacity_gbps for tier in range(len(problem.tiers[i]))]
        return {hop: sum(self.counts[j] * problem.choices[j].gbps for j in problem.within(hop)) for hop in hops}


def pick(lit: Lit, k: int, healthy: Picked, *, cheap: bool = False) -> Picked | None:
    """Routes of the counted demands in state `k` over which everything can be carried; None where there are none.

    healthy: what they take when nothing is lost; demands that lose none of it keep it where that can be. cheap: of
    the routes that are left, least traffic × latency, and little that moves. None as well where the solver stopped at
    `NODES` or at the deadline before it found any.
    """
    problem, state = lit.problem, lit.problem.states[k]
    alive = frozenset(i for i in lit.capacity_gbps if not state.breaks(problem.lightpaths[i].route))
    listed = {
        d: [way for way in ways if alive.issuperset(way.lightpaths) and all(lit.within_gbps[hop] for hop in way.hops)]
        for d, ways in {**lit.ways, **lit.few.ways}.items()
        if rate(problem.demands[d], state) > 0
    }
    whole = {d: chains for d, chains in healthy.items() if all(alive.issuperset(chain) for chain in chains)}
    for kept in (whole, {}) if whole else ({},):
        some = {d: [way for way in ways if d not in kept or way.lightpaths in kept[d]] for d, ways in listed.items()}
        found = _picked(lit, k, sorted(alive), some, healthy if cheap else None)
        if found is not None:
            return found
    return None


def _picked(
    lit: Lit, k: int, alive: Sequence[int], listed: Mapping[int, Sequence[Way]], healthy: Picked | None
) -> Picked | None:
    """Routes among the listed ways; where `healthy` is given, those of least traffic × latency."""
    problem, state = lit.problem, lit.problem.states[k]
    if any(not ways for ways in listed.values()):
        return None
    program = Program()
    rates = {d: rate(demand, state) for d, demand in enumerate(problem.demands)}
    asking = {d: problem.demands[d] for d, asked in rates.items() if asked > 0}
    links = problem.links(alive)
    loads = route(program, "", links, asking, rates, listed, {})
    for e, (ends, terms) in enumerate(loads.links.items()):
        program.row(f"link{e}", terms, upper=TBPS * sum(lit.capacity_gbps[i] for i in links[ends]))
    for hop, terms in loads.lightpaths.items():
        program.row(f"path{hop_name(problem, hop)}", terms, upper=TBPS * lit.within_gbps[hop])
    mine = {d: columns for d, columns in loads.on_ways.items() if d in lit.few.ways}
    if healthy is not None:
        for d, columns in mine.items():
            for way, column in columns:
                moves = MOVE_MS if d in healthy and way.lightpaths not in healthy[d] else 0.0
                program.columns[column] = replace(program.columns[column], cost=way.latency_ms + moves)
        if state.healthy and problem.priced:
            program.columns[:] = [replace(column, cost=column.cost * LESS) for column in program.columns]
            for i, column in split_by_price(program, problem, links, loads, "").items():
                program.columns[column] = replace(program.columns[column], upper=TBPS * lit.capacity_gbps[i])
    hold(program, problem, lit.few, k, loads, "")
    values = _solved(program, lit.until)
    if values is None:
        return None
    return {d: _largest(columns, values, problem.demands[d].max_paths or 1) for d, columns in mine.items()}


def _solved(program: Program, until: Until) -> Sequence[float] | None:
    if not program.columns:
        return ()
    if any(column.integer for column in program.columns):
        return solve("highs", program, until.finishing.limits(GAP, NODES, AT_LEAST_S)).values or None
    linear = Linear(program)
    return linear.values if linear.solve() == "optimal" else None


def _largest(columns: Sequence[tuple[Way, int]], values: Sequence[float], most: int) -> Routes:
    """The routes with most traffic, without what the solver's tolerance leaves on others."""
    carried: dict[tuple[int, ...], float] = defaultdict(float)
    for way, column in columns:
        carried[way.lightpaths] += values[column]
    floor = DUST * sum(carried.values())
    order = sorted((chain for chain in carried if carried[chain] > floor), key=lambda one: (-carried[one], one))
    return frozenset(order[:most])


def picks(lit: Lit, k: int, healthy: Picked) -> dict[int, Sequence[Way]]:
    """The listed ways that counted demands keep to in a state, by what `pick` finds cheap. SolverError without any."""
    found = pick(lit, k, healthy, cheap=True) or carried(lit, k, {})
    if found is None:
        name = lit.problem.states[k].name
        raise SolverError(f"no routes were found in time for state `{name}`: allow more (policy.solver.time_limit_s)")
    return among(lit.few, found)


def among(few: Few, picked: Picked) -> dict[int, Sequence[Way]]:
    """The listed ways of the routes that were picked."""
    return {d: [way for way in few.ways[d] if way.lightpaths in chains] for d, chains in picked.items()}


def carried(lit: Lit, k: int, healthy: Picked) -> Picked | None:
    """Routes as `pick` finds them that carry everything without the tolerance of binaries; None without such."""
    found = pick(lit, k, healthy)
    if found is None:
        return None
    few = replace(lit.few, ways={**lit.few.ways, **among(lit.few, found)})
    return pick(replace(lit, few=few), k, {})
