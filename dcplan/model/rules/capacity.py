"""Codes 33x: jobs against the accelerators of a site, and accelerators against its power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import WITH_JOB, with_change
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network, SiteId

ALL_IN_PUE = 1.2
"""Power usage effectiveness that the catalog's all-in power of an accelerator contains."""

TOO_MANY = Rule(
    "DCP330",
    "too-many-accelerators",
    Severity.ERROR,
    "All jobs of a file run at the same time; together they take more accelerators of a type than the site has.",
    with_change("{papillion: 8192", "{papillion: 20000"),
    WITH_JOB,
)
TOO_LITTLE_POWER = Rule(
    "DCP331",
    "too-little-power",
    Severity.ERROR,
    "The accelerators of the site draw more than its power: the sum of count x all-in power, taken from the catalog's"
    " PUE of 1.2 to the site's own `pue`. The all-in power holds server, network and cooling; accelerators without a"
    " published figure count as nothing.",
    with_change("power_mw: 100", "power_mw: 10"),
    WITH_JOB,
)
POP = Rule(
    "DCP332",
    "pop-with-accelerators",
    Severity.ERROR,
    "A pop is a place to switch, add, drop or regenerate; a site with accelerators is a datacenter.",
    with_change("papillion: {lat", "papillion: {kind: pop, lat"),
    with_change("papillion: {lat", "papillion: {kind: datacenter, lat"),
)

RULES = (TOO_MANY, TOO_LITTLE_POWER, POP)


def taken(network: Network, job: Job, site: SiteId) -> dict[str, int]:
    """Accelerators by type that a job takes at a site; a plain number means the only type there."""
    wanted = job.accelerators.get(site, {})
    if not isinstance(wanted, int):
        return wanted
    (only,) = (kind for kind, count in network.sites[site].accelerators.items() if count)
    return {only: wanted}


def site_power_mw(network: Network, site: SiteId) -> float:
    """Power that the accelerators of a site draw from the grid [MW].

    P = sum over types of count x all_in_w / 1.2 x pue. The catalog's all_in_w [W] holds a PUE of 1.2 (see its notes).
    """
    place = network.sites[site]
    known = network.catalog.accelerators
    all_in_w = sum(count * (known[kind].all_in_w or 0.0) for kind, count in place.accelerators.items())
    return all_in_w / ALL_IN_PUE * place.pue / 1e6


def check(network: Network) -> list[Finding]:
    """Sites that jobs overbook, sites that draw more than they have, pops with accelerators."""
    return [*_booked(network), *_power(network), *_pops(network)]


def _booked(network: Network) -> Iterator[Finding]:
    booked: dict[tuple[SiteId, str], dict[str, int]] = {}
    for name, job in network.jobs.items():
        for site in job.accelerators:
            for kind, count in taken(network, job, site).items():
                booked.setdefault((site, kind), {})[name] = count
    for (site, kind), jobs in booked.items():
        there, total = network.sites[site].accelerators[kind], sum(jobs.values())
        if total > there:
            last = list(jobs)[-1]
            who = f"job `{last}` takes" if len(jobs) == 1 else f"jobs {', '.join(f'`{job}`' for job in jobs)} take"
            message = f"{who} {total:,} {kind} at `{site}`, which has {there:,}"
            yield Finding(TOO_MANY, network.document.locate(("jobs", last, "accelerators", site)), message)


def _power(network: Network) -> Iterator[Finding]:
    for name, site in network.sites.items():
        drawn_mw = site_power_mw(network, name)
        if site.power_mw is not None and drawn_mw > site.power_mw:
            message = (
                f"the accelerators of `{name}` draw {significant(drawn_mw)} MW at a PUE of {site.pue:g},"
                f" more than the site's {significant(site.power_mw)} MW"
            )
            yield Finding(TOO_LITTLE_POWER, network.document.locate(("sites", name, "power_mw")), message)


def _pops(network: Network) -> Iterator[Finding]:
    for name, site in network.sites.items():
        if site.kind == "pop" and any(site.accelerators.values()):
            span = network.document.locate(("sites", name, "kind"))
            yield Finding(POP, span, f"site `{name}` is a pop and has accelerators", "leave `kind` out")
