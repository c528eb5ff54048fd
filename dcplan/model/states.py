"""The states of a network: healthy, and every failure that the policy promises to survive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.model.network import FiberId, Network, Route, SiteId


@dataclass(frozen=True, slots=True)
class State:
    """The healthy network, or one failure: what is gone. A failed site takes the fibers and circuits that end in it."""

    name: str
    fibers: frozenset[FiberId] = frozenset()
    """Fibers and circuits."""
    sites: frozenset[SiteId] = frozenset()

    @property
    def healthy(self) -> bool:
        """Nothing is gone."""
        return not self.fibers and not self.sites

    def breaks(self, route: Route) -> bool:
        """The failure takes a fiber or a site of the route."""
        return not self.fibers.isdisjoint(route.fibers) or not self.sites.isdisjoint(route.sites)


HEALTHY = State("healthy")


def promised_states(network: Network) -> tuple[State, ...]:
    """Healthy first, then each failure named in `policy.survive`: fibers, shared-risk groups, sites, in file order.

    A circuit counts as a fiber. A group whose loss equals that of a single fiber is the same state as that fiber and
    is listed once.
    With scheme `none` nothing is promised: only the healthy state.
    """
    if network.policy.scheme == "none":
        return (HEALTHY,)
    return _states(network, frozenset(network.policy.survive))


def single_failures(network: Network) -> tuple[State, ...]:
    """Every loss of one fiber, one shared-risk group or one site, promised or not."""
    return _states(network, frozenset(["any-fiber", "any-shared-risk", "any-site"]))[1:]


def _states(network: Network, survive: frozenset[str]) -> tuple[State, ...]:
    states = [HEALTHY]
    if "any-fiber" in survive:
        states += [State(f"fiber {name}", frozenset([name])) for name in network.fibers]
        states += [State(f"circuit {name}", frozenset([name])) for name in network.circuits]
    if "any-shared-risk" in survive:
        seen = {state.fibers for state in states}
        for group, members in network.shared_risk_groups().items():
            if frozenset(members) not in seen:
                seen.add(frozenset(members))
                states.append(State(f"shared risk {group}", frozenset(members)))
    if "any-site" in survive:
        states += [site_state(network, site) for site in network.sites]
    return tuple(states)


def site_state(network: Network, site: SiteId) -> State:
    """The loss of a site with every fiber and circuit that ends in it."""
    return State(f"site {site}", frozenset(edge for edge, _ in network.edges_at(site)), frozenset([site]))
