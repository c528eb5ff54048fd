"""What a user may change in a file so that there is a plan, and the file without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from dcplan.design.problem import whole_rate
from dcplan.design.result import Member
from dcplan.model.ending import ending_sites
from dcplan.model.states import HEALTHY
from dcplan.units import rate

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.model.schema import Fiber
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

MARGINS = ("margin_db", "ageing_db", "repair_db_per_span")
"""Margins of the policy, which light must keep."""
SLOW_PERCENT = 1e6
"""Overhead that is no target [%]."""
PAIR_GBPS = 1000.0
"""Every fiber that carries light carries this on a pair at least, where pairs without limit are meant [Gb/s]."""
MOST_PAIRS = 500


@dataclass(frozen=True, slots=True)
class Case:
    """A network with all that a design is made from."""

    network: Network
    lines: tuple[Line, ...]
    lightpaths: tuple[Lightpath, ...]
    demands: tuple[Demand, ...]
    states: tuple[State, ...]


def members(case: Case) -> Iterator[Member]:
    """What may be changed, what is rather taken as given first: margins, what is lit, demands and jobs, promises, pairs
    and circuits, limits and schemes.
    """
    policy, existing = case.network.policy, case.network.topology.existing
    kept = [f"{name}: {getattr(policy, name):g}" for name in MARGINS if getattr(policy, name)]
    if kept and case.network.fibers:
        yield Member("margins", "policy", f"the margins that light must keep ({', '.join(kept)})")
    if existing is not None and not existing.removable:
        yield Member("existing", "existing", "what is lit already stays")
    yield from _asking(case)
    for state in case.states:
        if not state.healthy and any(state.name in demand.gbps for demand in case.demands):
            yield Member("state", state.name, f"the promise to survive the loss of {state.name}")
    for name, fiber in case.network.fibers.items():
        yield Member("pairs", name, f"{name} has {pairs_in_words(fiber.pairs)}")
    for name, circuit in case.network.circuits.items():
        if circuit.pick == "one" or any(module.most for module in circuit.modules.values()):
            yield Member("circuit", name, f"the modules of circuit {name} are limited")
    for demand in case.demands:
        yield from _limits(demand)


def _asking(case: Case) -> Iterator[Member]:
    """Demands of the file, and jobs with all that they ask."""
    jobs = dict.fromkeys(demand.job for demand in case.demands if demand.job is not None)
    for job in jobs:
        most = max(whole_rate(demand, case.states) for demand in case.demands if demand.job == job)
        yield Member("job", job, f"job {job}, which asks up to {rate(most)} between two sites")
    for demand in case.demands:
        if demand.job is None:
            between = " and ".join(case.network.topology.demands[demand.id].between)
            asked = rate(whole_rate(demand, case.states))
            yield Member("demand", demand.id, f"demand {demand.id}, {asked} between {between}")


def ending_by_traffic(network: Network) -> tuple[SiteId, ...]:
    """Sites at which wavelengths end only because a job or demand asks for traffic there.

    They still do where that is left out of a case; in a file they would have to say `regenerate: true`.
    """
    return tuple(sorted(site for site in ending_sites(network) if not network.sites[site].regenerate))


def _limits(demand: Demand) -> Iterator[Member]:
    """Of a demand of the file: latency limit, scheme, number of routes."""
    if demand.job is None and demand.max_latency_ms is not None:
        yield Member("latency", demand.id, f"{demand.id} allows {demand.max_latency_ms:g} ms one way")
    if demand.protected:
        yield Member("scheme", demand.id, f"{demand.id} goes two ways at once (one-plus-one)")
    if demand.max_paths is not None:
        routes = "route" if demand.max_paths == 1 else "routes"
        yield Member("routes", demand.id, f"{demand.id} takes {demand.max_paths} {routes} at a time at most")


def without(case: Case, gone: Container[Member], members: Sequence[Member]) -> Case:
    """The case with some members left out; link budgets stay as they are (see `without_margins`)."""
    by_kind: dict[str, set[str]] = {}
    for member in members:
        if member in gone:
            by_kind.setdefault(member.kind, set()).add(member.name)

    def of(kind: str) -> set[str]:
        return by_kind.get(kind, set())

    demands = tuple(
        _freed(demand, of) for demand in case.demands if demand.id not in of("demand") and demand.job not in of("job")
    )
    states = tuple(state for state in case.states if state.name not in of("state"))
    network = with_pairs(case.network, dict.fromkeys(sorted(of("pairs")), plenty(case)))
    network = _unlimited_circuits(network, of("circuit"))
    if of("existing") and network.topology.existing is not None:
        removable = network.topology.existing.model_copy(update={"removable": True})
        network = _changed(network, existing=removable)
    return replace(case, network=network, demands=demands, states=states)


def _freed(demand: Demand, of: Callable[[str], set[str]]) -> Demand:
    """A demand without the limits that are left out; one that survives no failure needs no second way."""
    gbps = {state: value for state, value in demand.gbps.items() if state not in of("state")}
    failures = any(state != HEALTHY.name for state in gbps)
    scheme = demand.scheme
    if demand.id in of("scheme"):
        scheme = "reroute"
    return replace(
        demand,
        gbps=gbps,
        scheme=scheme if failures or not demand.protected else "none",
        max_latency_ms=None if demand.id in of("latency") else demand.max_latency_ms,
        max_paths=None if demand.id in of("routes") else demand.max_paths,
    )


def plenty(case: Case) -> int:
    """More pairs than any fiber needs."""
    asked = sum(whole_rate(demand, case.states) for demand in case.demands)
    return min(MOST_PAIRS, max(1, ceil(2 * asked / PAIR_GBPS)))


def with_pairs(network: Network, more: Mapping[FiberId, int]) -> Network:
    """The network with so many more pairs on some fibers."""

    def grown(name: FiberId, fiber: Fiber) -> Fiber:
        return fiber.model_copy(update={"pairs": fiber.pairs + more[name]}) if name in more else fiber

    return (
        _changed(network, fibers={name: grown(name, fiber) for name, fiber in network.fibers.items()})
        if more
        else network
    )


def without_targets(network: Network, job: str) -> Network:
    """The network in which a job may be as slow as it likes."""
    about = network.jobs[job]
    targets = about.targets.model_copy(update=dict.fromkeys(type(about.targets).model_fields, SLOW_PERCENT))
    return _changed(network, jobs={**network.jobs, job: about.model_copy(update={"targets": targets})})


def with_margins(network: Network, share: float) -> Network:
    """The network whose margins are a share of what they are; its light must be judged anew."""
    fewer = {name: share * getattr(network.policy, name) for name in MARGINS}
    return _changed(network, policy=network.policy.model_copy(update=fewer))


def with_limit(case: Case, demand: str, limit_ms: float) -> Case:
    """The case in which a demand allows so much latency [ms]."""
    return _with_demand(case, demand, lambda one: replace(one, max_latency_ms=limit_ms))


def with_share(case: Case, demand: str, share: float) -> Case:
    """The case in which a demand asks for a share of its rates."""
    return _with_demand(
        case, demand, lambda one: replace(one, gbps={state: share * gbps for state, gbps in one.gbps.items()})
    )


def _with_demand(case: Case, name: str, change: Callable[[Demand], Demand]) -> Case:
    demands = tuple(change(one) if one.id == name else one for one in case.demands)
    return replace(case, demands=demands)


def _unlimited_circuits(network: Network, names: set[str]) -> Network:
    circuits = {
        name: circuit.model_copy(
            update={
                "pick": "any",
                "modules": {size: one.model_copy(update={"most": None}) for size, one in circuit.modules.items()},
            }
        )
        if name in names
        else circuit
        for name, circuit in network.circuits.items()
    }
    return _changed(network, circuits=circuits) if names else network


def _changed(network: Network, **parts: object) -> Network:
    return replace(network, topology=network.topology.model_copy(update=parts))


def pairs_in_words(count: int) -> str:
    """`1 pair`, `2 pairs`."""
    return "1 pair" if count == 1 else f"{count} pairs"
