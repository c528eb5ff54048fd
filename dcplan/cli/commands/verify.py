"""`dcplan verify`: check a plan against its topology without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal

EPILOG = "Example: dcplan verify topologies/two-campus.yaml plan.json"


def run(
    file: Annotated[Path, typer.Argument(help="Topology file that the plan was made from.")],
    plan: Annotated[Path, typer.Argument(help="Plan file.")],
) -> int:
    """Check a plan anew: modes close, spectrum is free of clashes, every demand is routed in every state, costs add up.

    Nothing of the design engine's program or solver is used. Exit code 1 when anything does not hold.
    """
    from dcplan import api

    network = api.load(file)
    faults = api.verify(network, api.open_plan(plan))
    for fault in faults:
        terminal.emit(fault)
    if not faults:
        terminal.emit(f"{plan} holds: every promise was checked without a solver")
    return 1 if faults else 0
