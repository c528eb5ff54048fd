"""`dcplan plan --fixed`: what a network carries as it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dcplan.cli import terminal
from dcplan.cli.progress import progress
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dcplan.model.network import Network
    from dcplan.planfile import Plan


def check(*, fixed: bool, upgrade: bool, objective: str | None, others: Mapping[str, object]) -> None:
    """UsageError for flags that would have no effect. others: of the design -> what was given."""
    if not fixed and (upgrade or objective is not None):
        flag = "--upgrade" if upgrade else "--objective"
        raise UsageError(f"{flag} goes with --fixed")
    given = [flag for flag, value in others.items() if value is not None]
    if fixed and not upgrade and given:
        raise UsageError(f"{given[0]} has no effect with --fixed: its linear programs are solved to their end")


def show(network: Network, objective: str, existing: Plan | None, output: Path | None, form: str) -> int:
    """Route on what is lit and show it; the plan file, where everything is carried, goes to `output`."""
    from dcplan.api.standing import as_it_is
    from dcplan.design.result import Infeasible
    from dcplan.planfile import dumps
    from dcplan.report import infeasible, standing
    from dcplan.report.render import draw

    with progress() as tell:
        answer = as_it_is(network, objective=objective, existing=existing, progress=tell)
    width, colour = terminal.width(), terminal.colour(sys.stdout)
    if isinstance(answer, Infeasible):
        terminal.emit(draw(infeasible.view(answer, network.topology.name), form, width, colour=colour))
        return 1
    terminal.emit(draw(standing.view(answer), form, width, colour=colour))
    if output is not None and answer.plan is not None:
        terminal.emit(dumps(answer.plan), output, force=True)
        terminal.say(f"wrote {output}; `dcplan report {output}` prints all of it")
    elif output is not None:
        terminal.say(f"{output} is not written: no plan carries everything that is promised on what is lit")
    return 0 if answer.given.routing.whole else 1
