"""Code 228: what goes with scheme relight only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.promises import schemes_in_use
from dcplan.model.rules.examples import adding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network

SPARE = Rule(
    "DCP228",
    "spare-without-relight",
    Severity.ERROR,
    "Spare transponders (`existing.transponders`) serve in failures, when scheme `relight` tunes them to a fiber, be it"
    " for one job or demand only; the other schemes light nothing in a failure and have no use for them.",
    adding("existing: {transponders: {papillion: {800zr: 2}}}\npolicy: {scheme: reroute}\n"),
    adding("existing: {transponders: {papillion: {800zr: 2}}}\npolicy: {scheme: relight}\n"),
)
RULES = (SPARE,)


def check(network: Network) -> list[Finding]:
    """Spare transponders where nobody is under scheme relight."""
    return [] if "relight" in schemes_in_use(network) else list(_spare(network))


def _spare(network: Network) -> Iterator[Finding]:
    existing = network.topology.existing
    if existing is not None and existing.transponders:
        span = network.document.locate(("existing", "transponders"), of_key=True)
        message = "spare transponders are of no use where nobody is under scheme `relight`"
        yield Finding(SPARE, span, message, "leave them out, or use scheme `relight`, for some at least")
