"""Which parallelism plan a network is sized for: as fast as any that meets the targets, with the least rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dcplan.model.states import HEALTHY
from dcplan.training.engine import needed_rates, one_site, step_time
from dcplan.training.step import Links, Misfit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.traffic import JobPlans
    from dcplan.model.network import Network, Pair
    from dcplan.training.step import Layout, Workload

TIE = 0.02
"""Plans whose steps are longer than the fastest by less than this share count as equally fast."""
MOST_WITHIN = 0.25
"""Of a loose target: slower plans are not asked whether they need less rate."""


@dataclass(frozen=True, slots=True)
class Option:
    """A parallelism plan with the rates that a healthy overhead asks for, state by state."""

    layout: Layout
    step_s: float
    """On the healthy network at those rates."""
    rates: Mapping[str, Mapping[Pair, float]]

    @property
    def gbps(self) -> float:
        """All pairs together, healthy [Gb/s]."""
        return sum(self.rates[HEALTHY.name].values())


class Choice(NamedTuple):
    """What a network is sized for."""

    chosen: Option
    fastest: Option


def within(network: Network, job: str) -> float:
    """How much longer the step in one site may be than the shortest, of a plan that `choose` may take.

    (1 + target) (1 + 2 %) − 1: the fastest runs at its target, and others count as equally fast; 25 % at most.
    """
    return min(MOST_WITHIN, (1 + network.jobs[job].targets.max_overhead_percent / 100) * (1 + TIE) - 1)


def choose(network: Network, plans: JobPlans, wanted: Sequence[Layout]) -> Choice | None:
    """The plan that needs the least rate for a step within 2 % of the fastest; None where none meets the targets.

    The fastest is the one with the shortest step at the least rate at which its targets hold.
    """
    target = network.jobs[plans.job].targets.max_overhead_percent
    kept = [option for layout in wanted if (option := option_of(network, plans, layout, target))]
    if not kept:
        return None
    fastest = min(kept, key=lambda option: (option.step_s, option.gbps, option.layout.name))
    return Choice(min(_as_fast(network, plans, kept, fastest.step_s * (1 + TIE)), key=_frugal), fastest)


def _frugal(option: Option) -> tuple[float, float, str]:
    return (option.gbps, option.step_s, option.layout.name)


def _as_fast(network: Network, plans: JobPlans, kept: Sequence[Option], goal_s: float) -> list[Option]:
    """The plans that reach the goal, each with the least rates for it; none beyond its own target."""
    target = network.jobs[plans.job].targets.max_overhead_percent
    found = []
    for option in kept:
        spare = 100 * (goal_s / one_site(plans.workload, option.layout).step_s - 1)
        if spare >= target:
            found.append(option)
        elif spare > 0 and (tighter := option_of(network, plans, option.layout, spare)):
            found.append(tighter)
    return found


def option_of(network: Network, plans: JobPlans, layout: Layout, overhead_percent: float) -> Option | None:
    """The least rates of a plan at which it keeps a healthy overhead, and its target in failures; None at no rate."""
    rates = _rates_by_state(network, plans, layout, overhead_percent)
    if rates is None:
        return None
    step_s = step_time(plans.workload, layout, Links(rates[HEALTHY.name], plans.latency_ms)).step_s
    return Option(layout, step_s, rates)


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
