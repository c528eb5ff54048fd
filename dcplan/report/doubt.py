"""Marks with `~` whatever names a part of low confidence, wherever it stands in a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.report.sheet import Notice

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dcplan.planfile import Plan
    from dcplan.report.sheet import Cell, Column, Table, View

FLAG = "~"
KEYS = frozenset({"type", "amplifier", "transponder", "mode", "part"})
"""Columns that name parts; a site or fiber may have the name of one."""


def flagged(view: View, doubtful: Mapping[str, str], *, used: Collection[str] = (), notices: bool = True) -> View:
    """A view in which cells that name one of the parts begin with `~`; with a notice of why for each that is there.

    `used`: parts that the view rests on although it does not name them.
    """
    if not doubtful:
        return view
    met = dict.fromkeys(name for name in used if name in doubtful)

    def mark(cell: Cell, column: Column) -> Cell:
        first = cell.text.partition(" ")[0]
        if column.key not in KEYS or first not in doubtful:
            return cell
        met[first] = None
        return replace(cell, text=FLAG + cell.text, tone=cell.tone or "warn")

    def marked(table: Table) -> Table:
        rows = tuple(tuple(map(mark, row, table.columns)) for row in table.rows)
        return replace(table, rows=rows)

    tables = tuple(map(marked, view.tables))
    told = tuple(Notice(FLAG, f"{name} is of low confidence: {doubtful[name]}") for name in met) if notices else ()
    return replace(view, tables=tables, notices=(*view.notices, *told))


def doubtful_in(plan: Plan) -> dict[str, str]:
    """Parts of low confidence that a plan rests on, by id, with the figure that matters most."""
    return {
        assumption.what.partition(" ")[2]: assumption.value
        for assumption in plan.assumptions
        if assumption.confidence == "low" and assumption.what.startswith(("fiber ", "amplifier ", "transponder "))
    }
