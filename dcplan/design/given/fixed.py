"""A plan of a network in which nothing is bought: what is lit already, and how its traffic goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.given.helps import Addition, Tight, what_helps, what_limits
from dcplan.design.given.network import GivenRouting, promised, route_given
from dcplan.design.lit import lit_fibers, wavelengths_of
from dcplan.design.nodes import with_roadms
from dcplan.design.problem import problem
from dcplan.design.result import Design, Proof
from dcplan.design.schemes import scheme_of_all
from dcplan.design.solver.solve import version
from dcplan.design.spectrum.place import Misfit, assign, placement
from dcplan.design.verify import verify
from dcplan.errors import SolverError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.result import Channel, Demand
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line


@dataclass(frozen=True, slots=True)
class Given:
    """What a network carries as it is."""

    routing: GivenRouting
    limits: tuple[Tight, ...]
    """Links that limit the fraction."""
    helps: tuple[Addition, ...]
    """Single additions that raise it."""
    design: Design | None
    """The network with this routing; none where it does not carry all that was promised."""


def as_it_is(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    objective: str,
    say: Callable[[str], None] = lambda _: None,
) -> Given:
    """Route on what is lit already, in each state, for one of `given.OBJECTIVES`; nothing is bought.

    UsageError where nothing is lit, where a demand is promised two ways at once, and where what is lit finds no place
    in the spectrum. SolverError where the result does not pass its own check.
    """
    _refused(network, demands)
    made = problem(network, lines, lightpaths, demands, states)
    counts = [choice.most if choice.existing else 0 for choice in made.choices]
    pairs = {fiber: made.pairs_lit.get(fiber, 0) for fiber in made.fibers}
    channels = assign(made, counts, pairs)
    if isinstance(channels, Misfit):
        raise UsageError(f"what is lit already finds no place in the spectrum of {channels.fiber}: give `n` of each")
    routing = route_given(made, counts, objective, say)
    say("what limits, what helps")
    limits, helps = what_limits(made, counts, routing), what_helps(made, counts, pairs, routing)
    found = _design(made, lightpaths, demands, counts, channels, routing) if routing.whole else None
    if found is not None:
        faults = verify(network, lines, lightpaths, demands, states, found)
        if faults:
            raise SolverError(f"the plan does not pass its own check, please report this: {'; '.join(faults[:5])}")
    return Given(routing, limits, helps, found)


def _refused(network: Network, demands: Sequence[Demand]) -> None:
    existing, circuits = network.topology.existing, network.circuits.values()
    if existing is None and not any(circuit.existing_gbps for circuit in circuits):
        raise UsageError("nothing is lit: say what is under `existing` in the file, or with --existing PLAN")
    for demand in demands:
        if demand.scheme not in ("none", "reroute"):
            raise UsageError(
                f"--fixed routes anew in each state, {demand.id} asks for {demand.scheme}: plan without --fixed, which "
                "keeps what is lit and says what it lacks"
            )


def _design(
    made: Problem,
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    counts: Sequence[int],
    channels: Sequence[Channel],
    routing: GivenRouting,
) -> Design:
    network, flows = made.network, promised(routing, made)
    wavelengths, lit = wavelengths_of(made, counts), lit_fibers(made, channels)
    pairs = {one.fiber: one.pairs for one in lit}
    by_id = {lightpath.id: lightpath for lightpath in lightpaths}
    bill = cost.bill(with_roadms(network, by_id, wavelengths), made.lines, by_id, wavelengths, pairs, flows)
    total = cost.total(bill)
    free = not made.priced  # else another routing could cost less
    return Design(
        scheme=scheme_of_all(network, demands),
        proof=Proof(
            status="optimal" if free else "feasible",
            reason="proven" if free else "given network",
            cost_usd=total,
            bound_usd=total if free else None,
            gap=0.0 if free else None,
            solver="highs",
            solver_version=version("highs"),
            candidates=len(made.choices),
            states=len(made.states),
            spectrum=placement(made, [counts], pairs, ()),
        ),
        lit=lit,
        wavelengths=wavelengths,
        channels=tuple(channels),
        demands=tuple(demands),
        routing=flows,
        bill=bill,
        binding=(),
        assumptions=cost.assumptions(network, bill),
        band=made.band,
    )
