"""How available each demand is: how much of a year it gets its rate, some of it, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.assess.result import Available
from dcplan.model.states import HEALTHY
from dcplan.units import HOURS_PER_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.assess.view import NetworkView
    from dcplan.model.outages import Outage

WHOLE = 1 - 1e-6
"""From this share on a demand has its rate: what is left is rounding."""


def availability(view: NetworkView, likely: Sequence[Outage]) -> tuple[Available, ...]:
    """Each demand over the likely states of a year: A = Σ P(state) over those in which it has its rate.

    What nobody is promised in a state comes after what is, with what surviving wavelengths still carry; more than its
    healthy rate counts as that. A demand that asks for nothing while all is well, such as one between sites that a lost
    hub joined, is not listed. A state that was not looked at counts as nothing. Source: enumeration of states, as in
    Verbrugge et al. 2005 for networks of single and double failures (from memory).
    """
    whole: dict[str, float] = {}
    some: dict[str, float] = {}
    mean: dict[str, float] = {}
    for outage in likely:
        for demand, share in _shares(view, outage):
            mean[demand] = mean.get(demand, 0.0) + outage.share * min(1.0, share)
            whole[demand] = whole.get(demand, 0.0) + outage.share * (share >= WHOLE)
            some[demand] = some.get(demand, 0.0) + outage.share * (share > 1 - WHOLE)
    return tuple(
        Available(
            demand=demand,
            whole_percent=100 * whole[demand],
            some_percent=100 * some[demand],
            mean_percent=100 * mean[demand],
            short_hours_per_year=HOURS_PER_YEAR * max(0.0, 1 - whole[demand]),
        )
        for demand in mean
    )


def _shares(view: NetworkView, outage: Outage) -> Iterator[tuple[str, float]]:
    """Each demand with its rate in a state, over its healthy one."""
    seen, demands = view.traffic_state(outage.state), view.design.demands
    asked = [demand for demand in demands if seen.name in demand.gbps]
    healthy = [demand for demand in demands if HEALTHY.name in demand.gbps]
    besides = [d for d in healthy if seen.name not in d.gbps and outage.state.sites.isdisjoint(d.ends)]
    fractions = view.fractions(seen, asked, besides)
    for demand in healthy:
        rate = demand.gbps.get(seen.name, demand.gbps[HEALTHY.name])
        yield demand.id, fractions.get(demand.id, 0.0) * rate / demand.gbps[HEALTHY.name]
