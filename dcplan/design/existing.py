"""What is lit already, as the design takes it: how many of what, where channels stand, and how to check them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.model import grid
from dcplan.model.ending import usable_circuits
from dcplan.model.graph import walk
from dcplan.optics.existing import existing_modes, pairs_along

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dcplan.design.result import Design
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.optics.budget import Lightpath

Kind = tuple[tuple["FiberId", ...], str, str]
"""Fibers of a route, transponder or circuit, mode or module."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a channel stands: its first slot, and the pair that it takes on each fiber, from 0."""

    first_slot: int
    pairs: tuple[int, ...]


def pairs_lit(network: Network) -> dict[FiberId, int]:
    """Pairs of each fiber that are lit already."""
    existing = network.topology.existing
    return {name: about.pairs for name, about in existing.fibers.items()} if existing else {}


def pairs_kept(network: Network) -> dict[FiberId, int]:
    """Pairs of each fiber that stay lit, whatever they carry."""
    return {} if removable(network) else pairs_lit(network)


def counts(network: Network) -> dict[Kind, int]:
    """What is lit already, and modules that are leased already of circuits that can be used: how many of each kind."""
    existing, usable = network.topology.existing, usable_circuits(network)
    found: dict[Kind, int] = {
        (route.fibers, part, mode): count for (route, part, mode), count in existing_modes(network).items()
    }
    for name, circuit in usable.items():
        if circuit.existing_gbps:
            found[(name,), name, EXISTING] = 1
    for name, modules in existing.circuits.items() if existing else ():
        if name in usable:
            found |= {((name,), name, module): count for module, count in modules.items()}
    return found


def transponders_at(network: Network) -> dict[tuple[SiteId, str], int]:
    """Transponders by site and type that are there already: at both ends of what is lit, and spare ones."""
    existing = network.topology.existing
    found: dict[tuple[SiteId, str], int] = {}
    for site, parts in existing.transponders.items() if existing else ():
        for part, count in parts.items():
            found[site, part] = count
    for (route, part, _), count in existing_modes(network).items():
        for site in route.ends:
            found[site, part] = found.get((site, part), 0) + count
    return found


def removable(network: Network) -> bool:
    """What is lit already may be taken out."""
    existing = network.topology.existing
    return existing is not None and existing.removable


def places(network: Network, paths: Iterable[Lightpath], band: Band) -> dict[Kind, tuple[Place, ...]]:
    """Where the channels stand whose place the file gives, by kind, from low to high frequency."""
    existing = network.topology.existing
    width_ghz = {
        (path.route.fibers, budget.transponder, budget.mode): budget.width_ghz
        for path in (paths if existing else ())
        for budget in path.budgets
    }
    found: dict[Kind, list[Place]] = {}
    for lit in existing.wavelengths if existing else ():
        route = walk(network, lit.route)
        kind = (route.fibers if route else (), lit.transponder, lit.mode)
        if route is not None and kind in width_ghz:
            slots, pairs = grid.width_slots(width_ghz[kind]), pairs_along(lit, route)
            firsts = (band.first_slot(n, slots) for n in lit.n or ())
            found.setdefault(kind, []).extend(Place(first, pairs) for first in firsts if first is not None)
    return {kind: tuple(sorted(mine)) for kind, mine in found.items()}


def stands(network: Network, edge: FiberId) -> bool:
    """The route of a fiber is built, or a circuit set up, already."""
    existing = network.topology.existing
    return existing is not None and (edge in existing.fibers or edge in existing.circuits)


def faults(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """What is said to have been there was there; without `removable` all of it is there still, in its place."""
    there, kept = counts(network), not removable(network)
    lit = {(paths[one.lightpath].route.fibers, one.transponder, one.mode): one for one in design.wavelengths}
    for kind, one in lit.items():
        if one.existing != min(one.count, there.get(kind, 0)):
            yield f"{_named(kind)}: {one.existing} of {one.count} are said to be there, there are {there.get(kind, 0)}"
    for fiber in design.lit:
        was = pairs_lit(network).get(fiber.fiber, 0)
        if fiber.existing != min(fiber.pairs, was):
            yield f"{fiber.fiber}: {fiber.existing} pairs are said to be lit already, {was} were"
    if not kept:
        return
    for kind, count in there.items():
        if kind not in lit or lit[kind].count < count:
            yield f"{_named(kind)}: {count} are there already, {lit[kind].count if kind in lit else 0} are left"
    pairs = {fiber.fiber: fiber.pairs for fiber in design.lit}
    for name, was in pairs_lit(network).items():
        if pairs.get(name, 0) < was:
            yield f"{name}: {was} pairs are lit already, {pairs.get(name, 0)} are left"
    yield from _moved(network, paths, design)


def _moved(network: Network, paths: Mapping[str, Lightpath], design: Design) -> Iterator[str]:
    """Channels that stand no longer where they stood."""
    now = {
        (paths[one.lightpath].route.fibers, one.transponder, one.mode, one.first_slot, one.pairs)
        for one in design.channels
    }
    for kind, mine in places(network, paths.values(), design.band).items():
        for place in mine:
            if (*kind, place.first_slot, place.pairs) not in now:
                yield f"{_named(kind)}: the channel at slot {place.first_slot} stands there no longer"


def _named(kind: Kind) -> str:
    fibers, part, mode = kind
    return f"{part} {mode} on {', '.join(fibers)}"
