"""`dcplan plan`: from a topology file to a proven plan."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcplan.cli import fixed as standing
from dcplan.cli import terminal
from dcplan.cli.codes import INTERRUPTED, NO, OK
from dcplan.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.diagnostics import Finding

UNPLANNABLE = frozenset({"DCP310", "DCP312", "DCP313", "DCP320", "DCP321", "DCP504"})
"""Findings that say that there is no plan: sites cut off or parted, limits below light, fibers without a mode."""
EPILOG = "Example: dcplan plan topologies/two-campus.yaml -o plan.json"


def _warned(file: Path, found: Sequence[Finding]) -> str:
    """How many warnings, and errors that were let pass, a file has."""
    errors = sum(finding.rule.code in UNPLANNABLE for finding in found)
    passed = f"{errors} {'error' if errors == 1 else 'errors'} let pass, " if errors else ""
    return f"{passed}{len(found) - errors} warnings: `dcplan validate {file}`"


def run(
    file: Annotated[Path, typer.Argument(help="Topology file; - is stdin.")],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the plan file here; stdout then has its main tables.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="What goes to stdout: text, markdown, or json (the plan file itself).")
    ] = "text",
    solver: Annotated[
        str, typer.Option(help="highs; or, where installed: cbc, scip, cpsat, gurobi, cplex, xpress, mosek.")
    ] = "highs",
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Longest time for the design problem [s]; else the file's.")
    ] = None,
    max_nodes: Annotated[
        int | None,
        typer.Option(min=1, help="Most branch-and-bound nodes, the same on every machine; then no time limit of 60 s."),
    ] = None,
    existing: Annotated[
        Path | None,
        typer.Option(help="Plan file of what is lit already; takes the place of `existing` in the topology file."),
    ] = None,
    gap: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Relative gap that counts as optimal; else the file's.")
    ] = None,
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Buy nothing: what does the network carry as it is, in each state?")
    ] = False,
    objective: Annotated[
        str | None,
        typer.Option(help="Of --fixed: fraction (largest common one of all demands), utilisation (least), latency."),
    ] = None,
    explain_infeasible: Annotated[
        bool,
        typer.Option(
            "--explain-infeasible",
            help="Where there is no plan: a set of which each is needed for that, and what helps.",
        ),
    ] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="After --fixed, plan what to add at least cost so that all is carried.")
    ] = False,
) -> int:
    """Plan a network: what to light, how traffic goes in every failure, how long a step then takes.

    Exit code 1 when there is no plan, when a job misses its target in a promised state, and with --fixed when not all
    that is promised is carried. Ctrl-C ends the search with the best plan so far and exit code 130; pressed twice, it
    gives up.
    """
    from dcplan import api
    from dcplan.api.growth import kept
    from dcplan.planfile import Plan, dumps
    from dcplan.report import infeasible
    from dcplan.report.render import check_format, draw, render

    check_format(form)
    terminal.ready(output, force=True)
    others = {"--solver": None if solver == "highs" else solver, "--time-limit": time_limit}
    others |= {"--max-nodes": max_nodes, "--gap": gap, "--explain-infeasible": explain_infeasible or None}
    standing.check(fixed=fixed, upgrade=upgrade, objective=objective, others=others)
    despite = UNPLANNABLE if explain_infeasible else frozenset[str]()
    network = api.load(file, despite=despite, warn=lambda found: terminal.say(_warned(file, found)))
    old = None if existing is None else api.open_plan(existing)
    if old is not None and network.topology.existing is not None:
        terminal.say(f"note: {existing} says what is lit already, not `existing` in {file}")
    if fixed and not (upgrade and form == "json"):
        code = standing.show(network, objective or "fraction", old, None if upgrade else output, form)
        if not upgrade:
            return code
        terminal.emit("\n")
    limits = partial(dict[str, Any], solver=solver, time_limit_s=time_limit, max_nodes=max_nodes, existing=old)
    with progress() as tell:
        answer = api.plan(network, **limits(gap=gap, progress=tell))
        if explain_infeasible and not isinstance(answer, Plan):
            answer = replace(answer, irreducible=api.reasons(network, **limits(progress=tell)))
    if explain_infeasible and isinstance(answer, Plan):
        terminal.say("note: there is a plan, so --explain-infeasible had nothing to explain")
    width, colour = terminal.width(), terminal.colour(sys.stdout)
    if not isinstance(answer, Plan):
        terminal.emit(draw(infeasible.view(answer, network.topology.name), form, width, colour=colour))
        return NO
    if output is not None and str(output) != "-":
        terminal.emit(dumps(answer), output, force=True)
        terminal.say(f"wrote {output}; `dcplan report {output}` prints all of it")
    if form == "json" or str(output) == "-":
        terminal.emit(dumps(answer))
    else:
        terminal.emit(render(answer, form, width, colour=colour, main=output is not None))
    if answer.design.proof.reason == "interrupted":
        return INTERRUPTED
    return OK if kept(answer) else NO
