"""`dcplan optics`: what light can do on every fiber and route."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Examples: dcplan optics two-campus.yaml; dcplan optics us-midwest.yaml omaha chicago; dcplan optics FILE L12"


BRIEF_ABOVE = 20
"""Lightpath candidates above which each pair of sites shows its best, and no link budgets."""


def run(
    file: Annotated[Path, typer.Argument(help="Topology file; - is stdin.")],
    a: Annotated[str | None, typer.Argument(metavar="SITE|ID", help="Lightpaths of this site, or one by id.")] = None,
    b: Annotated[str | None, typer.Argument(metavar="SITE", help="Of those, the ones that end at this site.")] = None,
    *,
    sweep: Annotated[str | None, typer.Option("--sweep", metavar="launch", help="Each line over launch power.")] = None,
    load: Annotated[float | None, typer.Option("--load", metavar="PERCENT", help="Share of the band loaded.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All link budgets, however many there are.")] = False,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here instead of stdout.")] = None,
) -> int:
    """Print the span table of every fiber, and the link budget of lightpath candidates in every allowed mode.

    Of more than 20 candidates the best between each two sites are listed; name a site, two sites or a lightpath for
    their link budgets, or ask for --all. Exit code 1 when some fiber carries no mode at all.
    """
    from dcplan import api
    from dcplan.api import optical
    from dcplan.api.written import whole
    from dcplan.errors import UsageError
    from dcplan.optics.choice import best_per_pair, dark_fibers, lightpaths_of
    from dcplan.optics.limits import doubtful, fiber_types, left_out
    from dcplan.report.doubt import flagged
    from dcplan.report.optics import view
    from dcplan.report.render import check_format, draw

    check_format(form)
    network = api.load(file, despite=frozenset(["DCP501", "DCP504"]))  # a fiber that stays dark is an answer here
    if network.circuits and not network.fibers:
        raise UsageError(f"{file} has circuits and no fibers: there is no light to speak of")
    if load is not None:
        network = optical.at_load(network, load)
    names = [name for name in (a, b) if name is not None]
    if sweep is not None:
        from dcplan.report.launch import view as bathtub_view

        bathtubs = optical.sweep(network, sweep, names)
        shown = bathtub_view(network.topology.name, bathtubs)
        terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)), output, force=True)
        return 0 if any(one.closes for one in bathtubs) else 1
    found = optical.optics(network)
    brief = not names and not everything and len(found.lightpaths) > BRIEF_ABOVE
    meant = lightpaths_of(network, found.lightpaths, names) if names else found.lightpaths
    told = {path.id for path in (best_per_pair(meant) if brief else meant)}
    alone = {path.id for path in found.lightpaths if len(path.route.fibers) == 1 and not path.closing}
    lightpaths = whole(network, found.fibers, found.lightpaths, lambda path: path.id in told | alone)
    shown = view(
        network.topology.name,
        found.fibers.values(),
        lightpaths,
        unused=left_out(network),
        chosen=lightpaths_of(network, lightpaths, names) if names else None,
        brief=brief,
        saved_ms=optical.latency_saved_ms(network),
        load_percent=network.policy.load_percent,
    )
    shown = flagged(shown, doubtful(network), used=fiber_types(network))
    terminal.emit(draw(shown, form, terminal.width(), colour=terminal.colour(sys.stdout)), output, force=True)
    return 1 if dark_fibers(network, found.lightpaths) else 0
