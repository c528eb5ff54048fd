"""`dcplan import`: a topology file from the files of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan import gnpy topology.json --equipment eqpt_config.json -o network.yaml"


def run(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="gnpy: plain JSON of GNPy 3.")],
    topology: Annotated[Path, typer.Argument(help="Topology of the other program.")],
    *,
    equipment: Annotated[Path | None, typer.Option("--equipment", help="Its equipment library.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here; - is stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a topology file from the files of another program: sites, fibers, spans, amplifiers, ROADMs, modes.

    What cannot be expressed goes to stderr, an item a line.
    """
    from dcplan import api

    made = api.import_(form, topology, equipment)
    terminal.emit(made.text, output, force=force)
    for note in made.notes:
        terminal.say(f"note: {note}")
    if output is not None and str(output) != "-":
        terminal.say(f"wrote {output}; next: dcplan validate {output}")
