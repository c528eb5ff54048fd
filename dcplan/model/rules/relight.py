"""Codes 228 and 229: what scheme relight cannot be planned with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.promises import asking
from dcplan.model.rules.examples import adding, with_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network

_ONE_ROUTE = with_change("gbps: 400", "gbps: 400, max_paths: 1")

EXISTING = Rule(
    "DCP228",
    "relight-existing",
    Severity.ERROR,
    "Scheme `relight` buys transponders by site and tunes them to other fibers in a failure; it is not planned around"
    " what is lit already. Leave out `existing`, or use scheme `reroute`.",
    adding("existing: {fibers: {north: {pairs: 1}}}\npolicy: {scheme: relight}\n"),
    adding("existing: {fibers: {north: {pairs: 1}}}\npolicy: {scheme: reroute}\n"),
)
FEW_ROUTES = Rule(
    "DCP229",
    "relight-max-paths",
    Severity.ERROR,
    "Scheme `relight` splits traffic over as many routes as it likes; `max_paths` is planned with scheme `reroute`.",
    adding("policy: {scheme: relight}\n", _ONE_ROUTE),
    adding("policy: {scheme: reroute}\n", _ONE_ROUTE),
)
RULES = (EXISTING, FEW_ROUTES)


def check(network: Network) -> list[Finding]:
    """What is lit already, and demands on few routes, under scheme relight."""
    return [*_existing(network), *_few_routes(network)] if network.policy.scheme == "relight" else []


def _existing(network: Network) -> Iterator[Finding]:
    if network.topology.existing is not None:
        span = network.document.locate(("policy", "scheme"))
        message = "scheme `relight` is not planned around what is lit already"
        yield Finding(EXISTING, span, message, "leave out `existing`, or use scheme `reroute`")


def _few_routes(network: Network) -> Iterator[Finding]:
    for section, name, about in asking(network):
        if about.max_paths is not None:
            span = network.document.locate((section, name, "max_paths"), of_key=True)
            message = "scheme `relight` does not hold traffic to few routes"
            yield Finding(FEW_ROUTES, span, message, "leave out `max_paths`, or use scheme `reroute`")
