"""Fibers that overflow whatever is lit: what demands take of their pairs at least, beside the pairs that there are.

Let θ be the largest share of all rates that can be carried in every state if wavelengths need not be whole. Where it
is below 1, the duals of that linear program are a proof that can be added up: a weight π for each fiber pair, under
which the demands take Σ weight × pairs at least, more than there are (the metric inequality of spectrum).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.inequality import Cut, pair_capacity_gbps, terms_of
from dcplan.design.formulation import TBPS, Bought, master
from dcplan.design.nodes import wherever
from dcplan.design.problem import Problem, rate
from dcplan.design.reasons.parts import NAMED, few
from dcplan.design.reasons.shortage import asked_gbps, reasons_until
from dcplan.design.routing.aside import aside_of
from dcplan.design.routing.check import StateCheck
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.protection import protect
from dcplan.model.graph import distances_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.result import Demand
    from dcplan.design.solver.program import Program
    from dcplan.model.network import FiberId, SiteId
    from dcplan.model.states import State

ROUNDS = 200
LIKE_MORE = 1e-6
"""Gain per Tb/s lit while cuts are sought, so that what costs nothing is bought."""
FULL = 1 - 1e-6
SOME = 1e-6
"""Shares and weights below this are rounding."""


@dataclass(frozen=True, slots=True)
class Overfull:
    """Σ takes > room: a proof that no design exists, whatever is lit and however small the wavelengths."""

    takes: Mapping[tuple[int, int], float]
    """(state, demand) -> what it takes at least [fiber pairs]; where only circuits are full, shares of 1."""
    weights: Mapping[FiberId, float]
    """Fiber -> what one of its pairs counts, the most 1; empty where only circuits are full."""
    circuits: tuple[FiberId, ...]
    """Circuits that are leased to their limit."""
    room: float
    """What can be lit, so counted, and what the circuits take off [fiber pairs]."""

    @property
    def taken(self) -> float:
        """What all demands take together at least [fiber pairs]."""
        return sum(self.takes.values())


def overfull(task: Task) -> Overfull | None:
    """The fibers that overflow most; None where rates fit as far as wavelengths need not be whole, or time is up."""
    problem = task.problem
    program, bought = master(wherever(problem), task.slots)
    light = {column for column, choice in zip(bought.wavelengths, problem.choices, strict=True) if choice.slots}
    program.columns[:] = [  # pairs alone limit light, so that theirs are all the prices
        replace(column, cost=0.0, upper=inf if i in light else column.upper) for i, column in enumerate(program.columns)
    ]
    found = _largest(task, program, bought)
    if found is None:
        return None
    share, takes, linear = found
    prices = {fiber: max(0.0, -linear.reduced[column]) for fiber, column in bought.pairs.items()}
    if share > FULL:
        return None
    largest = max(prices.values(), default=0.0) or 1.0
    leased = {
        name
        for name, i in problem.circuits.items()
        if any(linear.reduced[bought.wavelengths[j]] < -SOME * largest for j in problem.offered[i])
    }
    return Overfull(
        {key: value / largest for key, value in sorted(takes.items()) if value > SOME},
        {fiber: price / largest for fiber, price in prices.items() if price > SOME * largest},
        tuple(name for name in problem.circuits if name in leased),
        share / largest,
    )


_Found = tuple[float, dict[tuple[int, int], float], Linear]
"""The largest share, by (state, demand) what it takes of it, and the program with its duals."""


def _largest(task: Task, program: Program, bought: Bought) -> _Found | None:
    """Cuts are added until every state carries its share; then the prices of the last program."""
    problem, pair_gbps = task.problem, pair_capacity_gbps(task.problem)
    share, missing = program.column("share", -1.0, 1.0), program.column("missing", 0.0, 1.0)
    program.row("rest", {share: 1.0, missing: 1.0}, 1, 1)
    both = dict.fromkeys(sorted(problem.protected), missing)
    bought = replace(bought, aside=protect(program, problem, bought, task.protected, short=both).aside)
    for column, choice in zip(bought.wavelengths, problem.choices, strict=True):
        program.columns[column] = replace(program.columns[column], cost=-LIKE_MORE * choice.gbps * TBPS)
    linear = Linear(program)
    check = StateCheck(problem, task.held) if problem.shared else None
    held: list[tuple[int, Cut]] = []
    until = reasons_until(task)
    for _ in range(ROUNDS):
        if linear.solve() != "optimal" or until.over:
            return None
        fresh = _short_of(problem, check, linear, bought, linear.values[share]) if check else []
        for cut in fresh:
            terms = terms_of(cut, problem, bought, pair_gbps) | {share: -cut.need_gbps(problem) * TBPS}
            held.append((linear.add_row(terms, 0.0, inf), cut))
        if not fresh:
            break
    linear.costs(bought.wavelengths, [0.0] * len(bought.wavelengths))
    if linear.solve() != "optimal":
        return None
    return linear.values[share], _takes(problem, program, linear, held), linear


def _short_of(problem: Problem, check: StateCheck, linear: Linear, bought: Bought, part: float) -> list[Cut]:
    """For each state that cannot carry its part of what is asked, why."""
    counts, aside = [linear.values[i] for i in bought.wavelengths], aside_of(bought, linear.values)
    found = []
    for k in range(len(problem.states)):
        asked = {d: gbps * part for d, gbps in asked_gbps(problem, k).items()}
        short = check.least_short(k, counts, asked, aside)
        if short is not None:
            found.append(short.cut)
    return found


def _takes(
    problem: Problem, program: Program, linear: Linear, held: Sequence[tuple[int, Cut]]
) -> dict[tuple[int, int], float]:
    """By (state, demand) what it takes of what there is, as the duals of the last program say."""
    takes: dict[tuple[int, int], float] = {}
    split = {row.name: i for i, row in enumerate(program.rows)}
    for d in sorted(problem.protected):
        takes[0, d] = max(0.0, linear.duals[split[f"split{d}"]])
    for row, cut in held:
        for d, distance in cut.distances.items():
            asked_tbps = rate(problem.demands[d], problem.states[cut.state]) * TBPS
            key = (cut.state, d)
            takes[key] = takes.get(key, 0.0) + max(0.0, linear.duals[row]) * distance * asked_tbps
    return takes


def densest(problem: Problem, found: Overfull) -> float:
    """What the same demands would take if every lightpath ran in the densest modes of its fibers [fiber pairs].

    Distance of the ends over surviving fibers, each of length weight / the most that its pair can carry [1/(Gb/s)].
    Of two ways at once the shorter is counted twice.
    """
    pair_gbps = pair_capacity_gbps(problem)
    length = {fiber: found.weights.get(fiber, 0.0) / gbps for fiber, gbps in pair_gbps.items() if gbps > 0}
    total = 0.0
    for k, d in found.takes:
        demand, state = problem.demands[d], problem.states[k]
        gbps = max(demand.gbps.values()) * 2 if demand.protected else rate(demand, state)
        total += gbps * _distance(problem, length, demand, state)
    return total


def _distance(problem: Problem, length: Mapping[FiberId, float], demand: Demand, state: State) -> float:
    """Over the fibers that survive."""

    def around(site: SiteId) -> Iterator[tuple[SiteId, float]]:
        for fiber, there in problem.network.neighbours(site):
            if fiber in length and fiber not in state.fibers and there not in state.sites:
                yield there, length[fiber]

    a, b = demand.ends
    return distances_from(around, a, b).get(b, inf)


def in_words(problem: Problem, found: Overfull, *, within: str) -> str:
    """`after losing F3, a takes 0.41 and b 0.88 pairs of west at least, together 1.28; 1 can be lit`.

    within: what is said of the ways, as `within their latency limits, `.
    """
    by_state: dict[int, list[tuple[int, float]]] = {}
    for (k, d), pairs in found.takes.items():
        by_state.setdefault(k, []).append((d, pairs))
    parts = [_state_in_words(problem, problem.states[k], mine) for k, mine in by_state.items()]
    healthy_too = len(parts) > 1
    said = "; ".join(("healthy, " if healthy_too and not part.startswith("after") else "") + part for part in parts)
    if not found.weights:
        leased = f"all that can be leased of {_listed(found.circuits)}" if found.circuits else "all that can be bought"
        return f"{within}no set of sites is short by itself, but {leased} carries {found.room:.1%} of what is asked"
    fibers = _listed([_fiber(fiber, weight) for fiber, weight in found.weights.items()])
    together = f", together {found.taken:.3g}" if len(found.takes) > 1 else ""
    leased = f", with all that can be leased of {_listed(found.circuits)}" if found.circuits else ""
    return f"{within}{said} pairs of {fibers} at least{together}; {found.room:.3g} can be lit{leased}"


def _state_in_words(problem: Problem, state: State, takes: Sequence[tuple[int, float]]) -> str:
    most = sorted(takes, key=lambda item: -item[1])
    named, others = (most, []) if len(most) <= NAMED + 1 else (most[:NAMED], most[NAMED:])
    said = [f"{problem.demands[d].id} {'takes ' if i == 0 else ''}{pairs:.2g}" for i, (d, pairs) in enumerate(named)]
    if others:
        said.append(f"{len(others)} others {sum(pairs for _, pairs in others):.2g}")
    return ("" if state.healthy else f"after losing {state.name}, ") + _listed(said)


def _fiber(fiber: FiberId, weight: float) -> str:
    return fiber if weight > 1 - 1e-3 else f"{fiber} (counted {weight:.2g})"


def _listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    shown = few(parts)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
