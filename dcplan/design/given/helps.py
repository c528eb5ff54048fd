"""What limits the fraction that a given network carries, and which single wavelength or module helps most."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.given.concurrent import concurrent
from dcplan.design.given.network import alive, arcs_of, asked_in
from dcplan.design.nodes import close_at, pairs_usd, roadms_of
from dcplan.design.spectrum.place import Misfit, assign
from dcplan.design.ways.labels import distances, near_of, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.given.concurrent import Asked, Concurrent
    from dcplan.design.given.network import GivenRouting
    from dcplan.design.problem import Choice, Problem
    from dcplan.design.ways.labels import Arc
    from dcplan.model.network import FiberId, Pair
    from dcplan.model.states import State

TRIED = 8
"""Additions whose effect is worked out anew, those first that promise most for their price."""
TIED = 1e-6
"""States whose fraction is the least but for this share limit together with it."""


@dataclass(frozen=True, slots=True)
class Tight:
    """A link that limits the fraction in a state that limits it over all."""

    state: str
    link: Pair
    lit_gbps: float
    """What survives there."""
    per_gbps: float
    """What one more Gb/s adds to the fraction of that state."""


@dataclass(frozen=True, slots=True)
class Addition:
    """One more wavelength or module, and what it does."""

    lightpath: str
    """Id."""
    part: str
    mode: str
    gbps: float
    pairs: tuple[FiberId, ...]
    """Fibers on which one more pair is lit for it."""
    usd: float
    fraction: float
    """The least over all states with it."""


def what_limits(problem: Problem, counts: Sequence[int], found: GivenRouting) -> tuple[Tight, ...]:
    """The links whose capacity has a price in the states that limit the fraction, dearest first."""
    arcs = arcs_of(problem, counts)
    tight: list[Tight] = []
    for state in _limiting(problem, found):
        here = alive(problem, arcs, state)
        dearest: dict[Pair, float] = {}
        lit: dict[Pair, float] = {}
        prices = concurrent(here, asked_in(problem, state)).prices
        for e, arc in here.items():
            lit[arc.ends] = lit.get(arc.ends, 0.0) + arc.gbps
            dearest[arc.ends] = max(dearest.get(arc.ends, 0.0), prices.get(e, 0.0))
        order = sorted(dearest, key=lambda link: (-round(dearest[link], 12), link))
        tight += [Tight(state.name, link, lit[link], dearest[link]) for link in order if dearest[link] > 0]
    return tuple(tight)


def what_helps(
    problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int], found: GivenRouting
) -> tuple[Addition, ...]:
    """Single additions that raise the least fraction, by what they raise it per US$.

    They are ranked by the prices of the first limiting state, where a link that is not lit is worth what it would save
    the demands; the first of them are worked out anew in all states.
    """
    limiting = _limiting(problem, found)
    if not limiting:
        return ()
    worth = _worth(problem, counts, limiting[0])
    ranked = sorted(
        ((-value * problem.choices[j].gbps / max(1.0, problem.choices[j].usd), j) for j, value in worth.items())
    )
    before = found.fraction if found.fraction > 0 else min(state.rest or 0.0 for state in found.states)
    additions: list[tuple[float, int, Addition]] = []
    for _, j in ranked[:TRIED]:
        choice = problem.choices[j]
        placed = _placed(problem, counts, pairs, j)
        if placed is None:
            continue
        usd, lit = placed
        more = [count + (k == j) for k, count in enumerate(counts)]
        fraction = _least_fraction(problem, more, found)
        if fraction > before * (1 + TIED):
            name = problem.lightpaths[choice.lightpath].id
            made = Addition(name, choice.part, choice.mode, choice.gbps, lit, usd, fraction)
            additions.append((-(fraction - before) / max(1.0, usd), j, made))
    return tuple(made for _, _, made in sorted(additions, key=lambda one: one[:2]))


def _limiting(problem: Problem, found: GivenRouting) -> list[State]:
    """The states with the least fraction of what something joins, where that is finite."""
    rests = [one.rest for one in found.states if one.rest is not None]
    least = min(rests, default=inf)
    return [
        state
        for state, one in zip(problem.states, found.states, strict=True)
        if one.rest is not None and one.rest <= least * (1 + TIED)
    ]


def _worth(problem: Problem, counts: Sequence[int], state: State) -> dict[int, float]:
    """Choice that can be bought -> what one Gb/s of it adds to the fraction of a state, at most.

    The largest saving of a demand's distance by a link of length 0 there: at that price of the link the prices stay
    ones that no demand can beat (linear programming duality).
    """
    here = alive(problem, arcs_of(problem, counts), state)
    asked = asked_in(problem, state)
    most = concurrent(here, asked)
    joined = [one for one in asked if one.demand not in most.apart]
    survives = frozenset(problem.alive(state))
    best: dict[int, int] = {}
    for j, choice in enumerate(problem.choices):
        if choice.existing or choice.lightpath not in survives:
            continue
        other = best.get(choice.lightpath)
        if other is None or _price(choice) < _price(problem.choices[other]):
            best[choice.lightpath] = j
    saved = _savings(problem, here, most, joined, list(best.values()))
    return {j: value for j, value in saved.items() if value > 0}


def _price(choice: Choice) -> float:
    return choice.usd / choice.gbps


def _savings(
    problem: Problem, here: Mapping[int, Arc], most: Concurrent, asked: Sequence[Asked], offered: Sequence[int]
) -> dict[int, float]:
    size = 1 + max((*here, *offered), default=0)
    lengths = [most.prices.get(e, 0.0) for e in range(size)]
    near = near_of(here)
    free = [one for one in asked if one.limit_ms is None]
    ends = {site for one in free for site in one.ends}
    far = {
        site: {other: value for other, (value, _) in distances(near, lengths, site).items()} for site in sorted(ends)
    }
    found: dict[int, float] = {}
    for j in offered:
        u, v = problem.lightpaths[problem.choices[j].lightpath].route.ends
        gains = [0.0]
        for one in free:
            a, b = one.ends
            by = min(
                far[a].get(u, inf) + far[b].get(v, inf),
                far[a].get(v, inf) + far[b].get(u, inf),
            )
            gains.append(far[a][b] - by)
        found[j] = max(gains)
    for one in asked:
        if one.limit_ms is not None:
            _limited(problem, here, lengths, one, found)
    return found


def _limited(
    problem: Problem, here: Mapping[int, Arc], lengths: Sequence[float], one: Asked, found: dict[int, float]
) -> None:
    """The same for a demand with a latency limit: with each link in turn its shortest way is found anew."""
    limit = one.limit_ms or inf
    now = within(near_of(here), here, lengths, one.ends, limit)
    for j, so_far in tuple(found.items()):
        wider = {**here, **arcs_of(problem, [int(k == j) for k in range(len(problem.choices))])}
        flat = [0.0 if k == j else length for k, length in enumerate(lengths)]
        then = within(near_of(wider), wider, flat, one.ends, limit)
        if now is not None and then is not None:
            found[j] = max(so_far, now[0] - then[0])


def _placed(
    problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int], j: int
) -> tuple[float, tuple[FiberId, ...]] | None:
    """What one more of a choice costs with the pairs that must be lit for it, and ROADMs where it passes first.

    None where it finds no place, or where it or what is lit would not close.
    """
    choice = problem.choices[j]
    if choice.most <= counts[j]:
        return None
    more = [count + (k == j) for k, count in enumerate(counts)]
    lit = dict(pairs)
    edges = problem.lightpaths[choice.lightpath].route.fibers
    extra: list[FiberId] = []
    while isinstance(placed := assign(problem, more, lit), Misfit):
        if placed.fiber in extra or lit[placed.fiber] >= problem.network.fibers[placed.fiber].pairs:
            return None
        lit[placed.fiber] += 1
        extra.append(placed.fiber)
    before, after = roadms_of(problem, counts), roadms_of(problem, more)
    if not all(close_at(problem, k, after) for k, count in enumerate(more) if count):
        return None
    usd = choice.usd + pairs_usd(problem, lit, after) - pairs_usd(problem, pairs, before)
    dark = [edge for edge in edges if edge in problem.build_usd and not _opened(problem, counts, pairs, edge)]
    return usd + sum(problem.build_usd[edge] for edge in dark), tuple(extra)


def _opened(problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int], edge: FiberId) -> bool:
    """The route is built, or something is leased of the circuit."""
    if edge in pairs:
        return pairs[edge] > 0
    return any(counts[j] > 0 for j in problem.offered[problem.circuits[edge]])


def _least_fraction(problem: Problem, counts: Sequence[int], found: GivenRouting) -> float:
    """Over all states of what something joins now; those first that had least, until none could have less."""
    arcs = arcs_of(problem, counts)
    order = sorted((one.rest, k) for k, one in enumerate(found.states) if one.rest is not None)
    least = inf
    for before, k in order:
        if before >= least:
            break
        state = problem.states[k]
        least = min(least, concurrent(alive(problem, arcs, state), asked_in(problem, state)).fraction)
    return least
