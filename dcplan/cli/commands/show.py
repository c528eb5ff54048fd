"""`dcplan show`: a plan at a glance."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan show plan.json"


def run(
    plan: Annotated[Path, typer.Argument(help="Plan file; - is stdin.")],
    *,
    period: Annotated[str | None, typer.Option(help="Of a plan in periods: the network of this one alone.")] = None,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
) -> None:
    """Show a plan at a glance: five lines, what must not be overlooked, the main tables. Nothing is solved."""
    from dcplan import api
    from dcplan.api.growth import of_period
    from dcplan.report.render import check_format, render

    made = api.open_plan(plan)
    made = made if period is None else of_period(made, period)
    check_format(form)
    shown = render(made, form, terminal.width(), colour=terminal.colour(sys.stdout), main=True)
    terminal.emit(shown)
