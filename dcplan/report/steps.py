"""What a step is made of: all parallelism plans of each job side by side, best first, with terms and memory."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from dcplan.report import goodput, learning, transport, unlike
from dcplan.report.explored import best_of, looked
from dcplan.report.sheet import Cell, Fact, Notice, Table, View, count, fixed, number_column, say, text_column
from dcplan.report.work import best_first, legend, side_by_side
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.step import Terms
from dcplan.units import duration, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Column, Row, Value
    from dcplan.training.plans.explore import Explored

HEADS = {
    "compute_s": "Compute",
    "tp_s": "TP",
    "cp_s": "CP",
    "ep_s": "EP",
    "pp_s": "PP",
    "bubble_s": "Bubble",
    "cross_pipeline_s": "Cross PP",
    "cross_layers_s": "Cross layers",
    "host_s": "Host",
    "dp_s": "DP",
    "sync_s": "Sync",
    "optimizer_s": "Opt.",
    "straggler_s": "Wait",
    "fixed_s": "Fixed",
}
_TERMS_NOTE = (
    "Exposed time only. PP: pipeline transfers inside sites; cross PP: delay over stage boundaries between sites; DP: "
    "gradients inside a site; sync: gradients across sites; opt.: optimizer; wait: for the slowest site."
)
_MEMORY = (
    text_column("plan", "Plan", 8),
    number_column("total_gb", "Total", "GB"),
    number_column("capacity_gb", "of", "GB"),
    number_column("weights_gb", "Weights", "GB"),
    number_column("gradients_gb", "Gradients", "GB"),
    number_column("optimizer_gb", "Optimizer", "GB"),
    number_column("activations_gb", "Activations", "GB"),
)
_HOST = number_column("host_gb", "Host", "GB")


def view(name: str, rows: Iterable[PlanRow], searched: Sequence[Explored] = ()) -> View:
    """The view of `dcplan steps`; searched: what a search found of the jobs that leave their plans to it."""
    ordered = best_first(rows)
    jobs, known = dict.fromkeys(row.job for row in ordered), {found.job: found for found in searched}
    own = {job: [row for row in ordered if row.job == job] for job in jobs}
    facts = tuple(_fact(job, own[job], known.get(job)) for job in jobs)
    tables = tuple(
        table for i, job in enumerate(jobs) for table in _tables(job, own[job], known.get(job), explained=i == 0)
    )
    tables += tuple(transport.tables(ordered))
    return View(
        "steps", name, facts, (*_notices(own.values()), *learning.notices(ordered), *unlike.notices(ordered)), tables
    )


def _fact(job: str, rows: list[PlanRow], found: Explored | None) -> Fact:
    fitting = [row for row in rows if row.fits]
    if not fitting or fitting[0].step_s is None:
        return Fact(job, "no parallelism plan fits", {"fitting": 0}, "FAIL")
    best = fitting[0]
    apart = best.quality is None and any(row.quality for row in fitting)
    how = "is the fastest that synchronises every step" if apart else "is fastest"
    text = f"{best.plan} {how}: {duration(best.step_s or 0.0)} a step"
    if best.overhead_percent is not None:
        text += f", {significant(best.overhead_percent)} % slower than in one site"
    if found:
        text += f"; {looked(found)}"
    else:
        text += f"; {count(len(fitting), 'plan')} {'fits' if len(fitting) == 1 else 'fit'}"
    values: dict[str, Value] = {
        "fitting": found.fitting if found else len(fitting),
        "best": best.plan,
        "step_s": best.step_s,
        "overhead_percent": best.overhead_percent,
    }
    return Fact(job, text, values, "ok")


def _notices(jobs: Iterable[list[PlanRow]]) -> Iterator[Notice]:
    for rows in jobs:
        guesses = sum(row.evidence == "extrapolated" and row.fits for row in rows)
        if guesses:
            text = f"{rows[0].job}: {count(guesses, 'step time')} extrapolated, marked ~: no measured run is near"
            yield Notice("~", text)


def _tables(job: str, rows: list[PlanRow], found: Explored | None, *, explained: bool) -> Iterator[Table]:
    if found and found.best:
        yield best_of(found)
    note = legend(rows) if explained else ""
    yield side_by_side(job, rows, note)
    timed = [row for row in rows if row.terms is not None]
    if timed:
        yield _terms(job, timed, _TERMS_NOTE if explained else "")
    yield from learning.tables(rows)
    yield from unlike.tables(rows)
    yield from goodput.tables(rows)
    if any(row.memory for row in rows):
        weighed = tuple(_memory(row) for row in rows if row.memory)
        host = any(row.memory.host_gb for row in rows if row.memory)
        columns = (*_MEMORY, _HOST) if host else _MEMORY
        cells = tuple(cells if host else cells[: len(_MEMORY)] for cells in weighed)
        note = "Host: of the optimizer, in the memory of the host." if host else ""
        yield Table(f"memory {job}", f"Memory of {job}, fullest accelerator", columns, cells, note=note)


def _terms(job: str, rows: list[PlanRow], legend: str) -> Table:
    """Terms of a step; they add up to the step. Terms that are zero in every plan are named below."""
    fastest = min(row.terms.total_s for row in rows if row.terms)
    decimals = max(0, 3 - math.floor(math.log10(fastest))) if fastest > 0 else 3
    columns: list[Column] = [
        text_column("plan", "Plan", 8),
        number_column("step_s", "Step", "s"),
        number_column("one_site_s", "One site", "s"),
    ]
    spanned = any(row.across in SPANNING for row in rows)
    waits = any(row.terms.host_s for row in rows if row.terms)
    left_out = {name for name, shown in (("cross_layers_s", spanned), ("host_s", waits)) if not shown}
    names = [field.name for field in fields(Terms) if field.name not in left_out]
    columns += [number_column(name, HEADS[name], "s") for name in names]
    cells = tuple(_times(row, names, decimals) for row in rows)
    zero = [HEADS[name] for name in names if not any(getattr(row.terms, name) for row in rows)]
    if spanned:
        legend += " Cross layers: what groups over sites (TP, CP or EP) wait for in every layer."
    if waits:
        legend += " Host: for hosts that launch operators too slowly; `cuda_graphs` helps."
    note = f"{legend} Zero in every plan: {', '.join(zero)}." if zero else legend
    return Table(f"terms {job}", f"Step of {job}", tuple(columns), cells, note=note)


def _times(row: PlanRow, names: Sequence[str], decimals: int) -> Row:
    terms = row.terms or Terms()
    values = [getattr(terms, name) for name in names]
    shown = [fixed(value, decimals) if value else Cell("–", 0.0) for value in values]
    return (say(row.plan), fixed(terms.total_s, decimals), fixed(row.one_site_s, decimals), *shown)


def _memory(row: PlanRow) -> Row:
    memory = row.memory
    if memory is None:
        return (say(row.plan), *[fixed(None, 1)] * 7)
    parts = (memory.weights_gb, memory.gradients_gb, memory.optimizer_gb, memory.activations_gb, memory.host_gb)
    return (say(row.plan), *(fixed(value, 1) for value in (memory.total_gb, memory.capacity_gb, *parts)))
