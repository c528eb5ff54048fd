"""How often the states of a network come, from how often its fibers, circuits, sites and named failures fail."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from dcplan.model.states import HEALTHY, State, edge_state, named_failure, site_state
from dcplan.units import HOURS_PER_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.network import Network
    from dcplan.model.reliability import Failing

UNSEEN, MOST = 1e-5, 300
"""States are looked at, the likeliest first, until those that are left hold less of the time, or there are so many."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A state and how much of the time it has."""

    state: State
    share: float
    """Probability of the state at a time."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Something that fails by itself."""

    state: State
    failures_per_year: float
    repair_h: float

    @property
    def unavailable(self) -> float:
        """Share of the time in repair, λr / (1 + λr): up for 1/λ, then down for r on average."""
        down = self.failures_per_year * self.repair_h / HOURS_PER_YEAR
        return down / (1 + down)


def failing(network: Network) -> Iterator[tuple[str, str, Failing]]:
    """Everything in the file that may say how often it fails: section, name, entry."""
    topology = network.topology
    yield from (("fibers", name, about) for name, about in topology.fibers.items())
    yield from (("circuits", name, about) for name, about in topology.circuits.items())
    yield from (("sites", name, about) for name, about in topology.sites.items())
    yield from (("failures", name, about) for name, about in topology.failures.items())


def counts_failures(network: Network) -> bool:
    """Something is worked out from how often things fail: traffic between sites, or a job's expected goodput."""
    jobs = network.jobs.values()
    return bool(network.topology.demands) or any(len(job.accelerators) > 1 or job.reliability for job in jobs)


def risks(network: Network) -> tuple[Risk, ...]:
    """Everything that says how often it fails, with what it takes."""
    found = []
    for section, name, about in failing(network):
        if about.failures_per_year and about.repair_h:
            if section == "sites":
                state = site_state(network, name)
            else:
                state = named_failure(network, name) if section == "failures" else edge_state(network, name)
            found.append(Risk(state, about.failures_per_year, about.repair_h))
    return tuple(found)


def outages(known: Sequence[State], at_risk: Sequence[Risk]) -> tuple[Outage, ...]:
    """The states of a network by their share of time, none, one or two failures at once, the likeliest first.

    Failures are independent: P = Π u_i Π (1 − u_j) over what is down and what is up. Sets that take the same are one
    state, under its known name where it has one. It ends at `UNSEEN` or `MOST`.
    """
    none = prod(1 - risk.unavailable for risk in at_risk)
    single = [(risk.state, risk.unavailable / (1 - risk.unavailable)) for risk in at_risk]
    found: dict[tuple[frozenset[str], frozenset[str]], Outage] = {}
    names = {(state.fibers, state.sites): state for state in known}
    alone = [((HEALTHY,), none), *(((state,), none * odds) for state, odds in single)]
    both = [((a, b), none * odds * more) for (a, odds), (b, more) in combinations(single, 2)]
    for states, share in [*alone, *both]:
        taken = (frozenset().union(*(s.fibers for s in states)), frozenset().union(*(s.sites for s in states)))
        named = State(" + ".join(s.name for s in states), *taken)
        before = found.get(taken, Outage(names.get(taken, named), 0.0))
        found[taken] = Outage(before.state, before.share + share)
    left = 1.0
    kept: list[Outage] = []
    for outage in sorted(found.values(), key=lambda one: (-one.share, one.state.name)):
        if left < UNSEEN or len(kept) == MOST:
            break
        kept.append(outage)
        left -= outage.share
    return tuple(kept)
