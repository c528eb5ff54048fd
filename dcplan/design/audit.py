"""The program of a design as it can be handed to another solver, so that anybody can check the proof.

Either the master, which holds what is bought and the cuts that shaped the answer: its optimum is a bound on every
design, and at the end of a proof its cost within the gap. Or the whole ILP with the traffic of every state written out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.design.conflict import Tried, explain
from dcplan.design.cutting import Task, start
from dcplan.design.few import Few, counted, write_in_few
from dcplan.design.formulation import master, whole_slots
from dcplan.design.limits import Stop, Until, now_s
from dcplan.design.protection import protect
from dcplan.design.result import Infeasible
from dcplan.design.sizing import size
from dcplan.design.solver import require
from dcplan.design.ways import ways_of
from dcplan.design.words import words_of
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from dcplan.design.engine import Options
    from dcplan.design.problem import Problem
    from dcplan.design.program import Program
    from dcplan.design.ways import Ways


SCHEMES = ("none", "reroute", "one-plus-one")
"""Those that one program holds."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A program with its words."""

    program: Program
    words: tuple[str, ...]
    """What it is, its units, then a line for each column and row."""
    notes: tuple[str, ...]
    """What it leaves out, or was cut short in, an item each."""


def audit(made: Problem, options: Options, *, whole: bool) -> Audit | Infeasible:
    """The master with its cuts, after sizing; with `whole`, the ILP of all states, for which nothing is solved.

    Demands with a latency limit, and all under one-plus-one, are held to their listed ways in both. Where channels
    stand in the spectrum is in neither. Infeasible where the master has no answer.
    """
    require(options.solver)
    _sayable(made)
    until = Until(now_s() + options.time_limit_s, Stop(nodes=options.max_nodes))
    listed = {
        d: ways_of(made, demand)
        for d, demand in enumerate(made.demands)
        if demand.protected or demand.max_latency_ms is not None or demand.max_paths is not None
    }
    ways = {d: each.ways for d, each in listed.items()}
    notes = _notes(made, listed)
    few = Few({d: ways[d] for d in counted(made)}, complete=True)
    if whole:
        program, bought = master(made, whole_slots(made))
        both = {d: ways[d] for d in sorted(made.protected)}
        bought = replace(bought, aside=protect(program, made, bought, both).aside) if both else bought
        for k in range(len(made.states)) if made.shared else ():
            write_in_few(program, made, bought, ways, few, k)
        what = f"the whole ILP: {len(made.choices)} choices, demands: {len(made.demands)}, states: {len(made.states)}"
        return Audit(program, (*_title(made, what), *words_of(program, made, ways)), notes)
    if few.ways:
        names = ", ".join(made.demands[d].id for d in few.ways)
        raise UsageError(f"max_paths of {names} stands in the program of all states only: ask for it with --whole")
    task = Task(
        problem=made,
        slots=whole_slots(made),
        ways=ways,
        solver=options.solver,
        gap=options.gap,
        until=until,
        say=options.progress or (lambda _: None),
    )
    sized = size(task)
    if sized is None:
        return explain(task, Tried(late=bool(task.held), repaired=False))
    loop = start(task, sized.cuts)
    what = f"the master: {len(made.choices)} choices, and what shaped the answer: {len(sized.cuts)} cuts"
    proof = f"dcplan: {sized.status} ({sized.reason}), cost US$ {sized.cost_usd:.10g}, bound US$ {sized.bound_usd:.10g}"
    words = words_of(loop.program, made, ways, tuple(loop.cuts.values()))
    return Audit(loop.program, (*_title(made, what), proof, *words), notes)


def _sayable(made: Problem) -> None:
    """UsageError for what these programs do not hold."""
    scheme = made.network.policy.scheme
    if scheme not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise UsageError(f"there is no program of scheme {scheme} to export: `policy.scheme` may be {known}")


def _title(made: Problem, what: str) -> tuple[str, ...]:
    return (f"{made.network.topology.name}: {what}", "Money in thousand US$, rates in Tb/s.")


def _notes(made: Problem, listed: dict[int, Ways]) -> tuple[str, ...]:
    capped = [
        f"demand {made.demands[d].id} has more ways than the {len(ways.ways)} that are in it"
        for d, ways in sorted(listed.items())
        if not ways.complete
    ]
    places = ["where channels stand in the spectrum is not in it, only how many fit"] if made.fibers else []
    return (*places, *capped)
