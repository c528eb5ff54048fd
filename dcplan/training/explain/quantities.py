"""What an explanation is made of: formulas over named quantities, so that a reader can work each term out again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Quantity:
    """One input of a formula."""

    symbol: str
    value: float
    unit: str
    """Empty for a pure number."""
    what: str


@dataclass(frozen=True, slots=True)
class Worked:
    """A formula with its inputs: +, −, ×, /, max and min of symbols and numbers."""

    formula: str
    inputs: tuple[Quantity, ...] = ()


NOTHING = Worked("0")


def used(formula: str, inputs: Iterable[Quantity]) -> Worked:
    """A formula with those of the inputs that it names."""
    names = set(re.findall(r"[^\W\d]\w*", formula))
    return Worked(formula, tuple(one for one in inputs if one.symbol in names))


def seconds(symbol: str, value: float, what: str) -> Quantity:
    """A time."""
    return Quantity(symbol, value, "s", what)


def number(symbol: str, value: float, what: str) -> Quantity:
    """A pure number."""
    return Quantity(symbol, value, "", what)
