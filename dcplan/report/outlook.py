"""Tables of what jobs may expect of a designed network: goodput over the years, and failures step by step."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from dcplan.report.goodput import ETTR, ETTR_NOTE, LOST, NOTE, cells, run_columns
from dcplan.report.sheet import NOTHING, Cell, Fact, Table, fixed, number, number_column, say, text_column
from dcplan.units import money, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.assess.result import Available, Expected, StateShare, Timeline
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row, Value

NETWORK = number_column("network_percent", "Network", "%")
MOST_STATES = 12
"""Likeliest states of a year that are shown."""


def tables(plan: Plan) -> Iterator[Table]:
    """Nothing where the file says neither how often things fail nor what jobs lose time to."""
    outlook = plan.assessment.outlook
    if outlook.available:
        yield _available(outlook.available)
    if outlook.expected:
        yield from _expected(outlook.expected)
    for one in outlook.expected:
        if one.states:
            yield _year(one)
    if outlook.timelines:
        yield _timelines(outlook.timelines)


def _available(found: Sequence[Available]) -> Table:
    columns = (
        text_column("demand", "Demand", 16),
        number_column("whole_percent", "Whole", "%"),
        number_column("some_percent", "Some", "%"),
        number_column("mean_percent", "Mean", "%"),
        number_column("short_hours_per_year", "Short", "h/year"),
    )
    note = "Share of the time with all of the healthy rate, and with any of it; the mean of the rate; time without all."
    return Table("available", "Availability of demands", columns, tuple(map(_demand, found)), note=note)


def _demand(one: Available) -> Row:
    shares = (nines(value) for value in (one.whole_percent, one.some_percent, one.mean_percent))
    return (say(one.demand), *shares, number(one.short_hours_per_year))


def nines(percent: float) -> Cell:
    """A percentage near 100 with two digits of what is missing, as availability is read; never rounded up to 100."""
    missing = 100 - percent
    decimals = 3 if missing <= 0 else max(2, min(8, 1 - floor(log10(missing))))
    shown = floor(percent * 10**decimals + 1e-6) / 10**decimals
    return Cell(f"{shown:.{decimals}f}", percent)


def _expected(found: Sequence[Expected]) -> Iterator[Table]:
    head, names = text_column("job", "Job", 8), [say(one.job) for one in found]
    columns = (LOST[0], NETWORK, *LOST[1:], *run_columns([one.goodput for one in found]))
    rows = tuple((name, *cells(one.goodput, columns)) for name, one in zip(names, found, strict=True))
    note = "Over the years, on the plan that the network is sized for. "
    if any(one.states for one in found):
        note += "Network: sites and fibers that fail as often as the file says."
    else:
        note += "Network: nothing, for no fiber or site says how often it fails (failures_per_year, repair_h)."
    yield Table("expected", "Expected goodput", (head, *columns), rows, note=f"{note} {NOTE}", main=True)
    rows = tuple((name, *cells(one.goodput, ETTR)) for name, one in zip(names, found, strict=True))
    yield Table("expected ettr", "Checkpoints and failures", (head, *ETTR), rows, note=ETTR_NOTE)


def _year(one: Expected) -> Table:
    rows = [_state(share) for share in one.states[:MOST_STATES]]
    others = one.states[MOST_STATES:]
    if others:
        hours = sum(share.hours_per_year for share in others)
        mean = sum(share.hours_per_year * share.speed_percent for share in others) / hours
        rows.append((say(f"{len(others)} others"), number(hours), fixed(mean, 1)))
    if one.unseen_hours_per_year > 0:
        rows.append((say("not looked at"), number(one.unseen_hours_per_year), fixed(0.0, 1)))
    columns = (
        text_column("state", "State", 12),
        number_column("hours_per_year", "In a year", "h"),
        number_column("speed_percent", "Speed", "%"),
    )
    note = "Speed: tokens per second over those of the healthy network. Failures are independent of each other."
    return Table(f"year {one.job}", f"A year of {one.job}", columns, tuple(rows), note=note)


def _state(share: StateShare) -> Row:
    return (say(share.state), number(share.hours_per_year), fixed(share.speed_percent, 1))


def _timelines(found: Sequence[Timeline]) -> Table:
    columns = (
        text_column("state", "State", 12),
        text_column("job", "Job", 8),
        number_column("detection_s", "Noticed", "s"),
        number_column("switch_s", "Switch", "s"),
        number_column("restart_s", "Restart", "s"),
        number_column("rework_s", "Rework", "s"),
        number_column("speed_percent", "Speed", "%"),
        number_column("repair_h", "Repair", "h"),
        number_column("back_s", "Back", "s"),
        number_column("lost_steps", "Lost", "steps"),
        number_column("lost_once_steps", "at once", "steps"),
        number_column("lost_per_hour_steps", "an hour", "steps"),
    )
    note = (
        "From left to right as it happens; a job whose traffic is switched within its collective timeout only waits. "
        "Speed: until the repair. Back: the restart that takes a lost site back. Lost: at once + repair × an hour, in "
        "healthy steps."
    )
    rows = tuple(_line(one) for one in found)
    return Table("timelines", "Failures step by step", columns, rows, note=note)


def _line(one: Timeline) -> Row:
    return (
        say(one.state),
        say(one.job),
        *(_seconds(value) for value in (one.detection_s, one.switch_s, one.restart_s, one.rework_s)),
        fixed(one.speed_percent, 1) if one.running else Cell("stops", 0.0),
        number(one.repair_h),
        _seconds(one.back_s),
        number(one.lost_steps),
        number(one.lost_once_steps),
        number(one.lost_per_hour_steps),
    )


def _seconds(value: float) -> Cell:
    return number(value) if value else Cell(NOTHING, 0.0)


def facts(plan: Plan) -> Iterator[Fact]:
    """What is left of each job's speed over the years, and how long its run takes."""
    for one in plan.assessment.outlook.expected:
        about = one.goodput
        text = f"{about.goodput_percent:.1f} % of the healthy speed of {one.job}"
        if about.train_days is not None:
            text += f"; its run takes {significant(about.train_days)} days"
        if about.train_usd is not None:
            text += f" and {money(about.train_usd)}"
        values: dict[str, Value] = {
            "job": one.job,
            "goodput_percent": about.goodput_percent,
            "train_days": about.train_days,
            "accelerator_hours": about.accelerator_hours,
            "train_usd": about.train_usd,
        }
        yield Fact("goodput", text, values)
