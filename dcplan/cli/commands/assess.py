"""`dcplan assess`: a plan in every failure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan assess plan.json"


def run(
    plan: Annotated[Path, typer.Argument(help="Plan file; - is stdin.")],
    *,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
) -> int:
    """Show every state of a plan: what is left, what reroutes, how long a step of each job becomes. Nothing is solved.

    Exit code 1 when a demand or a job does not get what was promised in some state.
    """
    from dcplan import api
    from dcplan.report.render import check_format, draw
    from dcplan.report.view import states

    check_format(form)
    made = api.open_plan(plan)
    terminal.emit(draw(states(made), form, terminal.width(), colour=terminal.colour(sys.stdout)))
    return 0 if made.assessment.kept else 1
