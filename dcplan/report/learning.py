"""Plans whose sites train by themselves: what that costs in learning, beside the time that it saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Cell, Notice, Table, count, fixed, number, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Row
    from dcplan.training.outer.quality import Quality

_COLUMNS = (
    text_column("chosen", ""),
    text_column("plan", "Plan", 8),
    number_column("every_steps", "Every", "steps"),
    number_column("loss_percent", "Loss", "%"),
    number_column("batch_over_optimal", "Batch", "of best"),
    number_column("staleness", "Age"),
    number_column("staleness_worst", "at most"),
    number_column("progress", "Worth"),
    number_column("server_gb", "Server", "GB"),
    text_column("risk", "Risk", 7),
    text_column("doubts", "Not seen to hold:", 30),
)
_NOTE = (
    "In no step time. Loss: over that of one site, at the best batch of each, by the DiLoCo scaling law (Charles et "
    "al. 2025; fitted every 30 steps, to 2.4 billion parameters, checked to 10). Batch: of the job over the best by "
    "that law. Age: of what a site learns from others, in updates (servers) or own steps (streamed). Worth: of an "
    "update, 1 / (1 + κ age) by the κ of the file. Server: memory of each, outside the accelerators."
)


def notices(rows: Iterable[PlanRow]) -> Iterator[Notice]:
    """That a plan of a job does not learn what synchronous training learns, and where nobody has seen it learn."""
    loose: dict[str, list[PlanRow]] = {}
    for row in rows:
        if row.quality is not None:
            loose.setdefault(row.job, []).append(row)
    for job, mine in loose.items():
        some = count(len(mine), "plan")
        text = f"{job}: in {some} sites train by themselves; a step teaches less than a synchronous one, see Learning"
        yield Notice("~", text)


def tables(rows: Iterable[PlanRow]) -> Iterator[Table]:
    """The plans of all jobs whose sites train by themselves, a table for each job."""
    loose: dict[str, list[tuple[PlanRow, Quality]]] = {}
    for row in rows:
        if row.quality is not None:
            loose.setdefault(row.job, []).append((row, row.quality))
    for i, (job, mine) in enumerate(loose.items()):
        cells = tuple(_row(row, quality) for row, quality in mine)
        yield Table(f"learning {job}", f"Learning of {job}", _COLUMNS, cells, note="" if i else _NOTE, main=True)


def _row(row: PlanRow, quality: Quality) -> Row:
    loss = quality.loss_percent
    return (
        Cell("*" if row.chosen else "", row.chosen, "strong"),
        say(row.plan),
        whole(quality.every_steps),
        Cell("–", None) if loss is None else Cell(f"{'~' if quality.doubts else ''}+{loss:.2f}", loss),
        number(quality.batch_over_optimal),
        number(quality.staleness),
        number(quality.staleness_worst),
        fixed(quality.progress, 3),
        fixed(quality.server_gb, 0),
        Cell("unknown", "unknown", "warn") if quality.doubts else Cell("in range", "in range"),
        say("; ".join(quality.doubts)),
    )
