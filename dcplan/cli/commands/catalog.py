"""`dcplan catalog`: the parts that ship with dcplan."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from dcplan.cli import terminal

EPILOG = "Without KIND, all kinds. Example: dcplan catalog fibers g654e"


def run(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="fibers, transponders, models, …")] = None,
    name: Annotated[str | None, typer.Argument(metavar="ID", help="One entry, with everything about it.")] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="How it is written.")] = "text",
) -> None:
    """Show the parts that ship with dcplan, their figures and sources."""
    from dcplan.api import reference
    from dcplan.report import catalog as report
    from dcplan.report.render import draw

    parts = reference.catalog(kind, name)
    if form == "json":
        terminal.emit(report.json(parts))
        return
    if kind is None:
        view = report.overview(parts)
    elif name is None:
        view = report.listing(kind, parts[kind])
    else:
        view = report.entry(kind, name, parts[kind][name])
    terminal.emit(draw(view, "text", terminal.width(), colour=terminal.colour(sys.stdout)))
