"""Traffic by state: what each job and fixed demand asks between two sites, healthy and in every promised failure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcplan.design.candidates import state_latency_ms
from dcplan.design.choosing import TIE, Option, choose, option_of, within
from dcplan.design.promised import Promises
from dcplan.design.reasons.parts import parted
from dcplan.design.result import Demand, Infeasible
from dcplan.model.graph import STRETCH
from dcplan.model.network import pair
from dcplan.model.promises import scheme_of
from dcplan.model.states import HEALTHY, single_failures
from dcplan.training.across.patterns import DIRECT, OPEN, Collective
from dcplan.training.engine import one_site, step_time, without_sites
from dcplan.training.plans.pins import merged
from dcplan.training.plans.search import named
from dcplan.training.plans.shortlist import shortlist
from dcplan.training.step import Layout, Links, Misfit, Workload
from dcplan.training.transport.advice import too_slow
from dcplan.training.transport.carried import stopped
from dcplan.training.transport.links import on_pairs
from dcplan.training.workload import workload
from dcplan.units import rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.model.job import ParallelismPlan
    from dcplan.model.network import Network, Pair
    from dcplan.model.states import State
    from dcplan.training.across.packing import Packing

LEAST_GBPS = 0.001
"""The least rate that a network is sized for, as in the file: less is noise beside any wavelength [Gb/s]."""


@dataclass(frozen=True, slots=True)
class JobPlans:
    """A job with every parallelism plan that was considered."""

    job: str
    workload: Workload
    layouts: tuple[Layout, ...]
    misfits: tuple[Misfit, ...]
    latency_ms: Mapping[Pair, float]
    """One-way latency between two of its sites that rates are sized for [ms]."""
    states: tuple[State, ...]
    """Healthy and the failures in which it is promised its targets."""
    scheme: str
    """How it survives them."""

    @property
    def sites(self) -> frozenset[str]:
        """The sites that it runs in."""
        return frozenset(share.site for share in self.workload.shares)

    own: Mapping[str, Collective] = field(default_factory=dict)
    """Collectives of layouts, by name, where each has its own."""
    close: tuple[Layout, ...] = ()
    """Of a search others that the network may be sized for, see `shortlist.Shortlist`; they are not shown."""

    def by(self, kind: str, packing: Packing = ()) -> JobPlans:
        """The same with another collective across sites."""
        collective = replace(self.workload.collective, kind=kind, packing=packing)
        return replace(self, workload=replace(self.workload, collective=collective))

    def load_of(self, layout: Layout) -> Workload:
        """The job as it runs with a layout."""
        return replace(self.workload, collective=self.own[layout.name]) if layout.name in self.own else self.workload

    def in_state(self, layout: Layout, state: State) -> tuple[Workload, Layout] | Misfit:
        """The job as it runs in a state: without the sites that are gone."""
        lost = self.sites & state.sites
        return without_sites(self.workload, layout, lost) if lost else (self.workload, layout)


@dataclass(frozen=True, slots=True)
class JobTraffic:
    """A job, the parallelism plan that the network is sized for, and what that one asks."""

    plans: JobPlans
    chosen: Layout
    why: str
    """Why this one."""
    demands: tuple[Demand, ...]
    several: float = 1.0
    """As many such jobs, all of which its demands are for."""

    @property
    def job(self) -> str:
        """Name of the job."""
        return self.plans.job


def fixed_demands(network: Network, states: Sequence[State]) -> tuple[Demand, ...]:
    """The fixed demands of the file by state: whole when healthy, the promised share in a failure."""
    promises = Promises.of(network, states)
    found = []
    for name, asked in network.topology.demands.items():
        a, b = asked.between
        share, whole = asked.under_failure_percent / 100, asked.gbps * network.policy.demand_percent / 100
        gbps = {
            state.name: whole * (1.0 if state.healthy else share)
            for state in promises.kept_for(asked, (a, b))
            if state.sites.isdisjoint((a, b)) and (state.healthy or share > 0)
        }
        scheme = scheme_of(network, asked) if gbps.keys() - {HEALTHY.name} else "none"
        found.append(Demand(name, pair(a, b), gbps, asked.max_latency_ms, None, scheme, asked.max_paths))
    return tuple(found)


def traffic_of(
    network: Network, states: Sequence[State], collectives: Mapping[str, Collective] | None = None
) -> tuple[tuple[JobTraffic, ...], tuple[Demand, ...]] | Infeasible:
    """What jobs and fixed services ask in every state; `collectives`: of jobs that leave theirs open."""
    jobs: list[JobTraffic] = []
    for job in network.jobs:
        found = job_traffic(network, job, states, (collectives or {}).get(job))
        if isinstance(found, Infeasible):
            return found
        jobs.append(found)
    asked = [demand for job in jobs for demand in job.demands]
    return tuple(jobs), (*asked, *fixed_demands(network, states))


def job_plans(
    network: Network,
    job: str,
    states: Sequence[State],
    collective: Collective | None = None,
    pin: ParallelismPlan | None = None,
    *,
    search: bool = True,
) -> JobPlans | Infeasible:
    """Every parallelism plan of a job. Infeasible, limit bridge, where a promised state parts its sites.

    collective: what `auto` or `optimal` in the file stands for; without it, direct exchange. pin: keys that a search
    keeps to. search: look for plans where the file says `plans: auto`; else there are none.
    """
    load, about = workload(network, job), network.jobs[job]
    mine = Promises.of(network, states).kept_for(about, sorted({share.site for share in load.shares}))
    latency_ms = assumed_latency_ms(network, load, mine)
    if isinstance(latency_ms, Infeasible):
        return latency_ms
    meant = Collective(about.collective) if about.collective not in OPEN else collective or DIRECT
    load = replace(load, collective=replace(meant, latency_ms=tuple(sorted(latency_ms.items()))))
    scheme = scheme_of(network, about) if len(mine) > 1 else "none"
    if about.plans == "auto" and search:
        near = replace(load, collective=replace(DIRECT, latency_ms=load.collective.latency_ms), transport=None)
        found = shortlist(near, merged([about.pin, pin]), within(network, job), about.allow_sync, about.use)
        return JobPlans(job, load, found.layouts, found.misfits, latency_ms, mine, scheme, close=found.close)
    return JobPlans(job, load, *named(load, about), latency_ms, mine, scheme)


def job_traffic(
    network: Network, job: str, states: Sequence[State], collective: Collective | None = None
) -> JobTraffic | Infeasible:
    """Choose the parallelism plan of a job and size its rates (see `sized`). Arguments as of `job_plans`."""
    plans = job_plans(network, job, states, collective)
    return plans if isinstance(plans, Infeasible) else sized(network, plans)


def sized(network: Network, plans: JobPlans) -> JobTraffic | Infeasible:
    """Choose the parallelism plan of a job and size its rates: the least at which its targets hold.

    The fastest plan at the least rate at which its targets hold sets the goal; of all plans that reach a step within
    2 % of it with their targets kept, the one that needs the least rate for that is chosen. `use` in the file
    overrides. Plans whose sites train by themselves learn less from a step, which no time makes up for: they are
    chosen where `use` names one or `allow_sync` its way, or where the job has no other. Infeasible, limit latency,
    where no plan meets the targets at any rate; limit layout where none fits.
    """
    job, asked = plans.job, network.jobs[plans.job]
    every = dict.fromkeys((*plans.layouts, *plans.close))
    wanted = _comparable([layout for layout in every if asked.use in (None, layout.name)], asked.allow_sync)
    if not wanted:
        reasons = "; ".join(f"{misfit.plan}: {misfit.reason}" for misfit in plans.misfits[:5])
        return Infeasible("layout", f"no parallelism plan of job {job} fits: {reasons}", ())
    found = choose(network, plans, wanted)
    if found is None:
        return _too_slow(network, plans, wanted)
    chosen, fastest = found
    new = dict.fromkeys(one.layout for one in found if one.layout not in plans.layouts)
    plans = replace(plans, layouts=(*plans.layouts, *new))
    several = network.policy.demand_percent / 100
    demands = []
    for (a, b), by_state in _by_pair(chosen.rates).items():
        gbps = {state: several * needed for state, needed in by_state.items()}
        demands.append(
            Demand(f"{job}: {a} - {b}", (a, b), gbps, plans.latency_ms[a, b], job, plans.scheme, asked.max_paths)
        )
    return JobTraffic(plans, chosen.layout, _why(asked.use, chosen, fastest), tuple(demands), several)


def _comparable(layouts: Sequence[Layout], allowed: Sequence[str]) -> list[Layout]:
    """Those that synchronise every step, where there are any, and those whose way to do so less often is allowed."""
    strict = [layout for layout in layouts if layout.outer is None]
    return [layout for layout in layouts if layout.outer is None or layout.sync in allowed] if strict else list(layouts)


def _why(use: str | None, chosen: Option, fastest: Option) -> str:
    if use is not None:
        return "named by `use`"
    if chosen.layout.name == fastest.layout.name:
        return "the fastest that meets its targets"
    return (
        f"within {100 * TIE:g} % of {fastest.layout.name}, the fastest, with {rate(chosen.gbps)} between all sites "
        f"in place of {rate(fastest.gbps)}"
    )


def assumed_latency_ms(network: Network, load: Workload, states: Sequence[State]) -> dict[Pair, float] | Infeasible:
    """One-way latency that rates are sized for: `STRETCH` × the shortest route after the worst failure [ms].

    The worst of all single failures and of those in `states`, which are promised to the job: promising less never asks
    for more. Failures that part the two sites do not count, unless they are promised: then Infeasible, limit
    bridge.
    """
    sites = sorted({share.site for share in load.shares})
    failures = (*single_failures(network), *states)
    assumed: dict[Pair, float] = {}
    for i, a in enumerate(sites):
        for b in sites[i + 1 :]:
            for state in states:
                if state.sites.isdisjoint((a, b)) and state_latency_ms(network, state, a, b) is None:
                    limit, reason = parted(network, state, a, b)
                    return Infeasible(limit, f"{reason} (job {load.job})", ())
            found = [state_latency_ms(network, state, a, b) for state in (HEALTHY, *failures)]
            assumed[a, b] = STRETCH * max(latency for latency in found if latency is not None)
    return assumed


def _by_pair(rates: Mapping[str, Mapping[Pair, float]]) -> dict[Pair, dict[str, float]]:
    """Pair -> state -> rate, never less than `LEAST_GBPS`."""
    pairs = sorted({ends for by_pair in rates.values() for ends in by_pair})
    return {
        ends: {state: max(by_pair[ends], LEAST_GBPS) for state, by_pair in rates.items() if by_pair.get(ends, 0.0) > 0}
        for ends in pairs
    }


def _too_slow(network: Network, plans: JobPlans, wanted: Sequence[Layout]) -> Infeasible:
    """Say by how much the best plan misses its target even at unlimited rate."""
    latency_ms = plans.latency_ms
    unlimited = Links(dict.fromkeys(latency_ms, float("inf")), latency_ms)
    still = [stopped(on_pairs(plans.workload, layout, unlimited)) for layout in wanted]
    if all(still):
        return Infeasible("layout", f"job {plans.job}: {still[0]}", ())
    overheads = [
        (
            100 * (step_time(plans.workload, layout, unlimited).step_s / one_site(plans.workload, layout).step_s - 1),
            layout,
        )
        for layout in wanted
    ]
    overhead, best = min(overheads, key=lambda item: (item[0], item[1].name))
    targets = network.jobs[plans.job].targets
    a, b = max(latency_ms, key=lambda ends: (latency_ms[ends], ends))
    reason = (
        f"job {plans.job}: no parallelism plan meets its targets "
        f"(overhead ≤ {targets.max_overhead_percent:g} % healthy, "
        f"≤ {targets.max_overhead_percent_under_failure:g} % under failure) at any rate; the best, {best.name}, is "
        f"{overhead:.2f} % slower than one site with unlimited rate, at {latency_ms[a, b]:.2f} ms one way between "
        f"{a} and {b}{_looser(network, plans, wanted)}"
    )
    slow = too_slow(plans.workload, wanted, latency_ms, targets.max_overhead_percent)
    return Infeasible("latency", f"{reason}; {slow.in_words}" if slow else reason, ())


def _looser(network: Network, plans: JobPlans, wanted: Sequence[Layout]) -> str:
    """A plan that meets the targets, and is not chosen for its sites train by themselves."""
    target = network.jobs[plans.job].targets.max_overhead_percent
    others = [layout for layout in plans.layouts if layout.outer and layout not in wanted]
    found = next((layout.name for layout in others if option_of(network, plans, layout, target)), None)
    return (
        f"; {found}, whose sites train by themselves, does: name it in `use`, or its way in `allow_sync`"
        if found
        else ""
    )
