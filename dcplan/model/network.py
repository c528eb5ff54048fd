"""A topology file that has been read, checked and joined with the catalog: what every engine works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcplan.geo import great_circle_km
from dcplan.units import LIGHT_M_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.catalog.load import Catalog
    from dcplan.catalog.parts import FiberType
    from dcplan.model.job import Job
    from dcplan.model.schema import Circuit, Fiber, Policy, Site, Topology
    from dcplan.model.source import Document

SiteId = str
FiberId = str
"""A fiber; in routes and states also a circuit, whose name is distinct from those of fibers."""
CIRCUIT_US_PER_KM = 4.9
"""One-way latency of a circuit whose length is known: solid core of group index 1.469 [µs/km]."""
Pair = tuple[SiteId, SiteId]
"""Two sites in sorted order."""


def pair(a: SiteId, b: SiteId) -> Pair:
    """The two sites in sorted order, so that a pair has one spelling."""
    return (a, b) if a <= b else (b, a)


@dataclass(frozen=True, slots=True)
class Route:
    """A walk over fibers: `sites[i]` and `sites[i+1]` are the ends of `fibers[i]`. No site twice."""

    sites: tuple[SiteId, ...]
    fibers: tuple[FiberId, ...]

    @property
    def ends(self) -> Pair:
        """Its two end sites, sorted."""
        return pair(self.sites[0], self.sites[-1])

    @property
    def through(self) -> tuple[SiteId, ...]:
        """The sites between its ends."""
        return self.sites[1:-1]

    @property
    def name(self) -> str:
        """Sites joined by the fibers between them, readable and unique."""
        steps = [self.sites[0]]
        for fiber, site in zip(self.fibers, self.sites[1:], strict=True):
            steps += [f"[{fiber}]", site]
        return " ".join(steps)


@dataclass(frozen=True, slots=True)
class Network:
    """A valid topology with its catalog. `document` keeps the position of everything in the file."""

    topology: Topology
    catalog: Catalog
    document: Document
    roadms: frozenset[SiteId] | None = None
    """Sites at which lit pairs end in ROADMs, where a design has decided that; at all others in multiplexers."""
    _at: Mapping[SiteId, list[tuple[FiberId, SiteId]]] = field(init=False, repr=False, compare=False)
    _edges_at: Mapping[SiteId, list[tuple[FiberId, SiteId]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fibers = {name: fiber.ends for name, fiber in self.fibers.items()}
        circuits = {name: circuit.ends for name, circuit in self.circuits.items()}
        object.__setattr__(self, "_at", _by_site(fibers))
        object.__setattr__(self, "_edges_at", _by_site(fibers | circuits))

    @property
    def sites(self) -> Mapping[SiteId, Site]:
        """Sites by name."""
        return self.topology.sites

    @property
    def fibers(self) -> Mapping[FiberId, Fiber]:
        """Fibers by name."""
        return self.topology.fibers

    @property
    def circuits(self) -> Mapping[FiberId, Circuit]:
        """Circuits by name."""
        return self.topology.circuits

    @property
    def edges(self) -> Mapping[FiberId, Fiber | Circuit]:
        """Fibers and circuits by name, fibers first."""
        return {**self.topology.fibers, **self.topology.circuits}

    @property
    def edge_kinds(self) -> str:
        """In words, what may join two sites of this network."""
        if self.circuits:
            return "fiber or circuit" if self.fibers else "circuit"
        return "fiber"

    @property
    def jobs(self) -> Mapping[str, Job]:
        """Jobs by name."""
        return self.topology.jobs

    @property
    def policy(self) -> Policy:
        """What is promised and assumed."""
        return self.topology.policy

    def fiber_type(self, fiber: FiberId) -> FiberType:
        """The catalog entry of a fiber."""
        return self.catalog.fibers[self.fibers[fiber].type]

    def fiber_latency_ms(self, fiber: FiberId) -> float:
        """One-way latency of light in a fiber [ms]: Σ length × group index / c over spans of one type."""
        cable, kind = self.fibers[fiber], self.fiber_type(fiber)
        if not any(span.type for span in cable.spans or ()):
            return cable.total_km * kind.group_index / LIGHT_M_PER_S * 1e6
        kinds = [(self.catalog.fibers[span.type or cable.type], span.length_km) for span in cable.spans or ()]
        return sum(kind.group_index * length_km for kind, length_km in kinds) / LIGHT_M_PER_S * 1e6

    def edge_latency_ms(self, edge: FiberId) -> float:
        """One-way latency of a fiber, or of a circuit: as given, or length × 4.9 µs/km [ms]."""
        circuit = self.circuits.get(edge)
        if circuit is None:
            return self.fiber_latency_ms(edge)
        return (circuit.length_km or 0.0) * CIRCUIT_US_PER_KM / 1000 + (circuit.latency_ms or 0.0)

    def great_circle_km(self, a: SiteId, b: SiteId) -> float:
        """Distance of two sites along the great circle [km]."""
        first, second = self.sites[a], self.sites[b]
        return great_circle_km(first.lat, first.lon, second.lat, second.lon)

    def neighbours(self, site: SiteId) -> Iterator[tuple[FiberId, SiteId]]:
        """Every fiber at a site with the site at its other end, in file order; parallel fibers each count."""
        return iter(self._at.get(site, ()))

    def edges_at(self, site: SiteId) -> Iterator[tuple[FiberId, SiteId]]:
        """Every fiber and then every circuit at a site with the site at its other end, in file order."""
        return iter(self._edges_at.get(site, ()))

    def shared_risk_groups(self) -> dict[str, tuple[FiberId, ...]]:
        """Shared-risk groups with their fibers and circuits, in file order."""
        groups: dict[str, list[FiberId]] = {}
        for name, edge in self.edges.items():
            for group in dict.fromkeys(edge.shared_risk):
                groups.setdefault(group, []).append(name)
        return {group: tuple(members) for group, members in groups.items()}


def _by_site(ends: Mapping[FiberId, list[SiteId]]) -> dict[SiteId, list[tuple[FiberId, SiteId]]]:
    at: dict[SiteId, list[tuple[FiberId, SiteId]]] = {}
    for name, (a, b) in ends.items():
        at.setdefault(a, []).append((name, b))
        if a != b:
            at.setdefault(b, []).append((name, a))
    return at
