"""What comes of reading a file of another program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 80
"""Letters of a name in a topology file."""
MOST = 1e18
"""Figures from here on are slips of the pen: no topology file takes them."""
SCHEMA = "# yaml-language-server: $schema=./dcplan.schema.json\n"


@dataclass(frozen=True, slots=True)
class Imported:
    """A topology file made from those of another program."""

    text: str
    notes: tuple[str, ...]
    """What crosses over in part or not at all, an item each."""


def distinct(wanted: Iterable[str]) -> tuple[str, ...]:
    """Names that a topology file can hold, as wanted where that can be: not empty, not too long, none twice."""
    found: dict[str, None] = {}
    for one in wanted:
        name, number = one[:LONGEST] or "unnamed", 2
        while name in found:
            name = f"{one[: LONGEST - 8]} ({number})"
            number += 1
        found[name] = None
    return tuple(found)


def names_for(ids: Iterable[str]) -> dict[str, str]:
    """A distinct name for each id."""
    return dict(zip(wanted := tuple(ids), distinct(wanted), strict=True))
