"""From demands to a design with its proof: size, route, place in the spectrum, explain, check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.answer import Answer, Nothing
from dcplan.design.answer import answer as answered
from dcplan.design.certificate.prices import certify
from dcplan.design.cuts.loop import Task, root, start
from dcplan.design.few.reason import countable
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Stop, Until, interruptible
from dcplan.design.lit import wavelengths_of
from dcplan.design.mixed.answer import answer as mixed
from dcplan.design.problem import Problem, problem
from dcplan.design.proof import Known, proof
from dcplan.design.reasons.binding import what_binds
from dcplan.design.reasons.blocked import blocked
from dcplan.design.reasons.conflict import explain, structural
from dcplan.design.relight.answer import Answer as Answered
from dcplan.design.relight.answer import Fixed
from dcplan.design.relight.answer import answer as retuned
from dcplan.design.relight.design import relit
from dcplan.design.result import Design, Infeasible
from dcplan.design.schemes import scheme_of_all
from dcplan.design.solver.solve import require
from dcplan.design.verify import verify
from dcplan.design.ways.listing import capped, counting, held, on_two_ways
from dcplan.errors import NothingYetError, SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.design.problem import Choice
    from dcplan.design.result import Demand
    from dcplan.design.ways.chains import Ways
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

RELAXED = 0.2
"""Share of the time limit that a relaxation alone may take."""
SOME_WAYS = "not all ways were considered"
"""Why a search ends where its bound is over more ways than it takes."""
NEVER = (
    "there would be a design if all demands were under relight; there is none in which {} ride on wavelengths only "
    "that no failure retunes"
)
"""Why there is no design where no single state says it."""
AFTER, AFTER_S = 0.05, 10.0
"""Share of the time limit, and its most [s], that a search leaves to what follows it beside routing: certificate, what
binds, the check of it all."""
REROUTE_SHARE = 0.4
"""Share of time and nodes in which relight first finds what scheme reroute would buy."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to solve."""

    solver: str = "highs"
    time_limit_s: float = 60.0
    """Infinite for none."""
    gap: float = 1e-4
    max_nodes: int | None = None
    """Branch-and-bound nodes of all integer programs together, each of which counts as one at least."""
    progress: Callable[[str], None] | None = None
    """Called with a line of text now and then."""


def design(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    options: Options,
) -> Design | Infeasible:
    """The cheapest network that carries every demand in every state, with its proof; or why there is none.

    The limits are for everything; where they are reached before any answer, some seconds more go into making one. A
    search leaves the time that routing every state takes, as measured on some of them, and `AFTER` for the rest; where
    routing takes longer all the same it is finished, for a plan carries all of its traffic, and the check always is.
    What binds is then left out, which is said.
    Ctrl-C ends the search as a limit does; pressed twice, it raises KeyboardInterrupt.
    SolverError where the solver is missing, time ran out before any answer, or the answer fails the check that follows,
    also when it is searched again with less tolerance: rates may lie within it of what can be lit.
    """
    require(options.solver)
    countable(demands)
    until = Until(stop=Stop(nodes=options.max_nodes)).within(options.time_limit_s)
    with interruptible(until.stop, options.progress or (lambda _: None)):
        for exact in (False, True):
            try:
                result = _searched(network, lines, lightpaths, demands, states, options, replace(until, exact=exact))
            except SolverError as error:
                if exact or isinstance(error, NothingYetError):
                    raise
                continue
            if isinstance(result, Infeasible):
                return result
            faults = verify(network, lines, lightpaths, demands, states, result, gap=options.gap)
            if not faults:
                return result
    raise SolverError(f"the design does not pass its own check, please report this: {'; '.join(faults[:5])}")


def _searched(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    options: Options,
    until: Until,
) -> Design | Infeasible:
    made = problem(network, lines, lightpaths, demands, states)
    task, listed = _task(made, options, until.sooner(min(AFTER_S, AFTER * options.time_limit_s)))
    known = structural(made, lightpaths, listed, until)
    if known is not None:
        return known
    found = _result(task, listed, lightpaths, demands, until)
    hurried = [made.demands[d].id for d, ways in sorted(listed.items()) if ways.hurried and d in made.shared]
    if isinstance(found, Infeasible) or not hurried:
        return found
    why = f"no certificate: the ways of {', '.join(hurried)} were listed only as long as there was time"
    return replace(found, certificate=None, assumptions=(*found.assumptions, why))


def _result(
    task: Task,
    listed: dict[int, Ways],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    until: Until,
) -> Design | Infeasible:
    """until: what follows the search may take so long."""
    if task.problem.retunes:
        fixed = _without_retuning(task, lightpaths)
        task = counting(task, listed)
        task = held(listed, task, fixed.late) if fixed and fixed.late else task
        found = (
            _mixed(task, listed, fixed, lightpaths)
            if task.problem.anchored
            else retuned(task, partial(held, listed), fixed)
        )
        cut_short = capped(task, listed)
        if isinstance(found, Infeasible):
            return replace(found, reason="; ".join((found.reason, *cut_short)))
        made = relit(replace(found, task=replace(found.task, until=until)), lightpaths, demands)
        return replace(made, assumptions=(*made.assumptions, *cut_short))
    answer = answered(task, listed)
    if isinstance(answer, Nothing):
        return blocked(answer.task) or explain(answer.task, answer.tried)
    return answer if isinstance(answer, Infeasible) else _design(demands, answer, until)


def _mixed(
    task: Task, listed: dict[int, Ways], fixed: Fixed | None, lightpaths: Sequence[Lightpath]
) -> Answered | Infeasible:
    """Some demands under relight beside others; those with a latency limit are held to their ways at once.

    Where there is no design, and none either without those under relight, the reason is that of the latter.
    """
    made = task.problem
    limited = [d for d, demand in enumerate(made.demands) if demand.max_latency_ms is not None and d not in task.ways]
    task = held(listed, task, limited) if limited else task
    complete = all(listed[d].complete for d in made.protected)
    found = mixed(task, fixed, complete=complete)
    if found is not None:
        return found
    others = [made.demands[d] for d in sorted(made.anchored)]
    try:
        alone = answered(*_rerouted(task, lightpaths, others))
    except SolverError:  # time ran out
        alone = None
    if isinstance(alone, Nothing):
        return blocked(alone.task) or explain(alone.task, alone.tried)
    return Infeasible("fiber pairs", NEVER.format(", ".join(demand.id for demand in others)), ())


def _rerouted(task: Task, lightpaths: Sequence[Lightpath], demands: Sequence[Demand]) -> tuple[Task, dict[int, Ways]]:
    """The task of some demands where nothing is retuned."""
    made = task.problem
    still = [replace(demand, scheme="reroute") if demand.scheme == "relight" else demand for demand in demands]
    rerouted = problem(made.network, tuple(made.lines.values()), lightpaths, still, made.states)
    return on_two_ways(replace(task, problem=rerouted, slots=whole_slots(rerouted), ways={}))


def _without_retuning(task: Task, lightpaths: Sequence[Lightpath]) -> Fixed | None:
    """What scheme reroute buys within its share of the time, over the choices of relight; none where it buys nothing.

    Relight begins from it, and so never costs more.
    """
    made, until = task.problem, task.until.within(REROUTE_SHARE * task.until.left_s)
    try:
        with until.stop.saving(1 - REROUTE_SHARE):
            found = answered(*_rerouted(replace(task, until=until), lightpaths, made.demands))
    except SolverError:  # time ran out before any answer
        return None
    if not isinstance(found, Answer):
        return None
    counts = dict(zip(map(_kind, found.task.problem.choices), found.sized.counts, strict=True))
    return Fixed(
        counts=tuple(counts.get(_kind(choice), 0) for choice in made.choices),
        channels=found.channels,
        routing=found.routing,
        cost_usd=found.cost_usd,
        bound_usd=0.0 if found.capped or any(choice.slots for choice in made.choices) else found.bound_usd,
        late=tuple(found.task.held),
    )


def _kind(choice: Choice) -> tuple[int, str, str, bool]:
    return choice.lightpath, choice.part, choice.mode, choice.existing


def possible(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    options: Options,
) -> bool | None:
    """Whether there is any design; None where the limits end the search before that is known."""
    made = problem(network, lines, lightpaths, demands, states)
    until = Until(stop=Stop(nodes=options.max_nodes)).within(options.time_limit_s)
    task, listed = _task(made, replace(options, gap=1.0), until)
    if structural(made, lightpaths, listed, until) is not None:
        return False
    try:
        if made.retunes:
            return isinstance(_result(task, listed, lightpaths, demands, until), Design)
        return isinstance(answered(task, listed), Answer)
    except SolverError:
        return None


def least_usd(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
    options: Options,
) -> float | None:
    """Cost of the relaxation with cuts, below which no design without retuning costs; None where it has no answer."""
    made = problem(network, lines, lightpaths, demands, states)
    quiet = replace(options, progress=None)
    task, _ = _task(made, quiet, Until().within(RELAXED * options.time_limit_s))
    loop = start(task)
    return loop.linear.objective / USD if root(loop) else None


def _task(made: Problem, options: Options, until: Until) -> tuple[Task, dict[int, Ways]]:
    task = Task(
        problem=made,
        slots=whole_slots(made),
        ways={},
        solver=options.solver,
        gap=options.gap,
        until=until,
        say=options.progress or (lambda _: None),
    )
    return on_two_ways(task)


def _design(demands: Sequence[Demand], answer: Answer, until: Until) -> Design:
    task, made, sized = answer.task, answer.task.problem, answer.sized
    network = made.network
    wavelengths = wavelengths_of(made, sized.counts)
    proven, cuts = answer.basis
    certificate = certify(replace(proven, until=until), cuts)
    certified_usd = certificate.bound_usd if certificate else 0.0
    reason = sized.reason if task.floor_usd is None or sized.reason != "proven" else SOME_WAYS
    known = Known(answer.bound_usd, reason, answer.repairs, certified_usd)
    pairs = {one.fiber: one.pairs for one in answer.lit}
    return Design(
        scheme=scheme_of_all(network, demands),
        proof=proof(task, known, answer.cost_usd, [sized.counts], pairs),
        lit=answer.lit,
        wavelengths=wavelengths,
        channels=answer.channels,
        demands=tuple(demands),
        routing=answer.routing,
        bill=answer.bill,
        binding=what_binds(replace(task, until=until), sized),
        assumptions=(*cost.assumptions(network, answer.bill), *answer.capped),
        band=made.band,
        certificate=certificate,
    )
