"""The program of a design as it can be handed to another solver, so that anybody can check the proof.

Either the master, which holds what is bought and the cuts that shaped the answer: its optimum is a bound on every
design, and at the end of a proof its cost within the gap. Or the whole ILP with the traffic of every state written out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import Task, with_traffic
from dcplan.design.few.program import Few, counted, write_in_few
from dcplan.design.formulation import master, whole_slots
from dcplan.design.limits import Stop, Until
from dcplan.design.reasons.conflict import Tried, explain
from dcplan.design.reasons.words import asked_in_words, cut_in_words, words_of
from dcplan.design.relight.answer import why_not
from dcplan.design.relight.block import whole as write_all
from dcplan.design.relight.search import search
from dcplan.design.result import Infeasible
from dcplan.design.sizing import begin, size
from dcplan.design.solver.solve import require
from dcplan.design.ways.chains import ways_of
from dcplan.design.ways.protection import protect
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.engine import Options
    from dcplan.design.problem import Problem
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way, Ways


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
    until = Until(stop=Stop(nodes=options.max_nodes)).within(options.time_limit_s)
    listed = {
        d: ways_of(made, demand)
        for d, demand in enumerate(made.demands)
        if demand.protected or demand.max_latency_ms is not None or demand.max_paths is not None
    }
    ways = {d: each.ways for d, each in listed.items()}
    notes = _notes(made, listed)
    few = Few({d: ways[d] for d in counted(made)}, complete=True)
    task = Task(
        problem=made,
        slots=whole_slots(made),
        ways=ways,
        solver=options.solver,
        gap=options.gap,
        until=until,
        say=options.progress or (lambda _: None),
    )
    if made.retunes:
        return _retuned(replace(task, few=few), notes, whole=whole)
    if whole:
        program, bought = master(made, whole_slots(made))
        both = {d: ways[d] for d in sorted(made.protected)}
        bought = replace(bought, aside=protect(program, made, bought, both).aside) if both else bought
        for k in range(len(made.states)) if made.shared else ():
            write_in_few(program, made, bought, ways, few, k)
        return Audit(*_written_out(made, program, ways), notes)
    if few.ways:
        names = ", ".join(made.demands[d].id for d in few.ways)
        raise UsageError(f"max_paths of {names} stands in the program of all states only: ask for it with --whole")
    sized = size(task)
    if sized is None:
        return explain(task, Tried(late=bool(task.held), repaired=False))
    loop = begin(task, sized)
    what = f"the master: {len(made.choices)} choices, and what shaped the answer: {len(sized.cuts)} cuts"
    proof = _proof(f"{sized.status} ({sized.reason})", sized.cost_usd, sized.bound_usd)
    cuts = {held.row.name: cut_in_words(made, held) for held in loop.cuts.values()}
    program = with_traffic(loop, loop.program)
    words = words_of(program, made, ways, cuts)
    return Audit(program, (*_title(made, what), proof, *words), notes)


def _retuned(task: Task, notes: tuple[str, ...], *, whole: bool) -> Audit | Infeasible:
    """Under relight: what is bought once, and what each state lights, or each of those that shaped the answer."""
    made, slots = task.problem, [whole_slots(task.problem)] * len(task.problem.states)
    if whole:
        return Audit(*_written_out(made, write_all(made, slots, task.ways, task.few)[0], task.ways), notes)
    if made.anchored:
        names = ", ".join(made.demands[d].id for d in sorted(made.anchored))
        raise UsageError(
            f"{names} beside relight: that stands in the program of all states only: ask for it with --whole"
        )
    found = search(task, slots)
    if found is None:
        return why_not(task, slots, late=bool(task.ways), repaired=False)
    kept, program = found.master.pool.kept, found.master.pool.whole
    what = (
        f"the master: {len(made.choices)} choices, and what shaped the answer: {len(kept)} cuts, states that light "
        f"wavelengths: {len(found.master.states)} of {len(made.states)}"
    )
    cuts = {program.rows[one.row].name: asked_in_words(made, one.asked, one.divisors) for one in kept}
    proof = _proof(found.reason, found.cost_usd, found.bound_usd)
    return Audit(program, (*_title(made, what), proof, *words_of(program, made, task.ways, cuts)), notes)


def _written_out(made: Problem, program: Program, ways: Mapping[int, Sequence[Way]]) -> tuple[Program, tuple[str, ...]]:
    what = f"the whole ILP: {len(made.choices)} choices, demands: {len(made.demands)}, states: {len(made.states)}"
    return program, (*_title(made, what), *words_of(program, made, ways))


def _proof(reason: str, cost_usd: float, bound_usd: float) -> str:
    return f"dcplan: {reason}, cost US$ {cost_usd:.10g}, bound US$ {bound_usd:.10g}"


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
