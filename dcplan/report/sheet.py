"""What every report is made of: facts, notices and tables of cells that are already rounded, with exact values beside.

A builder (view, optics, steps, diff) makes a `View`; text, markdown and json only draw it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dcplan.report.strip import Scale
from dcplan.units import significant

Value = str | int | float | bool | None
Tone = Literal["", "ok", "bad", "warn", "dim", "strong"]
NOTHING = "–"
"""Shown where there is nothing to show."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown, and the exact value for machines. `tone` may add colour to what the text already says."""

    text: str
    value: Value
    tone: Tone = ""


Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Those to the left matter most: where the page is narrow, the last ones go below their row."""

    key: str
    """Name in JSON, with its unit as a suffix."""
    head: str
    unit: str = ""
    right: bool = False
    wrap: int = 0
    """Least width to which a text may be wrapped; 0: never wrapped."""
    scale: Scale | None = None
    """A strip: its cells hold one mark per slot, and are drawn as wide as the page allows, with this scale above."""
    footnote: bool = False
    """Goes below the table as numbered notes where the page is narrow: long texts that repeat."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title, total and note."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    total: Row | None = None
    note: str = ""
    main: bool = False
    """Shown by `dcplan show` too."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the opening. `mark` says in a word how it stands: ok, FAIL, ~ or nothing."""

    label: str
    text: str
    values: Mapping[str, Value]
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that must not be overlooked."""

    mark: str
    """FAIL: a promise is missed; gap: not proven optimal; ~: rests on an estimate."""
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """A report, whole: what is shown, in the order in which it is shown."""

    kind: str
    """What it reports: plan, optics, steps, diff, …"""
    title: str
    facts: tuple[Fact, ...] = ()
    notices: tuple[Notice, ...] = ()
    tables: tuple[Table, ...] = ()
    lead: str = ""
    """A sentence below the title."""


def inserted(table: Table, key: str, column: Column, cells: Sequence[Cell]) -> Table:
    """The table with a further column before the one called `key`, a cell for each row."""
    at = next(i for i, other in enumerate(table.columns) if other.key == key)
    rows = tuple((*row[:at], cell, *row[at:]) for row, cell in zip(table.rows, cells, strict=True))
    total = table.total and (*table.total[:at], Cell("", None), *table.total[at:])
    return replace(table, columns=(*table.columns[:at], column, *table.columns[at:]), rows=rows, total=total)


def text_column(key: str, head: str, wrap: int = 8) -> Column:
    """A column of names or sentences."""
    return Column(key, head, wrap=wrap)


def number_column(key: str, head: str, unit: str = "") -> Column:
    """A column of numbers, right-aligned, its unit below its head."""
    return Column(key, head, unit, right=True)


def strip_column(key: str, head: str, scale: Scale) -> Column:
    """A column of strips, the last of its table."""
    return Column(key, head, scale=scale)


def say(text: str, tone: Tone = "") -> Cell:
    """A cell of text."""
    return Cell(text, text, tone)


def again(cell: Cell) -> Cell:
    """The same value, not shown again where it stands in the row above."""
    return Cell("", cell.value)


def number(value: float | None, digits: int = 3, *, flag: bool = False, none: str = NOTHING) -> Cell:
    """A number to `digits` significant digits; `~` before it where it is an estimate."""
    if value is None or not math.isfinite(value):
        return Cell(none if value is None else significant(value), None)
    return Cell(("~" if flag else "") + significant(value, digits), value, "warn" if flag else "")


def fixed(value: float | None, decimals: int, none: str = NOTHING, tone: Tone = "") -> Cell:
    """A number with so many decimals, so that a column lines up."""
    if value is None or not math.isfinite(value):
        return Cell(none if value is None else significant(value), None, tone)
    return Cell(f"{value:,.{decimals}f}", value, tone)


def whole(value: float, *, flag: bool = False) -> Cell:
    """A count or an amount without decimals; `~` before it where it is an estimate."""
    return Cell(("~" if flag else "") + f"{value:,.0f}", value, "warn" if flag else "")


def added(value: float, *, to_something: bool) -> Cell:
    """How many are new; nothing where all is new."""
    return whole(value) if to_something else Cell("", None)


def quantity(value: float) -> Cell:
    """A quantity or price: whole where it is whole, else with two decimals."""
    return Cell(f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}", value)


def verdict(*, good: bool) -> Cell:
    """`ok` or `FAIL`."""
    return Cell("ok" if good else "FAIL", good, "ok" if good else "bad")


def apart(value: float, other: float) -> tuple[str, str]:
    """Two numbers with three significant digits, or as many more as tell them apart."""
    for digits in range(3, 12):
        texts = significant(value, digits), significant(other, digits)
        if texts[0] != texts[1] or value == other:
            break
    return texts


def count(number_of: int, what: str) -> str:
    """`1 fiber`, `2 fibers`."""
    return f"{number_of:,} {what}{'' if number_of == 1 else 's'}"
