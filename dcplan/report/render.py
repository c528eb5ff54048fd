"""Any report in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.errors import UsageError
from dcplan.report import json, markdown, text
from dcplan.report.view import view

if TYPE_CHECKING:
    from dcplan.planfile import Plan
    from dcplan.report.sheet import View

FORMATS = ("text", "markdown", "json")
"""Formats of every report."""


def check_format(form: str) -> None:
    """UsageError unless it is one of `FORMATS`: to be asked before long work, not after it."""
    if form not in FORMATS:
        raise UsageError(f"there is no format `{form}` for this: choose {', '.join(FORMATS)}")


def draw(shown: View, form: str = "text", width: int = 80, *, colour: bool = False, main: bool = False) -> str:
    """A view in one of `FORMATS`; `main`: only the tables that matter at a glance. UsageError for another format."""
    check_format(form)
    if form == "text":
        return text.draw(shown, width, colour=colour, main=main)
    return markdown.draw(shown, main=main) if form == "markdown" else json.draw(shown, main=main)


def render(plan: Plan, form: str = "text", width: int = 80, *, colour: bool = False, main: bool = False) -> str:
    """The report of a plan in one of `FORMATS`."""
    return draw(view(plan), form, width, colour=colour, main=main)


def format_of(path: str, default: str = "text") -> str:
    """The format that a file name asks for by its suffix."""
    return {"md": "markdown", "markdown": "markdown", "json": "json", "txt": "text"}.get(
        path.rpartition(".")[2].lower(), default
    )
