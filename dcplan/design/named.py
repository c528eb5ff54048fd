"""Rows and columns of the program in words; their own names are made of letters and indices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dcplan.model.grid import SLOT_GHZ

if TYPE_CHECKING:
    from dcplan.design.problem import Problem

_NAME = re.compile(r"([a-z]+)(\d+)(?:w(\d+))?")


def about_column(problem: Problem, name: str) -> str:
    """What is bought in a column; its name where that is not known."""
    kind, index, width = _parts(name)
    if kind == "n":
        choice = problem.choices[index]
        there = " that is there" if choice.existing else ""
        return f"{problem.lightpaths[choice.lightpath].id} {choice.part} {choice.mode}{there}"
    if kind == "c":
        return f"setting up {problem.circuit(index)}"
    if kind in ("p", "k", "o", "z"):
        fiber = problem.fibers[index]
        said = {"p": f"pair of {fiber}", "k": f"pair of {fiber} lit before", "o": f"building {fiber}"}
        return said.get(kind, f"channels of {width * SLOT_GHZ:g} GHz on {fiber}")
    return name


def about_row(problem: Problem, name: str) -> str:
    """What a row limits; its name where that is not known."""
    kind, index, width = _parts(name)
    if kind in ("spectrum", "channels", "used", "guards", "open", "kept", "holes"):
        fiber, wide = problem.fibers[index], f"{width * SLOT_GHZ:g} GHz"
        return {
            "spectrum": f"spectrum of {fiber}",
            "channels": f"channels of {wide} and wider on {fiber}",
            "used": f"channels of {wide} on {fiber} and their guards",
            "guards": f"spectrum of {fiber} with guards",
            "open": f"building {fiber}",
            "kept": f"pairs of {fiber} lit before",
            "holes": f"room for channels of {wide} on {fiber}",
        }[kind]
    if kind == "one":
        return f"one module of {problem.circuit(index)}"
    if kind == "lease":
        return f"setting up {problem.circuit(problem.choices[index].lightpath)}"
    return "of equal ones the first in the file comes first" if kind == "order" else name


def _parts(name: str) -> tuple[str, int, int]:
    found = _NAME.fullmatch(name)
    return ("", 0, 0) if found is None else (found[1], int(found[2]), int(found[3] or 0))
