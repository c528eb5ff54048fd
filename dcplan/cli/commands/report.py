"""`dcplan report`: all of a plan, for people or programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Examples: dcplan report plan.json | less; dcplan report plan.json -o plan.md"


def run(
    plan: Annotated[Path, typer.Argument(help="Plan file; - is stdin.")],
    *,
    period: Annotated[str | None, typer.Option(help="Of a plan in periods: the network of this one alone.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="text, markdown or json; else by the name of the output, else text.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here; - is stdout.")] = None,
) -> None:
    """Print all of a plan: links, lightpaths, traffic, failures, parallelism, bill, what binds, assumptions."""
    from dcplan import api
    from dcplan.api.growth import of_period
    from dcplan.report.render import check_format, format_of, render

    chosen = form or format_of("" if output is None else output.name)
    made = api.open_plan(plan)
    made = made if period is None else of_period(made, period)
    check_format(chosen)
    to_stdout = output is None or str(output) == "-"
    width = terminal.width() if to_stdout else terminal.WIDTH_IN_A_PIPE
    colour = to_stdout and terminal.colour(sys.stdout)
    terminal.emit(render(made, chosen, width, colour=colour), output, force=True)
