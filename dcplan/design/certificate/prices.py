"""Finds the prices of a certificate: the duals of the program over the inequalities of the final master."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from dcplan.design.certificate.book import Book, Row, book, needing, row_of
from dcplan.design.certificate.reckon import reckon
from dcplan.design.certificate.record import (
    COUPLES,
    PAIRS,
    TRAFFIC,
    WAVELENGTHS,
    Certificate,
    Faster,
    Flawed,
    OwnRow,
    StateCut,
    Term,
)
from dcplan.design.formulation import USD, carry, hop_name
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.generation import ROUNDS, Relaxed, add
from dcplan.design.ways.mesh import mesh
from dcplan.design.ways.protection import protect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Held, Task
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.design.ways.generation import Generated
    from dcplan.design.ways.mesh import Prices

LEAST_USD = 1e-6
"""A term or row that counts no more than this for anything is left out [US$]."""


def certify(task: Task, held: Sequence[Held]) -> Certificate | None:
    """A certificate from the inequalities of a master with the whole band; None where the solver gives no duals.

    All its primary numbers (weights, divisors, multipliers) have nine digits, as in a plan file; the rest follows.
    """
    made = book(task.problem, task.held)
    return certificate(task, made, [draft for one in held for draft in _drafts(made, one)])


def certificate(task: Task, made: Book, drafts: Sequence[Term]) -> Certificate | None:
    """The certificate whose multipliers are the duals of a book and the drafts; None where the solver gives none."""
    problem = task.problem
    names = tuple(problem.demands[d].id for d in sorted(task.held))
    ways: Generated = {d: {way.hops: way for way in mine} for d, mine in task.protected.items()}
    graph = mesh(problem)
    rows = [row_of(made, draft) for draft in drafts]
    for _ in range(ROUNDS):
        program, bought = _with_traffic(task, made, ways)
        linear, prices = _relaxed(program, rows)
        if linear is None:
            return None
        relaxed = Relaxed(graph, linear, bought, program)
        if not ways or task.until.over or not add(ways, relaxed.priced(ways)[1]):
            break
    couples = tuple(_of_couples(problem, relaxed.prices)) if ways else ()
    return _priced(made, program, prices, drafts, couples, names)


def _with_traffic(task: Task, made: Book, ways: Generated) -> tuple[Program, Bought]:
    """The book with what its demands put on it: on two ways, and where there is one state or traffic has its price."""
    problem, program, bought = task.problem, Program(list(made.program.columns), list(made.program.rows)), made.never
    if ways:
        listed = {d: tuple(mine.values()) for d, mine in ways.items()}
        bought = replace(bought, aside=protect(program, problem, bought, listed, every=True).aside)
    if not made.lit and (problem.priced or (len(problem.states) == 1 and problem.shared)):
        carry(program, problem, made.bought, 0, task.held)
    return program, bought


def _relaxed(program: Program, rows: Sequence[Row]) -> tuple[Linear | None, list[float]]:
    """The relaxation of a program, to which rows are added, and its duals [US$]; none where it is not solved."""
    for n, (left, right) in enumerate(rows):
        program.row(f"cut{n}", left, lower=right)
    linear = Linear(program)
    if linear.solve() != "optimal":
        return None, []
    return linear, [nine(value / USD) for value in linear.duals]


def _priced(
    made: Book,
    program: Program,
    prices: Sequence[float],
    drafts: Sequence[Term],
    couples: Sequence[Term],
    held: tuple[str, ...],
) -> Certificate:
    base, first = len(made.program.rows), len(program.rows) - len(drafts)
    terms = [
        replace(draft, multiplier_usd=price)
        for draft, price in zip(drafts, prices[first:], strict=True)
        if price > LEAST_USD
    ]
    terms += couples
    terms += _of_traffic(made.problem, {row.name: -price for row, price in zip(program.rows, prices, strict=True)})
    own = [
        OwnRow(row.name, "", price, 0.0)
        for row, price in zip(program.rows[:base], prices[:base], strict=True)
        if abs(price) > LEAST_USD and isfinite(row.lower if price > 0 else row.upper)
    ]
    found = reckon(made, Certificate(0.0, tuple(terms), tuple(own), (), held))
    ordered = sorted(enumerate(found.terms), key=lambda item: (-item[1].usd, item[0]))
    return replace(found, terms=tuple(term for _, term in ordered), bound_usd=nine(found.bound_usd))


def _drafts(made: Book, held: Held) -> Iterator[Term]:
    """An inequality of the master without its price, and with what must be built counted as building.

    What demands on two ways have set aside is no part of it: they too must be carried in every state, as others are.
    """
    first, second = (None if one is None else nine(one) for one in held.divisors)
    term = Term(tuple(state_cut(made.problem, cut) for cut in held.cuts), (first, second), 0.0, 0.0)
    try:
        left, right = row_of(made, term)
    except Flawed:  # near nothing is needed, and divisors have nine digits: the bound does without
        return
    yield term
    edges = tuple(edge for edge, columns in needing(made).items() if not left.keys().isdisjoint(columns))
    if edges and right > 0:
        yield replace(term, built=edges)


def state_cut(problem: Problem, cut: Cut) -> StateCut:
    """A cut of the master as the certificate says it."""
    state = problem.states[cut.state].name
    if cut.shore:
        return StateCut(state, PAIRS if cut.fibers else WAVELENGTHS, cut.shore)
    return StateCut(
        state,
        WAVELENGTHS,
        weights={problem.lightpaths[i].id: nine(weight) for i, weight in sorted(cut.lightpaths.items())},
        faster=_faster(problem, cut.faster),
    )


def _faster(problem: Problem, extra: Mapping[int, float]) -> tuple[Faster, ...]:
    found: dict[tuple[str, str, str], float] = {}
    for j, weight in sorted(extra.items()):
        choice = problem.choices[j]
        found[problem.lightpaths[choice.lightpath].id, choice.part, choice.mode] = nine(weight)
    return tuple(Faster(*kind, weight) for kind, weight in found.items())


def _of_couples(problem: Problem, prices: Prices) -> Iterator[Term]:
    """What both ways of each couple take of lightpaths: their prices are weights of what is bought [US$ per Tb/s]."""
    each = [prices[choice.lightpath][problem.tier(choice)] / USD for choice in problem.choices]
    if any(each):
        yield _weighed(problem, COUPLES, each, max(each))


def _of_traffic(problem: Problem, price: Mapping[str, float]) -> Iterator[Term]:
    """Traffic that stands in the program as inequalities: prices of capacity are weights of what is bought.

    price: of each row of the program, by its name [US$ per Tb/s].
    """
    on_path = [price.get(f"mostk0l{i}", 0.0) for i in range(len(problem.lightpaths))]
    for e, lightpaths in enumerate(problem.links(problem.alive(problem.states[0])).values()):
        for i in lightpaths:
            on_path[i] += price.get(f"linkk0e{e}", 0.0)
    each = [max(0.0, on_path[choice.lightpath]) for choice in problem.choices]
    for i, tiers in enumerate(problem.tiers):
        for hop in ((i, tier) for tier in range(len(tiers))):
            dear = max(0.0, price.get(f"pathk0l{hop_name(problem, hop)}", 0.0))
            for j in problem.within(hop) if dear else ():
                each[j] += dear
    if any(each) or problem.priced:
        yield _weighed(problem, TRAFFIC, each, 1.0)


def _weighed(problem: Problem, over: str, each: Sequence[float], multiplier_usd: float) -> Term:
    """One inequality in which each choice weighs its price: a lightpath the least of its own, the faster ones more."""
    least = [min(each[j] for j in offered) for offered in problem.offered]
    more = {j: (value - least[problem.choices[j].lightpath]) / multiplier_usd for j, value in enumerate(each)}
    cut = StateCut(
        problem.states[0].name,
        over,
        weights={problem.lightpaths[i].id: nine(one / multiplier_usd) for i, one in enumerate(least) if one > 0},
        faster=_faster(problem, {j: weight for j, weight in more.items() if weight > 0}),
    )
    return Term((cut,), (None, None), 0.0, nine(multiplier_usd))


def nine(value: float) -> float:
    """As it stands in a plan file."""
    return float(f"{value:.9g}")
