"""`dcplan export`: a designed network for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal
from dcplan.cli.progress import progress

EPILOG = (
    "Without -o, all files of gnpy go to stdout as one JSON object by file name. "
    "Examples: dcplan export gnpy topologies/two-campus.yaml -o gnpy; dcplan export mps FILE -o FILE.mps"
)


def run(
    form: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="gnpy: topology, equipment, services for GNPy 3; mps, lp: the program."),
    ],
    file: Annotated[Path, typer.Argument(help="Topology file; - is stdin.")],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File, for gnpy a folder, to write into; - is stdout.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="TRANSPONDER:MODE", help="gnpy: whose full load; else what closes on most fibers."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="mps, lp: every state written out, in place of the master with its cuts.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> int:
    """Write the designed network for another program, or its program for another solver.

    gnpy: spans, amplifiers at their gains, launch powers, services. mps, lp: the integer program whose proof a plan
    rests on, with the meaning of each row and column in comments; its optimum is the cost of the plan within the gap
    [thousand US$]. Exit code 1 where there is no design.

    What cannot be said goes to stderr, an item a line.
    """
    import json
    import sys

    from dcplan import api
    from dcplan.api import exchange
    from dcplan.interop.exported import Exported

    if form != "gnpy":
        terminal.ready(output, force=force)
    network = api.load(file)
    with progress() as tell:
        made = exchange.export(network, form, mode=mode, whole=whole, progress=tell)
    if not isinstance(made, Exported):
        from dcplan.report import infeasible
        from dcplan.report.render import draw

        shown = infeasible.view(made, network.topology.name)
        terminal.emit(draw(shown, "text", terminal.width(), colour=terminal.colour(sys.stdout)))
        return 1
    if form != "gnpy":
        (text,) = made.files.values()
        terminal.emit(text, output, force=force)
    elif output is None or str(output) == "-":
        files = {name: json.loads(text) for name, text in made.files.items()}
        terminal.emit(json.dumps(files, indent=1, ensure_ascii=False))
    else:
        terminal.emit_all(made.files, output, force=force)
    if output is not None and str(output) != "-":
        terminal.say(f"wrote {output if form != 'gnpy' else f'{", ".join(made.files)} to {output}'}")
    for note in made.notes:
        terminal.say(f"note: {note}")
    return 0
