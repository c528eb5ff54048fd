"""Demands that may take few routes at a time: binaries say which of the listed ways a state uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS, carry
from dcplan.design.problem import Problem, rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.formulation import Bought, Loads
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way

Chain = tuple[int, ...]
"""Lightpaths one after the other: what counts as a route, whatever wavelengths it rides on."""


@dataclass(frozen=True, slots=True)
class Few:
    """The listed ways of the demands whose routes are counted."""

    ways: Mapping[int, Sequence[Way]]
    complete: bool
    """All there are, of each of them: then a bound over them is a bound."""
    nearest: int | None = None
    """Only so many of those that survive a state are looked at in it, the shortest, and those over `lit`."""
    lit: frozenset[int] = frozenset()
    """Lightpaths."""

    def surviving(self, k: int) -> dict[int, list[Way]]:
        """The ways that are looked at in state `k`."""
        found = {}
        for d, ways in self.ways.items():
            left = [way for way in ways if k not in way.broken]
            near = len(left) if self.nearest is None else self.nearest
            found[d] = [way for rank, way in enumerate(left) if rank < near or self.lit.issuperset(way.lightpaths)]
        return found


NOBODY = Few({}, complete=True)


def counted(problem: Problem) -> tuple[int, ...]:
    """The demands, of those that are routed anew, that may take so many routes at a time and no more."""
    return tuple(d for d in problem.shared if problem.demands[d].max_paths is not None)


def write_in_few(
    program: Program,
    problem: Problem,
    bought: Bought,
    ways: Mapping[int, Sequence[Way]],
    few: Few,
    k: int,
    short: Mapping[int, int] | None = None,
) -> None:
    """State `k` written out whole beside what is bought, each counted demand on few routes."""
    loads = carry(program, problem, bought, k, {**ways, **few.surviving(k)}, short)
    hold(program, problem, few, k, loads, f"k{k}")


def hold(program: Program, problem: Problem, few: Few, k: int, loads: Loads, tag: str) -> None:
    """Per counted demand: binary z for each route, its traffic ≤ rate × z, Σ z ≤ the routes that it may take."""
    for d, columns in loads.on_ways.items():
        most = problem.demands[d].max_paths
        if d not in few.ways or most is None:
            continue
        chains: dict[Chain, dict[int, float]] = {}
        for way, column in columns:
            chains.setdefault(way.lightpaths, {})[column] = 1.0
        if len(chains) <= most:
            continue
        asked = rate(problem.demands[d], problem.states[k]) * TBPS
        used = {}
        for w, terms in enumerate(chains.values()):
            z = program.column(f"z{tag}d{d}w{w}", 0.0, 1, integer=True)
            used[z] = 1.0
            program.row(f"used{tag}d{d}w{w}", terms | {z: -asked}, upper=0)
        program.row(f"few{tag}d{d}", used, upper=most)
