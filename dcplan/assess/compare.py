"""Every parallelism plan of a job on the designed network, side by side, best first."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.states import HEALTHY
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.across.parts import SitePart, parts
from dcplan.training.across.sync import across_sites
from dcplan.training.engine import cross_site_gb, needed_rates, one_site, step_time
from dcplan.training.goodput.chain import Goodput, goodput
from dcplan.training.goodput.joined import losses_of
from dcplan.training.pipeline.line import by_speed
from dcplan.training.step import Layout, Links, StepTime
from dcplan.training.transport.links import on_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.traffic import JobPlans
    from dcplan.model.network import Network, Pair
    from dcplan.model.states import State
    from dcplan.training.step import Workload
    from dcplan.training.transport.carried import Carried

    LinksIn = Callable[[State, Mapping[Pair, float]], Links]


@dataclass(frozen=True, slots=True)
class Compared:
    """One parallelism plan: alone in one site, on the network healthy, and in its worst promised failure."""

    layout: Layout
    collective: str
    """How its sites sum gradients; empty where they are fewer than three, or do not."""
    alone: StepTime
    healthy: StepTime
    overhead_worst_percent: float | None
    needed_gbps: float | None
    """Largest rate over pairs of sites at which the healthy target holds; none where no rate is enough [Gb/s]."""
    goodput: Goodput | None
    """What is left of its healthy speed, failures of sites and network apart; none where the file asks for none."""
    parts: tuple[SitePart, ...]
    """Of each site, where accelerators are not alike."""
    equal_s: float | None
    """The step on the healthy network in equal parts; none where they are equal [s]."""
    transport: tuple[Carried, ...]
    """Each pair of sites healthy, then in the promised failure that leaves it least, where that is less."""

    @property
    def overhead_percent(self) -> float:
        """Of the healthy network [%]."""
        return 100 * (self.healthy.step_s / self.alone.step_s - 1)

    @property
    def rank(self) -> tuple[bool, float, str]:
        """Plans that synchronise every step first, the fastest first, then by name."""
        return (self.layout.outer is not None, self.healthy.step_s, self.layout.name)


def compare(network: Network, job: JobPlans, states: Sequence[State], links_in: LinksIn) -> tuple[Compared, ...]:
    """All plans of a job that fit, best first. `links_in` gives the rates that a pattern of bytes gets in a state.

    Of the failures, those count that the job is promised to survive.
    """
    mine = {state.name for state in job.states}
    target = network.jobs[job.job].targets.max_overhead_percent
    losses = losses_of(network, job.workload)
    hit = [one for one in states if not one.healthy and one.name in mine and one.sites.isdisjoint(job.sites)]
    found = []
    for layout in job.layouts:
        load = job.load_of(layout)
        needed = needed_rates(load, layout, job.latency_ms, target)
        alone, pattern = one_site(load, layout), cross_site_gb(load, layout)
        seen = [(state.name, links_in(state, pattern)) for state in (HEALTHY, *hit)]
        healthy, *failures = (step_time(load, layout, links) for _, links in seen)
        found.append(
            Compared(
                layout=layout,
                collective=_collective(load, layout),
                alone=alone,
                healthy=healthy,
                overhead_worst_percent=_worst_overhead_percent(alone.step_s, [step.step_s for step in failures]),
                needed_gbps=None if needed is None else max(needed.values(), default=0.0),
                goodput=None if losses is None else goodput(losses, layout, healthy),
                parts=parts(load, layout, seen[0][1]),
                equal_s=_equal_s(load, layout, seen[0][1]),
                transport=_transport(load, layout, seen),
            )
        )
    return tuple(sorted(found, key=lambda row: row.rank))


def _collective(load: Workload, layout: Layout) -> str:
    if layout.across not in ("dp", "cp", "ep") or len({share.site for share in load.shares}) < 3:
        return ""
    return across_sites(load, layout.spread).kind


def _equal_s(load: Workload, layout: Layout, links: Links) -> float | None:
    if not by_speed(load, layout) or layout.across in SPANNING:
        return None
    return step_time(replace(load, split="equal"), layout, links).step_s


def _transport(load: Workload, layout: Layout, seen: Sequence[tuple[str, Links]]) -> tuple[Carried, ...]:
    """What the pairs of sites carry; of the failures, that in which a pair carries least, then waits longest."""
    if load.transport is None:
        return ()
    (healthy, links), *failures = seen
    worst: dict[Pair, Carried] = {}
    for name, in_failure in failures:
        for one in on_pairs(load, layout, in_failure):
            if one.ends not in worst or _poor(one) < _poor(worst[one.ends]):
                worst[one.ends] = replace(one, state=name)
    found = []
    for one in on_pairs(load, layout, links):
        found.append(replace(one, state=healthy))
        if one.ends in worst and _poor(worst[one.ends]) < _poor(one):
            found.append(worst[one.ends])
    return tuple(found)


def _poor(one: Carried) -> tuple[float, float]:
    return (round(one.usable_gbps, 6), -round(one.latency_ms, 9))


def _worst_overhead_percent(alone_s: float, steps_s: Sequence[float]) -> float | None:
    """Largest overhead over the failures that leave all sites of the job alive; none without such failures [%]."""
    worst = max((100 * (step / alone_s - 1) for step in steps_s), default=math.inf)
    return worst if math.isfinite(worst) else None
