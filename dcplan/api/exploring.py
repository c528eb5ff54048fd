"""Every plan of the jobs of a file, weighed without a designed network."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.api.assemble import rows_of
from dcplan.api.recipe import in_words
from dcplan.assess.compare import compare
from dcplan.design.collective.at_rates import at_rates, options_at
from dcplan.design.result import Infeasible
from dcplan.design.traffic import job_plans
from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError
from dcplan.model.states import promised_states
from dcplan.training.explain.losses import ExplainedLoss, explained_losses
from dcplan.training.explain.terms import Explained, explained
from dcplan.training.goodput.joined import losses_of
from dcplan.training.plans.explore import Explored, Weighing, explore, silent, weigh_named
from dcplan.training.plans.pins import merged
from dcplan.training.plans.search import called, idle_pins
from dcplan.training.plans.space import Space
from dcplan.training.plans.table import table
from dcplan.training.step import Layout, Links
from dcplan.training.workload import workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from dcplan.design.traffic import JobPlans
    from dcplan.model.job import ParallelismPlan
    from dcplan.model.network import Network, Pair
    from dcplan.model.states import State
    from dcplan.planfile import PlanRow


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found among all plans of a job, and the plans that are named there as rows."""

    explored: Explored
    rows: tuple[PlanRow, ...]
    every: bool
    """All plans were searched; else those that the job names were weighed."""

    @property
    def compared(self) -> tuple[PlanRow, ...]:
        """The rows but for those that are only on the front; of named plans all."""
        found = self.explored
        listed = {*found.ranked, *found.best.values(), *found.over.values(), *found.apart}
        return tuple(row for row in self.rows if not self.every or not row.fits or row.plan in listed)


@dataclass(frozen=True, slots=True)
class PlanExplained:
    """One parallelism plan of a job, term by term, on links of the same rate."""

    job: str
    plan: str
    layout: str
    """TP × CP × PP × EP × DP in words."""
    gbps: float
    """Between any two sites of the job, each way; infinite where no rate was given."""
    explained: Explained
    losses: tuple[ExplainedLoss, ...] = ()
    """What it loses time to, where the job says so."""


def explanations(
    network: Network, plan: str, gbps: float | None, pin: ParallelismPlan | None
) -> tuple[PlanExplained, ...]:
    """The plan of that name of each job that has one; see `api.explain_step`."""
    found = []
    for job in _jobs(network, pin):
        links = _links(job, gbps)
        plans = at_rates(network, _holding(network, job, plan, pin), links)
        found += [_explained(network, plans, layout, links, gbps) for layout in plans.layouts if layout.name == plan]
    if found:
        return tuple(found)
    known, misfits = dict[str, None](), dict[str, str]()
    for job in _jobs(network, pin, search=True):
        known |= dict.fromkeys(layout.name for layout in job.layouts)
        misfits |= {misfit.plan: misfit.reason for misfit in job.misfits}
    if plan in misfits:
        raise UsageError(f"plan `{plan}` cannot run: {misfits[plan]}")
    there = f"there are {', '.join(known)}" if known else "no plan fits"
    raise UsageError(f"there is no plan `{plan}`: {did_you_mean(plan, known, there)}")


def _holding(network: Network, plans: JobPlans, name: str, pin: ParallelismPlan | None) -> JobPlans:
    """With the plan of that name too, where only a search over every choice knows it."""
    about = network.jobs[plans.job]
    if about.plans != "auto" or name in {layout.name for layout in plans.layouts}:
        return plans
    found = called(table(plans.workload, Space(merged([about.pin, pin]))), name)
    return replace(plans, layouts=(*plans.layouts, *([found] if found else [])))


def _explained(network: Network, plans: JobPlans, layout: Layout, links: Links, gbps: float | None) -> PlanExplained:
    found = explained(plans.load_of(layout), layout, links)
    losses = losses_of(network, plans.workload)
    return PlanExplained(
        job=plans.job,
        plan=layout.name,
        layout=in_words(layout),
        gbps=math.inf if gbps is None else gbps,
        explained=found,
        losses=() if losses is None else explained_losses(losses, layout, found.step),
    )


def explorations(
    network: Network,
    *,
    objective: str,
    gbps: float | None,
    pin: ParallelismPlan | None,
    tell: Callable[[str], None] | None,
) -> Iterator[Exploration]:
    """Each job with every choice of a plan searched, or its named plans weighed; see `api.explore`."""
    for plans in _jobs(network, pin):
        about, links = network.jobs[plans.job], _links(plans, gbps)
        if why := silent(plans.workload, about.accelerator_usd_per_h).get(objective):
            raise UsageError(f"job {plans.job} has no objective `{objective}`: {why}")
        by = Weighing(
            plans.workload,
            links,
            tuple(options_at(network, plans, links)),
            objective,
            about.accelerator_usd_per_h,
        )
        if about.plans == "auto":
            if tell:
                tell(f"{plans.job}: parallelism plans")
            found = explore(by, table(plans.workload, Space(merged([about.pin, pin]))), tell)
        else:
            found = weigh_named(by, plans.layouts, plans.misfits)
        listed = found.layouts if about.plans == "auto" else plans.layouts
        named = at_rates(network, replace(plans, layouts=listed, misfits=found.misfits), links)
        yield Exploration(found, _rows(network, named, links), every=about.plans == "auto")


def _jobs(network: Network, pin: ParallelismPlan | None, *, search: bool = False) -> Iterator[JobPlans]:
    if pin is not None:
        _check_pin(network, pin)
    states = promised_states(network)
    for job in network.jobs:
        plans = job_plans(network, job, states, pin=pin, search=search)
        if isinstance(plans, Infeasible):
            raise UsageError(plans.reason)
        yield plans


def _check_pin(network: Network, pin: ParallelismPlan) -> None:
    """UsageError where a key of it changes nothing in any job."""
    searched = [name for name, job in network.jobs.items() if job.plans == "auto"]
    if not searched:
        raise UsageError("--pin narrows the search of `plans: auto`, and every job names its plans")
    idle = [idle_pins(workload(network, job), Space(merged([network.jobs[job].pin, pin]))) for job in searched]
    for key in sorted(pin.model_fields_set):
        if all(key in each for each in idle):
            raise UsageError(f"--pin `{key}` has no effect: {idle[0][key]}")


def _links(plans: JobPlans, gbps: float | None) -> Links:
    return Links(dict.fromkeys(plans.latency_ms, math.inf if gbps is None else gbps), plans.latency_ms)


def _rows(network: Network, plans: JobPlans, links: Links) -> tuple[PlanRow, ...]:
    """On a network that gives the same to everyone in every state."""

    def same(_state: State, _pattern: Mapping[Pair, float]) -> Links:
        return links

    return rows_of(plans, None, compare(network, plans, plans.states[:1], same))
