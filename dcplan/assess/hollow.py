"""What hollow core saves in a plan: latency of each such fiber, and the step of each job, on the same routes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.states import HEALTHY
from dcplan.optics.hollow import saved_ms
from dcplan.training.engine import cross_site_gb, step_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.assess.view import NetworkView
    from dcplan.design.result import Flow
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Network


@dataclass(frozen=True, slots=True)
class FiberSaved:
    """A fiber with hollow core against the same length of solid fiber, one way."""

    fiber: str
    latency_ms: float
    solid_ms: float
    lit: bool


@dataclass(frozen=True, slots=True)
class JobSaved:
    """A job, healthy, against itself with the same routes in solid fiber."""

    job: str
    latency_ms: float
    """Longest route in use between two of its sites, one way [ms]."""
    solid_ms: float
    step_s: float | None
    solid_step_s: float | None
    """None where the job cannot run."""


@dataclass(frozen=True, slots=True)
class HollowCore:
    """What hollow core saves."""

    fibers: tuple[FiberSaved, ...]
    jobs: tuple[JobSaved, ...]


def saved(network: Network, view: NetworkView, jobs: Sequence[JobTraffic]) -> HollowCore | None:
    """The saving of each hollow-core fiber and of the chosen plan of each job; none without such a fiber.

    The job runs at the rates of the plan; only the latency of its flows becomes that of solid fiber, group index
    1.468, on the hollow-core part of the same routes.
    """
    less = {name: saved_ms(network, name) for name in network.fibers}
    hollow = [name for name, gain in less.items() if gain > 0]
    if not hollow:
        return None
    lit = {one.fiber for one in view.design.lit}
    fibers = tuple(
        FiberSaved(name, network.fiber_latency_ms(name), network.fiber_latency_ms(name) + less[name], name in lit)
        for name in hollow
    )
    route_less = {path.id: sum(less[fiber] for fiber in path.route.fibers) for path in view.lightpaths}

    def slower(flow: Flow) -> Flow:
        return replace(flow, latency_ms=flow.latency_ms + sum(route_less[path] for path in flow.lightpaths))

    routing = tuple(replace(one, flows=tuple(slower(flow) for flow in one.flows)) for one in view.design.routing)
    solid = replace(view, design=replace(view.design, routing=routing))
    return HollowCore(fibers, tuple(_job(job, view, solid) for job in jobs))


def _job(job: JobTraffic, view: NetworkView, solid: NetworkView) -> JobSaved:
    load, layout = job.plans.workload, job.chosen
    pattern = cross_site_gb(load, layout)
    links = [each.links_for(job)(HEALTHY, pattern) for each in (view, solid)]
    here, there = (step_time(load, layout, each).step_s for each in links)
    latency, longer = (max(each.latency_ms.values(), default=0.0) for each in links)
    return JobSaved(job.job, latency, longer, _finite(here), _finite(there))


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
