"""Growth in periods: what is bought when, and what planning step by step costs against planning at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.api.growth import of_period
from dcplan.report.sheet import Fact, Table, fixed, number, number_column, say, text_column, whole
from dcplan.report.summary import capacity_gbps
from dcplan.units import money, significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.planfile import PeriodCost, Plan
    from dcplan.report.sheet import Row, Value


def facts(plan: Plan) -> Iterator[Fact]:
    """The total, how far from the best it may be, and what buying all at first would cost."""
    growth = plan.growth
    if growth is None:
        return
    total = growth.total_usd
    values: dict[str, Value] = {
        "total_usd": total, "bound_usd": growth.bound_usd, "at_once_usd": growth.at_once_usd
    }  # fmt: skip
    text = f"{money(total)} over all periods"
    if growth.bound_usd is not None:
        share = 100 * (total - growth.bound_usd) / total if total else 0.0
        text += (
            f", at most {money(max(0.0, total - growth.bound_usd))} ({significant(max(0.0, share))} %) above any plan"
        )
    yield Fact("growth", text, values)
    if growth.at_once_usd is None:
        text = f"no plan ({growth.at_once_status})"
    else:
        more = growth.at_once_usd - total
        than = "the same" if abs(more) < 1 else f"{money(abs(more))} {'more' if more > 0 else 'less'}"
        text = f"{money(growth.at_once_usd)}, {than}" + (
            "" if growth.at_once_status == "optimal" else ", not proven least"
        )
    yield Fact("all at first", text, {"at_once_usd": growth.at_once_usd})


def tables(plan: Plan) -> Iterator[Table]:
    """A row for each period; no table where there are none."""
    growth = plan.growth
    if growth is None:
        return
    rows = tuple(_period(plan, period) for period in growth.periods)
    columns = (
        text_column("period", "Period", 8),
        number_column("after_years", "After", "years"),
        number_column("demand_percent", "Asks", "%"),
        number_column("price_percent", "Prices", "%"),
        number_column("new_wavelengths", "New waves"),
        number_column("new_pairs", "pairs"),
        number_column("new_modules", "modules"),
        number_column("capacity_gbps", "Capacity", "Gb/s"),
        number_column("bought_usd", "Buys", "US$"),
        number_column("running_usd", "Runs", "US$"),
        number_column("total_usd", "Total", "US$"),
        text_column("proof", "Proof", 8),
    )
    bought, running = (sum(part) for part in zip(*((p.bought_usd, p.running_usd) for p in growth.periods), strict=True))
    total: Row = (say("total"), *[say("")] * 7, whole(bought), whole(running), whole(growth.total_usd), say(""))
    note = "Each period keeps what is lit and adds what it lacks at least cost over the rest of the horizon (proof: of "
    note += "that, for itself). Runs: lease and energy while the period lasts. Plain sums, not discounted. All that "
    note += "follows is the network of the last period; `dcplan report --period NAME` shows another."
    yield Table("periods", "Periods", columns, rows, total, note, main=True)


def _period(plan: Plan, period: PeriodCost) -> Row:
    mine = of_period(plan, period.name)
    leased = {circuit.name for circuit in mine.circuits}
    new = [group for group in mine.design.wavelengths if group.count > group.existing]
    waves = sum(group.count - group.existing for group in new if group.transponder not in leased)
    modules = sum(group.count - group.existing for group in new if group.transponder in leased)
    pairs = sum(fiber.pairs - fiber.existing for fiber in mine.design.lit)
    light = bool(plan.fibers)
    return (
        say(period.name),
        number(period.after_years) if period.after_years else whole(0),
        fixed(period.demand_percent, 0),
        fixed(period.price_percent, 0),
        whole(waves) if light else number(None),
        whole(pairs) if light else number(None),
        whole(modules) if leased else number(None),
        whole(capacity_gbps(mine)),
        whole(period.bought_usd),
        whole(period.running_usd),
        whole(period.bought_usd + period.running_usd),
        say(mine.design.proof.status),
    )
