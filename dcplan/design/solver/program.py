"""A linear program with integers as plain data: what the formulation writes and the solver reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Column:
    """A variable. Its name is made of letters and an index, never of a user's text."""

    name: str
    cost: float
    lower: float
    upper: float
    integer: bool


@dataclass(frozen=True, slots=True)
class Row:
    """lower ≤ Σ coefficient × column ≤ upper."""

    name: str
    terms: Mapping[int, float]
    lower: float
    upper: float


@dataclass(slots=True)
class Program:
    """Minimise the cost over columns and rows; both only ever grow."""

    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def column(
        self, name: str, cost: float = 0.0, upper: float = inf, lower: float = 0.0, *, integer: bool = False
    ) -> int:
        """Add a column and return its index."""
        self.columns.append(Column(name, cost, lower, upper, integer))
        return len(self.columns) - 1

    def row(self, name: str, terms: Mapping[int, float], lower: float = -inf, upper: float = inf) -> int:
        """Add a row and return its index; terms that are zero are left out."""
        kept = {column: value for column, value in sorted(terms.items()) if value != 0}
        self.rows.append(Row(name, kept, lower, upper))
        return len(self.rows) - 1
