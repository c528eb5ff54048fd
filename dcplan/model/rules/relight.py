"""Code 225: what scheme relight cannot be planned with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import adding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network

EXISTING = Rule(
    "DCP225",
    "relight-existing",
    Severity.ERROR,
    "Scheme `relight` buys transponders by site and tunes them to other fibers in a failure; it is not planned around"
    " what is lit already. Leave out `existing`, or use scheme `reroute`.",
    adding("existing: {fibers: {north: {pairs: 1}}}\npolicy: {scheme: relight}\n"),
    adding("existing: {fibers: {north: {pairs: 1}}}\npolicy: {scheme: reroute}\n"),
)
RULES = (EXISTING,)


def check(network: Network) -> list[Finding]:
    """What is lit already under scheme relight."""
    return [*_existing(network)]


def _existing(network: Network) -> Iterator[Finding]:
    if network.policy.scheme == "relight" and network.topology.existing is not None:
        span = network.document.locate(("policy", "scheme"))
        message = "scheme `relight` is not planned around what is lit already"
        yield Finding(EXISTING, span, message, "leave out `existing`, or use scheme `reroute`")
