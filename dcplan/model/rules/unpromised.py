"""Promises that change nothing: made twice, held by another, about what is not there, or never made to anyone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.outages import counts_failures
from dcplan.model.promises import WITHIN, asking, scheme_of, survived, survived_by
from dcplan.model.rules.promises import lists

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.network import Network
    from dcplan.model.source import Loc

NO_TRANSPONDERS = "circuits have no transponders that could be tuned to other fibers"


def promises_without_effect(network: Network) -> Iterator[tuple[Loc, str]]:
    """Where such a promise, scheme or failure stands, and why it has no effect."""
    yield from _policy(network)
    yield from _own(network)
    for loc, promises in lists(network):
        yield from _in_list(network, loc, promises)
    made = survived(network)
    counted = counts_failures(network)
    for name, about in network.topology.failures.items():
        if name not in made and not (counted and about.failures_per_year):
            yield ("failures", name), "no `survive` that counts names it"


def _policy(network: Network) -> Iterator[tuple[Loc, str]]:
    """Keys of the policy that nobody is left to follow."""
    everyone = [about for _, _, about in asking(network)]
    if network.policy.scheme == "relight" and not network.fibers and survived(network):
        yield ("policy", "scheme"), NO_TRANSPONDERS
    if not survived(network):
        yield ("policy", "parted"), "no failure is promised"
    if not everyone:
        if network.policy.scheme == "none":
            yield ("policy", "survive"), "scheme `none` promises nothing"
        elif not network.policy.survive:
            yield ("policy", "scheme"), "`survive` is empty, so that nothing is promised"
        return
    if all(scheme_of(network, about) == "none" for about in everyone):
        yield ("policy", "survive"), "scheme `none` promises nothing"
    elif all(about.survive is not None or scheme_of(network, about) == "none" for about in everyone):
        yield ("policy", "survive"), "every job and demand has promises of its own, or none"
    followers = [about for about in everyone if about.scheme is None]
    if not followers:
        yield ("policy", "scheme"), "every job and demand has a scheme of its own"
    elif network.policy.scheme != "none" and not any(survived_by(network, about) for about in followers):
        yield ("policy", "scheme"), "`survive` is empty, so that nothing is promised"


def _own(network: Network) -> Iterator[tuple[Loc, str]]:
    """Keys of a job or demand that its own others leave nothing to do."""
    for section, name, about in asking(network):
        if section == "jobs" and len(network.jobs[name].accelerators) == 1:
            why = "the job stays in one site"
        elif section == "demands" and network.topology.demands[name].under_failure_percent == 0:
            why = "0 % is promised under failure"
        else:
            if scheme_of(network, about) == "none":
                yield (section, name, "survive"), "scheme `none` promises nothing"
            elif not survived_by(network, about):
                yield (section, name, "scheme"), "`survive` is empty, so that nothing is promised"
            elif about.scheme == "relight" and not network.fibers:
                yield (section, name, "scheme"), NO_TRANSPONDERS
            continue
        yield (section, name, "survive"), why
        yield (section, name, "scheme"), why


def _in_list(network: Network, loc: Loc, promises: Sequence[str]) -> Iterator[tuple[Loc, str]]:
    fibers, groups, sites = len(network.edges), len(network.shared_risk_groups()), len(network.sites)
    there = {"fibers": fibers, "shared-risks": groups, "sites": sites, "shared-risk": groups}
    for i, promise in enumerate(promises):
        kind, two = promise.removeprefix("any-two-"), promise.startswith("any-two-")
        outer = next((other for other in promises if WITHIN.get(other) == promise), None)
        if promise in promises[:i]:
            yield (*loc, i), "it stands there twice"
        elif promise in ("any-shared-risk", "any-two-shared-risks") and not groups:
            yield (*loc, i), f"no {network.edge_kinds} names a shared-risk group"
        elif two and there[kind] == 1:
            yield (*loc, i), f"there is only one; `{WITHIN[promise]}` says the same"
        elif outer is not None:
            yield (*loc, i), f"`{outer}` holds it: two of them may fail, or one alone"
