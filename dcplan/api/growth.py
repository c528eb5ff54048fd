"""Growth in periods: each keeps what the earlier ones lit; and what planning step by step may cost too much."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING

from dcplan.api.inherit import existing_of, having
from dcplan.design.collective.choice import kinds_in
from dcplan.design.result import Infeasible
from dcplan.design.tolerance import CLOSE
from dcplan.errors import SolverError, UsageError
from dcplan.planfile import Earlier, Growth, PeriodCost, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dcplan.model.network import Network
    from dcplan.model.period import Period

    Check = Callable[[Network, Plan], tuple[str, ...]]
    """What does not hold of the plan of one period."""


def years_of(network: Network) -> tuple[float, ...]:
    """How long each period lasts [years]."""
    periods = network.policy.periods
    ends = [*(period.after_years for period in periods[1:]), network.policy.years]
    return tuple(end - period.after_years for period, end in zip(periods, ends, strict=True))


def in_period(network: Network, period: Period, years: float, price_percent: float | None = None) -> Network:
    """The network of a period by itself: its demand, its prices, a horizon of so many years, no further periods."""
    policy = network.policy.model_copy(
        update={
            "demand_percent": period.demand_percent,
            "price_percent": period.price_percent if price_percent is None else price_percent,
            "years": years,
            "periods": [],
        }
    )
    return replace(network, topology=network.topology.model_copy(update={"policy": policy}))


def after(network: Network, before: Plan | None, called: str) -> Network:
    """The network that finds lit what the plan of the period before lit, all of which stays."""
    return network if before is None else having(network, existing_of(before), called)


def grow(
    network: Network, plan: Callable[[Network], Plan | Infeasible], say: Callable[[str], None]
) -> Plan | Infeasible:
    """Plan period after period, each the cheapest beside what the last one lit, over the rest of the horizon.

    That is a heuristic: what is cheapest now may be in the way later. How far from the best it may be is told by a
    bound (see `planfile.Growth`), and by what buying everything at first would cost. Collectives that are left to
    `auto` are chosen in the first period and stay. plan: of a network without periods. KeyboardInterrupt where one of
    them was stopped.
    """
    periods, left = network.policy.periods, _left(network)
    plans: list[Plan] = []
    for number, (period, years) in enumerate(zip(periods, left, strict=True), 1):
        say(f"period {number} of {len(periods)}: {period.name}")
        before = plans[-1] if plans else None
        found = plan(after(in_period(network, period, years), before, f"the network before {period.name}"))
        if isinstance(found, Infeasible):
            return replace(found, reason=f"in period {period.name}: {found.reason}")
        if found.design.proof.reason == "interrupted":
            raise KeyboardInterrupt
        plans.append(found)
        network = _with_collectives(network, found)
    say("bound over all periods")
    bounds = [_bound(plan, one) for one in relaxed(network)]
    say("all of it at first")
    at_once, status = _at_once(network, plan)
    costs = tuple(_costs(network, plans, bounds))
    growth = Growth(
        periods=costs,
        total_usd=total_usd(costs),
        bound_usd=None if None in bounds else sum(bound for bound in bounds if bound is not None),
        at_once_usd=at_once,
        at_once_status=status,
    )
    return replace(plans[-1], growth=growth)


def _with_collectives(network: Network, made: Plan) -> Network:
    """The network in which the collectives stand that a plan has chosen for jobs that leave theirs open."""
    kinds = kinds_in(network, made.collectives)
    jobs = {
        name: job.model_copy(update={"collective": kinds[name].kind}) if name in kinds else job
        for name, job in network.jobs.items()
    }
    return replace(network, topology=network.topology.model_copy(update={"jobs": jobs})) if kinds else network


def _costs(network: Network, plans: Sequence[Plan], bounds: Sequence[float | None]) -> Iterator[PeriodCost]:
    periods, left = network.policy.periods, _left(network)
    for k, (period, years) in enumerate(zip(periods, years_of(network), strict=True)):
        made, last = plans[k], k == len(periods) - 1
        yield PeriodCost(
            name=period.name,
            after_years=period.after_years,
            years=years,
            demand_percent=period.demand_percent,
            price_percent=period.price_percent,
            bought_usd=made.design.cost_usd - made.design.running_usd,
            running_usd=made.design.running_usd * years / left[k],
            bound_usd=bounds[k],
            earlier=None
            if last
            else Earlier(
                made.design,
                made.assessment,
                made.plans,
                made.existing,
                made.lightpaths,
                made.collectives,
                made.assumptions,
                made.hollow,
            ),
        )


def total_usd(periods: Sequence[PeriodCost]) -> float:
    """What all periods cost together [US$]."""
    return sum(period.bought_usd + period.running_usd for period in periods)


def relaxed(network: Network) -> Iterator[Network]:
    """For each period the network by itself, beside what is lit today, at its part of the price and its own years."""
    periods = network.policy.periods
    least = [min(period.price_percent for period in periods[: k + 1]) for k in range(len(periods))]
    for period, years, here, later in zip(periods, years_of(network), least, [*least[1:], 0.0], strict=True):
        yield in_period(network, period, years, here - later)


def _left(network: Network) -> list[float]:
    """From the beginning of each period to the end of the horizon [years]."""
    return [network.policy.years - period.after_years for period in network.policy.periods]


def _bound(plan: Callable[[Network], Plan | Infeasible], network: Network) -> float | None:
    """A bound on the cost of a network by itself; none where time ran out before there was one."""
    try:
        found = plan(network)
    except SolverError:
        return None
    return None if isinstance(found, Infeasible) else found.design.proof.bound_usd


def _at_once(network: Network, plan: Callable[[Network], Plan | Infeasible]) -> tuple[float | None, str]:
    """Cost and status of all that the last period asks for, bought in the first."""
    first, last = network.policy.periods[0], network.policy.periods[-1]
    whole = last.model_copy(update={"after_years": first.after_years, "price_percent": first.price_percent})
    try:
        found = plan(in_period(network, whole, _left(network)[0]))
    except SolverError as error:
        return None, str(error)
    if isinstance(found, Infeasible):
        return None, found.reason
    return found.design.cost_usd, found.design.proof.status


def kept(made: Plan) -> bool:
    """Every promise is kept, in every period."""
    periods = made.growth.periods if made.growth else ()
    return made.assessment.kept and all(one.earlier is None or one.earlier.assessment.kept for one in periods)


def faults(network: Network, made: Plan, check: Check) -> Iterator[str]:
    """What does not hold of a plan in periods: of each period beside what the last one lit, and of the sums.

    The bound and the cost of buying all at first rest on solves and are only compared with the total.
    """
    growth, periods = made.growth, network.policy.periods
    if growth is None or [one.name for one in growth.periods] != [period.name for period in periods]:
        yield "the periods of the plan are not those of the topology"
        return
    before: Plan | None = None
    for stated, period, years, left in zip(growth.periods, periods, years_of(network), _left(network), strict=True):
        mine = of_period(made, period.name)
        try:
            here = after(in_period(network, period, left), before, f"the network before {period.name}")
        except UsageError as error:
            yield str(error)
            return
        if before is not None and mine.existing != here.topology.existing:
            yield f"{period.name}: what it finds lit is not what the period before lit"
            return
        yield from (f"{period.name}: {fault}" for fault in check(here, mine))
        design, before = mine.design, mine
        said = (stated.after_years, stated.years, stated.demand_percent, stated.price_percent)
        if not all(map(_close, said, (period.after_years, years, period.demand_percent, period.price_percent))):
            yield f"{period.name}: its times or percentages are not those of the topology"
        paid = design.cost_usd - design.running_usd, design.running_usd * years / left
        if not all(map(_close, (stated.bought_usd, stated.running_usd), paid)):
            yield f"{period.name}: it costs US$ {paid[0]:,.0f} and US$ {paid[1]:,.0f} to run, not what is said"
    if not _close(growth.total_usd, total_usd(growth.periods)):
        yield "the periods do not add up to their total"
    bounds = [one.bound_usd for one in growth.periods]
    known = [bound for bound in bounds if bound is not None]
    if growth.bound_usd is not None and (len(known) < len(bounds) or not _close(growth.bound_usd, sum(known))):
        yield "the bounds of the periods do not add up to that of all"
    if growth.bound_usd is not None and growth.bound_usd > growth.total_usd * (1 + CLOSE) + 0.01:
        yield "the bound over all periods lies above their cost"


def _close(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=CLOSE, abs_tol=0.01)


def of_period(made: Plan, name: str) -> Plan:
    """The plan of one period by itself. UsageError for a name that no period has."""
    periods = made.growth.periods if made.growth else ()
    period = next((one for one in periods if one.name == name), None)
    if period is None:
        known = f"its periods: {', '.join(one.name for one in periods)}" if periods else "it has none"
        raise UsageError(f"plan `{made.name}` has no period `{name}`; {known}")
    earlier = period.earlier
    if earlier is None:
        return replace(made, growth=None)
    return replace(
        made,
        design=earlier.design,
        assessment=earlier.assessment,
        plans=earlier.plans,
        existing=earlier.existing,
        lightpaths=earlier.lightpaths,
        collectives=earlier.collectives,
        assumptions=earlier.assumptions,
        hollow=earlier.hollow,
        growth=None,
    )
