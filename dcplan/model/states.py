"""The states of a network: healthy, and every failure that somebody is promised to survive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from dcplan.model.promises import KINDS, survived, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.network import FiberId, Network, Route, SiteId

MOST_STATES = 10_000
"""More promised failures are refused: a file that asks for them can name the pairs that matter instead."""


@dataclass(frozen=True, slots=True)
class State:
    """The healthy network, or one failure: what is gone. A failed site takes the fibers and circuits that end in it."""

    name: str
    fibers: frozenset[FiberId] = frozenset()
    """Fibers and circuits."""
    sites: frozenset[SiteId] = frozenset()
    kind: str = ""
    """What the file calls it: fiber, circuit, shared risk, site, failure, or two of a kind."""
    members: tuple[str, ...] = ()
    """The names of what fails."""

    @property
    def healthy(self) -> bool:
        """Nothing is gone."""
        return not self.fibers and not self.sites

    def breaks(self, route: Route) -> bool:
        """The failure takes a fiber or a site of the route."""
        return not self.fibers.isdisjoint(route.fibers) or not self.sites.isdisjoint(route.sites)

    def holds(self, other: State) -> bool:
        """Whatever the other failure takes, this one takes too."""
        return other.fibers <= self.fibers and other.sites <= self.sites


HEALTHY = State("healthy")


def promised_states(network: Network) -> tuple[State, ...]:
    """Healthy first, then each failure that the policy, a job or a demand promises to survive, in file order.

    A circuit counts as a fiber. One fiber, shared-risk group or site, then the file's own failures, then two of a kind.
    Failures that take the same are one state, under the name that comes first. With scheme `none` nothing is promised:
    only the healthy state.
    """
    return _states(network, survived(network))


def promised_to(network: Network, states: Sequence[State], survive: Sequence[str]) -> frozenset[str]:
    """Names of the states that somebody with this list of promises survives; healthy is one of them."""
    mine = {(state.fibers, state.sites) for state in _states(network, within(tuple(survive), network))}
    return frozenset(state.name for state in states if (state.fibers, state.sites) in mine)


def single_failures(network: Network) -> tuple[State, ...]:
    """Every loss of one fiber, one shared-risk group or one site, promised or not."""
    return _states(network, KINDS[:3])[1:]


def states_in(network: Network, promises: Sequence[str]) -> int:
    """How many failures these promises hold at most; those that take the same count each."""
    fibers, groups, sites = len(network.edges), len(network.shared_risk_groups()), len(network.sites)
    counts = dict(zip(KINDS, (fibers, groups, sites, comb(fibers, 2), comb(groups, 2), comb(sites, 2)), strict=True))
    return sum(counts.get(promise, 1) for promise in promises)


def site_state(network: Network, site: SiteId) -> State:
    """The loss of a site with every fiber and circuit that ends in it."""
    lost = frozenset(edge for edge, _ in network.edges_at(site))
    return State(f"site {site}", lost, frozenset([site]), "site", (site,))


def edge_state(network: Network, edge: FiberId) -> State:
    """The loss of a fiber or circuit."""
    kind = "fiber" if edge in network.fibers else "circuit"
    return State(f"{kind} {edge}", frozenset([edge]), kind=kind, members=(edge,))


def _states(network: Network, promises: Sequence[str]) -> tuple[State, ...]:
    found = {(HEALTHY.fibers, HEALTHY.sites): HEALTHY}
    names = {HEALTHY.name}
    for promise in promises:
        for state in _failures(network, promise):
            if (state.fibers, state.sites) not in found:
                one = _told_apart(state, names)
                names.add(one.name)
                found[state.fibers, state.sites] = one
    return tuple(found.values())


def _told_apart(state: State, taken: set[str]) -> State:
    """The state under a name that no other has: two fibers `a + b` and `c` are called as `a` and `b + c` are."""
    name, count = state.name, 1
    while name in taken:
        count += 1
        name = f"{state.name} ({count})"
    return state if count == 1 else replace(state, name=name)


def _failures(network: Network, promise: str) -> Iterator[State]:
    """What a promise says that may fail."""
    if promise == "any-fiber":
        yield from _fibers(network)
    elif promise == "any-shared-risk":
        yield from _groups(network)
    elif promise == "any-site":
        yield from _sites(network)
    elif promise == "any-two-fibers":
        yield from _two(_fibers(network))
    elif promise == "any-two-shared-risks":
        yield from _two(_groups(network))
    elif promise == "any-two-sites":
        yield from _two(_sites(network))
    else:
        yield named_failure(network, promise)


def _fibers(network: Network) -> list[State]:
    return [edge_state(network, name) for name in network.edges]


def _groups(network: Network) -> list[State]:
    return [
        State(f"shared risk {group}", frozenset(members), kind="shared risk", members=(group,))
        for group, members in network.shared_risk_groups().items()
    ]


def _sites(network: Network) -> list[State]:
    return [site_state(network, site) for site in network.sites]


def _two(states: Sequence[State]) -> Iterator[State]:
    for one, other in combinations(states, 2):
        members = one.members + other.members
        kind = f"{one.kind}s" if one.kind == other.kind else f"{one.kind} and {other.kind}"
        name = f"{kind} {' + '.join(members)}" if one.kind == other.kind else f"{one.name} + {other.name}"
        yield State(name, one.fibers | other.fibers, one.sites | other.sites, kind, members)


def named_failure(network: Network, name: str) -> State:
    """One of the file's own failures: its fibers, those of its shared-risk groups, its sites and what ends there."""
    about, groups = network.topology.failures[name], network.shared_risk_groups()
    lost = {*about.fibers, *(fiber for group in about.shared_risk for fiber in groups[group])}
    lost |= {edge for site in about.sites for edge, _ in network.edges_at(site)}
    return State(name, frozenset(lost), frozenset(about.sites), "failure", (name,))
