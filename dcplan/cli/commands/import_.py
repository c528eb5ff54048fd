"""`dcplan import`: a topology file from the files of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = (
    "Examples: dcplan import gnpy topology.json --equipment eqpt_config.json -o network.yaml; "
    "dcplan import sndlib polska.txt --model U-U-M-N-C-A-N-U -o polska.yaml"
)


def run(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="gnpy: plain JSON of GNPy 3; sndlib: text or XML; topohub: JSON.")
    ],
    source: Annotated[str, typer.Argument(metavar="FILE", help="Its topology; topohub: or a name, as sndlib/polska.")],
    *,
    equipment: Annotated[Path | None, typer.Option("--equipment", help="gnpy: its equipment library.")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="D-L-C-F-R-P-H-S", help="sndlib: the problem; else U-U-M-N-C-A-N-U."),
    ] = None,
    total_gbps: Annotated[
        float | None, typer.Option("--total-gbps", help="topohub: all demands together, each direction [Gb/s].")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here; - is stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a topology file from the files of another program.

    gnpy: sites, fibers, spans, amplifiers, ROADMs, modes. sndlib: nodes, links as circuits leased in modules, demands,
    and the problem as policy. topohub: nodes, links as fibers, demands scaled to a total.

    What cannot be expressed goes to stderr, an item a line.
    """
    from dcplan.api import exchange

    made = exchange.import_(form, source, equipment=equipment, model=model, total_gbps=total_gbps)
    terminal.emit(made.text, output, force=force)
    for note in made.notes:
        terminal.say(f"note: {note}")
    if output is not None and str(output) != "-":
        terminal.say(f"wrote {output}; next: dcplan validate {output}")
