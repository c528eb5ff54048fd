"""Sizes the network: what to buy at least cost so that the traffic of every state can be carried.

The traffic is projected out of the ILP: the master holds what is bought, and a cut loop adds the inequalities that an
answer breaks until every state can be carried (Gabrel, Knippel, Minoux, ORL 25, 1999). The master's bound is a bound
on the whole model at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING

from dcplan.design.cutting import ROOT_ROUNDS, Loop, Task, cost, root, separate, start, whole
from dcplan.design.direct import solve_again
from dcplan.design.formulation import USD
from dcplan.design.incumbent import augmented
from dcplan.design.program import Program, Row
from dcplan.design.solver import relative_gap
from dcplan.errors import SolverError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cutting import Held
    from dcplan.model.network import FiberId

LOOSE_GAP = 0.01
"""Gap of the master until the first answer that every state can carry."""
FEW_BROKEN = 12
AUGMENT_EVERY = 10
"""A purchase of the master is added to until every state is carried where it breaks so few cuts, or now and then."""
LAST_S = 10.0
"""Longest time for the rescue that makes some answer when time ran out [s]: all that a design may take beyond it."""
SPARED = 0.25
"""Share of the time that is left to the rescue while there is no answer yet; no more than `LAST_S`."""
RESCUE_NODES = 1000
"""Nodes of each of its solves: without a time limit it must end too."""
ROUNDING = 1e-6
"""A share of a wavelength or pair that is rounding."""
TIE_NODES = 100
TIE_CHOICES = 400
"""Nodes of the tie-break after the optimum, and the number of choices above which it is skipped."""


@dataclass(frozen=True, slots=True)
class Sized:
    """What to buy, its cost and the bound."""

    counts: tuple[int, ...]
    """Wavelengths per choice."""
    pairs: Mapping[FiberId, int]
    cost_usd: float
    bound_usd: float
    status: str
    """optimal or feasible."""
    reason: str
    cuts: tuple[Held, ...]
    """What shaped the answer; holds for every task over the same choices that asks for no less."""


@dataclass(slots=True)
class _Best:
    """The cheapest answer that every state can carry, and the best bound."""

    values: tuple[float, ...] | None = None
    cost: float = inf
    bound: float = 0.0
    reason: str = "proven"

    def offer(self, values: tuple[float, ...], price: float) -> None:
        if price < self.cost:
            self.values, self.cost = values, price

    def closed(self, gap: float) -> bool:
        return self.values is not None and relative_gap(self.cost, self.bound) <= gap + 1e-9


def size(task: Task, known: Sequence[Held] = (), begun: Loop | None = None) -> Sized | None:
    """The cheapest purchase under which every state can be carried; None where there is none.

    `known` are cuts of an earlier, less constrained task; `begun` is a loop of this very task. SolverError where time
    ran out without any answer.
    """
    loop = begun or start(task, known)
    if not root(loop):
        return None
    task.say(f"relaxation US$ {loop.linear.objective / USD:,.0f}, {len(loop.cuts)} cuts")
    best = _search(loop)
    if best is None:
        return None
    if best.values is None:
        best.reason = task.until.why
        _rescue(loop, best)
    return _sized(loop, best)


def _search(loop: Loop) -> _Best | None:
    """Alternate: the master proposes pairs to light and bounds the cost; then the best wavelengths on those pairs."""
    task, best = loop.task, _Best(bound=loop.linear.objective)
    _offer(loop, best, augmented(loop, loop.linear.values))
    _say(loop, best)
    half = task.gap / 2
    gap = max(LOOSE_GAP, half)
    spared_s = min(LAST_S, SPARED * task.until.left_s)
    rounds = 0
    while not best.closed(task.gap):
        until = task.until.sooner(spared_s) if best.values is None else task.until
        if until.over:
            best.reason = until.why
            break
        solved = solve_again(task.solver, loop.program, until.limits(gap), best.values)
        if solved.status == "infeasible":
            return None
        if solved.bound is not None:
            best.bound = max(best.bound, solved.bound)
        if solved.objective is None:
            best.reason = solved.reason
            break
        broken = _judged(loop, best, whole(loop, solved.values), rounds)
        rounds += 1
        _say(loop, best)
        if not broken and gap <= half:
            best.reason = solved.reason
            break
        if best.values is not None:
            gap = max(half, min(LOOSE_GAP, relative_gap(best.cost, best.bound) / 4)) if broken else half
    return best


def _judged(loop: Loop, best: _Best, values: tuple[float, ...], rounds: int) -> int:
    """How many inequalities a purchase of the master breaks; it, or what it leads to, is offered."""
    broken = separate(loop, values, every=loop.shore_cuts.complete)
    if not broken:
        _offer(loop, best, values)
    elif loop.bought.pairs:
        _with_pairs(loop, values, best)
    elif broken <= FEW_BROKEN or rounds % AUGMENT_EVERY == 0:
        _offer(loop, best, augmented(loop, values, best.cost))
    return broken


def _offer(loop: Loop, best: _Best, values: tuple[float, ...] | None) -> None:
    if values is not None:
        best.offer(values, cost(loop, values))


def _say(loop: Loop, best: _Best) -> None:
    loop.task.say(
        f"cost US$ {best.cost / USD:,.0f}, bound US$ {best.bound / USD:,.0f}, "
        f"{100 * relative_gap(best.cost, best.bound):.2f}%, {loop.checked} states, {len(loop.cuts)} cuts"
    )


def _with_pairs(loop: Loop, values: Sequence[float], best: _Best) -> None:
    """The best wavelengths while lit pairs stay as they are; its cuts serve the master too."""
    task = loop.task
    fixed = {*loop.bought.pairs.values(), *loop.bought.opened.values()}
    columns = [
        replace(column, lower=values[i], upper=values[i]) if i in fixed else column
        for i, column in enumerate(loop.program.columns)
    ]
    while not task.until.over:
        solved = solve_again(task.solver, Program(columns, loop.program.rows), task.until.limits(task.gap / 2))
        if solved.objective is None or (solved.bound or -inf) >= best.cost:
            return
        found = whole(loop, solved.values)
        if not separate(loop, found):
            best.offer(found, cost(loop, found))
            return


def _rescue(loop: Loop, best: _Best) -> None:
    """When time is up without an answer: round the relaxation up; failing that, add until every state is carried."""
    until = loop.task.until.extended(LAST_S)
    loop.task = replace(loop.task, until=until)
    while not until.sooner(LAST_S / 4).over:
        up = _rounded_up(loop)
        if up is not None and not separate(loop, up):
            best.offer(up, cost(loop, up))
            return
        if up is None or loop.linear.solve() != "optimal":
            break
    floor = [0.0] * len(loop.program.columns)
    for _ in range(ROOT_ROUNDS):
        columns = [
            replace(column, lower=min(low, column.upper))
            for column, low in zip(loop.program.columns, floor, strict=True)
        ]
        solved = solve_again(loop.task.solver, Program(columns, loop.program.rows), until.limits(0.05, RESCUE_NODES))
        if solved.objective is None or until.over:
            break
        values = whole(loop, solved.values)
        if not separate(loop, values):
            best.offer(values, cost(loop, values))
            return
        floor = [value if column.integer else 0.0 for column, value in zip(columns, values, strict=True)]
    if best.reason == "interrupted":
        raise StoppedError("interrupted before any design was found")
    raise SolverError(
        f"{best.reason} before any design was found: allow more (policy.solver, --time-limit, --max-nodes)"
    )


def _rounded_up(loop: Loop) -> tuple[float, ...] | None:
    """What the relaxation buys, each wavelength and then each pair rounded up; None where there are not so many."""
    values, columns = list(loop.linear.values), loop.program.columns
    for i in loop.bought.wavelengths:
        values[i] = float(ceil(values[i] - ROUNDING))
    _picked(loop, values)
    fiber_of = {i: fiber for fiber, i in loop.bought.pairs.items()}
    set_up = set(loop.bought.opened.values()) - {loop.bought.opened.get(fiber) for fiber in fiber_of.values()}
    needed = dict.fromkeys(fiber_of, 0.0)
    for row in loop.program.rows[: loop.base]:
        pair = next((i for i, value in row.terms.items() if i in fiber_of and value < 0), None)
        if pair is not None and row.upper == 0:
            taken = sum(value * values[i] for i, value in row.terms.items() if i != pair)
            needed[pair] = max(needed[pair], float(ceil(taken / -row.terms[pair] - ROUNDING)))
    for pair, count in needed.items():
        values[pair] = count
        if fiber_of[pair] in loop.bought.opened:
            values[loop.bought.opened[fiber_of[pair]]] = float(count > 0)
    for row in loop.program.rows[: loop.base]:
        opens = next((i for i, value in row.terms.items() if i in set_up and value < 0), None)
        if opens is not None and any(values[i] > 0 for i in row.terms if i != opens):
            values[opens] = 1.0
    most = all(values[i] <= columns[i].upper for i in (*loop.bought.wavelengths, *fiber_of))
    return tuple(values) if most else None


def _picked(loop: Loop, values: list[float]) -> None:
    """Where one module of a circuit may be leased: the cheapest that holds what the relaxation leases of all."""
    problem, relaxed = loop.task.problem, loop.linear.values
    for circuit, i in problem.circuits.items():
        if problem.network.circuits[circuit].pick == "any":
            continue
        modules = {j: loop.bought.wavelengths[j] for j in problem.offered[i] if not problem.choices[j].least}
        held = sum(problem.choices[j].gbps * relaxed[column] for j, column in modules.items()) * (1 - ROUNDING)
        enough = [j for j in modules if problem.choices[j].gbps >= held]
        picked = min(enough, key=lambda j: (problem.choices[j].usd, j), default=None) if held > ROUNDING else None
        for j, column in modules.items():
            values[column] = float(j == picked)


def _sized(loop: Loop, best: _Best) -> Sized:
    values = _tie_broken(loop, best)
    closed = best.closed(loop.task.gap)
    return Sized(
        counts=tuple(round(values[i]) for i in loop.bought.wavelengths),
        pairs={fiber: round(values[i]) for fiber, i in loop.bought.pairs.items()},
        cost_usd=cost(loop, values) / USD,
        bound_usd=best.bound / USD,
        status="optimal" if closed else "feasible",
        reason="proven" if closed else best.reason if best.reason != "proven" else "gap",
        cuts=tuple(loop.cuts.values()),
    )


def _tie_broken(loop: Loop, best: _Best) -> tuple[float, ...]:
    """Among purchases that cost no more: least spectrum × km, then first choices. Limited by nodes; where
    time runs out nothing is changed, so that an answer never hangs on how far it came.
    """
    problem = loop.task.problem
    values = best.values or ()
    if len(problem.choices) > TIE_CHOICES or not best.closed(loop.task.gap):
        return values
    weight: dict[int, float] = {}
    for rank, (column, choice) in enumerate(zip(loop.bought.wavelengths, problem.choices, strict=True)):
        km = problem.lightpaths[choice.lightpath].length_km
        weight[column] = choice.slots * km / 1e4 + 1e-5 * (1 + rank)
    fixed = {*loop.bought.pairs.values(), *loop.bought.opened.values()}
    columns = [
        replace(column, cost=weight.get(i, 0.0))
        if i not in fixed
        else replace(column, cost=0.0, lower=values[i], upper=values[i])
        for i, column in enumerate(loop.program.columns)
    ]
    prices = {i: column.cost for i, column in enumerate(loop.program.columns) if column.cost}
    ceiling = best.cost * (1 + 1e-9) + 1e-7
    until = loop.task.until
    while not until.over:
        program = Program(columns, [*loop.program.rows, Row("cost", prices, -inf, ceiling)])
        solved = solve_again(loop.task.solver, program, until.limits(1e-6, TIE_NODES), values)
        if not solved.values or until.over:
            return values
        found = whole(loop, solved.values)
        if not separate(loop, found):
            return found if cost(loop, found) <= ceiling else values
    return values
