"""Which collective the sites of a job use: as the file says, or the one whose network costs least."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.collective.cheapest_trees import cheapest_trees
from dcplan.design.result import CollectiveLink, CollectiveTried, Infeasible, JobCollective
from dcplan.design.traffic import JobTraffic, fixed_demands, job_plans, job_traffic, sized
from dcplan.model.states import HEALTHY
from dcplan.training.across.packing import faults
from dcplan.training.across.patterns import KINDS, OPEN, OPTIMAL, Collective
from dcplan.training.across.sync import across_sites
from dcplan.training.engine import cross_site_gb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.design.traffic import JobPlans
    from dcplan.model.network import Network
    from dcplan.model.states import State

    Cost = Callable[[Sequence[Demand]], float | None]

SAME = 1e-6
"""Costs closer than this are the same."""
Tried = tuple[CollectiveTried, ...]


def traffic_by_cost(
    network: Network, states: Sequence[State], least_usd: Cost, tell: Callable[[str], None]
) -> tuple[tuple[JobTraffic, ...], tuple[Demand, ...], dict[str, Tried]] | Infeasible:
    """What jobs and fixed services ask in every state, each job with its collective; and what was compared for it.

    A job that leaves its collective to `auto` gets, of those that meet its targets, the one whose network costs
    least by `least_usd`, which is asked for all demands together; the other jobs meanwhile have theirs, or direct
    exchange as long as they have none. `optimal` is compared as well, and taken where the file asks for it. With two
    sites all collectives are the same.
    """
    jobs: dict[str, JobTraffic] = {}
    for job in network.jobs:
        found = job_traffic(network, job, states)
        if isinstance(found, Infeasible) and not _open(network, job):
            return found
        if not isinstance(found, Infeasible):
            jobs[job] = found
    fixed, tried = fixed_demands(network, states), dict[str, Tried]()
    for job in filter(lambda name: _open(network, name), network.jobs):
        plans = jobs[job].plans if job in jobs else job_plans(network, job, states)
        if isinstance(plans, Infeasible):
            return plans
        others = [demand for name, mine in jobs.items() if name != job for demand in mine.demands]
        tell(f"collectives of {job}")
        chosen, tried[job] = _cheapest(network, plans, [*others, *fixed], _once(least_usd))
        if isinstance(chosen, Infeasible):
            return chosen
        jobs[job] = chosen
    mine = [demand for job in network.jobs for demand in jobs[job].demands]
    return tuple(jobs[job] for job in network.jobs), (*mine, *fixed), tried


def _open(network: Network, job: str) -> bool:
    return network.jobs[job].collective in OPEN and len(network.jobs[job].accelerators) > 2


def _once(least_usd: Cost) -> Cost:
    """The same, asked once for the same demands."""
    known: dict[str, float | None] = {}

    def cost(demands: Sequence[Demand]) -> float | None:
        said = [f"{one.id} {state} {gbps:.9g}" for one in demands for state, gbps in sorted(one.gbps.items())]
        key = "; ".join(said)
        if key not in known:
            known[key] = least_usd(demands)
        return known[key]

    return cost


def _cheapest(
    network: Network, plans: JobPlans, besides: Sequence[Demand], least_usd: Cost
) -> tuple[JobTraffic | Infeasible, Tried]:
    """The collective of least cost, ties in the order of `KINDS`; why direct exchange is none where none is."""
    known: dict[str, JobTraffic] = {}
    found: list[tuple[float, int, JobTraffic]] = []
    tried = []
    refused: Infeasible | None = None
    for rank, kind in enumerate(KINDS):
        traffic = sized(network, plans.by(kind))
        if isinstance(traffic, Infeasible):
            refused = refused or traffic
            tried.append(CollectiveTried(kind, "", None, None, traffic.reason))
            continue
        known[kind] = traffic
        usd = least_usd([*traffic.demands, *besides])
        tried.append(_priced(kind, usd, traffic))
        found.append((float("inf") if usd is None else round(usd), rank, traffic))
    best = cheapest_trees(network, plans, besides, least_usd, known)
    if isinstance(best, Infeasible):
        tried.append(CollectiveTried(OPTIMAL, "", None, None, best.reason))
    else:
        usd = None if best[0] == float("inf") else best[0]
        tried.append(_priced(OPTIMAL, usd, best[1]))
        found.append((best[0] if usd is None else round(usd), len(KINDS), best[1]))
    if network.jobs[plans.job].collective == OPTIMAL:
        found = [one for one in found if one[2].plans.workload.collective.kind == OPTIMAL]
    if not found:
        return refused or Infeasible("layout", f"job {plans.job}: no collective", ()), tuple(tried)
    return min(found, key=lambda one: one[:2])[2], tuple(tried)


def _priced(kind: str, usd: float | None, traffic: JobTraffic) -> CollectiveTried:
    gbps = sum(demand.gbps.get(HEALTHY.name, 0.0) for demand in traffic.demands)
    return CollectiveTried(kind, traffic.chosen.name, gbps, usd, "" if usd is not None else "no network carries it")


def collectives_of(
    jobs: Sequence[JobTraffic], tried: Mapping[str, Sequence[CollectiveTried]]
) -> tuple[JobCollective, ...]:
    """The collective of each job in several sites, with the bytes and rate of each link."""
    found = []
    for job in jobs:
        load, layout, mine = job.plans.workload, job.chosen, tuple(tried.get(job.job, ()))
        if layout.across in ("dp", "cp", "ep"):
            pattern = across_sites(load, layout.spread)
            rates = {demand.ends: demand.gbps.get(HEALTHY.name, 0.0) for demand in job.demands}
            sent = sorted(cross_site_gb(load, layout).items())
            links = tuple(CollectiveLink(ends, gb, rates.get(ends, 0.0)) for ends, gb in sent)
            said = (pattern.kind, pattern.sites, links)
        elif layout.across in ("pp", "tp"):
            said = ("", (), ())
        else:
            continue
        found.append(JobCollective(job.job, load.collective.kind, *said, mine, load.collective.packing))
    return tuple(found)


def kinds_in(network: Network, collectives: Sequence[JobCollective]) -> dict[str, Collective]:
    """What `auto` or `optimal` stands for in a plan: job -> collective, as far as the plan names one that there is."""
    found = {}
    for one in collectives:
        if one.job not in network.jobs:
            continue
        asked = network.jobs[one.job]
        whole = one.kind == OPTIMAL and not faults(one.trees, tuple(asked.accelerators))
        if (asked.collective == "auto" and one.kind in KINDS) or (asked.collective in OPEN and whole):
            found[one.job] = Collective(one.kind, packing=one.trees)
    return found


def not_cheapest(network: Network, collectives: Sequence[JobCollective]) -> Iterator[str]:
    """Collectives that cost more than another one that was compared, in words; and comparisons of others than asked.

    What those that were not taken cost, and the plans they would have, takes a solver to know.
    """
    for one in collectives:
        compared = [each.kind for each in one.tried]
        if compared and compared != [*KINDS, OPTIMAL]:
            yield f"job {one.job}: compared were {', '.join(compared)}, not all collectives there are"
        if any((each.least_usd is None) != bool(each.why_not) for each in one.tried):
            yield f"job {one.job}: a collective that was compared has a price and is out of the question, or neither"
        costs = {each.kind: each.least_usd for each in one.tried if each.least_usd is not None}
        if costs and costs.get(one.kind, float("inf")) > min(costs.values()) * (1 + SAME) + 1:
            yield f"job {one.job}: {one.kind} is not the collective whose network costs least of those compared"


def same_but_compared(one: Sequence[JobCollective], other: Sequence[JobCollective]) -> tuple[object, object]:
    """Two lists of collectives without what was compared, which takes a solver to work out."""
    return [replace(each, tried=()) for each in one], [replace(each, tried=()) for each in other]
