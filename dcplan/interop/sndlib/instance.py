"""A network of SNDlib as its files say it, in the unit of the file."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

UNLIMITED = inf
"""What the files call UNLIMITED."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its place on the map, where it has one."""

    id: str
    place: tuple[float, float] | None
    """Longitude and latitude in degrees, or pixels."""


@dataclass(frozen=True, slots=True)
class Module:
    """Capacity that can be installed, in the unit of the file, at its cost."""

    capacity: float
    cost: float


@dataclass(frozen=True, slots=True)
class Link:
    """A link with what is there and what can be installed."""

    id: str
    ends: tuple[str, str]
    existing: Module
    routing_cost: float
    """Per unit of traffic."""
    setup_cost: float
    modules: tuple[Module, ...]


@dataclass(frozen=True, slots=True)
class Demand:
    """Traffic from one node to another; in undirected models between them."""

    id: str
    ends: tuple[str, str]
    value: float
    """Routing unit × number of units."""
    most_hops: float
    """Longest path [links]; infinite where the file says UNLIMITED."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A network file."""

    name: str
    unit: str
    """As the file says it: MBITPERSEC, BITSPERSEC; empty where it says nothing."""
    geographic: bool | None
    """Places are degrees; none where the file does not say."""
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    demands: tuple[Demand, ...]
    listed_paths: bool
    """The file lists admissible paths."""


def whole(instance: Instance, file: str) -> Instance:
    """The instance itself. UsageError where ids repeat, ends are no nodes, a figure is negative, nothing is there."""
    for what, items in (("node", instance.nodes), ("link", instance.links), ("demand", instance.demands)):
        _distinct(file, what, [item.id for item in items])
    nodes = {node.id for node in instance.nodes}
    ends = [("link", link.id, end) for link in instance.links for end in link.ends]
    ends += [("demand", demand.id, end) for demand in instance.demands for end in demand.ends]
    for what, name, end in ends:
        if end not in nodes:
            raise UsageError(f"{file}: {what} {name} ends at {end}, which is no node of the file")
    for link in instance.links:
        _sound(file, link)
    for demand in instance.demands:
        if not (isfinite(demand.value) and demand.value >= 0):
            raise UsageError(f"{file}: demand {demand.id} asks for {demand.value:g}")
    for what, items in (("link", instance.links), ("demand", instance.demands)):
        if not items:
            raise UsageError(f"{file}: there is no {what} in it, and so nothing to plan")
    return instance


def _sound(file: str, link: Link) -> None:
    figures = [link.existing.capacity, link.existing.cost, link.routing_cost, link.setup_cost]
    figures += [module.cost for module in link.modules]
    if not all(isfinite(figure) and figure >= 0 for figure in figures):
        raise UsageError(f"{file}: link {link.id} has a figure that is negative or without limit")
    if not all(module.capacity > 0 for module in link.modules):
        raise UsageError(f"{file}: link {link.id} has a module without capacity")


def _distinct(file: str, what: str, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise UsageError(f"{file}: {what} {name} stands there twice")
        seen.add(name)
