"""What changed between two plans, by its name in the field: never by ids, which a plan hands out anew."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.report import circuits, collective, json, markdown, text, whole
from dcplan.report.render import check_format
from dcplan.report.sheet import NOTHING, Cell, Fact, Table, View, again, apart, count, say, text_column, verdict
from dcplan.report.summary import capacity_gbps, served
from dcplan.units import money, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dcplan.planfile import Plan, PlanRow
    from dcplan.report.sheet import Row, Value

SAME = 1e-8
"""Relative difference below which two numbers are the same: a plan file keeps nine digits."""
SHOWN = 10
"""Rows of a pull-request comment; the rest is folded away."""
AREAS = (
    "cost", "capacity", "proof", "promises", "parallelism", "learning", "collective", "overhead", "goodput",
    "availability", "lit pairs", "wavelengths", "modules", "transponders", "retuned in", "bill", "overhead in",
    "step in",
)  # fmt: skip
"""What is compared, most important first."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs; none where one of the plans does not have it."""

    area: str
    what: str
    unit: str
    old: Value
    new: Value


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """Everything that differs, in order of area and name."""

    name: str
    old_usd: float
    new_usd: float
    old_missed: int
    new_missed: int
    changes: tuple[Change, ...]
    beside: bool = False
    """At least one of them was made beside what was lit already, which is not in its cost."""

    def __bool__(self) -> bool:
        return bool(self.changes)


def diff(old: Plan, new: Plan) -> PlanDiff:
    """What changed: cost, capacity, proof, promises, step times, fibers, wavelengths, bill; empty for equal plans.

    UsageError when the parts of a plan do not fit together.
    """
    whole.check(old)
    whole.check(new)
    before, after = dict(_things(old)), dict(_things(new))
    keys = sorted(before.keys() | after.keys(), key=lambda key: (AREAS.index(key[0]), key))
    changes = [Change(*key, before.get(key), after.get(key)) for key in keys]
    return PlanDiff(
        name=new.name,
        old_usd=old.design.cost_usd,
        new_usd=new.design.cost_usd,
        old_missed=_missed(old),
        new_missed=_missed(new),
        changes=tuple(change for change in changes if not _same(change.old, change.new)),
        beside=any(plan.existing is not None for plan in (old, new)),
    )


def render(changed: PlanDiff, form: str = "text", width: int = 80, *, colour: bool = False) -> str:
    """A diff as text, markdown (a pull-request comment) or json. Text and markdown are empty when nothing changed."""
    check_format(form)
    if form == "json":
        return json.draw(_view(changed))
    if not changed:
        return ""
    return comment(changed) if form == "markdown" else text.draw(_view(changed), width, colour=colour)


def _learning(row: PlanRow) -> str:
    """In which steps its sites agree: steps that teach less are not shorter ones of the same kind."""
    if row.quality is None:
        return "every step alike in all sites"
    loss = row.quality.loss_percent
    told = "" if loss is None else f", loss +{loss:.2f} %"
    return f"sites train by themselves for {count(row.quality.every_steps, 'step')}{told}"


def _things(plan: Plan) -> Iterator[tuple[tuple[str, str, str], Value]]:
    """Area, name and unit of everything that is compared, with its value."""
    proof = plan.design.proof
    yield ("cost", "", "US$"), plan.design.cost_usd
    yield ("capacity", "", "Gb/s"), capacity_gbps(plan)
    yield ("proof", "status", ""), proof.status
    yield ("proof", "gap", "%"), None if proof.gap is None else 100 * proof.gap
    yield ("promises", "missed", ""), _missed(plan)
    for row in plan.plans:
        if row.chosen:
            yield ("parallelism", row.job, ""), row.plan
            yield ("learning", row.job, ""), _learning(row)
    for one in plan.collectives:
        if one.tried or len(one.sites) > 2:
            yield ("collective", one.job, ""), collective.in_words(one)
    yield from _slowed(plan)
    yield from _expected(plan)
    for fiber in plan.design.lit:
        yield ("lit pairs", fiber.fiber, ""), fiber.pairs or None
    yield from _counted(plan)


def _slowed(plan: Plan) -> Iterator[tuple[tuple[str, str, str], Value]]:
    """Overhead of each job, healthy and at worst; overhead and step time state by state."""
    worst: dict[tuple[str, str, str], float] = {}
    for state in plan.assessment.states:
        when = "healthy" if state is plan.assessment.states[0] else "worst failure"
        for job in state.jobs:
            key = ("overhead", f"{job.job}, {when}", "%")
            worst[key] = max(
                worst.get(key, -math.inf), -math.inf if job.overhead_percent is None else job.overhead_percent
            )
            yield ("overhead in", f"{state.state}: {job.job}", "%"), job.overhead_percent
            yield ("step in", f"{state.state}: {job.job}", "s"), job.step_s
    yield from ((key, value) for key, value in worst.items() if math.isfinite(value))


def _expected(plan: Plan) -> Iterator[tuple[tuple[str, str, str], Value]]:
    """What jobs may expect over the years, and how available demands are."""
    for one in plan.assessment.outlook.expected:
        yield ("goodput", one.job, "%"), one.goodput.goodput_percent
        yield ("goodput", f"run of {one.job}", "days"), one.goodput.train_days
    for each in plan.assessment.outlook.available:
        yield ("availability", each.demand, "%"), each.whole_percent


def _counted(plan: Plan) -> Iterator[tuple[tuple[str, str, str], Value]]:
    """Things that may stand in several rows of a plan: added up."""
    routes = {path.id: path.route.name for path in plan.lightpaths}
    waves: Counter[str] = Counter()
    for group in circuits.lit(plan):
        waves[f"{group.transponder} {group.mode} on {routes[group.lightpath]}"] += group.count
    amounts: dict[str, list[float]] = {}
    quantities: dict[str, list[float]] = {}
    for item in plan.design.bill:
        amounts.setdefault(f"{item.part}: {item.what}", []).append(item.total_usd)
        quantities.setdefault(f"{item.part}: {item.what}", []).append(item.quantity)
    yield from ((("wavelengths", name, ""), number) for name, number in waves.items())
    for owned in plan.design.owned:
        yield ("transponders", f"{owned.transponder} at {owned.site}", ""), owned.count
    for relit in plan.design.relit:
        yield ("retuned in", relit.state, ""), relit.retuned or None
    for name, own in circuits.leased(plan).items():
        yield from ((("modules", f"{group.mode} of {name}", ""), group.count) for group in own)
    yield from ((("bill", name, "US$"), math.fsum(usd)) for name, usd in amounts.items())
    yield from ((("bill", name, ""), math.fsum(number)) for name, number in quantities.items())


def _missed(plan: Plan) -> int:
    """Promises that are missed: served demands by state, jobs by state."""
    states = plan.assessment.states
    return sum(not served(state) for state in states) + sum(not job.met for state in states for job in state.jobs)


def _same(old: Value, new: Value) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int):
        return math.isclose(old, new, rel_tol=SAME, abs_tol=SAME)
    return old == new


def sentence(changed: PlanDiff) -> str:
    """Cost and promises, before and after."""
    more = changed.new_usd - changed.old_usd
    said = f"{changed.name} costs {money(changed.new_usd)}, "
    if _same(changed.old_usd, changed.new_usd):
        said += "the same as before"
    else:
        share = f" ({significant(100 * abs(more) / changed.old_usd)} %)" if changed.old_usd else ""
        said += f"{money(abs(more))}{share} {'more' if more > 0 else 'less'} than before"
    if changed.old_missed or changed.new_missed:
        verb = "is" if changed.new_missed < 2 else "are"
        number = count(changed.new_missed, "promise") if changed.new_missed else "no promise"
        said += f"; {number} {verb} missed, {changed.old_missed} before"
    if changed.beside:
        said += "; what is lit already is not counted where a plan finds it"
    return said + "."


_COLUMNS = (
    text_column("mark", ""),
    text_column("area", "Area"),
    text_column("what", "What", 16),
    text_column("old", "Before", 14),
    text_column("new", "After", 14),
    text_column("change", "Change", 0),
    text_column("unit", "Unit"),
)


def _rows(changes: Iterable[Change]) -> tuple[Row, ...]:
    """One row a change; an area or name that stands in the row above is not shown again."""
    rows: list[Row] = []
    above: Change | None = None
    for change in changes:
        old, new = _both(change)
        named, called = say(change.area), say(change.what)
        rows.append(
            (
                say(_mark(change)),
                again(named) if above and above.area == change.area else named,
                again(called) if above and (above.area, above.what) == (change.area, change.what) else called,
                Cell(old, change.old),
                Cell(new, change.new),
                _delta(change),
                Cell("", change.unit),  # the texts carry it
            )
        )
        above = change
    return tuple(rows)


def _mark(change: Change) -> str:
    return "+" if change.old is None else "-" if change.new is None else "~"


def _both(change: Change) -> tuple[str, str]:
    """Before and after, with as many digits as tell them apart."""
    old, new = change.old, change.new
    if isinstance(old, float | int) and isinstance(new, float | int):
        pair = (f"{old:,.0f}", f"{new:,.0f}") if _whole(old) and _whole(new) else apart(old, new)
        return _united(pair[0], change.unit), _united(pair[1], change.unit)
    return _alone(old, change.unit), _alone(new, change.unit)


def _alone(value: Value, unit: str) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, float | int):
        return _united(f"{value:,.0f}" if _whole(value) else significant(value), unit)
    return value


def _whole(value: float) -> bool:
    return float(value).is_integer()


def _united(number: str, unit: str) -> str:
    return f"US$ {number}" if unit == "US$" else f"{number} {unit}".rstrip()


def _delta(change: Change) -> Cell:
    """Difference, and percent where that says more."""
    old, new = change.old, change.new
    if not isinstance(old, float | int) or not isinstance(new, float | int):
        return Cell("", None)
    more = new - old
    said = f"{more:+,.0f}" if _whole(more) else ("+" if more > 0 else "") + significant(more)
    if old and change.unit != "%":
        percent = 100 * more / abs(old)
        said += f" ({'+' if more > 0 else ''}{significant(percent)} %)"
    return Cell(said, more)


def _view(changed: PlanDiff) -> View:
    mark = verdict(good=not changed.new_missed)
    facts = (
        Fact(
            "change",
            sentence(changed),
            {"old_usd": changed.old_usd, "new_usd": changed.new_usd, "missed": changed.new_missed},
            mark.text if changed.new_missed or changed.old_missed else "",
        ),
    )
    return View("diff", changed.name, facts, (), (Table("changes", "Changes", _COLUMNS, _rows(changed.changes)),))


def comment(changed: PlanDiff) -> str:
    """A pull-request comment: a marker by which it is found again, a sentence, ten rows, the rest folded away."""
    if not changed:
        return ""
    said = markdown.escape(sentence(changed))
    lines = ["<!-- dcplan -->", f"**FAIL** {said}" if changed.new_missed else said, "", *_grid(changed.changes[:SHOWN])]
    if rest := changed.changes[SHOWN:]:
        lines += ["", "<details>", f"<summary>{count(len(rest), 'more change')}</summary>", "", *_grid(rest)]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _grid(changes: Iterable[Change]) -> list[str]:
    return markdown.draw_grid(Table("changes", "", _COLUMNS, _rows(changes)))
