"""In which states a job or demand is promised anything: those it survives, unless excused where they part its sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.model.ending import crossable_sites, usable_edges
from dcplan.model.promises import asking, survived_by
from dcplan.model.states import promised_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.model.job import Job
    from dcplan.model.network import Network, SiteId
    from dcplan.model.schema import Demand
    from dcplan.model.states import State


@dataclass(frozen=True, slots=True)
class Promises:
    """The promises of a network, state by state."""

    network: Network
    states: tuple[State, ...]
    by_list: Mapping[tuple[str, ...], frozenset[str]]
    """List of promises -> names of the states that it holds."""
    parts: Mapping[str, Mapping[SiteId, int]]
    """State -> the part in which each site lies that traffic can cross; only where `policy.parted` excuses."""

    @staticmethod
    def of(network: Network, states: Sequence[State]) -> Promises:
        """Read who survives what, and what each state parts."""
        lists = {survived_by(network, about) for _, _, about in asking(network)}
        by_list = {survive: promised_to(network, states, survive) for survive in sorted(lists)}
        excused = network.policy.parted == "excuse"
        parts = {state.name: _parts(network, state) for state in states} if excused else {}
        return Promises(network, tuple(states), by_list, parts)

    def made_to(self, about: Job | Demand) -> frozenset[str]:
        """Names of the states in which somebody is promised to be served, if none parts it."""
        return self.by_list[survived_by(self.network, about)]

    def kept_for(self, about: Job | Demand, sites: Iterable[SiteId]) -> tuple[State, ...]:
        """The states that are promised to somebody in these sites, without those that are excused; healthy is one."""
        mine, here = self.made_to(about), tuple(sites)
        return tuple(state for state in self.states if state.name in mine and not self._excused(state, here))

    def excused(self, about: Job | Demand, sites: Iterable[SiteId]) -> tuple[State, ...]:
        """The failures that part these sites, and are not held against the plan."""
        mine, here = self.made_to(about), tuple(sites)
        return tuple(state for state in self.states if state.name in mine and self._excused(state, here))

    def _excused(self, state: State, sites: Sequence[SiteId]) -> bool:
        parts = self.parts.get(state.name)
        if parts is None or state.healthy:
            return False
        return len({parts.get(site) for site in sites if site not in state.sites}) > 1


def excuses(network: Network, states: Sequence[State]) -> Iterator[tuple[str, tuple[State, ...]]]:
    """Jobs and demands whom promised failures part, and that are then promised nothing, with these failures."""
    promises = Promises.of(network, states)
    for section, name, about in asking(network):
        sites = network.jobs[name].accelerators if section == "jobs" else network.topology.demands[name].between
        lost = [state for state in promises.excused(about, sites) if section == "jobs" or state.sites.isdisjoint(sites)]
        if lost:
            yield f"{section[:-1]} {name}", tuple(lost)


def _parts(network: Network, state: State) -> dict[SiteId, int]:
    crossable, usable = crossable_sites(network) - state.sites, usable_edges(network) - state.fibers
    parts: dict[SiteId, int] = {}
    for first in network.sites:
        if first not in crossable or first in parts:
            continue
        parts[first], todo = len(parts), [first]
        while todo:
            for edge, site in network.edges_at(todo.pop()):
                if site in crossable and site not in parts and edge in usable:
                    parts[site] = parts[first]
                    todo.append(site)
    return parts
