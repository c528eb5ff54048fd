"""A training job joined with the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.errors import DcplanError
from dcplan.training.site.fabric import Tier
from dcplan.training.site.machine import peak_tflops
from dcplan.training.step import Share, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.load import Catalog
    from dcplan.catalog.parts import Accelerator, Calibration
    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.schema import Site


def workload(network: Network, job_name: str) -> Workload:
    """The job with its model, its accelerators per site and their calibrations, in the order of the file.

    DcplanError where a number does not say which accelerators are meant, or where they lack the precision.
    """
    load = joined(network, job_name)
    if isinstance(load, str):
        raise DcplanError(f"job {job_name}: {load}")
    for share in load.shares:
        if peak_tflops(share, load.precision) is None:
            raise DcplanError(f"job {job_name}: {share.accelerator_id} has no {load.precision} peak in the catalog")
    return load


def joined(network: Network, job_name: str) -> Workload | str:
    """The same without a look at the precision; in words which accelerators are not clear."""
    job = network.jobs[job_name]
    shares = []
    for site, entry in job.accelerators.items():
        counts = by_type(network.sites[site], entry)
        if isinstance(counts, str):
            return f"{site}: {counts}"
        for name, count in counts.items():
            shares.append(_share(network, site, name, count, job.precision))
    return Workload(
        job=job_name,
        model=network.catalog.models[job.model],
        sequence_length=job.sequence_length,
        batch=sequences(job),
        precision=job.precision,
        gradient_bits=job.gradient_bits,
        attention=job.attention,
        expert_imbalance=job.expert_imbalance,
        split=job.split,
        shares=tuple(shares),
        transport=job.transport if job.transport and job.transport.said else None,
    )


def sequences(job: Job) -> int:
    """Sequences in a step: global_batch_tokens / sequence_length, rounded down; a rule asks that it divides."""
    return job.global_batch_tokens // job.sequence_length


def by_type(site: Site, entry: int | Mapping[str, int]) -> dict[str, int] | str:
    """Accelerators that a job takes in a site, by type; or in words why the site cannot give them.

    A number is enough where the site has one type.
    """
    if not isinstance(entry, int):
        return dict(entry)
    there = [name for name, count in site.accelerators.items() if count]
    if len(there) != 1:
        return f"a number is not enough, its accelerators are: {', '.join(there) or 'none'}"
    return {there[0]: entry}


def _share(network: Network, site: str, name: str, count: int, precision: str) -> Share:
    catalog, about = network.catalog, network.sites[site]
    part = catalog.accelerators[name]
    own = _own_calibration(catalog, part, precision)
    used = own or borrowed_calibration(catalog, part, precision)
    bf16 = None
    if precision != "bf16":
        bf16 = _own_calibration(catalog, part, "bf16") or borrowed_calibration(catalog, part, "bf16")
    tiers = tuple(Tier(tier.accelerators, tier.oversubscription) for tier in about.fabric)
    return Share(site, name, part, used, count, bf16, tiers, about.all_reduce)


def borrows(network: Network, load: Workload) -> bool:
    """Some of its accelerators have no calibration of their own, in its precision or in bf16 for what stays in that."""
    asked = ((share.accelerator, precision) for share in load.shares for precision in (load.precision, "bf16"))
    return any(_own_calibration(network.catalog, *one) is None for one in asked)


def _own_calibration(catalog: Catalog, part: Accelerator, precision: str) -> Calibration | None:
    """The calibration that the accelerator names, in the precision of the job: `x`, or `x-fp8`."""
    if part.calibration is None:
        return None
    for name in (part.calibration, f"{part.calibration}-{precision}"):
        found = catalog.calibrations.get(name)
        if found is not None and found.precision == precision:
            return found
    return None


def borrowed_calibration(catalog: Catalog, part: Accelerator, precision: str) -> Calibration:
    """The calibration of the nearest accelerator: same vendor first, then nearest year, then by id.

    What it was fitted on does not hold for another accelerator, so that list is dropped and evidence says
    extrapolated. DcplanError when the catalog has none in that precision.
    """
    found = []
    for name, other in sorted(catalog.accelerators.items()):
        calibration = _own_calibration(catalog, other, precision)
        if calibration is not None:
            stranger = not part.vendor or other.vendor != part.vendor
            years = abs((other.year or 0) - (part.year or 0)) if part.year else -(other.year or 0)
            found.append((stranger, years, name, calibration))
    if not found:
        raise DcplanError(f"the catalog has no calibration in {precision}")
    nearest = min(found, key=lambda entry: entry[:3])[3]
    return nearest.model_copy(update={"fitted_on": (), "fitted_accelerators": ()})
