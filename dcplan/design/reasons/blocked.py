"""Whether there would be a design if what is lit already could be taken out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.design.result import Infeasible
from dcplan.design.sizing import size
from dcplan.errors import SolverError
from dcplan.model.grid import SLOT_GHZ

if TYPE_CHECKING:
    from dcplan.design.cuts.loop import Task
    from dcplan.design.problem import Problem

TRIED_S = 20.0
"""Longest time for the design without it [s]."""


def blocked(task: Task) -> Infeasible | None:
    """The reason, where what is lit already and stays is why there is no design; none where it is not, or not shown."""
    made = task.problem
    kept = any(choice.least and choice.mode != EXISTING for choice in made.choices)
    if not kept and not made.pairs_kept:
        return None
    choices = tuple(choice if choice.mode == EXISTING else replace(choice, least=0) for choice in made.choices)
    free = replace(made, choices=choices, pairs_kept={}, places={})
    until = task.until.finishing.within(TRIED_S, 0.0)
    try:
        found = size(replace(task, problem=free, until=until))
    except SolverError:
        return None
    if found is None:
        return None
    return Infeasible(
        "existing", f"without what is lit already there is a design; it stays and takes {_taken(made)}", ()
    )


def _taken(made: Problem) -> str:
    """The spectrum that channels take that stay, on the fibers where they take most."""
    fill: dict[str, float] = {}
    for choice in made.choices:
        for fiber in made.glass(choice.lightpath) if choice.least else ():
            share = choice.least * choice.slots / (made.slots * made.network.fibers[fiber].pairs)
            fill[fiber] = fill.get(fiber, 0.0) + share
    if not fill:
        return "fiber pairs or modules that others would need"
    most = sorted(fill, key=lambda fiber: (-fill[fiber], fiber))[:3]
    ghz = {fiber: fill[fiber] * made.slots * made.network.fibers[fiber].pairs * SLOT_GHZ for fiber in most}
    return ", ".join(f"{ghz[fiber]:,.0f} GHz of {fiber} ({100 * fill[fiber]:.0f} % of all its pairs)" for fiber in most)
