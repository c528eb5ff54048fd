"""Jobs whose sites are not alike, or hold stages: what falls on each site, and what equal parts would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Notice, Table, again, fixed, number, number_column, say, text_column, whole
from dcplan.units import duration, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Row

_COLUMNS = (
    text_column("plan", "Plan", 8),
    number_column("step_s", "Step", "s"),
    number_column("equal_s", "equal", "s"),
    text_column("site", "Site", 8),
    text_column("accelerator", "Accelerator", 10),
    number_column("accelerators", "Count"),
    number_column("batch_percent", "Batch", "%"),
    number_column("layers", "Layers"),
    number_column("microbatch_s", "One", "s"),
    number_column("busy_s", "Busy", "s"),
    number_column("extra_in_flight", "Ahead"),
    number_column("memory_gb", "Memory", "GB"),
    number_column("capacity_gb", "of", "GB"),
)
_EQUAL = "Equal: the step if all had equal parts, so that the oldest sets the pace. "
_ONE = "One: one microbatch in the slowest stage there, forward and backward; busy: all of them; "
_AHEAD = "ahead: microbatches in flight there because of boundaries between sites; "
_MEMORY = "memory: the fullest accelerator."


def notices(rows: Iterable[PlanRow]) -> Iterator[Notice]:
    """What parts by speed save of the best plan of a job."""
    best: dict[str, PlanRow] = {}
    for row in rows:
        if row.fits and row.step_s is not None:
            best.setdefault(row.job, row)
    for row in best.values():
        if row.step_s is not None and row.equal_s is not None:
            saved = 100 * (1 - row.step_s / row.equal_s)
            less = f"{significant(abs(saved))} % {'less' if saved >= 0 else 'more'}"
            text = f"{row.job}: in equal parts the oldest would set the pace, {duration(row.equal_s)} a step with "
            yield Notice("", f"{text}{row.plan}; by speed it takes {less}")


def tables(rows: Iterable[PlanRow]) -> Iterator[Table]:
    """A table for each job: its plans, site by site."""
    jobs: dict[str, list[PlanRow]] = {}
    for row in rows:
        if row.parts:
            jobs.setdefault(row.job, []).append(row)
    shown = [row for mine in jobs.values() for row in mine]
    note = _EQUAL if any(row.equal_s is not None for row in shown) else ""
    staged = any(part.extra_in_flight is not None for row in shown for part in row.parts)
    note += _ONE + (_AHEAD if staged else "") + _MEMORY
    for i, (job, mine) in enumerate(jobs.items()):
        cells = tuple(cell for row in mine for cell in _rows(row))
        yield Table(f"parts {job}", f"Sites of {job}", _COLUMNS, cells, note="" if i else note)


def _rows(row: PlanRow) -> Iterator[Row]:
    head = (say(row.plan), number(row.step_s, 4), number(row.equal_s, 4))
    for part in row.parts:
        yield (
            *head,
            say(part.site),
            say(part.accelerator),
            whole(part.accelerators),
            fixed(part.batch_percent, 1),
            number(part.layers),
            number(part.microbatch_s),
            number(part.busy_s, 4),
            number(None) if part.extra_in_flight is None else whole(part.extra_in_flight),
            fixed(part.memory_gb, 1),
            number(part.capacity_gb),
        )
        head = (again(head[0]), again(head[1]), again(head[2]))
