"""The answer of scheme relight as a design, with its bill and its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.lit import lit_fibers, wavelengths_of
from dcplan.design.nodes import with_roadms
from dcplan.design.proof import Known, proof
from dcplan.design.relight.binding import what_binds
from dcplan.design.relight.certify import certify
from dcplan.design.result import Design, Relit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.relight.answer import Answer
    from dcplan.design.relight.arrange import Lit
    from dcplan.design.result import Demand
    from dcplan.optics.budget import Lightpath


def relit(found: Answer, lightpaths: Sequence[Lightpath], demands: Sequence[Demand]) -> Design:
    """The network whose transponders, tuned anew in each failure, carry every demand in every state."""
    made, lits = found.task.problem, found.lits
    failing = [channel for lit in lits[1:] for channel in lit.channels]
    lit = lit_fibers(made, lits[0].channels, failing)
    pairs = {one.fiber: one.pairs for one in lit}
    wavelengths = wavelengths_of(made, lits[0].counts)
    by_id = {lightpath.id: lightpath for lightpath in lightpaths}
    certificate = certify(found.master, found.beside or found.master.task)
    known = Known(found.bound_usd, found.reason, found.repairs, certificate.bound_usd if certificate else 0.0)
    ever = [one for state in lits for one in wavelengths_of(made, state.counts)]
    network = with_roadms(made.network, by_id, ever)
    bill = cost.bill(network, made.lines, by_id, wavelengths, pairs, found.routing, found.owned)
    return Design(
        scheme="relight",
        proof=proof(found.task, known, cost.total(bill), [one.counts for one in lits], pairs),
        lit=lit,
        wavelengths=wavelengths,
        channels=lits[0].channels,
        demands=tuple(demands),
        routing=found.routing,
        bill=bill,
        binding=what_binds(found, pairs),
        assumptions=cost.assumptions(made.network, bill),
        band=made.band,
        owned=found.owned,
        certificate=certificate,
        relit=_relit(made, lits),
        anchored=found.anchored,
    )


def _relit(made: Problem, lits: Sequence[Lit]) -> tuple[Relit, ...]:
    healthy = set(lits[0].channels)
    return tuple(
        Relit(state.name, wavelengths_of(made, lit.counts), lit.channels, len(set(lit.channels) - healthy))
        for state, lit in zip(made.states[1:], lits[1:], strict=True)
    )
