"""The design engine beside the ILP that writes out every state, by the same HiGHS, on generated meshes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dcplan import api
from dcplan.design.circuits import lightpaths_of
from dcplan.design.cuts.loop import Task
from dcplan.design.formulation import USD, whole, whole_slots
from dcplan.design.limits import Limits, Until, now_s
from dcplan.design.problem import problem
from dcplan.design.sizing import size
from dcplan.design.solver.solve import solve
from dcplan.design.traffic import fixed_demands
from dcplan.model.states import promised_states

if TYPE_CHECKING:
    from dcplan.design.problem import Problem

DATA = Path(__file__).parent.parent / "accept" / "data"
MESHES = ("dci_20_1", "dci_30_1")
GAP = 1e-4
WHOLE_S = 200.0
"""Time limit of the ILP that writes out every state [s]."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Both on one network: wall and processor time, cost in thousand US$ and gap."""

    name: str
    ours_s: float
    whole_s: float
    finished: bool
    """The ILP came to the gap within its time limit."""
    said: str

    @property
    def ratio(self) -> float:
        """How many times longer the ILP takes, at least."""
        return self.whole_s / self.ours_s


def made(name: str) -> Problem:
    network = api.load(DATA / f"{name}.yaml")
    states = promised_states(network)
    return problem(network, (), lightpaths_of(network), fixed_demands(network, states), states)


def compared(name: str) -> Compared:
    """Ours, then the ILP: building it counts, as it does for ours."""
    posed = made(name)
    wall, cpu = time.perf_counter(), time.process_time()
    task = Task(posed, whole_slots(posed), {}, "highs", GAP, Until(now_s() + WHOLE_S), lambda _: None)
    ours = size(task)
    ours_s, ours_cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert ours is not None
    wall, cpu = time.perf_counter(), time.process_time()
    program = whole(posed)
    theirs = solve("highs", program, Limits(WHOLE_S, GAP))
    whole_s, whole_cpu = time.perf_counter() - wall, time.process_time() - cpu
    finished = theirs.status == "optimal"
    gap = "no answer" if theirs.gap is None else f"gap {100 * theirs.gap:.2f} %"
    found = Compared(name, ours_s, whole_s, finished, "")
    said = (
        f"{name}, {len(posed.network.sites)} sites, {len(posed.states)} states\n"
        f"  dcplan:              {_cost(ours.cost_usd * USD)}, gap {100 * (1 - ours.bound_usd / ours.cost_usd):.4f} %, "
        f"{ours_s:.1f} s wall, {ours_cpu:.1f} s processor\n"
        f"  ILP of all states:   {_cost(theirs.objective)}, {gap}, "
        f"{whole_s:.1f} s wall, {whole_cpu:.1f} s processor "
        f"({len(program.rows):,} rows, {len(program.columns):,} columns)\n"
    )
    ratio = f"{found.ratio:.1f} times" if finished else f"more than {found.ratio:.1f} times: it did not finish"
    return Compared(name, ours_s, whole_s, finished, f"{said}  the ILP takes {ratio}")


def _cost(thousand: float | None) -> str:
    return "none" if thousand is None else f"{thousand:,.2f}"
