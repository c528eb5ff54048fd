"""The answer of scheme relight as a design, with its bill and its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.lit import lit_fibers, wavelengths_of
from dcplan.design.relight.answer import answer
from dcplan.design.relight.binding import what_binds
from dcplan.design.relight.certify import certify
from dcplan.design.result import Design, Infeasible, Proof, Relit
from dcplan.design.solver import relative_gap, version
from dcplan.design.spectrum import placement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.cutting import Task
    from dcplan.design.problem import Problem
    from dcplan.design.relight.answer import Answer, Fixed
    from dcplan.design.relight.arrange import Lit
    from dcplan.design.result import Demand
    from dcplan.model.network import FiberId
    from dcplan.optics.budget import Lightpath


def relit(
    task: Task,
    hold: Callable[[Task, Sequence[int]], Task],
    fixed: Fixed | None,
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
) -> Design | Infeasible:
    """The cheapest network whose transponders, tuned anew in each failure, carry every demand in every state.

    hold, fixed: as in `answer`. SolverError where time ran out before any answer.
    """
    found = answer(task, hold, fixed)
    if isinstance(found, Infeasible):
        return found
    made, lits = task.problem, found.lits
    failing = [channel for lit in lits[1:] for channel in lit.channels]
    lit = lit_fibers(made, lits[0].channels, failing)
    pairs = {one.fiber: one.pairs for one in lit}
    wavelengths = wavelengths_of(made, lits[0].counts)
    by_id = {lightpath.id: lightpath for lightpath in lightpaths}
    certificate = certify(found.master)
    bill = cost.bill(made.network, made.lines, by_id, wavelengths, pairs, found.routing, found.owned)
    return Design(
        scheme=made.network.policy.scheme,
        proof=_proof(found, certificate.bound_usd if certificate else 0.0, cost.total(bill), pairs),
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
    )


def _relit(made: Problem, lits: Sequence[Lit]) -> tuple[Relit, ...]:
    healthy = set(lits[0].channels)
    return tuple(
        Relit(state.name, wavelengths_of(made, lit.counts), lit.channels, len(set(lit.channels) - healthy))
        for state, lit in zip(made.states[1:], lits[1:], strict=True)
    )


def _proof(found: Answer, certified_usd: float, total_usd: float, pairs: Mapping[FiberId, int]) -> Proof:
    task = found.task
    bound = min(max(found.bound_usd, certified_usd), total_usd)
    gap = relative_gap(total_usd, bound)
    proven = gap <= task.gap + 1e-9
    repaired = bool(found.repairs) and found.reason == "proven"
    return Proof(
        status="optimal" if proven else "feasible",
        reason="proven" if proven else "spectrum repaired" if repaired else found.reason,
        cost_usd=total_usd,
        bound_usd=bound,
        gap=gap,
        solver=task.solver,
        solver_version=version(task.solver),
        candidates=len(task.problem.choices),
        states=len(task.problem.states),
        spectrum=placement(task.problem, [lit.counts for lit in found.lits], pairs, found.repairs),
    )
