"""What a site says of its fabric and that changes no step: found by asking for the step without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding
from dcplan.model.rules.effect import NO_EFFECT
from dcplan.training.engine import one_site
from dcplan.training.layout import complete
from dcplan.training.site.machine import peak_tflops
from dcplan.training.step import Layout
from dcplan.training.workload import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network, SiteId
    from dcplan.training.step import Share, Workload

KEYS = {"fabric": (), "all_reduce": "auto"}
"""Keys of a site, with what they are where nothing is said."""
WHY = {
    "fabric": "no group of any plan is slower for it",
    "all_reduce": "no plan has an all-reduce in the site that it makes faster or slower; reduce-scatter and gather "
    "apart (sharding from 1 on, sequence_parallel) do not depend on it",
}


def check(network: Network) -> list[Finding]:
    """Keys of sites that change the step of no named plan; where a job has `plans: auto`, nothing is said."""
    return [finding for site in network.sites for key in KEYS for finding in _idle(network, site, key)]


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
