"""How near the training model is to published runs: a table of sets, and their rows where asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import (
    Cell,
    Column,
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dcplan.accuracy.compare import Comparison, Figures
    from dcplan.report.sheet import Row

_SETS = (
    text_column("name", "Set", 0),
    text_column("quantity", "What", 8),
    text_column("used_for", "Used for"),
    number_column("n", "n"),
    number_column("mean", "Mean"),
    number_column("bias", "Bias"),
    number_column("worst", "Worst"),
    number_column("calculon_mean", "Calculon"),
    number_column("calculon_worst", "its worst"),
    text_column("confidence", "Trust"),
    Column("title", "Runs", wrap=20),
    text_column("error_unit", "Errors in"),
)
_NOTE = (
    "Predicted over published, minus one; pt: points, where what is published is itself in %. Mean: of absolute errors "
    "(MAPE). Fitted: constants were fitted on these rows; test: on none of them. Calculon: mean and worst of "
    "calculon-ai/calculon @caa4b11 on the same rows, as far as it was run on them. At least: what was reported is a "
    "bound from below, ours may be 2 points less. Trust: high, published as it is used; medium, something about the "
    "runs is assumed; low, most of it."
)


def view(sets: Sequence[Comparison], *, rows: bool = False) -> View:
    """The view of `dcplan accuracy`."""
    lines = tuple(line for one in sets for line in _lines(one))
    tables = [Table("sets", "Predicted over published", _SETS, lines, note=_NOTE, main=True)]
    if rows:
        tables += [_rows(one) for one in sets]
    return View("accuracy", "dcplan accuracy", tuple(_facts(sets)), tuple(_notices(sets)), tuple(tables))


def _facts(sets: Sequence[Comparison]) -> Iterator[Fact]:
    tested = [row for one in sets for row in one.rows if not row.fitted]
    every = sum(len(one.rows) for one in sets)
    values = {"rows": every, "tested": len(tested), "fitted": every - len(tested), "sets": len(sets)}
    text = f"{count(every, 'measured figure')} in {count(len(sets), 'set')}: {count(len(tested), 'test')}"
    text += f", {every - len(tested)} fitted" if every > len(tested) else ""
    yield Fact("Compared", text, values)


def _notices(sets: Iterable[Comparison]) -> Iterator[Notice]:
    for one in sets:
        missed = one.missed()
        if missed:
            yield Notice("FAIL", f"{one.title}: less than was reported: {', '.join(missed)}")


def _lines(one: Comparison) -> Iterator[Row]:
    for fitted in (True, False):
        found = one.figures(fitted=fitted)
        if found is not None:
            yield _line(one, found, one.calculon(fitted=fitted), "fitted" if fitted else "test")


def _line(one: Comparison, found: Figures, calculon: Figures | None, used_for: str) -> Row:
    unit = one.error_unit
    return (
        say(one.name),
        say(f"{one.quantity}, at least" if one.at_least else one.quantity),
        say(used_for),
        Cell(str(found.n), found.n),
        Cell(f"{found.mean:.1f} {unit}", found.mean),
        _signed(found.bias, unit),
        _signed(found.worst, unit),
        Cell(f"{calculon.mean:.1f} {unit}", calculon.mean) if calculon else fixed(None, 1),
        _signed(calculon.worst, unit) if calculon else fixed(None, 1),
        say(one.confidence),
        say(one.title),
        say(unit),
    )


def _signed(value: float, unit: str = "") -> Cell:
    return Cell(f"{value:+.1f} {unit}".rstrip(), value)


def _rows(one: Comparison) -> Table:
    unit = one.unit
    columns = (
        text_column("id", "Run", 20),
        number_column("measured", "Measured", unit),
        number_column("predicted", "Predicted", unit),
        number_column("error", "Error"),
        number_column("calculon", "Calculon", unit),
        text_column("used_for", "Used for"),
    )
    cells = tuple(
        (
            say(row.id),
            number(row.measured, 4),
            number(row.predicted, 4),
            _signed(one.error(row.measured, row.predicted), one.error_unit),
            number(row.calculon, 4),
            say("fitted" if row.fitted else "test"),
        )
        for row in one.rows
    )
    note = f"Source: {one.source}." + (f" {one.note[0].upper()}{one.note[1:]}." if one.note else "")
    return Table(f"rows {one.name}", one.title, columns, cells, note=note)
