"""What sites say of fabrics and accelerators that changes no step; and fabrics that are too small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.effect import NO_EFFECT
from dcplan.model.rules.examples import with_change
from dcplan.training.engine import one_site
from dcplan.training.layout import complete
from dcplan.training.site.machine import peak_tflops
from dcplan.training.step import Layout
from dcplan.training.workload import borrows, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network, SiteId
    from dcplan.training.step import Share, Workload


def _oversubscribed(times: int) -> str:
    fabric = f"fabric: [{{accelerators: 1024, oversubscription: {times}}}], accelerators: {{h100-sxm"
    return with_change("lon: -96.60, power_mw: 100, accelerators: {h100-sxm", f"lon: -96.60, power_mw: 100, {fabric}")


SCARCE = Rule(
    "DCP410",
    "fabric-sets-the-pace",
    Severity.WARNING,
    "Fabrics are built with uplinks for a tenth of their NICs or more. With less than a hundredth, the site is what a"
    " step waits for, whatever is between sites, and a job that goes on without it may be several times as fast.",
    _oversubscribed(200),
    _oversubscribed(7),
)
RULES = (SCARCE,)
SCARCE_FROM = 100
"""Oversubscription from which a site is asked about."""
KEYS = {"fabric": (), "all_reduce": "auto"}
"""Keys of a site, with what they are where nothing is said."""
BY_NEARNESS = ("vendor", "year")
"""Keys of an accelerator that tell how near it is to another."""
WHY = {
    "fabric": "no group of any plan is slower for it",
    "all_reduce": "no plan has an all-reduce in the site that it makes faster or slower; reduce-scatter and gather "
    "apart (sharding from 1 on, sequence_parallel) do not depend on it",
}


def check(network: Network) -> list[Finding]:
    """Fabrics that no site has, and keys of sites and of own accelerators that change the step of no named plan.

    Of the latter nothing is said where a job has `plans: auto`.
    """
    idle = [finding for site in network.sites for key in KEYS for finding in _idle(network, site, key)]
    scarce = [finding for site in network.sites for finding in _scarce(network, site)]
    return [*scarce, *idle, *_unasked(network)]


def _scarce(network: Network, site: SiteId) -> Iterator[Finding]:
    far = [name for name, job in network.jobs.items() if site in job.accelerators and len(job.accelerators) > 1]
    for number, tier in enumerate(network.sites[site].fabric):
        if far and tier.oversubscription >= SCARCE_FROM:
            message = (
                f"beyond {tier.accelerators:,} accelerators `{site}` has 1/{tier.oversubscription:g} of their NICs: "
                f"steps of {', '.join(far)} wait for it, and may be much shorter in a failure that takes it"
            )
            span = network.document.locate(("sites", site, "fabric", number, "oversubscription"))
            yield Finding(SCARCE, span, message, "7 between blocks of 3,072 is Llama 3's; check the units")


def _unasked(network: Network) -> Iterator[Finding]:
    """Keys of own accelerators by which the nearest calibration is found, where every job has those it needs."""
    loads = [joined(network, name) for name in network.jobs]
    if any(isinstance(load, str) or borrows(network, load) for load in loads):
        return
    why = "by it the nearest calibration is found, and no job needs another than those of its accelerators"
    for name, part in network.topology.gear.accelerators.items():
        for key in BY_NEARNESS:
            if key in part.model_fields_set:
                span = network.document.locate(("gear", "accelerators", name, key), of_key=True)
                yield Finding(NO_EFFECT, span, f"`{key}` has no effect: {why}", "leave it in as a note, or out")


def _idle(network: Network, site: SiteId, key: str) -> Iterator[Finding]:
    if key not in network.sites[site].model_fields_set:
        return
    here = [name for name, job in network.jobs.items() if site in job.accelerators]
    if not here:
        why = "no job runs there"
    elif any(_matters(network, name, site, key) for name in here):
        return
    else:
        why = WHY[key]
    yield Finding(
        NO_EFFECT, network.document.locate(("sites", site, key), of_key=True), f"`{key}` has no effect: {why}"
    )


def _matters(network: Network, job_name: str, site: SiteId, key: str) -> bool:
    """Some plan of the job takes another time without the key, or it is not known which plans there are."""
    job, load = network.jobs[job_name], joined(network, job_name)
    if isinstance(load, str) or any(peak_tflops(share, job.precision) is None for share in load.shares):
        return True  # another rule has told
    layouts = _layouts(job, load)
    without = replace(load, shares=tuple(_without(share, site, key) for share in load.shares))
    return not layouts or any(one_site(load, layout).terms != one_site(without, layout).terms for layout in layouts)


def _layouts(job: Job, load: Workload) -> list[Layout]:
    if isinstance(job.plans, str):
        return []
    found = [complete(name, plan, load) for name, plan in job.plans.items()]
    return [layout for layout in found if isinstance(layout, Layout)]


def _without(share: Share, site: SiteId, key: str) -> Share:
    return replace(share, **{key: KEYS[key]}) if share.site == site else share  # type: ignore[arg-type]
