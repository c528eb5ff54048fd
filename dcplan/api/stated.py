"""How a plan says that it was made: what was asked of the solver, and of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network
    from dcplan.planfile import Plan


def options_faults(network: Network, made: Plan) -> Iterator[str]:
    """Options of a plan that are not those of the topology, or are no numbers where they should be."""
    from dcplan.design.given.network import OBJECTIVES

    said = made.options
    if said.get("scheme") != made.design.scheme or said.get("survive") != ", ".join(network.policy.survive):
        yield "scheme or promises among the options are not those of design and topology"
    if "fixed" in said:
        if said["fixed"] != NOTHING_BOUGHT or said.get("objective") not in OBJECTIVES:
            yield "the options are not those of a network that is taken as it is"
        return
    if said.get("solver") != made.design.proof.solver:
        yield f"the solver asked for was {said.get('solver')}, the proof is by {made.design.proof.solver}"
    numbers = [said.get("gap", ""), *(said[key] for key in ("max_nodes",) if key in said)]
    numbers += [said.get("time_limit_s", "")] if said.get("time_limit_s") != "none" else []
    if not all(map(_is_number, numbers)):
        yield "gap, time or node limit among the options are no numbers"


NOTHING_BOUGHT = "nothing is bought"
"""What a plan says that was made of a network as it is."""


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False
