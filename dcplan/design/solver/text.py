"""A program as text that any solver reads: CPLEX LP and free MPS, with the words of its rows and columns on top."""

from __future__ import annotations

import re
from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.solver.program import Column, Program, Row

WIDTH = 100
_SAFE = re.compile(r"(?![eE])[A-Za-z][A-Za-z0-9]*")
"""Names that no format reads as something else: `e1` could be a number."""


def lp_text(program: Program, words: Sequence[str] = ()) -> str:
    """CPLEX LP. `words` are written as comments on top. SolverError where a name is not unique and safe."""
    return "".join(f"{line}\n" for line in _lp(program, words))


def mps_text(program: Program, words: Sequence[str] = ()) -> str:
    """Free MPS. `words` are written as comments on top. SolverError where a name is not unique and safe."""
    return "".join(f"{line}\n" for line in _mps(program, words))


def _lp(program: Program, words: Sequence[str]) -> Iterator[str]:
    _named(program)
    yield from (f"\\ {_one_line(line)}" for line in words)
    names = [column.name for column in program.columns]
    yield "Minimize"
    yield from _expression(
        "OBJ", {i: column.cost for i, column in enumerate(program.columns) if column.cost}, names, ""
    )
    yield "Subject To"
    for row in program.rows:
        for name, sign, side in _sides(row):
            yield from _expression(name, row.terms, names, f" {sign} {_figure(side)}")
    yield "Bounds"
    for column in program.columns:
        if column.upper < inf:
            yield f" {_figure(column.lower)} <= {column.name} <= {_figure(column.upper)}"
        elif column.lower:
            yield f" {column.name} >= {_figure(column.lower)}"
    integer = [column.name for column in program.columns if column.integer]
    if integer:
        yield "Generals"
        yield from _wrapped(integer)
    yield "End"


def _expression(name: str, terms: Mapping[int, float], names: Sequence[str], end: str) -> Iterator[str]:
    """`name: 2 n0 - 3 n1 >= 4`, on several lines where it is long; a zero term where there is none."""
    parts = [f"{'-' if value < 0 else '+'} {_factor(abs(value))}{names[i]}" for i, value in terms.items()]
    if not parts:
        parts = [f"+ 0 {names[0]}"]
    parts[0] = parts[0].removeprefix("+ ")
    yield from _wrapped([f"{name}:", *parts[:-1], parts[-1] + end])


def _factor(value: float) -> str:
    return "" if value == 1 else f"{_figure(value)} "


def _wrapped(parts: Sequence[str]) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) >= WIDTH:
            yield line
            line = ""
        line += f" {part}"
    yield line


def _mps(program: Program, words: Sequence[str]) -> Iterator[str]:
    _named(program)
    yield from (f"* {_one_line(line)}" for line in words)
    yield "NAME dcplan"
    yield "ROWS"
    yield " N OBJ"
    sides = [side for row in program.rows for side in _sides(row)]
    yield from (f" {({'<=': 'L', '>=': 'G', '=': 'E'})[sign]} {name}" for name, sign, _ in sides)
    yield "COLUMNS"
    yield from _columns(program)
    yield "RHS"
    yield from (f" RHS {name} {_figure(side)}" for name, _, side in sides if side)
    yield "BOUNDS"
    for column in program.columns:
        if column.lower == column.upper:
            yield f" FX BND {column.name} {_figure(column.lower)}"
            continue
        if column.lower:
            yield f" LO BND {column.name} {_figure(column.lower)}"
        yield f" UP BND {column.name} {_figure(column.upper)}" if column.upper < inf else f" PL BND {column.name}"
    yield "ENDATA"


def _columns(program: Program) -> Iterator[str]:
    """Column by column, integers between their markers; a column that stands nowhere has a zero in the objective."""
    entries: list[list[tuple[str, float]]] = [[("OBJ", column.cost)] for column in program.columns]
    for row in program.rows:
        for name, _, _ in _sides(row):
            for i, value in row.terms.items():
                entries[i].append((name, value))
    integer, markers = False, 0
    for column, mine in zip(program.columns, entries, strict=True):
        if column.integer != integer:
            integer, markers = column.integer, markers + 1
            yield f" M{markers} 'MARKER' '{'INTORG' if integer else 'INTEND'}'"
        kept = [entry for entry in mine if entry[1]] or mine
        yield from (f" {column.name} {name} {_figure(value)}" for name, value in kept)
    if integer:
        yield f" M{markers + 1} 'MARKER' 'INTEND'"


def _sides(row: Row) -> list[tuple[str, str, float]]:
    """(name, sign, right side): one, or two where a row is bounded both ways."""
    if row.lower == row.upper:
        return [(row.name, "=", row.lower)]
    both = row.lower > -inf and row.upper < inf
    found = [(f"{row.name}lo" if both else row.name, ">=", row.lower)] if row.lower > -inf else []
    return found + ([(f"{row.name}up" if both else row.name, "<=", row.upper)] if row.upper < inf else [])


def _named(program: Program) -> None:
    for what, items in (("column", program.columns), ("row", program.rows)):
        _unique(what, items)


def _unique(what: str, items: Sequence[Column] | Sequence[Row]) -> None:
    for name, times in Counter(item.name for item in items).items():
        if times > 1 or not _SAFE.fullmatch(name) or name == "OBJ":
            raise SolverError(
                f"{times} {what}s are called {name}: such a program cannot be written, please report this"
            )


def _figure(value: float) -> str:
    """The shortest text that reads back as the same number to fifteen digits."""
    return f"{value:.15g}"


def _one_line(text: str) -> str:
    """A user's text without anything that could end the comment."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
