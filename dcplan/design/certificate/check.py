"""Checks the certificate of a design by addition: no program is solved, and no solver is loaded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dcplan.design.certificate.book import book
from dcplan.design.certificate.reckon import differences, reckon
from dcplan.design.certificate.record import Flawed
from dcplan.design.problem import problem
from dcplan.design.reasons.said import faults as said_faults
from dcplan.design.tolerance import FINE
from dcplan.design.ways.chains import ways_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.design.result import Demand, Design
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

MOST_TOLD = 5
"""Differences that are told; one false number is seen in many."""


def faults(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    design: Design,
) -> Iterator[str]:
    """What does not hold of the certificate, where there is one, of what the proof says of its program, and of words.

    The program is rebuilt from the topology. Each inequality is made anew from its states, weights and divisors, what
    all of them count for each thing that can be bought is held against its price, and the sum against the bound.
    """
    made = problem(network, lines, lightpaths, demands, states)
    if design.proof.candidates != len(made.choices):
        yield f"the proof is about {design.proof.candidates} candidates, there are {len(made.choices)}"
    yield from said_faults(made, design)
    said = design.certificate
    if said is None:
        return
    number = {demand.id: d for d, demand in enumerate(made.demands)}
    unknown = [name for name in said.held if name not in number]
    if unknown:
        yield f"the certificate holds {', '.join(unknown)} to ways, there is no such demand"
        return
    ways = {d: ways_of(made, made.demands[d]).ways for d in sorted(number[name] for name in said.held)}
    try:
        anew = reckon(book(made, ways), said)
    except Flawed as flaw:
        yield f"the certificate says nothing: {flaw}"
        return
    yield from (f"the {one}" for one in islice(differences(said, anew), MOST_TOLD))
    if anew.bound_usd > design.cost_usd * (1 + FINE):
        yield "the certificate adds up to more than the cost"
    elif design.proof.bound_usd is None or anew.bound_usd > design.proof.bound_usd * (1 + FINE):
        yield "the certificate adds up to more than the bound"
