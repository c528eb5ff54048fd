"""Who is promised what: the scheme of each job and demand, and the kinds of failure that it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.schema import Demand

KINDS = (
    "any-fiber",
    "any-shared-risk",
    "any-site",
    "any-two-fibers",
    "any-two-shared-risks",
    "any-two-sites",
)
"""Promises that every file can make; others are the names of its own `failures`."""
WITHIN = {"any-two-fibers": "any-fiber", "any-two-shared-risks": "any-shared-risk", "any-two-sites": "any-site"}
"""Two of a kind may fail, or one of them alone."""


def asking(network: Network) -> Iterator[tuple[str, str, Job | Demand]]:
    """Whoever asks for traffic: (`jobs` or `demands`, name, what stands there), jobs first, in file order."""
    for job, about in network.jobs.items():
        yield "jobs", job, about
    for name, demand in network.topology.demands.items():
        yield "demands", name, demand


def scheme_of(network: Network, about: Job | Demand) -> str:
    """How it survives failures: its own scheme, else the policy's."""
    return about.scheme or network.policy.scheme


def survived_by(network: Network, about: Job | Demand) -> tuple[str, ...]:
    """The failures it is promised to survive: its own list, else the policy's; none with scheme `none`."""
    if scheme_of(network, about) == "none":
        return ()
    return tuple(network.policy.survive if about.survive is None else about.survive)


def schemes_in_use(network: Network) -> tuple[str, ...]:
    """The schemes of all who are promised something, in file order; where nothing asks for traffic, the policy's."""
    asked = list(asking(network))
    mine = [scheme_of(network, about) for _, _, about in asked if survived_by(network, about)]
    return tuple(dict.fromkeys(mine if asked else [network.policy.scheme]))


def survived(network: Network) -> tuple[str, ...]:
    """Every promise that is made to anyone, with what it holds within it: kinds first, then `failures` by file order.

    Where nothing asks for traffic, the promises of the policy.
    """
    lists = [survived_by(network, about) for _, _, about in asking(network)]
    if not lists:
        lists = [() if network.policy.scheme == "none" else tuple(network.policy.survive)]
    return within({promise for each in lists for promise in each}, network)


def within(promises: set[str] | tuple[str, ...], network: Network) -> tuple[str, ...]:
    """The promises with those that they imply: one of a kind first, then own `failures`, then two of a kind."""
    made = {*promises, *(WITHIN[promise] for promise in promises if promise in WITHIN)}
    order = [*KINDS[:3], *network.topology.failures, *KINDS[3:]]
    return tuple(promise for promise in order if promise in made)
