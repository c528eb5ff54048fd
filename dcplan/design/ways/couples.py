"""Reads one-plus-one out of a solution: couples of ways, both carrying the same share, and what survives of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.cuts.inequality import Cut, terms_of
from dcplan.design.few.pairs import lit_program, picked
from dcplan.design.formulation import TBPS, Bought
from dcplan.design.problem import Problem, rate, whole_rate
from dcplan.design.result import Flow
from dcplan.design.routing.aside import aside_of
from dcplan.design.routing.check import StateCheck
from dcplan.design.routing.states import lit_of
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.protection import Risk, risk
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Hop
    from dcplan.design.ways.chains import Way

DUST = 1e-7
"""Share of a demand below which a couple is rounding."""
ROUNDS = 200
"""Times that a routing is corrected so that enough is left for others."""
UNROUTED = "the pairs of ways cannot be routed on the wavelengths that were chosen for them"
Piece = tuple[int, float]
"""A way and its traffic [Gb/s]."""


@dataclass(frozen=True, slots=True)
class Riding:
    """A part of a demand on one of its two ways, in every state in which it stands."""

    demand: int
    way: Way
    flow: Flow


def couples_on(task: Task, counts: Sequence[float], known: Iterable[Cut] = ()) -> tuple[Riding, ...]:
    """Both ways of each couple one after the other: shortest total latency that leaves enough for all other demands.

    known: cuts that say what must be left. SolverError where there is no such routing: sizing promised that there is.
    """
    problem, known = task.problem, tuple(known)
    ways = picked(task, counts, known)
    if ways is None:
        raise SolverError(UNROUTED)
    shares, flows = _solved(task, ways, counts, known)
    lit = lit_of(problem, counts)
    found: list[Riding] = []
    for d, listed in ways.items():
        demand = problem.demands[d]
        mine = {(one, other): value for (of, one, other), value in shares.items() if of == d}
        whole = whole_rate(demand, problem.states)
        chains = _by_chain(listed, {w: value for (of, w), value in flows.items() if of == d and value > 1e-9})
        pieces: dict[Risk, list[Piece]] = {}
        for w, parts in chains.items():
            pieces.setdefault(risk(problem, demand, listed[w]), []).append((w, sum(value for _, value in parts)))
        couples = _couples({(one, other): x * whole for (one, other), x in mine.items()}, pieces)
        for couple, gbps in _told_apart(_tidied(couples, whole), chains):
            for w in couple:
                way = listed[w]
                path = tuple(lit[i].id for i in way.lightpaths)
                latency = sum(lit[i].within[tier][1] for i, tier in way.hops)
                found.append(Riding(d, way, Flow(demand.id, path, gbps, latency)))
    return tuple(found)


def standing(problem: Problem, riding: Sequence[Riding], state: int) -> list[Flow]:
    """What of it is left in a state, of demands that ask for something in it."""
    about = problem.states[state]
    return [
        one.flow
        for one in riding
        if about.healthy or (rate(problem.demands[one.demand], about) > 0 and state not in one.way.broken)
    ]


def taken_by(riding: Sequence[Riding]) -> dict[Hop, float]:
    """What the ways take of each hop [Gb/s]."""
    found: dict[Hop, float] = {}
    for one in riding:
        for hop in one.way.hops:
            found[hop] = found.get(hop, 0.0) + one.flow.gbps
    return found


def _solved(
    task: Task, ways: Mapping[int, Sequence[Way]], counts: Sequence[float], known: Iterable[Cut]
) -> tuple[dict[tuple[int, Risk, Risk], float], dict[tuple[int, int], float]]:
    """Shares and flows [Gb/s] of least total latency on what is lit."""
    program, bought, protected = lit_program(task.problem, ways, counts)
    linear = Linear(program)
    _leave_enough(task, linear, bought, counts, known)
    shares = {key: linear.values[column] for key, column in protected.shares.items() if linear.values[column] > DUST}
    return shares, {key: linear.values[column] / TBPS for key, column in protected.flows.items()}


def _leave_enough(task: Task, linear: Linear, bought: Bought, counts: Sequence[float], known: Iterable[Cut]) -> None:
    """Solve, with cuts until the demands that share the rest can be carried in every state."""
    problem = task.problem
    check = StateCheck(problem, task.held) if problem.shared else None
    pair_gbps = dict.fromkeys(problem.fibers, 0.0)
    states = range(len(problem.states))
    broken = [cut for cut in known if cut.aside]
    for _ in range(ROUNDS):
        for cut in broken:
            terms = terms_of(cut, problem, bought, pair_gbps)
            linear.add_row(terms, cut.need_gbps(problem) * TBPS, inf)
        if linear.solve() != "optimal":
            break
        short = check.broken(counts, states, len(states), aside_of(bought, linear.values)) if check else []
        if not short:
            return
        broken = [one.cut for one in short]
    raise SolverError(UNROUTED)


def _by_chain(ways: Sequence[Way], flows: Mapping[int, float]) -> dict[int, list[Piece]]:
    """Traffic by chain of lightpaths, under the first of its ways: how much rides on which."""
    first: dict[tuple[int, ...], int] = {}
    found: dict[int, list[Piece]] = {}
    for w, value in flows.items():
        found.setdefault(first.setdefault(ways[w].lightpaths, w), []).append((w, value))
    return found


def _told_apart(
    couples: Sequence[tuple[tuple[int, int], float]], chains: Mapping[int, Sequence[Piece]]
) -> list[tuple[tuple[int, int], float]]:
    """Couples of chains as couples of ways: the traffic of each chain is used up in order."""
    left = {chain: list(parts) for chain, parts in chains.items()}
    found = []
    for (one, other), gbps in couples:
        sides = [_used_up(left[chain], gbps) for chain in (one, other)]
        found += _matched(*sides)
    return found


def _used_up(parts: list[Piece], gbps: float) -> list[Piece]:
    """Take traffic off the front; the last part gives whatever is asked beyond."""
    taken = []
    while len(parts) > 1 and gbps > parts[0][1]:
        taken.append(parts.pop(0))
        gbps -= taken[-1][1]
    way, value = parts[0]
    parts[0] = (way, value - gbps)
    return [*taken, (way, gbps)]


def _couples(
    amounts: Mapping[tuple[Risk, Risk], float], pieces: dict[Risk, list[Piece]]
) -> list[tuple[tuple[int, int], float]]:
    """Match the traffic on both sides of each pair of risks, piece by piece."""
    alone = amounts.get(((), ()), 0.0)
    found: list[tuple[tuple[int, int], float]] = []
    for (one, other), amount in sorted(amounts.items()):
        if one or other:
            found += _matched(_take(pieces, one, amount, alone), _take(pieces, other, amount, alone))
    if alone > 0:
        # both halves of one row of pieces, none longer than half of it: no way meets itself
        row = sorted(pieces.get((), []), key=lambda piece: (-piece[1], piece[0]))
        rest: dict[Risk, list[Piece]] = {(): row}
        first = _take(rest, (), alone, 0.0)
        found += _matched(first, rest[()])
    return found


def _take(pieces: dict[Risk, list[Piece]], risk_: Risk, amount: float, leave: float) -> list[Piece]:
    """Take traffic off the ways of a risk; ways that breaks never hit first give what exceeds `leave`."""
    taken: list[Piece] = []
    for floor in (leave, 0.0) if not risk_ and leave > 0 else (0.0,):
        kept: list[Piece] = []
        for way, value in pieces.get(risk_, []):
            part = min(amount, max(0.0, value - floor))
            amount -= part
            if part > 0:
                taken.append((way, part))
            if value - part > 0:
                kept.append((way, value - part))
        pieces[risk_] = kept
    return taken


def _matched(one: Sequence[Piece], other: Sequence[Piece]) -> list[tuple[tuple[int, int], float]]:
    found: list[tuple[tuple[int, int], float]] = []
    i = j = 0
    left, right = [value for _, value in one], [value for _, value in other]
    while i < len(left) and j < len(right):
        part = min(left[i], right[j])
        found.append(((one[i][0], other[j][0]), part))
        left[i] -= part
        right[j] -= part
        i, j = i + (left[i] <= 1e-9), j + (right[j] <= 1e-9)
    return found


def _tidied(couples: Sequence[tuple[tuple[int, int], float]], whole: float) -> list[tuple[tuple[int, int], float]]:
    """Equal couples joined, dust left out, amounts that add up to the demand, largest first."""
    total: dict[tuple[int, int], float] = {}
    for (one, other), gbps in couples:
        key = (min(one, other), max(one, other))
        total[key] = total.get(key, 0.0) + gbps
    kept = {key: gbps for key, gbps in total.items() if gbps > DUST * whole}
    order = sorted(kept, key=lambda key: (-round(kept[key], 6), key))
    if not order:
        return []
    rest = whole - sum(kept[key] for key in order[1:])
    return [(order[0], rest), *((key, kept[key]) for key in order[1:])]
