"""`dcplan explain`: what a finding means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dcplan.cli import terminal
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.diagnostics import Rule

EPILOG = "Without a code, all rules are listed. Example: dcplan explain DCP301"


def run(
    name: Annotated[str | None, typer.Argument(metavar="CODE|NAME", help="A code or the name of a rule.")] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="How it is written.")] = "text",
) -> None:
    """Explain a finding: why it matters, a bad file and a good one."""
    from dcplan import api
    from dcplan.report import rules as report

    every = api.all_rules()
    chosen = every if name is None else [_find(name, every)]
    if form == "json":
        terminal.emit(report.json(chosen))
    else:
        terminal.emit(report.listing(every) if name is None else report.text(chosen[0]))


def _find(name: str, every: Sequence[Rule]) -> Rule:
    known = {key: rule for rule in every for key in (rule.code, rule.name)}
    wanted = {key.casefold(): rule for key, rule in known.items()}
    if name.casefold() in wanted:
        return wanted[name.casefold()]
    from dcplan.diagnostics import did_you_mean

    raise UsageError(f"there is no rule `{name}`: {did_you_mean(name, known, '`dcplan explain` lists all')}")
