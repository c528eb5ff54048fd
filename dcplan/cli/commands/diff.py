"""`dcplan diff`: what changed between two plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal
from dcplan.errors import UsageError

EPILOG = "Example: dcplan diff old.json new.json --format markdown > comment.md"


def run(
    old: Annotated[Path, typer.Argument(help="Plan file before; - is stdin.")],
    new: Annotated[Path, typer.Argument(help="Plan file after; - is stdin.")],
    *,
    form: Annotated[str, typer.Option("--format", help="text, markdown (a pull-request comment) or json.")] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here; - is stdout.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when the plans differ.")] = False,
) -> int:
    """Compare two plans: cost, capacity, proof, promises, step times, fibers, wavelengths, bill.

    Text and markdown are empty when nothing changed.
    """
    from dcplan import api
    from dcplan.report.diff import diff, render
    from dcplan.report.render import check_format

    check_format(form)
    if str(old) == str(new) == "-":
        raise UsageError("only one of the two plans can come from stdin")
    changed = diff(api.open_plan(old), api.open_plan(new))
    to_stdout = output is None or str(output) == "-"
    width = terminal.width() if to_stdout else terminal.WIDTH_IN_A_PIPE
    colour = to_stdout and terminal.colour(sys.stdout)
    terminal.emit(render(changed, form, width, colour=colour), output, force=True)
    if not changed:
        terminal.say("no difference")
    return 1 if changed and exit_code else 0
