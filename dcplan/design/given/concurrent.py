"""The largest common fraction of all demands that a network carries, and the routing of least latency at it.

Maximum concurrent flow over paths that are added as they pay (Shahrokhi and Matula, J. ACM 37, 1990; column
generation). With prices p of capacity c and distances d(p) of demands r, Σ p c ≥ fraction × Σ r d(p), for any p; the
prices of the program make both sides equal, which is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.labels import distances, near_of, walked_back, within
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.ways.labels import Arc, Reached
    from dcplan.model.network import Pair

PAYS = 1e-9
"""A path must be cheaper by this, relative to what its demand is worth, to be added."""
EXACT = 1e-6
"""Largest relative difference of the fraction and the bound that its prices give."""
ROUNDS = 500
Path = tuple[int, tuple[int, ...]]
"""A demand, and the arcs that it goes over."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one demand asks in a state."""

    demand: int
    """Index into `Problem.demands`."""
    ends: Pair
    gbps: float
    limit_ms: float | None


@dataclass(frozen=True, slots=True)
class Concurrent:
    """The answer for one state."""

    fraction: float
    """Of all demands that anything joins; 0 where there is no capacity for one of them, infinite where none asks."""
    prices: Mapping[int, float]
    """Arc -> what one more Gb/s of it adds to the fraction; those that add something."""
    flows: tuple[tuple[Path, float], ...]
    """At that fraction [Gb/s]."""
    apart: tuple[int, ...]
    """Demands whose ends nothing joins within their limit."""


class Paths:
    """A program over paths between sites: rows for arcs and demands, columns that are added."""

    def __init__(self, arcs: Mapping[int, Arc], asked: Sequence[Asked], program: Program) -> None:
        self.arcs, self.asked = arcs, asked
        self.near = near_of(arcs)
        self.numbers = sorted(arcs)
        self.rows = {e: i for i, e in enumerate(self.numbers)}
        self.first = len(program.columns)
        self.linear = Linear(program)
        self.paths: list[Path] = []
        self._known: set[Path] = set()

    def add(self, paths: Iterable[Path], *, cost_ms: bool) -> int:
        """Add those that are not there yet, at their latency or for nothing; returns how many."""
        fresh = [path for path in dict.fromkeys(paths) if path not in self._known]
        if fresh:
            costs = [sum(self.arcs[e].latency_ms for e in way) if cost_ms else 0.0 for _, way in fresh]
            several = len(self.numbers)
            self.linear.add_columns(costs, [[*(self.rows[e] for e in way), several + d] for d, way in fresh])
            self._known.update(fresh)
            self.paths += fresh
        return len(fresh)

    def shortest(self, lengths: Sequence[float]) -> list[tuple[float, tuple[int, ...]] | None]:
        """Of each demand its shortest way, within its limit."""
        found: list[tuple[float, tuple[int, ...]] | None] = []
        trees: dict[str, dict[str, Reached]] = {}
        for one in self.asked:
            start, end = one.ends
            if one.limit_ms is not None:
                found.append(within(self.near, self.arcs, lengths, one.ends, one.limit_ms))
                continue
            tree = trees.get(start) or trees.setdefault(start, distances(self.near, lengths, start))
            found.append((tree[end][0], walked_back(tree, end)) if end in tree else None)
        return found

    def flows(self) -> tuple[tuple[Path, float], ...]:
        """The paths in use [Gb/s]."""
        values = self.linear.values[self.first :]
        return tuple((path, value / TBPS) for path, value in zip(self.paths, values, strict=True) if value > 1e-12)


def concurrent(arcs: Mapping[int, Arc], asked: Sequence[Asked]) -> Concurrent:
    """Max λ: Σ of the paths of a demand ≥ λ × rate; Σ over an arc ≤ its capacity."""
    lit = {e: arc for e, arc in arcs.items() if arc.gbps > 0}
    size = 1 + max(lit, default=-1)
    latency_ms = [lit[e].latency_ms if e in lit else inf for e in range(size)]
    first = Paths(lit, asked, Program()).shortest(latency_ms)
    apart = tuple(one.demand for one, way in zip(asked, first, strict=True) if way is None)
    joined = [one for one, way in zip(asked, first, strict=True) if way is not None]
    if not joined:
        return Concurrent(0.0 if apart else inf, {}, (), apart)
    program = Program()
    program.column("fraction", -1.0)
    for e in sorted(lit):
        program.row(f"arc{e}", {}, upper=lit[e].gbps * TBPS)
    for d, one in enumerate(joined):
        program.row(f"demand{d}", {0: -one.gbps * TBPS}, lower=0.0)
    over = Paths(lit, joined, program)
    over.add([(d, way[1]) for d, way in enumerate(way for way in first if way is not None)], cost_ms=False)
    fraction, prices = _raised(over, size)
    return Concurrent(fraction, {e: price * TBPS for e, price in prices.items() if price > 0}, over.flows(), apart)


def _raised(over: Paths, size: int) -> tuple[float, dict[int, float]]:
    """Add paths until none pays; the fraction, and the prices of capacity per Tb/s that prove it."""
    several = len(over.numbers)
    for _ in range(ROUNDS):
        if over.linear.solve() != "optimal":
            raise SolverError("the largest common fraction of a state could not be found")
        duals = over.linear.duals
        prices = {e: max(0.0, -duals[i]) for i, e in enumerate(over.numbers)}
        lengths = [prices.get(e, inf) for e in range(size)]
        ways = over.shortest(lengths)
        worth = duals[several:]
        paying = [
            (d, way[1])
            for d, way in enumerate(ways)
            if way is not None and way[0] < worth[d] - PAYS * max(1.0, worth[d])
        ]
        if not over.add(paying, cost_ms=False):
            break
    fraction = -over.linear.objective
    capacity = sum(price * over.arcs[e].gbps * TBPS for e, price in prices.items())
    far = sum(one.gbps * TBPS * way[0] for one, way in zip(over.asked, ways, strict=True) if way is not None)
    if not far or abs(capacity / far - fraction) > EXACT * max(1.0, fraction):
        raise SolverError(f"the largest common fraction {fraction:g} is not proven by its prices")
    return fraction, prices


def quickest(
    arcs: Mapping[int, Arc],
    asked: Sequence[Asked],
    fraction: float,
    utilisation: float,
    known: Iterable[tuple[int, tuple[int, ...]]],
) -> tuple[tuple[Path, float], ...]:
    """Min Σ flow × latency: Σ of the paths of a demand = fraction × rate; Σ over an arc ≤ utilisation × capacity.

    known: (demand, arcs) of paths that make it feasible, as `concurrent` left them.
    """
    lit = {e: arc for e, arc in arcs.items() if arc.gbps > 0}
    size = 1 + max(lit, default=-1)
    program = Program()
    for e in sorted(lit):
        program.row(f"arc{e}", {}, upper=utilisation * (1 + 1e-9) * lit[e].gbps * TBPS)
    for d, one in enumerate(asked):
        program.row(f"demand{d}", {}, fraction * one.gbps * TBPS, fraction * one.gbps * TBPS)
    over = Paths(lit, asked, program)
    over.add(known, cost_ms=True)
    several = len(over.numbers)
    for _ in range(ROUNDS):
        if over.linear.solve() != "optimal":
            raise SolverError("the routing of least latency could not be found")
        duals = over.linear.duals
        lengths = [lit[e].latency_ms + max(0.0, -duals[over.rows[e]]) if e in lit else inf for e in range(size)]
        paying = [
            (d, way[1])
            for d, way in enumerate(over.shortest(lengths))
            if way is not None and way[0] < duals[several + d] - PAYS * max(1.0, duals[several + d])
        ]
        if not over.add(paying, cost_ms=True):
            break
    return over.flows()
