"""`dcplan accuracy`: predicted against published training runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan accuracy --set a100-sc21-table-1 --rows"


def run(
    *,
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only this set; may be given again.")] = None,
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", help="A TOML file with runs of your own; may be given again.")
    ] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Also every run of each set, with its source.")] = False,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here instead of stdout.")] = None,
) -> int:
    """Predict all published training runs that ship with dcplan, and say how far off each set is.

    Runs that constants were fitted on are counted apart from those that nothing was fitted on; Calculon's own error on
    the same runs stands beside ours. With --runs, runs of your own instead: a file like those in dcplan/accuracy/data.
    Exit code 1 when an efficiency over several sites is predicted below a bound that
    was reached.
    """
    from dcplan import api
    from dcplan.report.accuracy import view
    from dcplan.report.render import check_format, draw

    check_format(form)
    found = api.accuracy(sets or (), runs or ())
    shown = view(found, rows=rows)
    terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)), output, force=True)
    return 1 if any(one.missed() for one in found) else 0
