"""Codes 228 and 229: what goes with scheme relight only, and what it cannot be planned with."""

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
    "spare-without-relight",
    Severity.ERROR,
    "Spare transponders (`existing.transponders`) serve in failures, when scheme `relight` tunes them to a fiber; the"
    " other schemes light nothing in a failure and have no use for them.",
    adding("existing: {transponders: {papillion: {800zr: 2}}}\npolicy: {scheme: reroute}\n"),
    adding("existing: {transponders: {papillion: {800zr: 2}}}\npolicy: {scheme: relight}\n"),
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
    """Spare transponders without scheme relight, and demands on few routes under it."""
    return list(_few_routes(network) if network.policy.scheme == "relight" else _spare(network))


def _spare(network: Network) -> Iterator[Finding]:
    existing = network.topology.existing
    if existing is not None and existing.transponders:
        span = network.document.locate(("existing", "transponders"), of_key=True)
        message = f"spare transponders are of no use under scheme `{network.policy.scheme}`"
        yield Finding(EXISTING, span, message, "leave them out, or use scheme `relight`")


def _few_routes(network: Network) -> Iterator[Finding]:
    for section, name, about in asking(network):
        if about.max_paths is not None:
            span = network.document.locate((section, name, "max_paths"), of_key=True)
            message = "scheme `relight` does not hold traffic to few routes"
            yield Finding(FEW_ROUTES, span, message, "leave out `max_paths`, or use scheme `reroute`")
