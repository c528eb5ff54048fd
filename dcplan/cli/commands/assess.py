"""`dcplan assess`: a plan in every failure, on its own routes or as routers would spread its traffic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Examples: dcplan assess plan.json; dcplan assess plan.json --ecmp --weights hops"


def run(
    plan: Annotated[Path, typer.Argument(help="Plan file; - is stdin.")],
    *,
    ecmp: Annotated[
        bool, typer.Option("--ecmp", help="Spread traffic equally over all shortest paths, as routers do.")
    ] = False,
    weights: Annotated[
        str | None, typer.Option(help="With --ecmp: what a path is measured by, latency (default) or hops.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
) -> int:
    """Show every state of a plan: what is left, what reroutes, how long a step of each job becomes. Nothing is solved.

    With --ecmp: which links would be overloaded, and which demands late, if routers split the traffic of each state
    over all shortest paths; the plan is sized for the routes that it names, which may be others.
    Exit code 1 when a demand or a job does not get what was promised in some state.
    """
    from dcplan import api
    from dcplan.errors import UsageError
    from dcplan.report import ecmp as spread
    from dcplan.report.render import check_format, draw
    from dcplan.report.view import states

    check_format(form)
    if weights is not None and not ecmp:
        raise UsageError("--weights says how --ecmp measures a path: give both")
    made = api.open_plan(plan)
    if ecmp:
        found = api.ecmp(made, weights or "latency")
        shown, kept = spread.view(made.name, found, every=form == "json"), found.kept
    else:
        shown, kept = states(made), made.assessment.kept
    terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)))
    return 0 if kept else 1
