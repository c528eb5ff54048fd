"""Codes 365 and 366: periods of growth follow one another, and each asks for no less than the last."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import adding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network
    from dcplan.model.source import Loc

_GROWING = (
    "policy:\n  years: 6\n  periods:\n    - {name: now, after_years: 0}\n"
    "    - {name: later, after_years: 3, demand_percent: 200, price_percent: 70}\n"
)

_LEASED = "circuits:\n  leased: {ends: [papillion, lincoln], length_km: 90, modules: {m: {gbps: 400, usd: 9000}}}\n"


def _but(was: str, now: str) -> str:
    if was not in _GROWING:
        raise ValueError(f"the example has no passage {was!r}")
    return adding(_GROWING.replace(was, now, 1))


ORDER = Rule(
    "DCP365",
    "periods-out-of-order",
    Severity.ERROR,
    "Periods stand in the order of time, begin before `policy.years` end and have names of their own. Each keeps what"
    " the earlier ones lit, so a period that asks for less than the one before buys nothing: leave it out.",
    _but("after_years: 3", "after_years: 7"),
    adding(_GROWING),
)
PRICED = Rule(
    "DCP366",
    "not-in-periods",
    Severity.ERROR,
    "The price of traffic on a circuit (`usd_per_gbps`) is for the whole horizon and cannot be shared out over"
    " periods.",
    adding(_GROWING + _LEASED.replace("}}}", "}}, usd_per_gbps: 5}")),
    adding(_GROWING + _LEASED),
)
RULES = (ORDER, PRICED)


def check(network: Network) -> list[Finding]:
    """Periods that do not follow one another, and what they cannot be priced with."""
    found = [Finding(ORDER, network.document.locate(loc), what, hint) for loc, what, hint in _order(network)]
    if network.policy.periods:
        found += [
            Finding(
                PRICED,
                network.document.locate(("circuits", name, "usd_per_gbps")),
                f"traffic on `{name}` has a price, and the policy has periods",
                "plan each period by itself, with `dcplan plan --existing`",
            )
            for name, circuit in network.circuits.items()
            if circuit.usd_per_gbps
        ]
    return found


def _order(network: Network) -> Iterator[tuple[Loc, str, str | None]]:
    policy = network.policy
    at: Loc = ("policy", "periods")
    names: set[str] = set()
    for i, period in enumerate(policy.periods):
        if period.name in names:
            yield (*at, i, "name"), f"two periods are called `{period.name}`", None
        names.add(period.name)
        if period.after_years >= policy.years:
            message = f"`{period.name}` begins after {period.after_years:g} years, the horizon is {policy.years:g}"
            yield (*at, i, "after_years"), message, "give `policy.years` a longer horizon"
    for i, (before, period) in enumerate(pairwise(policy.periods), 1):
        if period.after_years <= before.after_years:
            message = f"`{period.name}` does not begin after `{before.name}`"
            yield (*at, i, "after_years"), message, "list periods in the order of time"
        if period.demand_percent < before.demand_percent:
            message = f"`{period.name}` asks for less than `{before.name}`, whose network stays"
            yield (*at, i, "demand_percent"), message, "leave the period out: nothing would be bought in it"
