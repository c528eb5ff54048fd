"""`dcplan export`: a designed network for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = (
    "Without -o, all files go to stdout as one JSON object by file name. "
    "Example: dcplan export gnpy topologies/two-campus.yaml -o gnpy"
)


def run(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="gnpy: topology, equipment and services for GNPy 3.")],
    file: Annotated[Path, typer.Argument(help="Topology file.")],
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write into; - is stdout.")] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="TRANSPONDER:MODE", help="Whose full load it holds for; else what closes on most fibers."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> None:
    """Write the designed network for another program: spans, amplifiers at their gains, launch powers, services.

    What the other program cannot say goes to stderr, an item a line.
    """
    import json

    from dcplan import api, exchange

    made = exchange.export(api.load(file), form, mode)
    if output is None or str(output) == "-":
        whole = {name: json.loads(text) for name, text in made.files.items()}
        terminal.emit(json.dumps(whole, indent=1, ensure_ascii=False))
    else:
        terminal.emit_all(made.files, output, force=force)
        terminal.say(f"wrote {', '.join(made.files)} to {output}")
    for note in made.notes:
        terminal.say(f"note: {note}")
