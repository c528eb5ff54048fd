"""Draws a report as plain text of a given width: no line is wider, nothing is cut off, colour only repeats words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.report.sheet import NOTHING
from dcplan.report.strip import ruler, shrink
from dcplan.report.width import columns, pad, plain, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.report.sheet import Cell, Column, Fact, Notice, Row, Table, View

NARROWEST, WIDEST = 60, 160
"""Width of a page: narrower cannot be read in columns, wider cannot be read in lines."""
INDENT = 2
DEEPER = 6
LONG_WORD = 16
STRIP = 30
"""Columns that a strip takes at least."""
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
    blocks[0] += wrap(plain(view.lead), page.width) if view.lead else []
    blocks += [draw_facts(view.facts, page), draw_notices(view.notices, page)]
    blocks += [draw_table(table, page) for table in view.tables if table.main or not main]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def draw_facts(facts: Sequence[Fact], page: Page) -> list[str]:
    """Label, mark, sentence."""
    if not facts:
        return []
    label = min(max(columns(plain(fact.label)) for fact in facts), page.width // 4)
    mark = max(columns(fact.mark) for fact in facts)
    margin = label + 2 + (mark + 2 if mark else 0)
    lines: list[str] = []
    for fact in facts:
        heads, body = wrap(plain(fact.label), label), wrap(plain(fact.text), page.width - margin)
        for level in range(max(len(heads), len(body))):
            line = pad(heads[level] if level < len(heads) else "", label) + "  "
            if mark:
                shown = fact.mark if level == 0 else ""
                line += page.paint(shown, _TONES.get(shown, "")) + " " * (mark - columns(shown) + 2)
            lines.append((line + (body[level] if level < len(body) else "")).rstrip())
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
    """Title, heads, units, a rule, rows, total, notes."""
    title = [page.paint(line, "strong") for line in wrap(plain(table.title), page.width)]
    if not table.rows:
        return [*title, *_note(table.note or "none", page)]
    room = page.width - INDENT
    table = _stretched(table, room)
    grid, notes = _fit(table, room), [table.note] if table.note else []
    if any(table.columns[i].footnote for i in grid.below):
        table, found = _footnoted(table)
        grid, notes = _fit(table, room), [*notes, *found]
    if same := _constant(table, grid):
        notes.append(f"In all rows: {'; '.join(_labelled(table.columns[i], text) for i, text in same.items())}.")
        grid = replace(grid, below=tuple(i for i in grid.below if i not in same))
    rule = [
        page.paint(ruler(scale, width)[1] if (scale := table.columns[i].scale) else "─" * width, "dim")
        for i, width in zip(grid.shown, grid.widths, strict=True)
    ]
    body = [line for row in table.rows for line in _draw_row(table, grid, row, page)]
    if table.total:
        body += [_join(rule, grid), *_draw_row(table, grid, table.total, page)]
    foot = [line for note in notes for line in _note(note, page)]
    return [*title, *_draw_heads(table, grid, page), _join(rule, grid), *body, *foot]


def _stretched(table: Table, room: int) -> Table:
    """Strips drawn in what the other columns leave of the page; those may be wrapped to make room for `STRIP`."""
    strips = [i for i, column in enumerate(table.columns) if column.scale]
    if not strips:
        return table
    others = replace(table, columns=tuple(c for c in table.columns if not c.scale), total=None)
    others = replace(
        others, rows=tuple(tuple(cell for i, cell in enumerate(row) if i not in strips) for row in table.rows)
    )
    grid = _fit(others, max(room - STRIP - 2, 20))
    width = max(STRIP, room - sum(grid.widths) - grid.gap * len(grid.widths))

    def drawn(row: Row) -> Row:
        return tuple(
            replace(cell, text=shrink(cell.text, width)) if i in strips else cell for i, cell in enumerate(row)
        )

    return replace(table, rows=tuple(map(drawn, table.rows)))


def _note(note: str, page: Page) -> list[str]:
    return [" " * INDENT + page.paint(line, "dim") for line in wrap(plain(note), page.width - INDENT)]


def _footnoted(table: Table) -> tuple[Table, list[str]]:
    """The table with a number in place of each text of its footnote columns, and the texts by number."""
    numbers: dict[str, int] = {}

    def numbered(column: Column, cell: Cell) -> Cell:
        if not column.footnote or not cell.text:
            return cell
        return replace(cell, text=f"[{numbers.setdefault(cell.text, len(numbers) + 1)}]")

    rows = tuple(tuple(map(numbered, table.columns, row)) for row in table.rows)
    heads = tuple(replace(c, head=c.head.split()[0], wrap=0) if c.footnote else c for c in table.columns)
    return replace(table, columns=heads, rows=rows), [f"[{number}] {text}" for text, number in numbers.items()]


def _constant(table: Table, grid: _Grid) -> dict[int, str]:
    """Columns below their rows that would say the same again and again, with what they say."""
    found = {}
    for i in grid.below:
        texts = [row[i].text for row in table.rows if row[i].text not in {"", NOTHING}]
        if len(texts) > 1 and len(set(texts)) == 1:
            found[i] = texts[0]
    return found


def used_columns(table: Table) -> list[int]:
    """Columns in which some row shows something."""
    rows = table.rows
    return [i for i in range(len(table.columns)) if any(row[i].text not in {"", NOTHING} for row in rows)] or [0]


def _fit(table: Table, width: int) -> _Grid:
    used = used_columns(table)
    rows = [*table.rows, *([table.total] if table.total else [])]
    natural = {i: max(_head_width(table.columns[i]), *(columns(plain(row[i].text)) for row in rows)) for i in used}
    words = {i: max(columns(word) for row in rows for word in [*plain(row[i].text).split(), ""]) for i in used}
    floor = {i: _floor(table.columns[i], natural[i], words[i]) for i in used}
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


def _floor(column: Column, natural: int, word: int) -> int:
    """Least width of a column: a text is wrapped between words, within them only past 16 columns."""
    return min(natural, max(column.wrap, _head_width(column), min(word, LONG_WORD))) if column.wrap else natural


def _head_width(column: Column) -> int:
    return max(map(columns, [*column.head.split(), column.unit, ""]))


def _draw_heads(table: Table, grid: _Grid, page: Page) -> list[str]:
    chosen = [table.columns[i] for i in grid.shown]
    heads = [
        [column.head, ruler(column.scale, width)[0]] if column.scale else wrap(column.head, width)
        for column, width in zip(chosen, grid.widths, strict=True)
    ]
    height = max(map(len, heads))
    stacked = [[""] * (height - len(head)) + head for head in heads]
    if any(column.unit for column in chosen):
        stacked = [[*lines, column.unit] for lines, column in zip(stacked, chosen, strict=True)]
    return _lay(stacked, ["dim"] * len(chosen), table, grid, page)


def _draw_row(table: Table, grid: _Grid, row: Row, page: Page) -> list[str]:
    cells = [wrap(plain(row[i].text), width) for i, width in zip(grid.shown, grid.widths, strict=True)]
    lines = _lay(cells, [row[i].tone for i in grid.shown], table, grid, page)
    shown = [i for i in grid.below if row[i].text not in {"", NOTHING}]
    below = "; ".join(_labelled(table.columns[i], row[i].text) for i in shown)
    if below:
        room = page.width - INDENT - DEEPER
        lines += [" " * (INDENT + DEEPER) + page.paint(line, "dim") for line in wrap(below, room)]
    return lines


def _labelled(column: Column, text: str) -> str:
    return " ".join(filter(None, [column.head, plain(text), column.unit]))


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
