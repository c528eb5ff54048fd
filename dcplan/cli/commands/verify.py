"""`dcplan verify`: check a plan against its topology without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import terminal
from dcplan.errors import UsageError

EPILOG = "Example: dcplan verify topologies/two-campus.yaml plan.json"


def run(
    file: Annotated[Path, typer.Argument(help="Topology file that the plan was made from; - is stdin.")],
    plan: Annotated[Path, typer.Argument(help="Plan file; - is stdin.")],
) -> int:
    """Check a plan anew: modes close, spectrum is free of clashes, every demand is routed in every state, costs add up.

    The design is checked by addition, without its program or solver; step times are worked out anew and compared.
    Exit code 1 when anything does not hold.
    """
    from dcplan import api

    if str(file) == str(plan) == "-":
        raise UsageError("only one of topology and plan can come from stdin")
    network, made = api.load(file), api.open_plan(plan)
    if not api.made_from(network, made):
        terminal.say("note: the files are not, byte for byte, those that the plan was made from")
    faults = api.verify(network, made)
    for fault in faults:
        terminal.emit(fault)
    if not faults:
        terminal.emit(f"{plan} holds: all of it was worked out anew")
    return 1 if faults else 0
