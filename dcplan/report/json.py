"""Draws a report as JSON: the same facts, notices and tables, with exact values in place of rounded texts.

{"format": 1, "kind": "plan", "title": …, "lead": …,
 "facts": [{"label", "text", "mark", <values by name, units as suffix>}],
 "notices": [{"mark", "text"}],
 "tables": {id: {"title", "note", "columns": [{"key", "head", "unit"}], "rows": [{key: value}], "total": {key: value}}}}

A value that is infinite or unknown is null. A reader must allow new keys while `format` stays the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcplan.report.sheet import Row, Table, View

FORMAT = 1
"""Version of the layout above."""


def draw(view: View, *, main: bool = False) -> str:
    """A view as JSON text; `main`: only the tables that matter at a glance."""
    return json.dumps(data(view, main=main), indent=2, ensure_ascii=False) + "\n"


def data(view: View, *, main: bool = False) -> dict[str, Any]:
    """A view as plain data."""
    return {
        "format": FORMAT,
        "kind": view.kind,
        "title": view.title,
        "lead": view.lead,
        "facts": [{"label": fact.label, "text": fact.text, "mark": fact.mark, **fact.values} for fact in view.facts],
        "notices": [{"mark": notice.mark, "text": notice.text} for notice in view.notices],
        "tables": {table.id: _table(table) for table in view.tables if table.main or not main},
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "note": table.note,
        "columns": [{"key": c.key, "head": c.head, "unit": c.unit} for c in table.columns],
        "rows": [_row(table, row) for row in table.rows],
        "total": _row(table, table.total) if table.total else None,
    }


def _row(table: Table, row: Row) -> dict[str, Any]:
    return {column.key: cell.value for column, cell in zip(table.columns, row, strict=True)}
