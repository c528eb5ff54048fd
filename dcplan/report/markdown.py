"""Draws a report as GitHub Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dcplan.model.grid import SLOT_GHZ
from dcplan.report.strip import shrink
from dcplan.report.text import used_columns
from dcplan.report.width import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.report.sheet import Column, Fact, Notice, Row, Table, View


STRIP = 96
"""Columns of a strip."""


def draw(view: View, *, main: bool = False) -> str:
    """A view as Markdown; `main`: only the tables that matter at a glance."""
    lead = [[escape(view.lead)]] if view.lead else []
    blocks = [[f"# {escape(view.title)}"], *lead, draw_facts(view.facts), draw_notices(view.notices)]
    blocks += [draw_table(table) for table in view.tables if table.main or not main]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def escape(text: str) -> str:
    """Text that Markdown leaves as it is: also no mention, no formula, no link out of a name."""
    text = re.sub(r"[\\`*_{}\[\]<>|~#&]", lambda found: f"\\{found[0]}", plain(text))
    text = re.sub(r"\$(?=\S)", "&#36;", text)
    text = re.sub(r"@(?=\w)", "@<!-- -->", text)
    return re.sub(r"^([-+]|\d+[.)])(?=\s)", lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)


def draw_facts(facts: Sequence[Fact]) -> list[str]:
    """A table of label, mark, sentence."""
    if not facts:
        return []
    rows = ([f"**{escape(fact.label)}**", mark(fact.mark), escape(fact.text)] for fact in facts)
    return ["|  |  |  |", "| --- | --- | --- |", *map(_line, rows)]


def draw_notices(notices: Sequence[Notice]) -> list[str]:
    """A list of what must not be overlooked."""
    return [f"- {mark(notice.mark)} {escape(notice.text)}" for notice in notices]


def mark(text: str) -> str:
    """A verdict; FAIL in bold."""
    return f"**{text}**" if text == "FAIL" else escape(text)


def draw_table(table: Table, level: int = 2) -> list[str]:
    """Heading, table, note."""
    heading = [f"{'#' * level} {escape(table.title)}", ""]
    note = ["", escape(table.note)] if table.note else []
    if not table.rows:
        return [*heading, *(note[1:] or ["none"])]
    return [*heading, *draw_grid(table), *note]


def draw_grid(table: Table) -> list[str]:
    """The rows alone, with heads and total."""
    used = used_columns(table)
    chosen = [table.columns[i] for i in used]
    heads = [escape(_head(column)) for column in chosen]
    rule = ["---:" if column.right else "---" for column in chosen]
    rows = [_cells(table, row, used) for row in table.rows]
    if table.total:
        rows.append([f"**{cell}**" if cell else "" for cell in _cells(table, table.total, used)])
    return [*map(_line, [heads, rule, *rows])]


def _head(column: Column) -> str:
    if column.scale:
        end_thz = column.scale.start_thz + column.scale.slots * SLOT_GHZ / 1e3
        return f"{column.head}, {column.scale.start_thz:g} to {end_thz:g}"
    return f"{column.head} [{column.unit}]" if column.unit else column.head


def _cells(table: Table, row: Row, used: Iterable[int]) -> list[str]:
    return [f"`{shrink(row[i].text, STRIP)}`" if table.columns[i].scale else mark(row[i].text) for i in used]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
