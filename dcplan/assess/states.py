"""Each state of a designed network: what survives, what reroutes, and how long a step of each job takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.assess.result import Assessment, Excused, JobInState, StateResult
from dcplan.design.promised import excuses
from dcplan.model.states import HEALTHY
from dcplan.training.engine import one_site, step_time
from dcplan.training.step import Links, Misfit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.assess.view import NetworkView
    from dcplan.design.result import Demand, Flow
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.training.step import Workload


UNPROMISED = "promised nothing here"


@dataclass(frozen=True, slots=True)
class _Use:
    """How one demand is served in one state."""

    demand: Demand
    fraction: float
    gbps: float
    latency_ms: float


def assess(network: Network, view: NetworkView, states: Sequence[State], jobs: Sequence[JobTraffic]) -> Assessment:
    """Assess a design in every state.

    In each state the fixed demands are served first; what the surviving wavelengths then carry goes to the jobs,
    max-min fair; those that are promised nothing in it come after those that are. A failure that takes nothing lit
    leaves the traffic as it was. Under one-plus-one a job has its reserved rate and no more.
    """
    healthy_flows = _by_demand(view.flows(HEALTHY))
    results = tuple(_assess_state(network, view, state, jobs, healthy_flows) for state in states)
    parted = tuple(Excused(who, tuple(state.name for state in lost)) for who, lost in excuses(network, states))
    return Assessment(results, _weakest(results), parted)


def assess_state(network: Network, view: NetworkView, state: State, jobs: Sequence[JobTraffic]) -> StateResult:
    """Assess a design in one state, promised or not."""
    return _assess_state(network, view, state, jobs, _by_demand(view.flows(HEALTHY)))


def _assess_state(
    network: Network,
    view: NetworkView,
    state: State,
    jobs: Sequence[JobTraffic],
    healthy_flows: Mapping[str, list[Flow]],
) -> StateResult:
    seen = view.traffic_state(state)
    asked = [demand for demand in view.design.demands if seen.name in demand.gbps]
    besides = [demand for job in jobs if not _promised(job, state) for demand in _left_over(job, seen)]
    fractions = view.fractions(seen, asked, besides)
    flows = _by_demand(view.flows(seen))
    uses = {
        demand.id: _Use(
            demand,
            fractions[demand.id],
            fractions[demand.id] * demand.gbps[seen.name if seen.name in demand.gbps else HEALTHY.name],
            max((flow.latency_ms for flow in flows.get(demand.id, ())), default=0.0),
        )
        for demand in (*asked, *besides)
    }
    # the same demand whichever linear program shared the rates: what is within 1e-6 is decided by name
    worst = min(
        (uses[demand.id] for demand in asked), key=lambda use: (_coarse(use.fraction), use.demand.id), default=None
    )
    return StateResult(
        state=state.name,
        lost_gbps=view.lost_gbps(state),
        left_gbps=view.left_gbps(state),
        served_percent=100 * min(1.0, worst.fraction) if worst else 100.0,
        worst_demand=worst.demand.id if worst else "",
        rerouted=tuple(sorted(name for name in flows if _moved(view, state, flows[name], healthy_flows.get(name, [])))),
        jobs=tuple(_assess_job(network, job, state, uses) for job in jobs),
    )


def _assess_job(network: Network, job: JobTraffic, state: State, uses: Mapping[str, _Use]) -> JobInState:
    promised = network.jobs[job.job].targets
    target = promised.max_overhead_percent if state.healthy else promised.max_overhead_percent_under_failure
    kept = _promised(job, state)
    alive = job.plans.in_state(job.chosen, state)
    if isinstance(alive, Misfit):
        return JobInState(job.job, running=False, why=alive.reason, rate_fraction=None, latency_ms=None, step_s=None,
                          overhead_percent=None, target_percent=None, promised=kept)  # fmt: skip
    mine = [uses[demand.id] for demand in job.demands if demand.id in uses]
    links = Links(
        {use.demand.ends: use.gbps / job.several for use in mine},
        {use.demand.ends: use.latency_ms if kept else job.plans.latency_ms[use.demand.ends] for use in mine},
    )
    step, alone = step_time(*alive, links).step_s, one_site(*alive).step_s
    if not kept and step == inf:
        return JobInState(job.job, running=False, why=f"{UNPROMISED}, and too little is left",
                          rate_fraction=0.0, latency_ms=None, step_s=None, overhead_percent=None, target_percent=None,
                          promised=False)  # fmt: skip
    lost = sorted(state.sites & job.plans.sites)
    return JobInState(
        job=job.job,
        running=True,
        why="; ".join(
            ([f"goes on without {', '.join(lost)}, {_batch_left(job, alive[0])} of the batch"] if lost else [])
            + ([] if kept else [UNPROMISED])
        ),
        rate_fraction=min((use.fraction for use in mine), default=None),
        latency_ms=max((use.latency_ms for use in mine), default=None),
        step_s=step,
        overhead_percent=100 * (step / alone - 1),
        target_percent=target if kept else None,
        promised=kept,
    )


def _promised(job: JobTraffic, state: State) -> bool:
    return any(state.name == mine.name for mine in job.plans.states)


def _left_over(job: JobTraffic, state: State) -> list[Demand]:
    """What a job that is promised nothing in a failure would still use: its healthy rates, where both ends are left."""
    idle = [d for d in job.demands if state.name not in d.gbps and HEALTHY.name in d.gbps]
    return [d for d in idle if state.sites.isdisjoint(d.ends)]


def _batch_left(job: JobTraffic, alive: Workload) -> str:
    """Ranks that are gone take their share of the batch with them: a step as long as before trains less."""
    return f"{100 * alive.batch / job.plans.workload.batch:.3g} %"


def _by_demand(flows: Sequence[Flow]) -> dict[str, list[Flow]]:
    found: dict[str, list[Flow]] = {}
    for flow in flows:
        found.setdefault(flow.demand, []).append(flow)
    return found


def _moved(view: NetworkView, state: State, now: Sequence[Flow], before: Sequence[Flow]) -> bool:
    """Some of its routes broke, or it takes one that it did not take before. Sending less on the same is no move."""
    return any(view.breaks(state, flow) for flow in before) or not _routes(now) <= _routes(before)


def _routes(flows: Sequence[Flow]) -> frozenset[tuple[str, ...]]:
    return frozenset(flow.lightpaths for flow in flows)


def _weakest(results: Sequence[StateResult]) -> str:
    """The failure with the largest overhead of any job that is promised something in it, a stopped job before all;
    then the least capacity left.
    """

    def weakness(result: StateResult) -> tuple[float, float]:
        overheads = [
            job.overhead_percent if job.running and job.overhead_percent is not None else inf
            for job in result.jobs
            if job.promised
        ]
        return (round(max(overheads, default=0.0), 6), -result.left_gbps)

    failures = [result for result in results if result.state != HEALTHY.name]
    return max(failures, key=weakness).state if failures else HEALTHY.name


def _coarse(fraction: float) -> float:
    """To six decimals, and of what is many times what was asked to seven digits."""
    return round(fraction, 6) if fraction < 10 else float(f"{fraction:.7g}")
