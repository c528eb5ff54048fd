"""Routes the traffic of each state over what is lit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf
from typing import TYPE_CHECKING

from dcplan.design.problem import Problem, rate, whole_rate
from dcplan.design.result import Flow, Routing
from dcplan.design.routing.flows import Column, Flows, Path, Room
from dcplan.design.routing.lanes import lanes, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.problem import Hop
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import Pair
    from dcplan.model.states import State

MOVE = 1e4
"""Cost of moving traffic away from its healthy route, in ms: more than any detour, so that what can stay does."""
DUST = 1e-7
"""Flow below this share of a demand is rounding and is given to the demand's largest flow."""
ROUNDED = 2e-7
"""Share of all traffic by which what is left beside what is set aside may be too little by rounding."""
MUCH = 5_000
"""Demands × states from which failures are routed on several cores: below, all of them take less than a second."""
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
    aside_gbps: Mapping[Hop, float] | None = None,
    failures: Sequence[int] | None = None,
    anchors: Sequence[int] = (),
) -> tuple[Routing, ...]:
    """The traffic of every state on the shortest lit lightpaths; in a failure what can stay on its healthy route does.

    Minimises Σ flow × latency (healthy), and in failures first the traffic that moves. Demands in `ways` use those
    only, and those that `held` names in a state, which is told their healthy routes. relit: by state, what is lit,
    where that is not what survives of `counts`. anchors: per choice, what of that no failure retunes, which is all that
    the demands of `Problem.anchored` use. Demands on two ways are left out, and what is set aside for them is not
    used. The healthy state comes first; failures, all or those that are named by number, hang on it alone, so that many
    are routed at once. SolverError where a state cannot be carried: sizing promised that it can.
    """
    room_gbps = ROUNDED * sum(whole_rate(demand, problem.states) for demand in problem.demands)
    by_state = relit or [counts] * len(problem.states)
    never = _less(lit_of(problem, anchors), aside_gbps or {}, room_gbps) if anchors else {}
    healthy: dict[int, list[tuple[Path, float]]] = {}

    def routed(k: int) -> tuple[Routing, dict[int, list[tuple[Path, float]]]]:
        state = problem.states[k]
        lit = _less(lit_of(problem, by_state[k]), aside_gbps or {}, room_gbps)
        alive = {i: one for i, one in lit.items() if not state.breaks(problem.lightpaths[i].route)}
        few = held(k, {d: _chains(paths) for d, paths in healthy.items()}) if held else {}
        before = {
            d: paths if d not in few else [(path, gbps) for path, gbps in paths if _is_among(path, few[d])]
            for d, paths in healthy.items()
        }
        flows = _route(problem, state, alive, {**ways, **few}, before, {i: never[i] for i in alive if i in never})
        return _routing(problem, state, lit, flows), flows

    first, healthy = routed(0)
    much = held is None and is_much(problem)
    those = range(1, len(problem.states)) if failures is None else failures
    return first, *side_by_side(lambda k: routed(k)[0], those, lanes() if much else 1)


def is_much(problem: Problem) -> bool:
    """Routing all states takes long enough to be counted and shared out."""
    return len(problem.demands) * len(problem.states) >= MUCH


def _chains(paths: Sequence[tuple[Path, float]]) -> Routes:
    return frozenset(tuple(i for i, _ in path) for path, _ in paths)


def _is_among(path: Path, ways: Sequence[Way]) -> bool:
    return any(way.lightpaths == tuple(i for i, _ in path) for way in ways)


def _less(lit: Mapping[int, Lit], aside_gbps: Mapping[Hop, float], room_gbps: float) -> dict[int, Lit]:
    """What is lit without what is set aside, and some room where that is known to rounding only."""
    found = {}
    for i, one in lit.items():
        mine = {tier: gbps for (lightpath, tier), gbps in aside_gbps.items() if lightpath == i}
        if mine:
            left = (
                (max(0.0, gbps - sum(mine.get(k, 0.0) for k in range(tier + 1)) + room_gbps * (gbps > 0)), latency_ms)
                for tier, (gbps, latency_ms) in enumerate(one.within)
            )
            found[i] = replace(one, within=tuple(left))
        else:
            found[i] = one
    return found


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
    never: Mapping[int, Lit],
) -> dict[int, list[tuple[Path, float]]]:
    """Paths and rates [Gb/s] of each demand in a state. never: of what is alive, what no failure retunes."""
    asked = {d: gbps for d in problem.shared if (gbps := rate(problem.demands[d], state)) > 0}
    anchored = problem.anchored
    on = {d: never if d in anchored else alive for d in asked}
    room = Room(
        ends={i: one.ends for i, one in alive.items()},
        gbps={(i, tier): gbps for i, one in alive.items() for tier, (gbps, _) in enumerate(one.within)},
        price={i: one.latency_ms for i, one in alive.items()},
        extra=MOVE if healthy else 0.0,
        anchored={(i, tier): gbps for i, one in never.items() for tier, (gbps, _) in enumerate(one.within)},
    )
    listed = [
        Column(d, path, room.extra + _latency_ms(alive, path))
        for d in asked
        for path in (way.hops for way in ways.get(d, ()))
        if _lit(on[d], path)
    ]
    kept = [
        (Column(d, path, _latency_ms(alive, path)), gbps)
        for d in asked
        for path, gbps in healthy.get(d, ())
        if _lit(on[d], path)
    ]
    free = frozenset(asked.keys() - ways.keys())
    if state.healthy and problem.priced:
        room, found = _at_least_price(problem, room, asked, listed, free)
        listed += found
    taken: dict[int, list[tuple[Path, float]]] = {d: [] for d in asked}
    for column, gbps in Flows(problem, room, asked, listed, free, kept).cheapest():
        taken[column.demand].append((column.path, gbps))
    return {d: _tidy(asked[d], paths) for d, paths in taken.items()}


def _at_least_price(
    problem: Problem, room: Room, asked: Mapping[int, float], listed: Sequence[Column], free: frozenset[int]
) -> tuple[Room, list[Column]]:
    """The room in which traffic may cost no more than the least that it can cost, and the paths of that least."""
    usd = problem.priced
    dear = [replace(one, price=sum(usd.get(i, 0.0) for i, _ in one.path)) for one in listed]
    by_usd = replace(room, price={i: usd.get(i, 0.0) for i in room.ends})
    used = Flows(problem, by_usd, asked, dear, free).cheapest()
    least = fsum(column.price * gbps for column, gbps in used)
    paths = dict.fromkeys((one.demand, one.path) for one, gbps in used if gbps > 0 and one.demand in free)
    found = [Column(d, path, sum(room.price[i] for i, _ in path)) for d, path in paths]
    return replace(room, usd=usd, most_usd=least * (1 + 1e-9)), found


def _lit(alive: Mapping[int, Lit], path: Path) -> bool:
    """Something is lit on every hop of a path that is fast enough."""
    return all(i in alive and alive[i].within[tier][0] > 0 for i, tier in path)


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
