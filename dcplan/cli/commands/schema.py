"""`dcplan schema`: the JSON Schema of a file, for editors and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dcplan.cli import terminal


def run(
    what: Annotated[Literal["topology", "plan"], typer.Argument(help="Which file.")] = "topology",
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to a file; - is stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Print the JSON Schema of a topology or plan file."""
    import json

    from dcplan.api import reference

    terminal.emit(json.dumps(reference.schema(what), indent=1, ensure_ascii=False), output, force=force)
