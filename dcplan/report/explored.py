"""What a search over all plans of a job found: the best of each objective, a ranking, and the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report import learning
from dcplan.report.sheet import (
    NOTHING,
    Cell,
    Fact,
    Notice,
    Table,
    View,
    count,
    fixed,
    number,
    number_column,
    say,
    text_column,
)
from dcplan.training.memory import USABLE
from dcplan.training.plans.objectives import OBJECTIVES
from dcplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.api.exploring import Exploration
    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Row, Value
    from dcplan.training.plans.explore import Explored

_WEIGHED = (
    text_column("best", "Best in", 6),
    text_column("plan", "Plan", 8),
    number_column("step_s", "Step", "s"),
    number_column("overhead_percent", "Slower", "%"),
    number_column("tokens_per_usd", "Tokens", "1/US$"),
    number_column("headroom_gb", "Left", "GB"),
    number_column("cross_site_gb", "Sends", "GB"),
    number_column("needed_gbps", "Needs", "Gb/s"),
    number_column("mfu_percent", "MFU", "%"),
    text_column("across", "Across", 6),
    text_column("layout", "Layout", 24),
    text_column("evidence", "Evidence", 10),
)
_NOTE = (
    "Slower: than the same job in one site. Left: of the memory that can be filled, "
    f"{100 * USABLE:.0f} % of all, on the fullest accelerator. Sends, needs: between two sites, each way; GB per step."
)
_COST_NOTE = " Tokens per US$ of accelerators: every plan takes all of them, so the order is that of the step time."
_APART_NOTE = "Sites train by themselves here: a step teaches less than a synchronous one, so these are in no ranking."


def view(name: str, found: Sequence[Exploration], objective: str, *, pareto: bool) -> View:
    """The view of `dcplan steps --objective` and `--pareto`."""
    facts = tuple(_fact(each.explored) for each in found)
    tables = tuple(table for each in found for table in _tables(each, objective, pareto=pareto))
    rows = [row for each in found for row in each.rows]
    return View("steps", name, facts, (*_notices(found), *learning.notices(rows)), tables)


def looked(found: Explored) -> str:
    """How many plans were looked at, and how many of them can run."""
    return f"{count(found.looked, 'plan')} looked at, of which {found.fitting:,} can run"


def _fact(found: Explored) -> Fact:
    if not found.best:
        text = f"no synchronous plan fits; {looked(found)}"
        return Fact(found.job, text, {"looked": found.looked, "fitting": 0}, "FAIL")
    fastest = found.weighed[found.best["step"]]
    text = f"{found.best['step']} is fastest: {duration(fastest.step_s)} a step; {looked(found)}"
    values: dict[str, Value] = {
        "looked": found.looked,
        "fitting": found.fitting,
        "best": found.best["step"],
        "step_s": fastest.step_s,
    }
    return Fact(found.job, text, values, "ok")


def _notices(found: Sequence[Exploration]) -> Iterator[Notice]:
    for each in found:
        guesses = sum(row.evidence == "extrapolated" and row.fits for row in each.rows)
        if guesses:
            job = each.explored.job
            yield Notice("~", f"{job}: step times marked ~ are extrapolated: no measured run is near")


def _tables(each: Exploration, objective: str, *, pareto: bool) -> Iterator[Table]:
    found, rows = each.explored, {row.plan: row for row in each.rows}
    job = found.job
    note = _NOTE + ("" if "cost" in found.left_out else _COST_NOTE)
    if found.best:
        yield best_of(found)
        yield _front(found, rows, objective, note) if pareto else _ranked(found, rows, objective, note)
    if found.apart:
        title = f"Plans of {job} that change what is learnt"
        yield _table(f"apart {job}", title, found, rows, found.apart, _APART_NOTE)
    if found.misfits:
        columns = (text_column("plan", "Plan", 12), text_column("why_not", "Does not fit:", 30))
        refused = tuple((say(misfit.plan), say(misfit.reason)) for misfit in found.misfits)
        yield Table(f"misfits {job}", f"Why others of {job} do not fit", columns, refused)


def _front(found: Explored, rows: dict[str, PlanRow], objective: str, note: str) -> Table:
    order = sorted(found.front, key=lambda plan: (found.weighed[plan].losses[objective], found.weighed[plan].step_s))
    title = f"Pareto front of {found.job}: {', '.join(OBJECTIVES[name] for name in found.best)}"
    return _table(f"front {found.job}", title, found, rows, order, note)


def _ranked(found: Explored, rows: dict[str, PlanRow], objective: str, note: str) -> Table:
    title = f"Plans of {found.job} by {OBJECTIVES[objective]}"
    return _table(f"ranked {found.job}", title, found, rows, found.ranked, note)


def best_of(found: Explored) -> Table:
    """Every objective with its best plan, or why it is left out."""
    columns = (
        text_column("objective", "Objective", 12),
        text_column("plan", "Best plan", 8),
        number_column("value", "Figure"),
        text_column("unit", "", 6),
        text_column("left_out", "Left out:", 20),
    )
    return Table(f"best {found.job}", f"Best of {found.job}", columns, tuple(_objective(found, n) for n in OBJECTIVES))


def _objective(found: Explored, name: str) -> Row:
    unit = {"step": "s", "cost": "1/US$", "memory": "GB", "bytes": "GB"}[name]
    plan = found.best.get(name)
    if plan is None:
        return (say(OBJECTIVES[name]), say(NOTHING), number(None), say(unit), say(found.left_out.get(name, "no plan")))
    figure = found.weighed[plan]
    values = {
        "step": figure.step_s,
        "cost": figure.tokens_per_usd,
        "memory": figure.headroom_gb,
        "bytes": figure.cross_site_gb,
    }
    return (say(OBJECTIVES[name]), say(plan), number(values[name], 4), say(unit), say(""))


def _table(name: str, title: str, found: Explored, rows: dict[str, PlanRow], plans: Sequence[str], note: str) -> Table:
    return Table(name, title, _WEIGHED, tuple(_row(found, rows[plan]) for plan in plans), note=note)


def _row(found: Explored, row: PlanRow) -> Row:
    figure = found.weighed[row.plan]
    best = ", ".join(name for name, plan in found.best.items() if plan == row.plan)
    return (
        Cell(best, best, "strong"),
        say(row.plan),
        number(row.step_s, 4, flag=row.evidence == "extrapolated" and row.step_s is not None),
        fixed(row.overhead_percent, 2),
        number(figure.tokens_per_usd, 4),
        fixed(figure.headroom_gb, 1),
        number(figure.cross_site_gb),
        number(row.needed_gbps),
        fixed(row.mfu_percent, 1),
        say(row.across or NOTHING),
        say(row.layout),
        say(row.evidence),
    )
