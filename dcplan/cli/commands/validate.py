"""`dcplan validate`: what is wrong with topology files, and where."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dcplan.cli import terminal
from dcplan.cli.codes import NO, OK, TROUBLE
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from dcplan.diagnostics import Finding

EPILOG = "Exit code 1 when a finding reaches --fail-on, 2 when a file cannot be read."


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|DIR...", help="Files, directories of *.yaml, or - for stdin.")
    ],
    form: Annotated[
        Literal["text", "concise", "json", "github"], typer.Option("--format", help="How findings are written.")
    ] = "text",
    fail_on: Annotated[
        Literal["error", "warning", "never"], typer.Option(help="The least severity that makes the answer no.")
    ] = "error",
) -> int:
    """Check topology files."""
    from dcplan import api
    from dcplan.diagnostics import Severity
    from dcplan.report import findings as report

    files = api.topology_files(paths)
    found: list[Finding] = []
    unreadable = 0
    for file in files:
        try:
            found += api.check([file])
        except UsageError as error:
            unreadable += 1
            terminal.say(f"dcplan: {error}")
    found = list(dict.fromkeys(found))
    terminal.emit(report.render(found, form, colour=terminal.colour(sys.stdout)))
    terminal.say(report.summary(found, len(files) - unreadable))
    if unreadable:
        return TROUBLE
    limit = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(fail_on)
    return NO if limit is not None and any(finding.severity >= limit for finding in found) else OK
