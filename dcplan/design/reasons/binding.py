"""What binds in a design, in words, and what relaxing it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts import loop as cutting
from dcplan.design.cuts.tight import tight_shores
from dcplan.design.few.sizing import size_all
from dcplan.design.formulation import TBPS, USD
from dcplan.design.nodes import pair_usd, roadms_of
from dcplan.design.problem import Problem, rate, whole_rate
from dcplan.design.reasons.later import limited, limits
from dcplan.design.result import Binding
from dcplan.design.sizing import Sized
from dcplan.design.spectrum.place import used_slots
from dcplan.errors import SolverError
from dcplan.units import money

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.cuts.loop import Loop, Task
    from dcplan.model.network import FiberId

RESOLVED_CHOICES = 40
"""Up to this many choices the worth of one more pair is found by sizing anew; above, by the relaxation."""
RESOLVED_FIBERS = 3
"""Fibers for which that is done, in file order."""
RESOLVED_S = 10.0
"""Longest time for each of them; networks this small take far less [s]."""
UNPRICED = Binding("what else binds, and what it is worth", "not known: the search was ended")
"""What is said where there was no time for the relaxation that tells it."""


def what_binds(task: Task, sized: Sized) -> tuple[Binding, ...]:
    """Fibers without a pair to spare, full spectrum, tight sets of sites, and what demands and their limits cost.

    Where the search had to end nothing is priced that takes another solve, which is said.
    """
    loop = _relaxed(task, sized)
    found = [*_pairs(task, sized, loop), *full_spectrum(task.problem, sized.counts, sized.pairs)]
    found += tight_shores(task.problem, sized.counts, loop, sized.loop)
    if loop is None:
        return (*found, UNPRICED)
    return (*found, *_demands(loop), *limits(task, sized, loop))


def _relaxed(task: Task, sized: Sized) -> Loop | None:
    """The linear relaxation, whose duals are prices; none where there is no time for it.

    Where a network has too many cuts to list it is that of all that the search found: to look further takes minutes and
    raises it by little (0.02 % on 100 sites). Unless limits are relaxed, whose worth is the difference of two of them.
    """
    if task.until.over:
        return None
    found = sized.loop
    if found is None or found.shore_cuts.complete or limited(task):
        loop = cutting.start(task, rounding=False, like=found)
        settled = cutting.root(loop)
    else:
        loop = cutting.start(task, tuple(found.held.values()), rounding=False, like=found)
        settled = loop.linear.solve() == "optimal"
        cutting.keep_tight(loop)
    return loop if settled and not task.until.over else None


def _pairs(task: Task, sized: Sized, loop: Loop | None) -> Iterator[Binding]:
    problem = task.problem
    for rank, (fiber, what) in enumerate(full_pairs(problem, sized.pairs).items()):
        if sized.status == "optimal" and len(problem.choices) <= RESOLVED_CHOICES and rank < RESOLVED_FIBERS:
            yield Binding(what, _one_more(task, sized, fiber))
        elif loop is not None:
            saved = -loop.linear.reduced[loop.bought.pairs[fiber]] / USD
            worth = (
                f"one more would save {money(saved)} (relaxation)"
                if saved > 1
                else "the relaxation gains nothing by more"
            )
            yield Binding(what, worth)


def full_pairs(problem: Problem, lit: Mapping[FiberId, int]) -> dict[FiberId, str]:
    """Fibers without a pair to spare, in words."""
    most = {fiber: problem.network.fibers[fiber].pairs for fiber in problem.fibers}
    return {
        fiber: f"{fiber}: all {pairs} pairs are lit" if pairs > 1 else f"{fiber}: its only pair is lit"
        for fiber, pairs in most.items()
        if lit.get(fiber, 0) >= pairs
    }


def _one_more(task: Task, sized: Sized, fiber: FiberId) -> str:
    """What one more pair of a fiber saves, sized anew."""
    made, network = task.problem, task.problem.network
    about = network.fibers[fiber]
    wider = {**network.fibers, fiber: about.model_copy(update={"pairs": about.pairs + 1})}
    grown = replace(network, topology=network.topology.model_copy(update={"fibers": wider}))
    choices = tuple(
        choice
        if choice.existing or not choice.slots
        else replace(choice, most=choice.most + made.slots // choice.slots)
        for choice in made.choices
    )
    until = task.until.within(RESOLVED_S, 0.0) if task.until.timed else task.until
    if until.over:
        return "not known: the search was ended"
    try:
        found = size_all(replace(task, until=until, problem=replace(made, network=grown, choices=choices)))
    except SolverError:
        found = None
    if not isinstance(found, Sized) or found.status != "optimal":
        return "not known: the search was ended"
    saved = sized.cost_usd - found.cost_usd
    return f"one more would save {money(saved)}" if saved > task.gap * sized.cost_usd else "one more would save nothing"


def full_spectrum(problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int]) -> Iterator[Binding]:
    """Fibers whose lit pairs have no room for one more channel of the narrowest mode that runs there."""
    used = used_slots(problem, counts)
    for fiber in problem.fibers:
        if not pairs[fiber]:
            continue
        over = [
            choice for choice in problem.choices if fiber in problem.glass(choice.lightpath) and not choice.existing
        ]
        left = pairs[fiber] * problem.slots - used[fiber]
        if over and left < min(choice.slots for choice in over):
            spare = problem.network.fibers[fiber].pairs - pairs[fiber]
            price = money(pair_usd(problem, fiber, roadms_of(problem, counts)))
            worth = f"the next pair costs {price}; {spare} can still be lit" if spare else "no pair is left to light"
            yield Binding(f"{fiber}: the spectrum of its lit pairs is full", worth)


def _demands(loop: Loop) -> Iterator[Binding]:
    for demand, price in zip(loop.task.problem.demands, prices(loop), strict=True):
        if price > 1e-6:
            yield Binding(f"demand {demand.id}", f"each further Gb/s costs {money(price)} (relaxation)")


def prices(loop: Loop) -> Iterator[float]:
    """What one more Gb/s of each demand, in all states alike, adds to the cost of the linear relaxation [US$].

    (Σ dual × distance × rate over all cuts + Σ dual × part over rows of the master) / whole rate.
    """
    problem, asked = loop.task.problem, _asked_in_master(loop)
    paid = [sum(loop.linear.duals[row] * part for row, part in asked.get(d, ())) for d in range(len(problem.demands))]
    for held in loop.cuts.values():
        price = loop.linear.duals[held.relaxed] / held.scale
        for cut in held.cuts if price else ():
            for d, distance in cut.distances.items():
                paid[d] += price * distance * rate(problem.demands[d], problem.states[cut.state]) * TBPS
    for usd, demand in zip(paid, problem.demands, strict=True):
        yield usd / USD / whole_rate(demand, problem.states)


def _asked_in_master(loop: Loop) -> dict[int, list[tuple[int, float]]]:
    """Of demands whose traffic stands in the master: rows, and what of their right side grows with the demand.

    One on two ways has its share of 1 to split; if it grows by a part of itself, so does what that row costs.
    """
    problem = loop.task.problem
    names = {row.name: r for r, row in enumerate(loop.program.rows[: loop.base])}
    found = {d: [(names[f"split{d}"], 1.0)] for d in problem.protected}
    for row, demands in loop.asked:
        for d in demands:
            found.setdefault(d, []).append((row, rate(problem.demands[d], problem.states[0]) * TBPS))
    return found
