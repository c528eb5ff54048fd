"""Codes 35x: what a plan would count as free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.promises import schemes_in_use
from dcplan.model.rules.examples import adding, with_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network
    from dcplan.model.source import Loc

FIBER = Rule(
    "DCP350",
    "free-fiber",
    Severity.WARNING,
    "A fiber with neither a lease nor a price of building costs nothing in the plan, however many pairs are lit."
    " Write `lease_usd_per_km_year: 0` for fiber of your own.",
    with_change(", lease_usd_per_km_year: 400", ""),
    with_change("lease_usd_per_km_year: 400", "lease_usd_per_km_year: 0"),
)
_OWN = (
    "gear:\n  allow: {transponders: [own]}\n  transponders:\n    own:\n      modes:\n"
    "        400g: {rate_gbps: 400, baud_gbd: 59.84, width_ghz: 75, required_osnr_db: 24}\n"
)
PART = Rule(
    "DCP351",
    "free-part",
    Severity.WARNING,
    "An allowed or own transponder or amplifier without a price is bought for nothing, and the plan will prefer it.",
    adding(_OWN),
    adding(_OWN + "  prices_usd: {own: 20000}\n"),
)

_LEASED = (
    "circuits:\n  leased: {ends: [papillion, lincoln], length_km: 90, modules: {m: {gbps: 400, usd: 9000}},"
    " usd_per_gbps: 5}\n"
)
TRAFFIC = Rule(
    "DCP352",
    "priced-traffic",
    Severity.ERROR,
    "Where traffic on circuits has a price, dcplan finds the cheapest routes only for traffic that is routed anew in a"
    " failure: scheme none or reroute.",
    adding(_LEASED + "policy: {scheme: one-plus-one}\n"),
    adding(_LEASED),
)

RULES = (FIBER, PART, TRAFFIC)
ROUTED = ("none", "reroute")
"""Schemes under which the healthy traffic takes the cheapest routes."""


def check(network: Network) -> list[Finding]:
    """Fibers and gear without a price; traffic whose price would not be followed."""
    return [*_fibers(network), *_parts(network), *_traffic(network)]


def _traffic(network: Network) -> Iterator[Finding]:
    other = next((scheme for scheme in schemes_in_use(network) if scheme not in ROUTED), None)
    for name, circuit in network.circuits.items():
        if circuit.usd_per_gbps and other is not None:
            span = network.document.locate(("circuits", name, "usd_per_gbps"), of_key=True)
            what = f"circuit `{name}` has a price of traffic, the scheme is {other}"
            yield Finding(TRAFFIC, span, what, "leave `usd_per_gbps` out, or choose `scheme: reroute`")


def _fibers(network: Network) -> Iterator[Finding]:
    for name, fiber in network.fibers.items():
        if fiber.lease_usd_per_km_year is None and fiber.build_usd_per_km is None:
            span = network.document.locate(("fibers", name), of_key=True)
            hint = "give `lease_usd_per_km_year` or `build_usd_per_km`; 0 says that it is free"
            yield Finding(FIBER, span, f"fiber `{name}` has no price and counts as free", hint)


def _parts(network: Network) -> Iterator[Finding]:
    gear, allow = network.topology.gear, network.topology.gear.allow
    kinds = {"transponders": allow.transponders, "amplifiers": allow.amplifiers, "appliances": allow.appliances}
    for kind, allowed in kinds.items():
        catalog, own = getattr(network.catalog, kind), getattr(gear, kind)
        places: list[tuple[str, Loc]] = [(name, ("gear", "allow", kind, i)) for i, name in enumerate(allowed or ())]
        places += [(name, ("gear", kind, name)) for name in own if allowed is None]
        for name, loc in places:
            if catalog[name].price_usd is None and name not in gear.prices_usd:
                span = network.document.locate(loc, of_key=name in own and loc[1] == kind)
                hint = f"write `gear.prices_usd: {{{name}: …}}`"
                yield Finding(PART, span, f"{kind.removesuffix('s')} `{name}` has no price and counts as free", hint)
