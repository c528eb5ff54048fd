"""`dcplan steps`: every parallelism plan of every job, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal
from dcplan.cli.codes import NO, OK
from dcplan.cli.progress import progress
from dcplan.errors import UsageError

EPILOG = "Example: dcplan steps topologies/two-campus.yaml --gbps 1600"


def run(
    file: Annotated[Path, typer.Argument(help="Topology file; - is stdin.")],
    *,
    gbps: Annotated[
        float | None,
        typer.Option(min=0.001, help="Rate between any two sites of a job, each way [Gb/s]; else unlimited."),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(help="Rank by: step, cost (tokens per US$), memory, bytes."),
    ] = None,
    pareto: Annotated[bool, typer.Option("--pareto", help="Print the plans that no other one beats.")] = False,
    pin: Annotated[
        list[str] | None,
        typer.Option(help="Keys that the search of `plans: auto` keeps to: tp=8,across=dp; any key of a plan."),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="PLAN", help="Show each term of the step of this plan with its formula and its inputs."),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here instead of stdout.")] = None,
) -> int:
    """Print the parallelism plans of all jobs, best first, also those that do not fit and why.

    `plans: auto` searches all that there are, and prints the best of each size and of each objective. Without a
    designed network: every two sites of a job have the rate given, at the latency that a plan would be sized for; a
    collective that the file leaves open is, for each plan, the one with the shortest step. With --explain one plan
    alone, term by term. Exit code 1 when a job has no plan that fits.
    """
    from dcplan import api
    from dcplan.report import explanation, explored, steps
    from dcplan.report.render import check_format, draw
    from dcplan.training.plans.pins import read_pins

    check_format(form)
    pins = read_pins(pin) if pin else None
    network = api.load(file)
    if explain is not None:
        if objective is not None or pareto:
            raise UsageError("--explain is about one plan, --objective and --pareto are about all: give one of them")
        one = api.explain_step(network, explain, gbps=gbps, pin=pins)
        shown, fits = explanation.view(network.topology.name, one), True
    elif objective is not None or pareto:
        with progress() as tell:
            found = api.explore(network, objective=objective or "step", gbps=gbps, pin=pins, progress=tell)
        shown = explored.view(network.topology.name, found, objective or "step", pareto=pareto)
        fits = all(each.explored.fitting for each in found)
    else:
        with progress() as tell:
            found = api.explore(network, gbps=gbps, pin=pins, progress=tell)
        rows = [row for each in found for row in each.compared]
        shown = steps.view(network.topology.name, rows, [each.explored for each in found if each.every])
        fits = all(each.explored.fitting for each in found)
    terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)), output, force=True)
    return OK if fits else NO
