"""What binds under relight, in words: pairs, spectrum, transponders on a shore, and what each demand costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS, USD, whole_slots
from dcplan.design.nodes import pair_usd, roadms_of
from dcplan.design.problem import rate, whole_rate
from dcplan.design.reasons.binding import UNPRICED, full_pairs
from dcplan.design.relight.master import separate, start
from dcplan.design.result import Binding
from dcplan.design.spectrum.place import used_slots
from dcplan.units import money
from dcplan.units import rate as in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.relight.answer import Answer
    from dcplan.design.relight.master import Master
    from dcplan.model.network import FiberId

TIGHT_SHORES = 5
"""Sets of sites listed, tightest first."""
LOOKED_AT = 60
"""Sets of sites looked at for that."""
ROUNDS = 200
"""Rounds of cuts on the plain relaxation, whose duals are prices."""


def what_binds(found: Answer, pairs: Mapping[FiberId, int]) -> tuple[Binding, ...]:
    """Fibers without a pair to spare, full spectrum, shores without a transponder to spare, demands at the margin.

    pairs: lit, by fiber. Where the search had to end nothing is priced that takes another solve, which is said.
    """
    task = found.task
    master = start(task, [whole_slots(task.problem)] * len(task.problem.states), rounding=False)
    prices = master if _settled(master) else None
    spectrum = full_spectrum(task.problem, [lit.counts for lit in found.lits], pairs)
    listed = [*_pairs(task.problem, pairs, prices), *spectrum, *_shores(found, master)]
    return (*listed, *(_demands(prices) if prices else [UNPRICED]))


def _settled(master: Master) -> bool:
    """The relaxation breaks nothing, so that its duals are prices."""
    linear = master.pool.linear
    for _ in range(ROUNDS):
        if master.task.until.over or linear.solve() != "optimal":
            return False
        if separate(master, linear.values, linear.objective) == (0, []):
            return True
    return False


def _pairs(problem: Problem, pairs: Mapping[FiberId, int], prices: Master | None) -> Iterator[Binding]:
    for fiber, what in full_pairs(problem, pairs).items():
        worth = "not known: time ran out"
        if prices is not None:
            saved = -prices.pool.linear.reduced[prices.bought.pairs[fiber]] / USD
            worth = (
                f"one more would save {money(saved)} (relaxation)"
                if saved > 1
                else "the relaxation gains nothing by more"
            )
        yield Binding(what, worth)


def full_spectrum(
    problem: Problem, by_state: Sequence[Sequence[int]], pairs: Mapping[FiberId, int]
) -> Iterator[Binding]:
    """Fibers whose lit pairs have, in some state, no room for one more channel of the narrowest mode there."""
    used = [used_slots(problem, counts) for counts in by_state]
    roadms = frozenset(site for counts in by_state for site in roadms_of(problem, counts))
    for fiber, lit in pairs.items():
        narrowest = min(
            (choice.slots for choice in problem.choices if choice.slots and fiber in problem.glass(choice.lightpath)),
            default=0,
        )
        full = [k for k, here in enumerate(used) if lit * problem.slots - here[fiber] < narrowest]
        if full:
            spare = problem.network.fibers[fiber].pairs - lit
            price = money(pair_usd(problem, fiber, roadms))
            when = _when(problem, full[0]) + (f", and in {len(full) - 1} more" if len(full) > 1 else "")
            yield Binding(
                f"{fiber}: the spectrum of its lit pairs is full {when}",
                f"the next pair costs {price}; {spare} can still be lit" if spare else "no pair is left to light",
            )


def _shores(found: Answer, master: Master) -> Iterator[Binding]:
    """Sets of sites whose transponders leave less to spare, at their best rates, than one more would carry."""
    problem = found.task.problem
    values = [0.0] * len(master.pool.whole.columns)
    owned = {(one.site, one.transponder): one.count for one in found.owned}
    for place, column in zip(master.stood.places, master.bought.owned, strict=True):
        values[column] = owned.get(place, 0)
    for j, column in master.bought.modules.items():
        values[column] = found.lits[0].counts[j]
    seen: set[tuple[tuple[str, ...], int]] = set()
    for asked in master.shores.owned(values, master.bought, LOOKED_AT):
        have = sum(value * values[i] for i, value in asked.terms.items()) / TBPS
        need = asked.need(problem) / TBPS
        if len(seen) == TIGHT_SHORES or (asked.shore, asked.state) in seen:
            continue
        if asked.terms and have - need < min(asked.terms.values()) / TBPS:
            seen.add((asked.shore, asked.state))
            what = (
                f"{_when(problem, asked.state)}, {in_words(need)} must leave or reach {{{', '.join(asked.shore)}}}; "
                f"the transponders there carry {in_words(have)} at their best rates"
            )
            yield Binding(what, f"{in_words(have - need)} to spare" if have - need > 1e-6 else "nothing to spare")


def _when(problem: Problem, state: int) -> str:
    return "healthy" if problem.states[state].healthy else f"after losing {problem.states[state].name}"


def _demands(master: Master) -> Iterator[Binding]:
    """What one more Gb/s of each demand, in all states alike, adds to the cost of the linear relaxation."""
    problem = master.task.problem
    duals = master.pool.linear.duals
    priced = [
        (kept.asked.state, kept.asked.per_demand, duals[kept.row] / kept.smallest)
        for kept in master.pool.kept
        if duals[kept.row]
    ]
    for d, demand in enumerate(problem.demands):
        whole = whole_rate(demand, problem.states)
        price = sum(
            dual * distances.get(d, 0.0) * rate(demand, problem.states[state]) / whole
            for state, distances, dual in priced
        )
        if price * TBPS / USD > 1e-6:
            yield Binding(f"demand {demand.id}", f"each further Gb/s costs {money(price * TBPS / USD)} (relaxation)")
