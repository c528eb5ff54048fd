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
from dcplan.design.reasons.later import limits
from dcplan.design.result import Binding
from dcplan.design.sizing import Sized
from dcplan.design.spectrum.place import used_slots
from dcplan.errors import SolverError
from dcplan.units import money

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.cuts.loop import Loop, Task
    from dcplan.design.result import Demand
    from dcplan.model.network import FiberId

RESOLVED_CHOICES = 40
"""Up to this many choices the worth of one more pair is found by sizing anew; above, by the relaxation."""
RESOLVED_FIBERS = 3
"""Fibers for which that is done, in file order."""
RESOLVED_S = 10.0
"""Longest time for each of them; networks this small take far less [s]."""
NUDGE = 0.01
"""Relative growth of a demand by which its marginal cost is found."""


def what_binds(task: Task, sized: Sized) -> tuple[Binding, ...]:
    """Fibers without a pair to spare, full spectrum, tight sets of sites, and what demands and their limits cost.

    Where the search had to end nothing is priced that takes another solve.
    """
    loop = cutting.start(task, rounding=False)
    relaxed = not task.until.over and cutting.root(loop) and not task.until.over
    spectrum = full_spectrum(task.problem, sized.counts, sized.pairs)
    found = [*_pairs(task, sized, loop if relaxed else None), *spectrum]
    found += tight_shores(task.problem, sized.counts, loop if relaxed else None)
    if relaxed:
        found += _demands(task, loop)
        found += limits(task, sized, loop)
    return tuple(found)


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
    until = task.until.within(RESOLVED_S) if task.until.timed else task.until
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


def _demands(task: Task, loop: Loop) -> Iterator[Binding]:
    """What one more Gb/s of each demand, in all states alike, adds to the cost of the linear relaxation."""
    for d, demand in enumerate(task.problem.demands):
        whole = whole_rate(demand, task.problem.states)
        in_master = demand.protected or loop.check is None or task.problem.priced
        price = _nudged(task, loop, d, demand, whole) if in_master else _dual(loop, d, demand, whole)
        if price > 1e-6:
            yield Binding(f"demand {demand.id}", f"each further Gb/s costs {money(price)} (relaxation)")


def _dual(loop: Loop, d: int, demand: Demand, whole: float) -> float:
    """Σ dual × distance of the demand over all cuts, each state by its share of the whole rate [US$ per Gb/s]."""
    problem, total = loop.task.problem, 0.0
    for held in loop.cuts.values():
        price = loop.linear.duals[held.relaxed] / held.scale
        for cut in held.cuts:
            total += price * cut.distances.get(d, 0.0) * rate(demand, problem.states[cut.state]) / whole
    return total * TBPS / USD


def _nudged(task: Task, loop: Loop, d: int, demand: Demand, whole: float) -> float:
    """Cost of the relaxation with a slightly larger demand, less that without, per Gb/s."""
    more = replace(demand, gbps={state: gbps * (1 + NUDGE) for state, gbps in demand.gbps.items()})
    demands = tuple(more if i == d else other for i, other in enumerate(task.problem.demands))
    grown = cutting.start(replace(task, problem=replace(task.problem, demands=demands)), rounding=False)
    if not cutting.root(grown):
        return 0.0
    return (grown.linear.objective - loop.linear.objective) / USD / (whole * NUDGE)
