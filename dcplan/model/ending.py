"""Where wavelengths may end: at sites that may regenerate, and where a job or a demand asks for traffic."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from dcplan.model.network import pair

if TYPE_CHECKING:
    from dcplan.model.network import FiberId, Network, Pair, SiteId
    from dcplan.model.schema import Circuit


def asking_pairs(network: Network) -> list[Pair]:
    """Pairs of sites between which a job or a fixed demand may ask for traffic, sorted."""
    asking = {pair(*demand.between) for demand in network.topology.demands.values()}
    for job in network.jobs.values():
        asking |= {pair(a, b) for a, b in combinations(sorted(job.accelerators), 2)}
    return sorted(ends for ends in asking if ends[0] != ends[1])


def ending_sites(network: Network) -> frozenset[SiteId]:
    """Sites at which a lightpath may end: with `regenerate`, or with traffic of their own."""
    own = {site for ends in asking_pairs(network) for site in ends}
    return frozenset(name for name, site in network.sites.items() if site.regenerate or name in own)


def crossable_sites(network: Network) -> frozenset[SiteId]:
    """Sites that traffic of others can cross: as light, or cut and started again."""
    ending = ending_sites(network)
    return frozenset(name for name, site in network.sites.items() if site.express or name in ending)


def usable_circuits(network: Network) -> dict[FiberId, Circuit]:
    """The circuits that can carry traffic: it can end, or change over, at both of their sites."""
    ending = ending_sites(network)
    return {name: circuit for name, circuit in network.circuits.items() if ending.issuperset(circuit.ends)}


def usable_edges(network: Network) -> frozenset[FiberId]:
    """The fibers, and the circuits that can carry traffic."""
    return frozenset((*network.fibers, *usable_circuits(network)))
