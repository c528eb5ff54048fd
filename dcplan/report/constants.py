"""Constants and formulas for people and programs: what `dcplan explain` shows of them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.optics.constants import Explained

WIDTH = 80
SHORT = 48
"""Characters of a source in the list."""


def listing(constants: Sequence[Explained]) -> str:
    """All constants, then all formulas, a line each; `~` before a value that rests on an estimate or memory."""
    width = max(len(one.name) for one in constants)
    values = {one.name: f"{'~' if one.confidence == 'low' else ''}{one.value} {one.unit}".strip() for one in constants}
    wide = max(len(values[one.name]) for one in constants if one.value)
    lines = ["constants of optics (~ low confidence: an estimate, or from memory)"]
    lines += [
        f"  {one.name:<{width}}  {values[one.name]:<{wide}}  {textwrap.shorten(one.source, SHORT, placeholder=' …')}"
        for one in constants
        if one.value
    ]
    lines += ["", "formulas of optics"]
    lines += [f"  {one.name:<{width}}  {one.about}" for one in constants if not one.value]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def text(one: Explained) -> str:
    """One constant or formula: value and unit, meaning with its formula, source, confidence, where it stands."""
    flag = ": an estimate, or from memory" if one.confidence == "low" else ""
    rows = [("value", f"{one.value} {one.unit}".strip() if one.value else ""), ("unit", "" if one.value else one.unit)]
    rows += [("source", one.source), ("confidence", one.confidence + flag), ("stands in", one.where)]
    head = (
        f"{one.name}: {one.about}"
        if not one.value
        else f"{one.name} = {'~' if flag else ''}{one.value} {one.unit}".strip()
    )
    shown = [
        textwrap.fill(value, WIDTH, initial_indent=f"{label:<12}", subsequent_indent=" " * 12)
        for label, value in rows
        if value
    ]
    paragraphs = [textwrap.fill(part, WIDTH) for part in one.meaning.split("\n\n")]
    return "\n\n".join([head, *paragraphs, "\n".join(shown)]) + "\n"


def data(one: Explained) -> dict[str, Any]:
    """One constant as plain data."""
    return {
        "name": one.name,
        "value": one.value or None,
        "unit": one.unit or None,
        "meaning": one.meaning,
        "source": one.source,
        "confidence": one.confidence,
        "where": one.where,
    }
