"""What is expected of a job over the years: its own losses of time, and how often which state of the network comes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING

from dcplan.assess.availability import availability
from dcplan.assess.result import Expected, Outlook, StateShare, Timeline
from dcplan.assess.states import assess_state
from dcplan.assess.timeline import timeline
from dcplan.model.outages import Outage, Risk, outages, risks
from dcplan.model.states import HEALTHY
from dcplan.training.engine import one_site, without_sites
from dcplan.training.goodput.chain import Outside, goodput
from dcplan.training.goodput.failures import HOURS
from dcplan.training.goodput.joined import losses_of
from dcplan.training.step import Misfit
from dcplan.units import HOURS_PER_YEAR

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.assess.result import Assessment, JobInState, StateResult
    from dcplan.assess.view import NetworkView
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Network
    from dcplan.model.reliability import Reliability
    from dcplan.model.states import State
    from dcplan.training.goodput.chain import Goodput
    from dcplan.training.step import StepTime, Workload


@dataclass(frozen=True, slots=True)
class _Job:
    """A job with what it does in each state."""

    about: Reliability
    traffic: JobTraffic
    healthy: StepTime
    found: Mapping[str, JobInState]

    def speed(self, state: State) -> float:
        """Tokens per second in a state over those of the healthy one."""
        here, before = self.found[state.name], self.found["healthy"]
        if not here.running or here.step_s is None or before.step_s is None:
            return self._alone(state) if self.about.elastic else 0.0
        alive = self.traffic.plans.in_state(self.traffic.chosen, state)
        return 0.0 if isinstance(alive, Misfit) else self._share(alive[0], here.step_s)

    def _alone(self, state: State) -> float:
        """The site with the most of it goes on alone, where sites that are left cannot reach each other."""
        plans = self.traffic.plans
        found = [
            without_sites(plans.workload, self.traffic.chosen, plans.sites - {site})
            for site in sorted(plans.sites - state.sites)
        ]
        fitting = [alive for alive in found if not isinstance(alive, Misfit)]
        return max((self._share(alive[0], one_site(*alive).step_s) for alive in fitting), default=0.0)

    def _share(self, alive: Workload, step_s: float) -> float:
        return alive.batch / self.traffic.plans.workload.batch * self.healthy.step_s / step_s

    def loses_site(self, state: State) -> bool:
        return not self.traffic.plans.sites.isdisjoint(state.sites)


def outlook(
    network: Network,
    states: Sequence[State],
    jobs: Sequence[JobTraffic],
    view: NetworkView,
    assessment: Assessment,
    healthy: Mapping[str, StepTime],
) -> Outlook:
    """Availability of demands; of jobs with `reliability` the expected goodput and a timeline of each promised failure.

    healthy: each job's step on the healthy network. States that nobody is promised to survive are assessed as well.
    """

    def look(state: State) -> StateResult:
        return assess_state(network, view, state, jobs)

    def touched(state: State) -> bool:
        return view.traffic_state(state) is not HEALTHY

    asked = [(job, network.jobs[job.job].reliability) for job in jobs if job.job in healthy]
    mine = [(job, about) for job, about in asked if about is not None]
    at_risk = risks(network)
    likely = outages(states, at_risk)
    available = availability(view, likely) if at_risk else ()
    if not mine:
        return Outlook(available=available)
    results = {result.state: result for result in assessment.states}
    results |= {one.state.name: look(one.state) for one in likely if one.state.name not in results}
    results |= {one.state.name: look(one.state) for one in at_risk if one.state.name not in results}
    expected, timelines = [], []
    for job, about in mine:
        found = {name: next(one for one in result.jobs if one.job == job.job) for name, result in results.items()}
        whole = _Job(about, job, healthy[job.job], found)
        one = _expected(network, whole, likely, at_risk, touched)
        if one is not None:
            expected.append(one)
            timelines += [_timeline(whole, state, one.goodput, at_risk, touched) for state in states[1:]]
    return Outlook(tuple(expected), tuple(timelines), available)


def _expected(
    network: Network,
    job: _Job,
    likely: Sequence[Outage],
    at_risk: Sequence[Risk],
    touched: Callable[[State], bool],
) -> Expected | None:
    losses = losses_of(network, job.traffic.plans.workload)
    alone = None if losses is None else goodput(losses, job.traffic.chosen, job.healthy)
    if losses is None or alone is None:
        return None
    outside = Outside(speed=fsum(one.share * job.speed(one.state) for one in likely))
    for risk in at_risk:
        outside = _with(outside, job, risk, _timeline(job, risk.state, alone, at_risk, touched))
    whole = goodput(losses, job.traffic.chosen, job.healthy, outside)
    if whole is None:
        return None
    shares = [StateShare(one.state.name, HOURS_PER_YEAR * one.share, 100 * job.speed(one.state)) for one in likely]
    unseen = max(0.0, 1 - fsum(one.share for one in likely))
    return Expected(job.traffic.job, whole, tuple(shares) if at_risk else (), HOURS_PER_YEAR * unseen)


def _with(outside: Outside, job: _Job, risk: Risk, line: Timeline) -> Outside:
    """One more thing that fails: its restarts, and the time in which the job waits beside them."""
    rate = risk.failures_per_year * (1 - risk.unavailable) / HOURS_PER_YEAR / HOURS
    far = job.loses_site(risk.state)
    restarts = rate if line.restart_s else 0.0
    later_s = max(0.0, line.detection_s - job.about.detection_s)
    return replace(
        outside,
        restarts_per_s=outside.restarts_per_s + (0.0 if far else restarts),
        far_restarts_per_s=outside.far_restarts_per_s + (restarts if far else 0.0),
        paused=min(1.0, outside.paused + rate * (line.switch_s + line.back_s + later_s)),
    )


def _timeline(
    job: _Job, state: State, about: Goodput, at_risk: Sequence[Risk], touched: Callable[[State], bool]
) -> Timeline:
    return timeline(
        job.about,
        job.traffic.plans.scheme,
        state,
        job.found[state.name],
        touched=touched(state),
        lost_site=job.loses_site(state),
        speed=job.speed(state),
        step_s=job.healthy.step_s,
        goodput=about,
        repair_h=_repair_h(state, at_risk),
    )


def _repair_h(state: State, at_risk: Sequence[Risk]) -> float | None:
    """Until the state ends: its own repair, or the first of those that make it up, 1 / Σ (1/r); none if not known."""
    own = next((one for one in at_risk if (one.state.fibers, one.state.sites) == (state.fibers, state.sites)), None)
    if own is not None:
        return own.repair_h
    parts = [one for one in at_risk if state.holds(one.state)]
    fibers = frozenset[str]().union(*(one.state.fibers for one in parts))
    sites = frozenset[str]().union(*(one.state.sites for one in parts))
    if not parts or (fibers, sites) != (state.fibers, state.sites):
        return None
    return 1 / fsum(1 / one.repair_h for one in parts)
