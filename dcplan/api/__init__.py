"""The functions behind the commands and the notebook: on immutable values, no printing, no exit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING

from dcplan.api import optical
from dcplan.diagnostics import Severity
from dcplan.errors import InputError, UsageError
from dcplan.model.source import is_stdin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dcplan.accuracy.compare import Comparison
    from dcplan.api.exploring import Exploration, PlanExplained
    from dcplan.assess.ecmp import Ecmp
    from dcplan.design.result import Infeasible, Irreducible
    from dcplan.diagnostics import Finding
    from dcplan.model.job import ParallelismPlan
    from dcplan.model.network import Network
    from dcplan.planfile import Plan, PlanRow

SUFFIXES = (".yaml", ".yml")


def topology_files(paths: Iterable[Path]) -> list[Path]:
    """The files meant by paths: `-` is stdin, a directory means every .yaml and .yml file below it, sorted, none twice.

    UsageError for a path that is not there, or a directory without such files.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            if not below:
                raise UsageError(f"{path} holds no topology file (*.yaml, *.yml)")
            files += below
        elif path.exists() or is_stdin(path):
            files.append(path)
        else:
            raise UsageError(f"{path}: there is no such file")
    return list(dict.fromkeys(files))


def check(paths: Sequence[Path]) -> list[Finding]:
    """All findings of topology files, sorted; directories mean the files below them.

    UsageError when a file cannot be opened or is not UTF-8.
    """
    found = [finding for file in topology_files(paths) for finding in _checked(file)[1]]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.order)


def load(
    path: Path, *, despite: frozenset[str] = frozenset(), warn: Callable[[Sequence[Finding]], None] | None = None
) -> Network:
    """The network of a topology file, `-` for stdin. InputError with all findings when one is an error; UsageError as
    in `check`.

    despite: codes of errors that do not matter to the caller. `warn` is told the findings that do not stop it, if any.
    """
    if not (path.exists() or is_stdin(path)):
        raise UsageError(f"{path}: there is no such file")
    network, found = _checked(path)
    found.sort(key=lambda finding: finding.order)
    if network is None or any(each.severity is Severity.ERROR and each.rule.code not in despite for each in found):
        raise InputError(found)
    if found and warn:
        warn(found)
    return network


def _checked(path: Path) -> tuple[Network | None, list[Finding]]:
    """The network of a file with every finding that no comment in it silences."""
    from dcplan.api.reference import all_rules
    from dcplan.model.ignore import apply
    from dcplan.model.load import check_file, with_snippets
    from dcplan.optics import rules as optics
    from dcplan.training import rules as training

    network, found = check_file(path)
    if network is None:
        return None, found
    found += [*training.check(network), *optics.check(network)]
    found = apply(network.document, found, all_rules())
    return network, with_snippets(network.document, found)


def steps(network: Network, *, gbps: float | None = None, pin: ParallelismPlan | None = None) -> tuple[PlanRow, ...]:
    """The parallelism plans of all jobs without a designed network, best first, then those that do not fit and why.

    Of a job with `plans: auto` those that a search lists: the fastest of each tp, cp, pp, ep, the fastest over each
    dimension across sites, the best by each objective, and apart from them of each way to synchronise that changes what
    is learnt the fastest; see `explore`.

    gbps: rate in each direction between any two sites of a job [Gb/s]; none: unlimited, so that only latency counts.
    A collective that the file leaves open is, for each plan, the one with the shortest step at these rates.
    The latency is the one that a plan is sized for: 1.5 × the shortest fiber route after the worst failure.
    pin: keys that the search of `plans: auto` keeps to, over those of the file.
    UsageError when no fiber joins two sites of a job, and when a pin changes nothing.
    """
    return tuple(row for found in explore(network, gbps=gbps, pin=pin) for row in found.compared)


def explain_step(
    network: Network, plan: str, *, gbps: float | None = None, pin: ParallelismPlan | None = None
) -> tuple[PlanExplained, ...]:
    """A parallelism plan, term by term: formulas with their inputs, sources, and the step without each term.

    One answer for each job that has a plan of this name. gbps, pin: as in `steps`. UsageError as there, for a name that
    no plan has, with the nearest one and all there are, and for a plan that cannot run, with the reason.
    """
    from dcplan.api.exploring import explanations

    return explanations(network, plan, gbps, pin)


def explore(
    network: Network,
    *,
    objective: str = "step",
    gbps: float | None = None,
    pin: ParallelismPlan | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Exploration, ...]:
    """Every plan of every job, weighed: the best by an objective, the best of each, and the Pareto front over all.

    A job with `plans: auto` is searched over every choice of a plan: all ways to synchronise, to shard, to recompute,
    all schedules. Named plans are weighed as they are. objective: step, cost (tokens per US$),
    memory (that is left) or bytes (across sites). gbps, pin: as in `steps`. `progress` is told what is being done.
    UsageError as in `steps`, and for an objective that is not known or that says nothing about a job.
    """
    from dcplan.api.exploring import explorations
    from dcplan.diagnostics import did_you_mean
    from dcplan.training.plans.objectives import OBJECTIVES

    if objective not in OBJECTIVES:
        hint = did_you_mean(objective, OBJECTIVES, f"choose {', '.join(OBJECTIVES)}")
        raise UsageError(f"there is no objective `{objective}`: {hint}")
    return tuple(explorations(network, objective=objective, gbps=gbps, pin=pin, tell=progress))


def accuracy(sets: Iterable[str] = (), own: Iterable[Path] = ()) -> tuple[Comparison, ...]:
    """The training model against measured runs: the named sets, or those of one's own files, or all that ship.

    UsageError for an unknown name, and for whatever is wrong in a file.
    """
    from dcplan.accuracy.compare import comparisons, own_comparison

    sets, mine = tuple(sets), tuple(map(own_comparison, own))
    return (*(comparisons(sets) if sets or not mine else ()), *mine)


def plan(
    network: Network,
    *,
    solver: str = "highs",
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    gap: float | None = None,
    existing: Plan | None = None,
    progress: Callable[[str], None] | None = None,
) -> Plan | Infeasible:
    """Design the network and assess it: what to light, how traffic goes in each state, how long each step takes.

    time_limit_s, max_nodes, gap: in place of those in the file. existing: a plan that has been built, in place of what
    the file says to be lit already; UsageError where it does not fit the network. `progress` is told what is being
    done, a line at a time. Ctrl-C ends the design with the best found so far; StoppedError where there is none.
    SolverError when the solver is not installed, or when its answer does not pass the check that follows
    every solve. With `policy.periods` each period is planned beside what the last one lit, and the plan is that of the
    last (see `growth.grow`).
    """
    from dcplan.api.growth import grow
    from dcplan.api.inherit import inherited
    from dcplan.design.result import Infeasible

    if existing is not None:
        network = inherited(network, existing)
    one = partial(_plan, solver=solver, time_limit_s=time_limit_s, max_nodes=max_nodes, gap=gap, progress=progress)
    found = grow(network, one, progress or (lambda _line: None)) if network.policy.periods else one(network)
    if existing is None or isinstance(found, Infeasible):
        return found
    built = f"plan `{existing.name}` of US$ {existing.design.cost_usd:.0f}"
    return replace(found, options={**found.options, "existing": built})


def reasons(
    network: Network,
    *,
    solver: str = "highs",
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    existing: Plan | None = None,
    progress: Callable[[str], None] | None = None,
) -> Irreducible:
    """Why a network that has no plan has none, as few things as it takes, and what would suffice.

    Of all that a user may change (demands, jobs, promises, fiber pairs, circuits, limits, schemes, margins), a set that
    has no plan whatever else is dropped, while without any one of its members the others have one; and for each member
    the least change of it alone that gives the whole file a plan. Many designs are tried: time_limit_s is for all of
    them, max_nodes for each. UsageError with `policy.periods`, and where an existing plan does not fit the network.
    """
    from dcplan.api.beginning import begin, light_of, options_of
    from dcplan.api.inherit import inherited
    from dcplan.api.irreducible import irreducible, of_traffic
    from dcplan.api.relaxing import Case
    from dcplan.design.result import Infeasible

    if network.policy.periods:
        raise UsageError("reasons are looked for in one period: leave `policy.periods` out, and set the demands of one")
    if existing is not None:
        network = inherited(network, existing)
    options = options_of(network, solver, time_limit_s, max_nodes, None, progress)
    begun = begin(network, options)
    if isinstance(begun.traffic, Infeasible):
        return of_traffic(network, begun.states)
    case = Case(network, begun.lines, begun.lightpaths, begun.traffic[1], begun.states)
    return irreducible(case, options, light_of)


def _plan(
    network: Network,
    *,
    solver: str,
    time_limit_s: float | None,
    max_nodes: int | None,
    gap: float | None,
    progress: Callable[[str], None] | None,
) -> Plan | Infeasible:
    """The plan of a network without periods."""
    from dcplan.api.beginning import begin, options_of
    from dcplan.api.pipeline import planned
    from dcplan.design.engine import design
    from dcplan.design.limits import FINISHING, Stop, interruptible, now_s
    from dcplan.design.result import Infeasible

    tell = progress or (lambda _line: None)
    options = options_of(network, solver, time_limit_s, max_nodes, gap, progress)
    since_s = now_s()
    begun = begin(network, options)
    if isinstance(begun.traffic, Infeasible):
        return begun.traffic
    jobs, demands, tried = begun.traffic
    tell("design")
    left = replace(options, time_limit_s=max(0.0, options.time_limit_s - (now_s() - since_s)))
    answer = design(network, begun.lines, begun.lightpaths, demands, begun.states, left)
    if isinstance(answer, Infeasible):
        return answer
    stated = {
        "solver": answer.proof.solver,
        "time_limit_s": "none" if isinf(options.time_limit_s) else f"{options.time_limit_s:g}",
        **({} if options.max_nodes is None else {"max_nodes": str(options.max_nodes)}),
        "gap": f"{options.gap:g}",
        "scheme": answer.scheme,
        "survive": ", ".join(network.policy.survive),
    }
    light = optical.as_designed(network, begun.lightpaths, answer)
    with interruptible(Stop(), tell, FINISHING):
        tell("assessment")
        return planned(network, stated, light, answer, begun.states, jobs, tried, begun.searched)


def open_plan(path: Path) -> Plan:
    """The plan in a file, `-` for stdin. UsageError when it cannot be read or is no plan file of this version."""
    import sys

    from dcplan.planfile import loads

    try:
        return loads(sys.stdin.read() if is_stdin(path) else path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def ecmp(made: Plan, weights: str = "latency") -> Ecmp:
    """A plan under ECMP: what links would carry if routers split traffic over all shortest paths. Nothing is solved.

    weights: latency or hops. UsageError for other weights, and for a plan that does not say what fails in each state.
    """
    from dcplan.assess.ecmp import WEIGHTS
    from dcplan.assess.ecmp import ecmp as spread
    from dcplan.model.states import State

    if weights not in WEIGHTS:
        raise UsageError(f"there are no weights `{weights}` for ECMP: choose {' or '.join(WEIGHTS)}")
    if [state.name for state in made.states] != [state.state for state in made.assessment.states]:
        raise UsageError(f"plan `{made.name}` does not say what fails in each of its states: plan it again")
    states = [State(one.name, frozenset(one.fibers), frozenset(one.sites)) for one in made.states]
    return spread(made.lightpaths, made.design, states, weights)


def made_from(network: Network, made: Plan) -> bool:
    """The files of the topology are, byte for byte, those that the plan was made from, whatever they are called."""
    from dcplan.api.assemble import inputs_of

    return sorted(inputs_of(network).values()) == sorted(made.inputs.values())


def _asked_gap(made: Plan) -> float | None:
    """The relative gap that a plan was asked to reach; none where the plan does not say it."""
    try:
        return float(made.options.get("gap", ""))
    except ValueError:
        return None


def verify(network: Network, made: Plan) -> tuple[str, ...]:
    """What does not hold of a plan; nothing when all of it holds.

    The design and its certificate are checked by addition. Sites, fibers, lines, link budgets, demands, the assessment
    and the comparison of parallelism plans are worked out anew and compared; fair rates by a simplex method of its
    own: no solver is loaded. Each wavelength closes among the channels that are lit beside it, whatever their widths.
    With `policy.periods` all of this for each of them, and their sums. What only a solver could work out anew (why a
    search ended unproven, what limits that bind are worth, collectives and networks compared and not taken) is
    guarded by the seal of the file: it tells that something was changed, not that it was right.
    """
    from dcplan.api.growth import faults
    from dcplan.planfile import is_sealed

    periods = network.policy.periods and "fixed" not in made.options
    found = tuple(faults(network, made, _verify)) if periods else _verify(network, made)
    if not found and not is_sealed(made):
        return ("the file was changed after it was planned, where only a solver could tell: its seal does not fit",)
    return found


def _verify(network: Network, made: Plan) -> tuple[str, ...]:
    """What does not hold of a plan without periods."""
    from dcplan.api.assemble import assumptions_of, circuits_of, fibers_of, sites_of, states_of
    from dcplan.api.inherit import having
    from dcplan.api.pipeline import assessed
    from dcplan.api.stated import options_faults
    from dcplan.api.written import in_plan, whole_in
    from dcplan.assess.as_lit import not_closing
    from dcplan.assess.hollow import saved
    from dcplan.assess.view import NetworkView
    from dcplan.design.circuits import lightpaths_of
    from dcplan.design.collective.choice import collectives_of, kinds_in, not_cheapest, same_but_compared
    from dcplan.design.nodes import passed
    from dcplan.design.result import Infeasible
    from dcplan.design.simplex import Simplex
    from dcplan.design.traffic import traffic_of
    from dcplan.design.verify import verify as check_design
    from dcplan.model.states import promised_states
    from dcplan.planfile import alike

    if made.existing != network.topology.existing:
        if made.existing is None or "existing" not in made.options:
            return ("what was lit before the plan is not what the topology says",)
        try:
            network = having(network, made.existing, "what was lit before the plan")
        except UsageError as error:
            return (str(error),)
    states = promised_states(network)
    light = optical.candidates(network)
    candidates = (*light.lightpaths, *lightpaths_of(network))
    lit = optical.as_designed(network, candidates, made.design)
    traffic = traffic_of(network, states, kinds_in(network, made.collectives))
    if isinstance(traffic, Infeasible):
        return (traffic.reason,)
    jobs, demands = traffic
    told = in_plan(lit.network, lit.lightpaths, made.design, whole_in(made.lightpaths))
    compared: list[tuple[str, object, object]] = [
        ("name and description", (network.topology.name, network.topology.description), (made.name, made.description)),
        ("sites", sites_of(network), made.sites),
        ("fibers", fibers_of(network), made.fibers),
        ("circuits", circuits_of(network), made.circuits),
        ("lines", lit.lines, made.lines),
        ("link budgets", told, made.lightpaths),
        ("demands", demands, made.design.demands),
        ("states", states_of(states), made.states),
        ("collectives", *same_but_compared(collectives_of(jobs, {}), made.collectives)),
    ]
    faults = check_design(
        network, light.lines, candidates, demands, states, made.design, _asked_gap(made), rated=lit.lightpaths
    )
    if not faults:
        view = NetworkView(lit.lightpaths, made.design, Simplex)
        assessment, rows = assessed(network, view, states, jobs)
        roadms = sorted(passed(candidates, made.design))
        compared += [
            ("assessment", assessment, made.assessment),
            ("parallelism plans", rows, made.plans),
            ("assumptions", assumptions_of(network, made.design, jobs, light.searched, roadms), made.assumptions),
            ("savings of hollow core", saved(network, view, jobs), made.hollow),
        ]
    wrong = [
        f"the {what} of the plan are not what the topology gives"
        for what, anew, old in compared
        if not alike(anew, old)
    ]
    wrong += [*not_cheapest(network, made.collectives), *options_faults(network, made)]
    if wrong or faults:
        return (*wrong, *faults)
    return not_closing(lit.network, lit.lines, lit.lightpaths, made.design)
