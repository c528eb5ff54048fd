"""The program that a certificate is about, rebuilt from the topology, and its inequalities, one at a time.

Pure arithmetic: nothing here solves anything. Each inequality is made a hair weaker than it is, so that rounding of
numbers never makes it say more than is true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.certificate.record import COUPLES, PAIRS, TRAFFIC, TRANSPONDERS, Flawed
from dcplan.design.circuits import EXISTING
from dcplan.design.cuts.inequality import pair_capacity_gbps
from dcplan.design.few.program import counted
from dcplan.design.formulation import TBPS, Bought, master, whole_slots
from dcplan.design.order import in_file_order
from dcplan.design.problem import Problem, rate, whole_rate
from dcplan.design.relight.block import light, purchase
from dcplan.design.relight.stock import stock
from dcplan.design.routing.aside import times_across
from dcplan.design.solver.program import Program
from dcplan.design.tolerance import FINE
from dcplan.design.ways.disjoint import cheapest_couple
from dcplan.design.ways.mesh import mesh
from dcplan.model.graph import distances_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.design.certificate.record import StateCut, Term
    from dcplan.design.problem import Hop
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId, SiteId
    from dcplan.model.states import State

HAIR = 1e-12
"""By what share an inequality is weakened."""
LEAST_PART = 1e-6
"""A right side that is whole but for this share is divided and not rounded."""
Row = tuple[dict[int, float], float]
"""Σ coefficient × column ≥ right side."""


@dataclass(frozen=True, slots=True)
class Book:
    """What there is to buy and its limits, as a program without traffic."""

    problem: Problem
    ways: Mapping[int, Sequence[Way]]
    """Of demands that are held to listed ways."""
    program: Program
    bought: Bought
    pair_gbps: Mapping[FiberId, float]
    owned: Mapping[tuple[SiteId, str], int] = field(default_factory=dict)
    """Under relight: (site, transponder) -> column."""
    lit: Mapping[str, Bought] = field(default_factory=dict)
    """Under relight: state -> what is lit in it; else the same in each."""

    @property
    def never(self) -> Bought:
        """What demands on two ways ride on: under relight what no failure retunes, else all that is bought."""
        return replace(self.bought, wavelengths=self.bought.anchors) if self.bought.anchors else self.bought

    def wavelengths(self, state: str) -> tuple[int, ...]:
        """The columns of what is lit in a state, by choice."""
        return self.lit.get(state, self.bought).wavelengths


def book(problem: Problem, ways: Mapping[int, Sequence[Way]]) -> Book:
    """The whole band on every fiber, and the order among equal fibers unless somebody's routes are counted."""
    if problem.retunes:
        return _relit(problem, ways)
    slots = whole_slots(problem)
    program, bought = master(problem, slots)
    if not counted(problem):
        in_file_order(program, problem, bought, slots, ways)
    return Book(problem, ways, program, bought, pair_capacity_gbps(problem))


def _relit(problem: Problem, ways: Mapping[int, Sequence[Way]]) -> Book:
    """What is bought once, and what each state lights with it."""
    program, stood, slots = Program(), stock(problem), whole_slots(problem)
    once = purchase(program, problem, stood)
    states = range(len(problem.states))
    lit = [light(program, problem, stood, once, k, slots) for k in states]
    if not counted(problem):
        in_file_order(program, problem, lit[0], slots, ways)
    owned = dict(zip(stood.places, once.owned, strict=True))
    by_state = {problem.states[k].name: lit[k] for k in states}
    return Book(problem, ways, program, lit[0], pair_capacity_gbps(problem), owned, by_state)


def row_of(book: Book, term: Term) -> Row:
    """The sum of cuts, each rounded by the first divisor if any, itself rounded by the second if any."""
    first, second = term.divisors
    least = [column.lower for column in book.program.columns]
    rows = [cut_row(book, cut) for cut in term.cuts]
    if first is not None:
        sizes = {choice.gbps for choice in book.problem.choices} | set(book.pair_gbps.values())
        _check(first, {size * TBPS for size in sizes}.union(*(left.values() for left, _ in rows)))
        rows = [rounded(row, first, least) for row in rows]
    terms: dict[int, float] = {}
    for left, _ in rows:
        for column, value in left.items():
            terms[column] = terms.get(column, 0.0) + value
    summed = terms, math.fsum(right for _, right in rows)
    if second is not None:
        _check(second, terms.values())
        summed = rounded(summed, second, least)
    return _built(book, summed, term.built) if term.built else summed


def _built(book: Book, row: Row, edges: Sequence[FiberId]) -> Row:
    """What is lit over edges that must be built counts as their building: nothing is lit where nothing is built.

    Σ a x + rest ≥ r with x = 0 unless o = 1, so that min(r, Σ a × most) o + rest ≥ r. A lightpath over several such
    edges counts with the first of them.
    """
    terms, right = row
    left = dict(terms)
    for edge, columns in needing(book).items():
        mine = [column for column in columns if column in terms]
        if edge in edges and mine:
            most = math.fsum(terms[column] * book.program.columns[column].upper for column in mine)
            left = {column: value for column, value in left.items() if column not in mine}
            left[book.bought.opened[edge]] = min(right, most * (1 + HAIR))
    unknown = set(edges) - set(book.bought.opened)
    if unknown or right <= 0:
        raise Flawed(f"{', '.join(sorted(unknown)) or 'what is there'} needs no building")
    return left, right


def needing(book: Book) -> dict[FiberId, list[int]]:
    """Edge that must be built, or circuit to be set up -> the columns that are 0 without it."""
    problem, bought = book.problem, book.bought
    found: dict[FiberId, list[int]] = {
        edge: [bought.pairs[edge]] if edge in bought.pairs else [] for edge in bought.opened
    }
    for column, choice in zip(bought.wavelengths, problem.choices, strict=True):
        route = problem.lightpaths[choice.lightpath].route
        edge = next((fiber for fiber in route.fibers if fiber in found), None)
        if edge is not None and choice.mode != EXISTING:
            found[edge].append(column)
    return found


def _check(divisor: float, sizes: Iterable[float]) -> None:
    """Flawed where a divisor is not the size of anything that is bought: others say less, or the same."""
    if not any(math.isclose(divisor, size, rel_tol=FINE) for size in sizes):
        raise Flawed(f"a divisor of {divisor:.9g}, which is the size of nothing")


def rounded(row: Row, divisor: float, least: Sequence[float]) -> Row:
    """A row over whole x ≥ least, divided and rounded (mixed-integer rounding; see `rounding.rounded`).

    With x = least + y, q = (r − Σ a least) / divisor, f = q − floor(q) and a' = a / divisor:
    Σ (floor(a') + min(1, frac(a') / f)) y ≥ ceil(q), written in x again. One whose q is whole, or not above 0, is
    divided only.
    """
    terms, right = row
    share = {column: value / divisor * (1 + HAIR) for column, value in terms.items()}
    q = right / divisor - math.fsum(value * least[column] for column, value in share.items())
    q -= HAIR * max(1.0, abs(q))
    part = q - math.floor(q)
    if part < LEAST_PART or part > 1 - LEAST_PART or q <= 0:
        return share, right / divisor
    lifted = {
        column: math.floor(value) + min(1.0, (value - math.floor(value)) / part) for column, value in share.items()
    }
    return lifted, math.ceil(q) + math.fsum(value * least[column] for column, value in lifted.items())


def cut_row(book: Book, cut: StateCut) -> Row:
    """A cut as terms over what is bought and its right side [Tb/s]."""
    need_tbps = need_gbps(book, cut) * TBPS
    if cut.over == PAIRS:
        return _over_pairs(book, cut), need_tbps
    if cut.over == TRANSPONDERS:
        return _over_transponders(book, cut), need_tbps
    weight = weights(book, cut)
    columns = book.never.wavelengths if cut.over == COUPLES else book.wavelengths(cut.state)
    return {
        columns[j]: weight[j] * choice.gbps * TBPS for j, choice in enumerate(book.problem.choices) if weight[j] > 0
    }, need_tbps


def _over_pairs(book: Book, cut: StateCut) -> dict[int, float]:
    """Every pair of a surviving fiber between the shores at its fullest, and every circuit."""
    problem, state, inside = book.problem, state_of(book, cut.state), frozenset(cut.shore)
    terms = {
        book.bought.pairs[fiber]: book.pair_gbps[fiber] * TBPS
        for fiber in problem.fibers
        if _crosses(inside, problem.network.fibers[fiber].ends)
        and fiber not in state.fibers
        and state.sites.isdisjoint(problem.network.fibers[fiber].ends)
    }
    return terms | _leased(book, cut)


def _leased(book: Book, cut: StateCut) -> dict[int, float]:
    """Every circuit that survives between the shores."""
    problem, state, inside = book.problem, state_of(book, cut.state), frozenset(cut.shore)
    columns = book.wavelengths(cut.state)
    terms: dict[int, float] = {}
    for i in problem.circuits.values():
        route = problem.lightpaths[i].route
        if _crosses(inside, route.ends) and not state.breaks(route):
            terms |= {columns[j]: problem.choices[j].gbps * TBPS for j in problem.offered[i]}
    return terms


def _over_transponders(book: Book, cut: StateCut) -> dict[int, float]:
    """Every transponder of the sites on the shore at the fastest wavelength that crosses and survives, and circuits."""
    problem, state, inside = book.problem, state_of(book, cut.state), frozenset(cut.shore)
    if not book.owned and any(choice.slots for choice in problem.choices):
        raise Flawed("transponders by site, which are bought under scheme relight only")
    best: dict[int, float] = {}
    for choice in problem.choices:
        route = problem.lightpaths[choice.lightpath].route
        for site in route.ends if choice.slots and _crosses(inside, route.ends) and not state.breaks(route) else ():
            if site in inside:
                column = book.owned[site, choice.part]
                best[column] = max(best.get(column, 0.0), choice.gbps * TBPS)
    return best | _leased(book, cut)


def weights(book: Book, cut: StateCut) -> list[float]:
    """Of each choice in a cut over wavelengths; 0 of what does not survive."""
    problem = book.problem
    on_path = path_weights(book, cut)
    found = [on_path[choice.lightpath] for choice in problem.choices]
    number = {lightpath.id: i for i, lightpath in enumerate(problem.lightpaths)}
    for one in cut.faster:
        mine = [
            j
            for j in (problem.offered[number[one.lightpath]] if one.lightpath in number else ())
            if (problem.choices[j].part, problem.choices[j].mode) == (one.transponder, one.mode)
        ]
        if not mine or one.weight < 0:
            raise Flawed(f"{one.lightpath} {one.transponder} {one.mode} cannot be lit, or weighs less than nothing")
        for j in mine:
            found[j] += one.weight
    return found


def path_weights(book: Book, cut: StateCut) -> list[float]:
    """Of each lightpath in a cut over wavelengths; 0 of what does not survive."""
    problem, inside = book.problem, frozenset(cut.shore)
    state = None if cut.over == COUPLES else state_of(book, cut.state)
    unknown = set(cut.weights) - {lightpath.id for lightpath in problem.lightpaths}
    if unknown or any(value < 0 for value in cut.weights.values()):
        raise Flawed(f"weights of {', '.join(sorted(unknown)) or 'less than nothing'}")
    found = []
    for lightpath in problem.lightpaths:
        given = float(_crosses(inside, lightpath.route.ends)) if inside else cut.weights.get(lightpath.id, 0.0)
        gone = state is not None and state.breaks(lightpath.route)
        found.append(0.0 if gone else given)
    return found


def need_gbps(book: Book, cut: StateCut) -> float:
    """The right side: Σ distance × rate [Gb/s]."""
    problem = book.problem
    apart = distances(book, cut)
    if cut.over == COUPLES:
        return math.fsum(value * whole_rate(problem.demands[d], problem.states) for d, value in apart.items())
    state = state_of(book, cut.state)
    return math.fsum(value * rate(problem.demands[d], state) for d, value in apart.items())


def distances(book: Book, cut: StateCut) -> dict[int, float]:
    """How far apart the ends of each demand are: 1 across shores, else along the lightest way that it may take.

    Across shores more of a demand on two ways (see `aside.times_across`). Only demands that ask for something, and are
    not at distance 0. Flawed where a state parts the ends of one.
    """
    problem = book.problem
    if cut.over == COUPLES:
        return _couples(book, cut)
    state, inside = state_of(book, cut.state), frozenset(cut.shore)
    asking = {d: demand for d, demand in enumerate(problem.demands) if rate(demand, state) > 0}
    if inside:
        return {d: times_across(problem, d, state) for d, demand in asking.items() if _crosses(inside, demand.ends)}
    k = problem.states.index(state)
    ride = _ridden(book, cut)
    near = _near(problem, state, [ride(problem.top(i)) for i in range(len(problem.lightpaths))])
    found = {}
    for d, demand in asking.items():
        if d in book.ways:
            mine = (math.fsum(map(ride, way.hops)) for way in book.ways[d] if k not in way.broken)
            far = min(mine, default=inf)
        else:
            a, b = demand.ends
            far = distances_from(lambda site: near.get(site, {}).items(), a, b).get(b, inf)
        if far == inf:
            raise Flawed(f"{state.name} parts the ends of {demand.id}")
        if far > 0:
            found[d] = far
    return found


def _couples(book: Book, cut: StateCut) -> dict[int, float]:
    """No couple of ways of a demand that no promised failure breaks together is lighter: by search, not by a list."""
    problem, ride = book.problem, _ridden(book, cut)
    graph, found = mesh(problem), {}
    prices = [[ride((i, tier)) for tier in range(len(tiers))] for i, tiers in enumerate(problem.tiers)]
    for d in sorted(problem.protected):
        far = cheapest_couple(graph, problem.demands[d], prices).least
        if far == inf:
            raise Flawed(f"{problem.demands[d].id} has no two ways that fail apart")
        if far > 0:
            found[d] = far * (1 - HAIR)
    return found


def _ridden(book: Book, cut: StateCut) -> Callable[[Hop], float]:
    """What traffic on a hop weighs: the lightest of the wavelengths that it may ride on, and its own price if asked."""
    weight, problem = weights(book, cut), book.problem
    price = {i: usd / TBPS for i, usd in problem.priced.items()} if cut.over == TRAFFIC else {}
    return cache(lambda hop: min(weight[j] for j in problem.within(hop)) + price.get(hop[0], 0.0))


def _near(problem: Problem, state: State, weight: Sequence[float]) -> dict[SiteId, dict[SiteId, float]]:
    """Site -> neighbouring site -> weight of the lightest surviving lightpath between them."""
    near: dict[SiteId, dict[SiteId, float]] = {}
    for lightpath, value in zip(problem.lightpaths, weight, strict=True):
        if not state.breaks(lightpath.route):
            a, b = lightpath.route.ends
            for here, there in ((a, b), (b, a)):
                around = near.setdefault(here, {})
                around[there] = min(around.get(there, inf), value)
    return near


def state_of(book: Book, name: str) -> State:
    """A promised state by name. Flawed where there is no such."""
    found = next((state for state in book.problem.states if state.name == name), None)
    if found is None:
        raise Flawed(f"there is no promised state `{name}`")
    return found


def _crosses(inside: frozenset[SiteId], ends: Sequence[SiteId]) -> bool:
    return (ends[0] in inside) != (ends[1] in inside)
