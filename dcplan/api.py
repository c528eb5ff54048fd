"""The functions behind the commands and the notebook: on immutable values, no printing, no exit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.diagnostics import Severity
from dcplan.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.assess.ecmp import Ecmp
    from dcplan.assess.result import Assessment
    from dcplan.assess.view import NetworkView
    from dcplan.catalog.parts import Part
    from dcplan.design.result import Demand, Infeasible
    from dcplan.design.traffic import JobTraffic
    from dcplan.diagnostics import Finding, Rule
    from dcplan.interop.gnpy.export import Exported
    from dcplan.interop.imported import Imported
    from dcplan.model.network import FiberId, Network, Pair
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.constants import Explained
    from dcplan.optics.line import NoLine
    from dcplan.optics.sweep import Bathtub
    from dcplan.planfile import Plan, PlanRow
    from dcplan.training.step import Links

SUFFIXES = (".yaml", ".yml")


def all_rules() -> tuple[Rule, ...]:
    """Every rule that `check` applies, by code."""
    from dcplan.model.rules.registry import RULES
    from dcplan.optics.rules import RULES as OPTICS
    from dcplan.training.rules import RULES as TRAINING

    return tuple(sorted((*RULES, *TRAINING, *OPTICS), key=lambda rule: rule.code))


def all_constants() -> tuple[Explained, ...]:
    """Every named constant and formula, in the order of their list."""
    from dcplan.optics.constants import CONSTANTS, explained

    return tuple(explained(constant) for constant in CONSTANTS)


def parts_called(name: str) -> dict[str, dict[str, Part]]:
    """Shipped parts with an id, by kind; nothing where no kind has it."""
    from dcplan.catalog.load import KINDS, shipped

    found = {kind: {part: about for part, about in shipped(kind).items() if part == name.casefold()} for kind in KINDS}
    return {kind: parts for kind, parts in found.items() if parts}


def topology_files(paths: Iterable[Path]) -> list[Path]:
    """The files meant by paths: a directory means every .yaml and .yml file below it, sorted, none twice.

    UsageError for a path that is not there, or a directory without such files.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            if not below:
                raise UsageError(f"{path} holds no topology file (*.yaml, *.yml)")
            files += below
        elif path.exists():
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
    """The network of a topology file. InputError with all findings when one is an error; UsageError as in `check`.

    despite: codes of errors that do not matter to the caller. `warn` is told the findings that do not stop it, if any.
    """
    if not path.exists():
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


def schema(what: str) -> dict[str, Any]:
    """The JSON Schema of a `topology` or a `plan` file. UsageError for anything else."""
    if what == "topology":
        from dcplan.model.jsonschema import json_schema
    elif what == "plan":
        from dcplan.planfile import json_schema
    else:
        raise UsageError(f"there is no schema of `{what}`: ask for topology or plan")
    return json_schema()


def catalog(kind: str | None = None, name: str | None = None) -> dict[str, dict[str, Part]]:
    """Shipped parts by kind and id: all, those of one kind, or one. UsageError for a kind or id that is not there."""
    from dcplan.catalog.load import KINDS, shipped
    from dcplan.diagnostics import did_you_mean

    if kind is None:
        return {each: dict(shipped(each)) for each in KINDS}
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"kinds are {', '.join(KINDS)}")
        raise UsageError(f"the catalog has no kind `{kind}`: {hint}")
    parts = dict(shipped(kind))
    if name is None:
        return {kind: parts}
    if name not in parts:
        hint = did_you_mean(name, parts, f"`dcplan catalog {kind}` lists all")
        raise UsageError(f"there is no `{name}` among {kind}: {hint}")
    return {kind: {name: parts[name]}}


@dataclass(frozen=True, slots=True)
class Optics:
    """What light can do on a network."""

    fibers: Mapping[FiberId, Line | NoLine]
    """For each fiber its line, or why there is none."""
    lightpaths: tuple[Lightpath, ...]
    """Every candidate, in file order of its ends, with the budget of every allowed mode."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The fibers that can be lit."""
        from dcplan.optics.budget import Line

        return tuple(line for line in self.fibers.values() if isinstance(line, Line))


def optics(network: Network) -> Optics:
    """Design the line of every fiber, then the link budget of every lightpath candidate in every allowed mode.

    Circuits are leased, not lit: they are not in it.
    """
    from dcplan.design.candidates import routes
    from dcplan.optics.existing import with_existing_light
    from dcplan.optics.lightpath import evaluate
    from dcplan.optics.line import design_lines

    lines = design_lines(network)
    return Optics(lines, with_existing_light(network, lines, evaluate(network, lines, routes(network))))


def export(network: Network, form: str, mode: str | None = None) -> Exported:
    """The designed network as files of another program, with what these cannot say. `form`: gnpy.

    mode: whose full load the files hold for, as `TRANSPONDER:MODE`; none: that which closes on most fibers.
    UsageError for a form or mode that is not there.
    """
    from dcplan.interop import EXPORTS, check_form
    from dcplan.interop.gnpy.comb import mode_for
    from dcplan.interop.gnpy.export import export as write

    check_form(form, EXPORTS)
    light = optics(network)
    return write(network, light.fibers, light.lightpaths, mode_for(network, light.lightpaths, mode))


def at_load(network: Network, percent: float) -> Network:
    """The network with light judged at a share of full load [%]. UsageError when it is not above 0 and up to 100."""
    if not 0 < percent <= 100:
        raise UsageError(f"--load {percent:g} is not above 0 and up to 100")
    policy = network.policy.model_copy(update={"load_percent": percent})
    return replace(network, topology=network.topology.model_copy(update={"policy": policy}))


def latency_saved_ms(network: Network) -> dict[FiberId, float]:
    """What each fiber with hollow core saves one way against solid fiber of its length [ms]."""
    from dcplan.optics.hollow import saved_ms

    found = {fiber: saved_ms(network, fiber) for fiber in network.fibers}
    return {fiber: gain for fiber, gain in found.items() if gain > 0}


def sweep(network: Network, what: str, names: Sequence[str] = ()) -> tuple[Bathtub, ...]:
    """GSNR and margin of each mode on each line over the launch power; `what` is launch.

    names: of a fiber, of one site whose fibers are meant, or of two sites. UsageError for another sweep, for names
    that no fiber answers to, and where no line has amplifiers.
    """
    from dcplan.optics.line import design_lines
    from dcplan.optics.sweep import bathtubs

    if what != "launch":
        raise UsageError(f"there is no sweep of `{what}`: ask for launch")
    meant = [
        fiber
        for fiber, about in network.fibers.items()
        if not names or list(names) == [fiber] or set(names) <= set(about.ends)
    ]
    if not meant:
        raise UsageError(f"no fiber is called or ends at {' and '.join(f'`{name}`' for name in names)}")
    found = bathtubs(network, design_lines(network), meant)
    if not found:
        raise UsageError("no line with amplifiers, or no allowed mode, so no launch power to sweep")
    return found


def import_(
    form: str,
    source: str,
    *,
    equipment: Path | None = None,
    model: str | None = None,
    total_gbps: float | None = None,
) -> Imported:
    """A topology file from those of another program, with what it cannot say. `form`: gnpy, sndlib or topohub.

    source: a file; of topohub, also a name. equipment: of gnpy, its library; model: of sndlib, the problem, as
    U-U-M-N-C-A-N-U; total_gbps: of topohub, all demands together. UsageError for a form that is not there, for files
    that are not of it, and for what goes with another form.
    """
    from dcplan.interop import IMPORTS, check_form

    check_form(form, IMPORTS)
    given = (("--equipment", equipment, "gnpy"), ("--model", model, "sndlib"), ("--total-gbps", total_gbps, "topohub"))
    for option, value, only in given:
        if value is not None and form != only:
            raise UsageError(f"{option} goes with `dcplan import {only}`, not with {form}")
    if form == "sndlib":
        from dcplan.interop.sndlib.bring import bring as from_sndlib

        return from_sndlib(Path(source), model)
    if form == "topohub":
        from dcplan.interop.topohub.bring import bring as from_topohub

        return from_topohub(source, total_gbps)
    from dcplan.interop.gnpy.bring import bring

    if equipment is None:
        raise UsageError("GNPy keeps amplifiers, fibers and modes in a second file: name it with --equipment")
    return bring(Path(source), equipment)


def steps(network: Network, *, gbps: float | None = None) -> tuple[PlanRow, ...]:
    """All parallelism plans of all jobs without a designed network, best first, then those that do not fit and why.

    gbps: rate in each direction between any two sites of a job [Gb/s]; none: unlimited, so that only latency counts.
    The latency is the one that a plan is sized for: 1.5 × the shortest fiber route after the worst failure.
    UsageError when no fiber joins two sites of a job.
    """
    from functools import partial
    from math import inf

    from dcplan.assemble import rows_of
    from dcplan.assess.compare import compare
    from dcplan.design.result import Infeasible
    from dcplan.design.traffic import job_plans
    from dcplan.model.states import promised_states
    from dcplan.training.step import Links

    states = promised_states(network)
    rows: list[PlanRow] = []
    for job in network.jobs:
        plans = job_plans(network, job, states)
        if isinstance(plans, Infeasible):
            raise UsageError(plans.reason)
        links = Links(dict.fromkeys(plans.latency_ms, inf if gbps is None else gbps), plans.latency_ms)
        rows += rows_of(plans, None, compare(network, plans, states[:1], partial(_same, links)))
    return tuple(rows)


def _same(links: Links, _state: State, _pattern: Mapping[Pair, float]) -> Links:
    """A network that gives the same to everyone in every state."""
    return links


def plan(
    network: Network,
    *,
    solver: str = "highs",
    time_limit_s: float | None = None,
    gap: float | None = None,
    existing: Plan | None = None,
    progress: Callable[[str], None] | None = None,
) -> Plan | Infeasible:
    """Design the network and assess it: what to light, how traffic goes in each state, how long each step takes.

    time_limit_s, gap: in place of those in the file. existing: a plan that has been built, in place of what the file
    says to be lit already; UsageError where it does not fit the network. `progress` is told what is being done, a line
    at a time. SolverError when the solver is not installed, or when its answer does not pass the check that follows
    every solve.
    """
    if existing is not None:
        network = _inherited(network, existing)
    from dcplan.assemble import assumptions_of, plan_file
    from dcplan.assess.hollow import saved
    from dcplan.assess.view import NetworkView
    from dcplan.design.circuits import lightpaths_of
    from dcplan.design.engine import Options, design
    from dcplan.design.result import Infeasible
    from dcplan.model.states import promised_states

    tell = progress or (lambda _line: None)
    limits = network.policy.solver
    options = Options(
        solver=solver,
        time_limit_s=limits.time_limit_s if time_limit_s is None else time_limit_s,
        gap=limits.gap if gap is None else gap,
        progress=progress,
    )
    states = promised_states(network)
    tell("link budgets")
    light = optics(network)
    lightpaths = (*light.lightpaths, *lightpaths_of(network))
    tell("parallelism plans")
    traffic = _traffic(network, states)
    if isinstance(traffic, Infeasible):
        return traffic
    jobs, demands = traffic
    tell("design")
    answer = design(network, light.lines, lightpaths, demands, states, options)
    if isinstance(answer, Infeasible):
        return answer
    tell("assessment")
    view = NetworkView(lightpaths, answer)
    assessment, rows = _assessed(network, view, states, jobs)
    stated = {
        "solver": answer.proof.solver,
        "time_limit_s": f"{options.time_limit_s:g}",
        "gap": f"{options.gap:g}",
        "scheme": network.policy.scheme,
        "survive": ", ".join(network.policy.survive),
    }
    if existing is not None:
        stated["existing"] = f"plan `{existing.name}` of US$ {existing.design.cost_usd:.0f}"
    return plan_file(
        network,
        stated,
        light.lines,
        lightpaths,
        answer,
        assessment,
        rows,
        assumptions_of(network, answer, jobs),
        saved(network, view, jobs),
        states,
    )


def _inherited(network: Network, old: Plan) -> Network:
    """The network in which an earlier plan is lit."""
    from dcplan.inherit import existing_of, having

    there = network.topology.existing
    return having(network, existing_of(old, removable=there is not None and there.removable), f"plan `{old.name}`")


def _assessed(
    network: Network, view: NetworkView, states: Sequence[State], jobs: Sequence[JobTraffic]
) -> tuple[Assessment, tuple[PlanRow, ...]]:
    """A design in every state, and the parallelism plans of each job on it."""
    from dcplan.assemble import rows_of
    from dcplan.assess.compare import compare
    from dcplan.assess.states import assess

    rows = [
        row
        for job in jobs
        for row in rows_of(job.plans, job.chosen, compare(network, job.plans, states, view.links_for(job)))
    ]
    return assess(network, view, states, jobs), tuple(rows)


def _traffic(
    network: Network, states: Sequence[State]
) -> tuple[tuple[JobTraffic, ...], tuple[Demand, ...]] | Infeasible:
    """What jobs and fixed services ask in every state."""
    from dcplan.design.result import Infeasible
    from dcplan.design.traffic import fixed_demands, job_traffic

    jobs: list[JobTraffic] = []
    for job in network.jobs:
        found = job_traffic(network, job, states)
        if isinstance(found, Infeasible):
            return found
        jobs.append(found)
    asked = [demand for job in jobs for demand in job.demands]
    return tuple(jobs), (*asked, *fixed_demands(network, states))


def open_plan(path: Path) -> Plan:
    """The plan in a file, `-` for stdin. UsageError when it cannot be read or is no plan file of this version."""
    import sys

    from dcplan.planfile import loads

    try:
        return loads(sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8"), str(path))
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
    from dcplan.assemble import inputs_of

    return sorted(inputs_of(network).values()) == sorted(made.inputs.values())


def _asked_gap(made: Plan) -> float | None:
    """The relative gap that a plan was asked to reach; none where the plan does not say it."""
    try:
        return float(made.options.get("gap", ""))
    except ValueError:
        return None


def verify(network: Network, made: Plan) -> tuple[str, ...]:
    """What does not hold of a plan; nothing when all of it holds.

    The design is checked by addition, without its program and without a solver. Sites, fibers, lines, link budgets,
    demands, the assessment and the comparison of parallelism plans are worked out anew and compared. Each wavelength
    closes among the channels that are lit beside it, whatever their widths.
    """
    from dcplan.assemble import circuits_of, fibers_of, sites_of, states_of
    from dcplan.assess.as_lit import not_closing
    from dcplan.assess.view import NetworkView
    from dcplan.design.circuits import lightpaths_of
    from dcplan.design.result import Infeasible
    from dcplan.design.verify import verify as check_design
    from dcplan.inherit import having
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
    light = optics(network)
    lightpaths = (*light.lightpaths, *lightpaths_of(network))
    traffic = _traffic(network, states)
    if isinstance(traffic, Infeasible):
        return (traffic.reason,)
    jobs, demands = traffic
    compared: list[tuple[str, object, object]] = [
        ("sites", sites_of(network), made.sites),
        ("fibers", fibers_of(network), made.fibers),
        ("circuits", circuits_of(network), made.circuits),
        ("lines", light.lines, made.lines),
        ("link budgets", lightpaths, made.lightpaths),
        ("demands", demands, made.design.demands),
        ("states", states_of(states), made.states),
    ]
    faults = check_design(network, light.lines, lightpaths, demands, states, made.design, _asked_gap(made))
    if not faults:
        assessment, rows = _assessed(network, NetworkView(lightpaths, made.design), states, jobs)
        compared += [("assessment", assessment, made.assessment), ("parallelism plans", rows, made.plans)]
    wrong = [
        f"the {what} of the plan are not what the topology gives"
        for what, anew, old in compared
        if not alike(anew, old)
    ]
    if wrong or faults:
        return (*wrong, *faults)
    return not_closing(network, light.lines, lightpaths, made.design)
