"""What is claimed of a design: its cost, the bound, and why that is all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design.result import Proof
from dcplan.design.solver.solve import relative_gap, version
from dcplan.design.spectrum.place import placement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.cuts.loop import Task
    from dcplan.model.network import FiberId

ROUNDING = 1e-9
"""A gap below this is rounding, and is none."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a search knows when it ends."""

    bound_usd: float
    reason: str
    """proven, or what ended it."""
    repairs: tuple[FiberId, ...]
    """Fibers that were given less of their band because channels found no place there, in order."""
    certified_usd: float
    """What the certificate adds up to; 0 where there is none."""


def proof(
    task: Task, known: Known, total_usd: float, counts: Sequence[Sequence[int]], pairs: Mapping[FiberId, int]
) -> Proof:
    """Optimal where cost and bound, the better of two, are within the gap of the task.

    counts: of each lighting of the network, wavelengths per choice; pairs: lit, by fiber.
    """
    bound = min(max(known.bound_usd, known.certified_usd), total_usd)
    gap = relative_gap(total_usd, bound)
    if gap < ROUNDING:
        bound, gap = total_usd, 0.0
    proven = gap <= task.gap + 1e-9
    repaired = bool(known.repairs) and known.reason == "proven"
    return Proof(
        status="optimal" if proven else "feasible",
        reason="proven" if proven else "spectrum repaired" if repaired else known.reason,
        cost_usd=total_usd,
        bound_usd=bound,
        gap=gap,
        solver=task.solver,
        solver_version=version(task.solver),
        candidates=len(task.problem.choices),
        states=len(task.problem.states),
        spectrum=placement(task.problem, counts, pairs, known.repairs),
    )
