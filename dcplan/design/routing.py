"""Routes the traffic of each state over what is lit."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.problem import Hop, Problem, rate
from dcplan.design.program import Program
from dcplan.design.result import Flow, Routing
from dcplan.design.solver import Linear
from dcplan.design.ways import nested
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.design.ways import Way
    from dcplan.model.network import Pair, SiteId
    from dcplan.model.states import State

MOVE = 1e4
"""Cost of moving traffic away from its healthy route, in ms: more than any detour, so that what can stay does."""
DUST = 1e-7
"""Flow below this share of a demand is rounding and is given to the demand's largest flow."""
Arc = tuple[int, bool]
"""A lit lightpath and whether it is walked from its second end to its first."""
Path = tuple[Hop, ...]
Routes = frozenset[tuple[int, ...]]
"""Chains of lightpaths."""


@dataclass(frozen=True, slots=True)
class Lit:
    """A lightpath with its lit wavelengths."""

    id: str
    ends: Pair
    within: tuple[tuple[float, float], ...]
    """Up to each tier: what is lit in each direction [Gb/s], and the latency of its slowest wavelength [ms]."""

    @property
    def latency_ms(self) -> float:
        """With the slowest wavelength that is lit [ms]."""
        return self.within[-1][1]


def lit_of(problem: Problem, counts: Sequence[float]) -> dict[int, Lit]:
    """The lit lightpaths by index, in order."""
    lit: dict[int, dict[int, float]] = {}
    for choice, count in zip(problem.choices, counts, strict=True):
        if count > 0:
            gbps = lit.setdefault(choice.lightpath, {})
            tier = problem.tier(choice)
            gbps[tier] = gbps.get(tier, 0.0) + count * choice.gbps
    found = {}
    for i, gbps in sorted(lit.items()):
        within = tuple(
            (
                sum(gbps.get(k, 0.0) for k in range(tier + 1)),
                max((problem.tiers[i][k] for k in gbps if k <= tier), default=inf),
            )
            for tier in range(len(problem.tiers[i]))
        )
        found[i] = Lit(problem.lightpaths[i].id, problem.lightpaths[i].route.ends, within)
    return found


def route_states(
    problem: Problem,
    ways: Mapping[int, Sequence[Way]],
    counts: Sequence[float],
    held: Callable[[int, Mapping[int, Routes]], Mapping[int, Sequence[Way]]] | None = None,
    relit: Sequence[Sequence[float]] = (),
) -> tuple[Routing, ...]:
    """The traffic of every state on the shortest lit lightpaths; in a failure what can stay on its healthy route does.

    Minimises Σ flow × latency (healthy), and in failures first the traffic that moves. Demands in `ways` use those
    only, and those that `held` names in a state, which is told their healthy routes. relit: by state, what is lit,
    where that is not what survives of `counts`. SolverError where a state cannot be carried: sizing promised that it
    can.
    """
    by_state = relit or [counts] * len(problem.states)
    healthy: dict[int, list[tuple[Path, float]]] = {}
    found = []
    for k, (state, lit_then) in enumerate(zip(problem.states, by_state, strict=True)):
        lit = lit_of(problem, lit_then)
        alive = {i: one for i, one in lit.items() if not state.breaks(problem.lightpaths[i].route)}
        before = {} if state.healthy else healthy
        few = held(k, {d: _chains(paths) for d, paths in before.items()}) if held else {}
        before = {
            d: paths if d not in few else [(path, gbps) for path, gbps in paths if _is_among(path, few[d])]
            for d, paths in before.items()
        }
        flows = _route(problem, state, alive, {**ways, **few}, before)
        if state.healthy:
            healthy = flows
        found.append(_routing(problem, state, lit, flows))
    return tuple(found)


def _chains(paths: Sequence[tuple[Path, float]]) -> Routes:
    return frozenset(tuple(i for i, _ in path) for path, _ in paths)


def _is_among(path: Path, ways: Sequence[Way]) -> bool:
    return any(way.lightpaths == tuple(i for i, _ in path) for way in ways)


def too_late(problem: Problem, routing: Sequence[Routing]) -> list[int]:
    """Demands with a flow beyond their latency limit."""
    limits = {demand.id: demand.max_latency_ms for demand in problem.demands}
    late = set()
    for state in routing:
        for flow in state.flows:
            limit = limits[flow.demand]
            if limit is not None and flow.latency_ms > limit * (1 + 1e-9):
                late.add(flow.demand)
    return [d for d, demand in enumerate(problem.demands) if demand.id in late]


def _routing(
    problem: Problem,
    state: State,
    lit: Mapping[int, Lit],
    flows: Mapping[int, Sequence[tuple[Path, float]]],
) -> Routing:
    return Routing(
        state.name,
        tuple(
            Flow(problem.demands[d].id, tuple(lit[i].id for i, _ in path), gbps, _latency_ms(lit, path))
            for d, paths in flows.items()
            for path, gbps in paths
        ),
    )


def _latency_ms(lit: Mapping[int, Lit], path: Path) -> float:
    return sum(lit[i].within[tier][1] for i, tier in path)


def _route(
    problem: Problem,
    state: State,
    alive: Mapping[int, Lit],
    ways: Mapping[int, Sequence[Way]],
    healthy: Mapping[int, Sequence[tuple[Path, float]]],
) -> dict[int, list[tuple[Path, float]]]:
    """Paths and rates [Gb/s] of each demand in a state."""
    program = Program()
    load: dict[Hop, dict[int, float]] = {problem.top(i): {} for i in alive}
    paths: dict[int, list[tuple[Path, int]]] = {}
    arcs: dict[int, dict[Arc, int]] = {}
    for d, demand in enumerate(problem.demands):
        asked = rate(demand, state)
        if asked <= 0:
            continue
        move = MOVE if healthy else 0.0
        kept = [(path, gbps) for path, gbps in healthy.get(d, ()) if _lit(alive, path)]
        listed = [way.hops for way in ways.get(d, ()) if _lit(alive, way.hops)]
        paths[d] = []
        for path, price, most in [(path, 0.0, gbps) for path, gbps in kept] + [(path, move, inf) for path in listed]:
            column = program.column(f"y{len(program.columns)}", price + _latency_ms(alive, path), most)
            paths[d].append((path, column))
            for hop in path:
                load.setdefault(hop, {})[column] = 1.0
        if d in ways:
            program.row(f"ways{d}", {column: 1.0 for _, column in paths[d]}, asked, asked)
        else:
            arcs[d] = _arcs(program, problem, demand, asked, alive, load, [column for _, column in paths[d]], move)
    for (i, tier), terms in nested(load).items():
        program.row(f"path{i}t{tier}", terms, upper=alive[i].within[tier][0])
    linear = Linear(program)
    if state.healthy and problem.priced:
        _hold_to_least_price(problem, program, linear, load)
    if program.columns and linear.solve() != "optimal":
        raise SolverError(f"state `{state.name}` cannot be routed on the wavelengths that were chosen for it")
    found = {}
    for d, listed_paths in paths.items():
        carried = [(path, linear.values[column]) for path, column in listed_paths]
        flow = {arc: linear.values[column] for arc, column in arcs.get(d, {}).items()}
        found[d] = _tidy(rate(problem.demands[d], state), [*carried, *_peel(problem, problem.demands[d], alive, flow)])
    return found


def _hold_to_least_price(
    problem: Problem, program: Program, linear: Linear, load: Mapping[Hop, Mapping[int, float]]
) -> None:
    """Let the traffic cost no more than the least that it can cost."""
    prices: dict[int, float] = {}
    for (i, _), columns in load.items():
        for column in columns if i in problem.priced else ():
            prices[column] = prices.get(column, 0.0) + problem.priced[i]
    every = range(len(program.columns))
    linear.costs(every, [prices.get(column, 0.0) for column in every])
    if linear.solve() != "optimal":
        raise SolverError("the healthy traffic cannot be routed on what was chosen for it")
    linear.add_row(prices, -inf, linear.objective * (1 + 1e-9))
    linear.costs(every, [column.cost for column in program.columns])


def _lit(alive: Mapping[int, Lit], path: Path) -> bool:
    """Something is lit on every hop of a path that is fast enough."""
    return all(i in alive and alive[i].within[tier][0] > 0 for i, tier in path)


def _arcs(
    program: Program,
    problem: Problem,
    demand: Demand,
    asked: float,
    alive: Mapping[int, Lit],
    load: Mapping[Hop, dict[int, float]],
    kept: Sequence[int],
    move: float,
) -> dict[Arc, int]:
    """Flow of one demand over both directions of every surviving lightpath; `kept` path columns count as carried."""
    source, target = demand.ends
    balance: dict[SiteId, dict[int, float]] = {source: {}, target: dict.fromkeys(kept, 1.0)}
    columns: dict[Arc, int] = {}
    for i, one in alive.items():
        for back in (False, True):
            head, tail = one.ends[::-1] if back else one.ends
            if tail == source or head == target:
                continue
            price = one.latency_ms + (move if head == source else 0.0)
            column = columns[i, back] = program.column(f"f{len(program.columns)}", price)
            load[problem.top(i)][column] = 1.0
            balance.setdefault(head, {})[column] = -1.0
            balance.setdefault(tail, {})[column] = 1.0
    for site, terms in sorted(balance.items()):
        if site != source:
            need = asked if site == target else 0.0
            program.row(f"balance{len(program.rows)}", terms, need, need)
    return columns


def _peel(
    problem: Problem, demand: Demand, alive: Mapping[int, Lit], flow: Mapping[Arc, float]
) -> list[tuple[Path, float]]:
    """Decompose arc flows into paths, shortest latency first."""
    left = {arc: value for arc, value in flow.items() if value > 1e-9}
    found: list[tuple[Path, float]] = []
    while True:
        path = _least_latency(demand, alive, left)
        if path is None:
            return found
        amount = min(left[arc] for arc in path)
        found.append((tuple(problem.top(i) for i, _ in path), amount))
        left = {arc: value - amount if arc in path else value for arc, value in left.items()}
        left = {arc: value for arc, value in left.items() if value > 1e-9}


def _least_latency(demand: Demand, alive: Mapping[int, Lit], left: Mapping[Arc, float]) -> tuple[Arc, ...] | None:
    leaving: dict[SiteId, list[tuple[Arc, SiteId]]] = {}
    for i, back in sorted(left):
        head, tail = alive[i].ends[::-1] if back else alive[i].ends
        leaving.setdefault(head, []).append(((i, back), tail))
    queue: list[tuple[float, tuple[Arc, ...], SiteId]] = [(0.0, (), demand.ends[0])]
    done: set[SiteId] = set()
    while queue:
        latency, path, site = heapq.heappop(queue)
        if site == demand.ends[1]:
            return path
        if site in done:
            continue
        done.add(site)
        for arc, there in leaving.get(site, ()):
            heapq.heappush(queue, (latency + alive[arc[0]].latency_ms, (*path, arc), there))
    return None


def _tidy(asked: float, paths: Sequence[tuple[Path, float]]) -> list[tuple[Path, float]]:
    """Equal paths joined, dust given to the largest, rates that add up to what is asked, largest first."""
    total: dict[Path, float] = {}
    for path, gbps in paths:
        total[path] = total.get(path, 0.0) + gbps
    kept = {path: gbps for path, gbps in total.items() if gbps > DUST * asked}
    if not kept:
        return []
    order = sorted(kept, key=lambda path: (-round(kept[path], 6), path))
    rest = asked - sum(kept[path] for path in order[1:])
    return [(order[0], rest), *((path, kept[path]) for path in order[1:])]
