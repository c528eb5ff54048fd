"""Traffic by state: what each job and fixed demand asks between two sites, healthy and in every promised failure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcplan.design.candidates import state_latency_ms
from dcplan.design.parts import parted
from dcplan.design.promised import Promises
from dcplan.design.result import Demand, Infeasible
from dcplan.model.graph import STRETCH
from dcplan.model.network import pair
from dcplan.model.promises import scheme_of
from dcplan.model.states import HEALTHY, single_failures
from dcplan.training.across.patterns import DIRECT, OPEN, Collective
from dcplan.training.engine import needed_rates, one_site, step_time, without_sites
from dcplan.training.plans.search import layouts
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
TIE = 0.02
"""Plans whose steps are longer than the fastest by less than this share count as equally fast."""


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
) -> JobPlans | Infeasible:
    """Every parallelism plan of a job. Infeasible, limit bridge, where a promised state parts its sites.

    collective: what `auto` or `optimal` in the file stands for; without it, direct exchange. pin: keys that a search
    keeps to.
    """
    load, about = workload(network, job), network.jobs[job]
    mine = Promises.of(network, states).kept_for(about, sorted({share.site for share in load.shares}))
    latency_ms = assumed_latency_ms(network, load, mine)
    if isinstance(latency_ms, Infeasible):
        return latency_ms
    fitting, misfits = layouts(load, about, pin)
    meant = Collective(about.collective) if about.collective not in OPEN else collective or DIRECT
    load = replace(load, collective=replace(meant, latency_ms=tuple(sorted(latency_ms.items()))))
    scheme = scheme_of(network, about) if len(mine) > 1 else "none"
    return JobPlans(job, load, fitting, misfits, latency_ms, mine, scheme)


@dataclass(frozen=True, slots=True)
class _Option:
    """A parallelism plan with the rates that a healthy overhead asks for, state by state."""

    layout: Layout
    step_s: float
    """On the healthy network at those rates."""
    rates: Mapping[str, Mapping[Pair, float]]

    @property
    def gbps(self) -> float:
        """All pairs together, healthy [Gb/s]."""
        return sum(self.rates[HEALTHY.name].values())


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
    chosen where `use` names one, or where the job has no other. Infeasible, limit latency, where no plan meets the
    targets at any rate; limit layout where none fits.
    """
    job, asked = plans.job, network.jobs[plans.job]
    wanted = _comparable([layout for layout in plans.layouts if asked.use in (None, layout.name)])
    if not wanted:
        reasons = "; ".join(f"{misfit.plan}: {misfit.reason}" for misfit in plans.misfits[:5])
        return Infeasible("layout", f"no parallelism plan of job {job} fits: {reasons}", ())
    target = asked.targets.max_overhead_percent
    kept = [option for layout in wanted if (option := _option(network, plans, layout, target))]
    if not kept:
        return _too_slow(network, plans, wanted)
    fastest = min(kept, key=lambda option: (option.step_s, option.gbps, option.layout.name))
    chosen = min(_as_fast(network, plans, kept, fastest.step_s * (1 + TIE)), key=_frugal)
    several = network.policy.demand_percent / 100
    demands = []
    for (a, b), by_state in _by_pair(chosen.rates).items():
        gbps = {state: several * needed for state, needed in by_state.items()}
        demands.append(
            Demand(f"{job}: {a} - {b}", (a, b), gbps, plans.latency_ms[a, b], job, plans.scheme, asked.max_paths)
        )
    return JobTraffic(plans, chosen.layout, _why(asked.use, chosen, fastest), tuple(demands), several)


def _comparable(layouts: Sequence[Layout]) -> list[Layout]:
    """Those that synchronise every step, where there are any."""
    return [layout for layout in layouts if layout.outer is None] or list(layouts)


def _frugal(option: _Option) -> tuple[float, float, str]:
    return (option.gbps, option.step_s, option.layout.name)


def _as_fast(network: Network, plans: JobPlans, kept: Sequence[_Option], goal_s: float) -> list[_Option]:
    """The plans that reach the goal, each with the least rates for it; none beyond its own target."""
    target = network.jobs[plans.job].targets.max_overhead_percent
    found = []
    for option in kept:
        spare = 100 * (goal_s / one_site(plans.workload, option.layout).step_s - 1)
        if spare >= target:
            found.append(option)
        elif spare > 0 and (tighter := _option(network, plans, option.layout, spare)):
            found.append(tighter)
    return found


def _option(network: Network, plans: JobPlans, layout: Layout, overhead_percent: float) -> _Option | None:
    rates = _rates_by_state(network, plans, layout, overhead_percent)
    if rates is None:
        return None
    step_s = step_time(plans.workload, layout, Links(rates[HEALTHY.name], plans.latency_ms)).step_s
    return _Option(layout, step_s, rates)


def _why(use: str | None, chosen: _Option, fastest: _Option) -> str:
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


def _rates_by_state(
    network: Network, plans: JobPlans, layout: Layout, healthy_percent: float
) -> dict[str, Mapping[Pair, float]] | None:
    """State name -> rate per pair [Gb/s]; None where a target cannot be met at any rate."""
    targets = network.jobs[plans.job].targets
    found: dict[str, Mapping[Pair, float]] = {}
    known: dict[frozenset[str], Mapping[Pair, float] | None] = {}
    for state in plans.states:
        lost = plans.sites & state.sites
        rates: Mapping[Pair, float] | None
        if state.healthy:
            rates = needed_rates(plans.workload, layout, plans.latency_ms, healthy_percent)
        else:
            if lost not in known:
                known[lost] = _rates_in_failure(
                    plans, plans.in_state(layout, state), targets.max_overhead_percent_under_failure
                )
            rates = known[lost]
        if rates is None:
            return None
        found[state.name] = rates
    return found


def _rates_in_failure(
    plans: JobPlans, alive: tuple[Workload, Layout] | Misfit, overhead_percent: float
) -> Mapping[Pair, float] | None:
    """A job that stops in the failure asks for nothing."""
    return {} if isinstance(alive, Misfit) else needed_rates(*alive, plans.latency_ms, overhead_percent)


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
    found = next((layout.name for layout in others if _option(network, plans, layout, target)), None)
    return f"; {found}, whose sites train by themselves, does: name it in `use`" if found else ""
