"""`dcplan init`: a first topology file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.cli import terminal
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DEFAULT = "two-campus"
EPILOG = "Example: dcplan init ring metro.yaml"


def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[TEMPLATE] FILE", help=f"Template ({DEFAULT}), and file to write.")
    ] = None,
    *,
    listed: Annotated[bool, typer.Option("--list", help="List the templates.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a first topology file from a template."""
    templates = _templates()
    if listed:
        if names:
            raise UsageError("--list takes no TEMPLATE and no FILE")
        width = max(map(len, templates))
        lines = (f"{name:<{width}}  {_about(text)}" for name, text in templates.items())
        terminal.emit("\n".join(lines))
        return
    if not names or len(names) > 2:
        raise UsageError("give a file to write: `dcplan init [TEMPLATE] FILE`; `dcplan init --list` shows templates")
    template = names[0] if len(names) == 2 else DEFAULT
    if template not in templates:
        from dcplan.diagnostics import did_you_mean

        hint = did_you_mean(template, templates, "`dcplan init --list` shows all")
        raise UsageError(f"there is no template `{template}`: {hint}")
    target = names[-1]
    if len(names) == 1 and target in templates:
        raise UsageError(f"`{target}` is a template: name a file too, as in `dcplan init {target} {target}.yaml`")
    terminal.emit(templates[template].read_text(encoding="utf-8"), Path(target), force=force)
    if target != "-":
        terminal.say(f"wrote {target}; next: dcplan validate {target}")
        terminal.say("for completion in an editor: dcplan schema -o dcplan.schema.json, in the same folder")


def _templates() -> dict[str, Traversable]:
    """The shipped templates by name."""
    folder = files("dcplan.cli") / "templates"
    found = {entry.name.removesuffix(".yaml"): entry for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    return dict(sorted(found.items()))


def _about(template: Traversable) -> str:
    """The comment that opens a template, after the line for editors."""
    lines = template.read_text(encoding="utf-8").splitlines()
    return next(line.lstrip("# ") for line in lines if line.startswith("# ") and "yaml-language-server" not in line)
