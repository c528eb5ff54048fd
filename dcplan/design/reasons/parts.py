"""Sites that a failure parts, in words: what lies on either side, and what was all that joined them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design.candidates import nothing_joins
from dcplan.model.ending import crossable_sites, usable_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.model.network import Network, SiteId
    from dcplan.model.states import State

NAMED = 4
"""Names that are listed; of more, these and how many others."""


def parted(network: Network, state: State, a: SiteId, b: SiteId) -> tuple[str, str]:
    """The limit and the reason where no route is left between two sites: `bridge` in a failure, else `no route`."""
    if state.healthy:
        return "no route", nothing_joins(network, a, b)
    sides = _reached(network, state, a), _reached(network, state, b)
    shown = " and ".join("{" + ", ".join(few(sorted(side))) + "}" for side in sides)
    return "bridge", f"after losing {state.name}, nothing joins {shown}: {_all_there_was(network, state, *sides)}"


def few(names: Sequence[str]) -> list[str]:
    """The names; of more than are worth reading the first, and how many others."""
    return list(names) if len(names) <= NAMED + 1 else [*names[:NAMED], f"{len(names) - NAMED} others"]


def shore_of(network: Network, sites: Sequence[SiteId]) -> tuple[SiteId, ...]:
    """A set of sites, or all others where these are fewer: both say the same of what must cross."""
    rest = tuple(sorted(set(network.sites) - set(sites)))
    return rest if 0 < len(rest) < len(sites) else tuple(sites)


def _reached(network: Network, state: State, start: SiteId) -> frozenset[SiteId]:
    """Sites that traffic of one can reach after a failure; none is crossed that lets nothing pass."""
    crossable, usable = crossable_sites(network) - state.sites, usable_edges(network) - state.fibers
    found, ahead = {start}, [start]
    while ahead:
        here = ahead.pop()
        if here != start and here not in crossable:
            continue
        for edge, there in network.edges_at(here):
            if edge in usable and there not in state.sites and there not in found:
                found.add(there)
                ahead.append(there)
    return frozenset(found)


def _all_there_was(network: Network, state: State, one: frozenset[SiteId], other: frozenset[SiteId]) -> str:
    if state.sites:
        return f"every way passes {' or '.join(sorted(state.sites))}"
    lost = [name for name in network.edges if name in state.fibers]
    if len(lost) == 1:
        return f"{lost[0]} is a bridge, the only way across"
    ends = {name: set(network.edges[name].ends) for name in lost}
    across = [name for name, both in ends.items() if both & one and both & other]
    return f"{' and '.join(few(across or lost))} fail together, and no other way leads across"
