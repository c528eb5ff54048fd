"""The step time of a layout on a view of the network, its inverse, and what is left when a site is lost."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.across.patterns import DIRECT
from dcplan.training.across.place import places
from dcplan.training.evidence import evidence
from dcplan.training.outer.tiers import without
from dcplan.training.pipeline.line import memory_of
from dcplan.training.remember import remembered
from dcplan.training.replica import taken
from dcplan.training.site.machine import peak_tflops
from dcplan.training.step import Layout, Links, Misfit, StepTime, Workload
from dcplan.training.terms import cross_site_gb, no_distance, quality_of, step_terms, whole_step
from dcplan.training.transport.links import usable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import Pair, SiteId

__all__ = ["cross_site_gb", "needed_rates", "one_site", "step_time", "without_sites"]

RATE_TOLERANCE = 1e-9
"""Relative width at which the search for needed rates stops."""


def step_time(workload: Workload, layout: Layout, links: Links) -> StepTime:
    """Time of one training step: m t_max + bubble + exposed collectives + exchange between sites + optimizer + fixed.

    t_max: one microbatch in the slowest stage, forward and backward, its TP, CP and EP collectives included [s].
    Sites that wait for a slower one show it as straggler. A pair without a path makes the step infinite.
    ValueError when a share does not hold whole ranks or stages, or lacks the precision.
    Source: Narayanan et al. 2021 (SC21) and Korthikanti et al. 2022 for the sum; each part is documented where it is
    made. MFU counts causal attention half, full attention whole and no recompute, over the peak in the job's precision.
    """
    links = usable(workload, layout, links)
    terms, extra, workers = whole_step(workload, layout, links)
    step_s = terms.total_s
    return StepTime(
        plan=layout.name,
        terms=terms,
        memory=memory_of(workload, layout, extra),
        cross_site_gb=cross_site_gb(workload, layout, workers),
        mfu_percent=_percent_s(workload) / step_s,
        tokens_per_s=workload.batch * workload.sequence_length / step_s,
        evidence=evidence(workload, layout),
        quality=quality_of(workload, layout, links, workers),
    )


@remembered
def _percent_s(workload: Workload) -> float:
    """A step that reached the peak of all accelerators would take a hundredth of it [s]."""
    flops = shapes.model_flops(workload.model, workload.sequence_length, workload.batch, workload.attention)
    peak = sum(share.count * (peak_tflops(share, workload.precision) or 0.0) for share in workload.shares) * 1e12
    return 100 * flops / peak


def one_site(workload: Workload, layout: Layout) -> StepTime:
    """The same plan with all accelerators in one site: what crosses sites goes over the scale-out network instead.

    That is the step time at infinite rate and no latency, where only the NICs limit the exchange, which is direct: no
    site is a hub where there is one site. Transport is that between sites, so none of it is left.
    """
    near = _side_by_side(workload)
    return step_time(near, layout, no_distance(near))


@remembered
def _side_by_side(workload: Workload) -> Workload:
    return replace(workload, collective=DIRECT, transport=None)


def needed_rates(
    workload: Workload, layout: Layout, latency_ms: Mapping[Pair, float], overhead_percent: float
) -> dict[Pair, float] | None:
    """The least rates between sites [Gb/s], proportional to the bytes of each pair, that keep the promised overhead.

    Rates are those on the wire, headers and what is sent again included. Overhead is step time over `one_site` minus
    one. Found by bisection on the common factor, for the step time never rises with rate; the returned rates keep the
    promise, rates smaller by 10⁻⁶ do not. None when not even infinite rates do, for latency alone costs more, or a
    pair has no path; empty when nothing crosses sites.
    """
    pairs = cross_site_gb(workload, layout)
    if not pairs:
        return {}
    if any(ends not in latency_ms for ends in pairs):
        return None
    limit = one_site(workload, layout).step_s * (1 + overhead_percent / 100)

    def holds(factor: float) -> bool:
        rates = {ends: size * factor for ends, size in pairs.items()}
        links = usable(workload, layout, Links(rates, latency_ms))
        return step_terms(workload, layout, links)[0].total_s <= limit

    if not holds(math.inf):
        return None
    high = 8 / limit  # all bytes in one step
    while not holds(high):
        high *= 2
        if high > 1e15:
            return None
    low = high / 2
    while holds(low):
        high, low = low, low / 2
    while high - low > RATE_TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return {ends: size * high for ends, size in pairs.items()}


def without_sites(workload: Workload, layout: Layout, lost: frozenset[SiteId]) -> tuple[Workload, Layout] | Misfit:
    """The job after the loss of sites: data parallel ranks elsewhere go on with the batch that each had.

    The batch shrinks to the share of ranks that is left. A pipeline over sites stops with any of its stages, and
    asynchronous training with the site of a parameter server.
    """
    left = tuple(share for share in workload.shares if share.site not in lost)
    if len(left) == len(workload.shares):
        return workload, layout
    gone = ", ".join(sorted({share.site for share in workload.shares} & lost))
    if not left:
        return Misfit(layout.name, "sites", f"the job has no accelerators outside {gone}")
    if layout.across in SPANNING:
        return Misfit(layout.name, "sites", f"members of every {layout.across} group are lost with {gone}")
    if layout.across == "pp":
        return Misfit(layout.name, "sites", f"stages of the pipeline are lost with {gone}")
    outer = layout.outer and without(layout.outer, lost)
    if outer is None and layout.outer:
        return Misfit(layout.name, "sites", f"a parameter server is lost with {gone}")
    kept = [
        (place.ranks, batch)
        for place, batch in zip(places(workload, layout), taken(workload, layout), strict=True)
        if place.share.site not in lost
    ]
    dp, batch = sum(ranks for ranks, _ in kept), layout.microbatch * sum(batch for _, batch in kept)
    several = len({share.site for share in left}) > 1
    smaller = replace(workload, shares=left, batch=batch)
    if not several:  # it trains on as any job in one site
        return smaller, replace(layout, dp=dp, across="none", outer=None)
    return smaller, replace(layout, dp=dp, outer=outer)
