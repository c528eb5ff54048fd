"""Draws a report as plain text of a given width: no line is wider, nothing is cut off, colour only repeats words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.report.sheet import NOTHING
from dcplan.report.width import columns, pad, plain, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.report.sheet import Cell, Column, Fact, Notice, Row, Table, View

NARROWEST, WIDEST = 60, 160
"""Width of a page: narrower cannot be read in columns, wider cannot be read in lines."""
INDENT = 2
DEEPER = 6
_CODES = {"ok": "32", "bad": "1;31", "warn": "33", "dim": "2", "strong": "1"}
_TONES = {"ok": "ok", "FAIL": "bad", "gap": "warn", "~": "warn"}


@dataclass(frozen=True, slots=True)
class Page:
    """Where it is drawn."""

    width: int = 80
    colour: bool = False

    def paint(self, text: str, tone: str) -> str:
        """The text, in colour where there is colour."""
        return f"\x1b[{_CODES[tone]}m{text}\x1b[0m" if self.colour and tone and text else text


def draw(view: View, width: int = 80, *, colour: bool = False, main: bool = False) -> str:
    """A view as text; `main`: only the tables that matter at a glance. `width` is taken from 60 to 160 columns."""
    page = Page(min(max(width, NARROWEST), WIDEST), colour)
    blocks = [[page.paint(line, "strong") for line in wrap(plain(view.title), page.width)]]
    blocks += [draw_facts(view.facts, page), draw_notices(view.notices, page)]
    blocks += [draw_table(table, page) for table in view.tables if table.main or not main]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def draw_facts(facts: Sequence[Fact], page: Page) -> list[str]:
    """Label, mark, sentence."""
    if not facts:
        return []
    label = max(columns(fact.label) for fact in facts)
    mark = max(columns(fact.mark) for fact in facts)
    margin = label + 2 + (mark + 2 if mark else 0)
    lines: list[str] = []
    for fact in facts:
        head = pad(fact.label, label) + "  "
        if mark:
            head += page.paint(fact.mark, _TONES.get(fact.mark, "")) + " " * (mark - columns(fact.mark) + 2)
        body = wrap(plain(fact.text), page.width - margin)
        lines += [(lead + line).rstrip() for lead, line in zip([head, *[" " * margin] * len(body)], body, strict=False)]
    return lines


def draw_notices(notices: Sequence[Notice], page: Page) -> list[str]:
    """Mark, sentence."""
    mark = max((columns(notice.mark) for notice in notices), default=0)
    lines: list[str] = []
    for notice in notices:
        body = wrap(plain(notice.text), page.width - mark - 2)
        lines.append(page.paint(notice.mark, _TONES.get(notice.mark, "")) + " " * (mark - columns(notice.mark) + 2))
        lines[-1] += body[0]
        lines += [" " * (mark + 2) + line for line in body[1:]]
    return lines


@dataclass(frozen=True, slots=True)
class _Grid:
    """Which columns stand side by side, how wide, how far apart; and those that go below their row."""

    shown: tuple[int, ...]
    below: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int


def draw_table(table: Table, page: Page) -> list[str]:
    """Title, heads, units, a rule, rows, total, note."""
    title = [page.paint(line, "strong") for line in wrap(plain(table.title), page.width)]
    note = [
        page.paint(" " * INDENT + line, "dim") for line in wrap(plain(table.note), page.width - INDENT) if table.note
    ]
    if not table.rows:
        return [*title, *(note or [" " * INDENT + "none"])]
    grid = _fit(table, page.width - INDENT)
    rule = [page.paint("─" * width, "dim") for width in grid.widths]
    body = [line for row in table.rows for line in _draw_row(table, grid, row, page)]
    if table.total:
        body += [_join(rule, grid), *_draw_row(table, grid, table.total, page)]
    return [*title, *_draw_heads(table, grid, page), _join(rule, grid), *body, *note]


def used_columns(table: Table) -> list[int]:
    """Columns in which some row shows something."""
    rows = table.rows
    return [i for i in range(len(table.columns)) if any(row[i].text not in {"", NOTHING} for row in rows)] or [0]


def _fit(table: Table, width: int) -> _Grid:
    used = used_columns(table)
    rows = [*table.rows, *([table.total] if table.total else [])]
    natural = {i: max(_head_width(table.columns[i]), *(columns(plain(row[i].text)) for row in rows)) for i in used}
    floor = {
        i: min(natural[i], max(c.wrap, _head_width(c))) if (c := table.columns[i]).wrap else natural[i] for i in used
    }
    for count in range(len(used), 0, -1):
        shown, below = used[:count], used[count:]
        for gap in (2, 1):
            room = width - gap * (count - 1)
            if sum(floor[i] for i in shown) <= room or count == 1:
                floor |= {shown[0]: min(floor[shown[0]], room)} if count == 1 else {}
                return _Grid(tuple(shown), tuple(below), _share(shown, natural, floor, room), gap)
    raise AssertionError  # pragma: no cover  # one column always fits


def _share(shown: list[int], natural: dict[int, int], floor: dict[int, int], room: int) -> tuple[int, ...]:
    """Natural widths, the widest narrowed first until all fit."""
    widths = {i: natural[i] for i in shown}
    while (over := sum(widths.values()) - room) > 0:
        widest = max((i for i in shown if widths[i] > floor[i]), key=lambda i: (widths[i], i))
        rivals = [widths[i] for i in shown if widths[i] > floor[i] and i != widest]
        step = max(1, widths[widest] - max([floor[widest], *rivals]))
        widths[widest] -= min(step, over)
    return tuple(widths[i] for i in shown)


def _head_width(column: Column) -> int:
    return max(map(columns, [*column.head.split(), column.unit, ""]))


def _draw_heads(table: Table, grid: _Grid, page: Page) -> list[str]:
    chosen = [table.columns[i] for i in grid.shown]
    heads = [wrap(column.head, width) for column, width in zip(chosen, grid.widths, strict=True)]
    height = max(map(len, heads))
    stacked = [[""] * (height - len(head)) + head for head in heads]
    if any(column.unit for column in chosen):
        stacked = [[*lines, column.unit] for lines, column in zip(stacked, chosen, strict=True)]
    return _lay(stacked, ["dim"] * len(chosen), table, grid, page)


def _draw_row(table: Table, grid: _Grid, row: Row, page: Page) -> list[str]:
    cells = [wrap(plain(row[i].text), width) for i, width in zip(grid.shown, grid.widths, strict=True)]
    lines = _lay(cells, [row[i].tone for i in grid.shown], table, grid, page)
    below = "; ".join(_labelled(table.columns[i], row[i]) for i in grid.below if row[i].text not in {"", NOTHING})
    if below:
        room = page.width - INDENT - DEEPER
        lines += [" " * (INDENT + DEEPER) + page.paint(line, "dim") for line in wrap(below, room)]
    return lines


def _labelled(column: Column, cell: Cell) -> str:
    return " ".join(filter(None, [column.head, plain(cell.text), column.unit]))


def _lay(cells: list[list[str]], tones: Sequence[str], table: Table, grid: _Grid, page: Page) -> list[str]:
    """Cells of one or more lines side by side."""
    lines = []
    for level in range(max(map(len, cells))):
        line = []
        for i, cell, tone, width in zip(grid.shown, cells, tones, grid.widths, strict=True):
            text = cell[level] if level < len(cell) else ""
            space, shown = " " * (width - columns(text)), page.paint(text, tone)
            line.append(space + shown if table.columns[i].right else shown + space)
        lines.append(_join(line, grid))
    return lines


def _join(parts: Sequence[str], grid: _Grid) -> str:
    return (" " * INDENT + (" " * grid.gap).join(parts)).rstrip()
