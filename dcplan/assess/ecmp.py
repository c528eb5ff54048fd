"""What would happen if routers spread traffic over all shortest paths (ECMP) in place of the routes of the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.model.graph import distances_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.result import Demand, Design, Wavelengths
    from dcplan.model.network import SiteId
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath

WEIGHTS = ("latency", "hops")
FULL = 1 + 1e-6
"""Load over capacity above which a link is overloaded."""


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """One direction of a link: the lightpaths between two sites that have the same weight."""

    source: SiteId
    target: SiteId
    lightpaths: tuple[str, ...]
    latency_ms: float
    """Of its slowest wavelength, one way [ms]."""
    load_gbps: float
    capacity_gbps: float

    @property
    def used(self) -> float:
        """Load over capacity."""
        return self.load_gbps / self.capacity_gbps


@dataclass(frozen=True, slots=True)
class LateDemand:
    """A demand some of whose shortest paths take longer than it allows."""

    demand: str
    latency_ms: float
    max_latency_ms: float


@dataclass(frozen=True, slots=True)
class EcmpState:
    """One state under ECMP."""

    state: str
    links: tuple[LinkLoad, ...]
    """Every link that carries something, each direction, the fullest first."""
    late: tuple[LateDemand, ...]
    parted: tuple[str, ...]
    """Demands between whose ends nothing is left."""

    @property
    def overloaded(self) -> tuple[LinkLoad, ...]:
        """The links that are asked to carry more than they can."""
        return tuple(link for link in self.links if link.used > FULL)

    @property
    def kept(self) -> bool:
        """Everything fits and is in time."""
        return not (self.overloaded or self.late or self.parted)


@dataclass(frozen=True, slots=True)
class Ecmp:
    """A plan under ECMP, state by state, healthy first."""

    weights: str
    states: tuple[EcmpState, ...]

    @property
    def kept(self) -> bool:
        """Everything fits and is in time in every state."""
        return all(state.kept for state in self.states)


@dataclass(frozen=True, slots=True)
class _Link:
    """What routers see as one link: lightpaths between two sites that have the same weight."""

    lightpaths: tuple[str, ...]
    weight: int
    latency_ms: float
    capacity_gbps: float


_Near = dict["SiteId", dict["SiteId", _Link]]
"""Site -> site at the other end -> the link of least weight; no shortest path takes another one."""


def ecmp(lightpaths: Sequence[Lightpath], design: Design, states: Sequence[State], weights: str = "latency") -> Ecmp:
    """Route every demand of every state over all shortest paths and add up what that puts on each link.

    weights: `latency`, the one-way latency of each lightpath in whole microseconds (the unit of RFC 8570); `hops`, 1
    for each. At each site a demand is split equally over the neighbours that lie on some shortest path to its end
    (RFC 2992); lightpaths between the same sites with the same weight are one link and share by capacity. Each
    direction by itself: the split from a to b is not the mirror of that from b to a. Nothing is solved: no path is
    enumerated, each demand is one Dijkstra search and one sweep over its sites.
    """
    paths = {path.id: path for path in lightpaths}
    return Ecmp(
        weights,
        tuple(
            _in_state(state, _near(paths, design.lit_in(state.name).wavelengths, state, weights), design.demands)
            for state in states
        ),
    )


def _near(paths: Mapping[str, Lightpath], wavelengths: Sequence[Wavelengths], state: State, weights: str) -> _Near:
    lit: dict[tuple[SiteId, SiteId, int], list[Wavelengths]] = {}
    for one in wavelengths:
        route = paths[one.lightpath].route
        if not state.breaks(route):
            weight = max(1, round(1000 * one.latency_ms)) if weights == "latency" else 1
            lit.setdefault((*route.ends, weight), []).append(one)
    near: _Near = {}
    for (a, b, weight), bundle in sorted(lit.items(), reverse=True):
        link = _Link(
            tuple(dict.fromkeys(one.lightpath for one in bundle)),
            weight,
            max(one.latency_ms for one in bundle),
            sum(one.count * one.rate_gbps for one in bundle),
        )
        near.setdefault(a, {})[b] = link  # the lightest comes last and stays
        near.setdefault(b, {})[a] = link
    return near


def _in_state(state: State, near: _Near, demands: Sequence[Demand]) -> EcmpState:
    load: dict[tuple[SiteId, SiteId], float] = {}
    late, parted = [], []
    for demand in demands:
        gbps = demand.gbps.get(state.name, 0.0)
        if gbps <= 0 or not state.sites.isdisjoint(demand.ends):
            continue
        for source, target in (demand.ends, demand.ends[::-1]):
            latency_ms = _spread(near, source, target, gbps, load)
        if latency_ms is None:
            parted.append(demand.id)
        elif demand.max_latency_ms is not None and latency_ms > demand.max_latency_ms * FULL:
            late.append(LateDemand(demand.id, latency_ms, demand.max_latency_ms))
    links = [
        LinkLoad(a, b, near[a][b].lightpaths, near[a][b].latency_ms, gbps, near[a][b].capacity_gbps)
        for (a, b), gbps in sorted(load.items())
    ]
    links.sort(key=lambda link: (-round(link.used, 9), link.source, link.target))
    return EcmpState(state.name, tuple(links), tuple(late), tuple(parted))


def _spread(
    near: _Near, source: SiteId, target: SiteId, gbps: float, load: dict[tuple[SiteId, SiteId], float]
) -> float | None:
    """Add one direction of a demand to the loads; the latency of its slowest shortest path [ms], none without one."""
    left = distances_from(lambda site: ((there, link.weight) for there, link in near.get(site, {}).items()), target)
    if source not in left:
        return None
    arriving, spent_ms = {source: gbps}, {source: 0.0}
    for site in sorted(left, key=lambda site: (-left[site], site)):
        if site not in arriving or site == target:
            continue
        ahead = [(there, link) for there, link in sorted(near[site].items()) if left[there] + link.weight == left[site]]
        part = arriving[site] / len(ahead)
        for there, link in ahead:
            load[site, there] = load.get((site, there), 0.0) + part
            arriving[there] = arriving.get(there, 0.0) + part
            spent_ms[there] = max(spent_ms.get(there, 0.0), spent_ms[site] + link.latency_ms)
    return spent_ms[target]
