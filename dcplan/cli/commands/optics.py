"""`dcplan optics`: what light can do on every fiber and route."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan optics topologies/two-campus.yaml"


def run(
    file: Annotated[Path, typer.Argument(help="Topology file.")],
    *,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here instead of stdout.")] = None,
) -> int:
    """Print the span table of every fiber and the link budget of every lightpath candidate in every allowed mode.

    Exit code 1 when some fiber carries no mode at all.
    """
    from dcplan import api
    from dcplan.report.optics import view
    from dcplan.report.render import check_format, draw

    check_format(form)
    network = api.load(file, despite=frozenset(["DCP501", "DCP504"]))  # a fiber that stays dark is an answer here
    found = api.optics(network)
    shown = view(network.topology.name, found.fibers.values(), found.lightpaths)
    terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)), output, force=True)
    alone = {
        lightpath.route.fibers[0]
        for lightpath in found.lightpaths
        if len(lightpath.route.fibers) == 1 and lightpath.closing
    }
    return 0 if alone >= set(network.fibers) else 1
