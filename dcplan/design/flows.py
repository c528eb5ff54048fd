"""Cheapest flows of one state over what is lit: a linear program over paths, which are added as they pay.

Column generation (Ford and Fulkerson, Management Science 5, 1958): with the duals of the capacities as tolls, the
cheapest path of a demand joins the program where it beats what the demand pays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.distances import numbered, shorter
from dcplan.design.problem import Hop, Problem
from dcplan.design.program import Program
from dcplan.design.solver import Linear
from dcplan.design.ways import nested
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.model.network import Pair, SiteId

Path = tuple[Hop, ...]
SHORT = 1e7
"""Price of traffic that no path carries yet, above that of any path."""
STEP = 1e-6
"""Added to the price of a lightpath, so that of paths that cost the same the one with fewest lightpaths is taken."""
PAYS = 1e-6
"""A path must be cheaper by this to be added."""
LEFT = 1e-6
"""Share of a demand that may be short by rounding."""
ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Column:
    """A path that a demand may take."""

    demand: int
    path: Path
    price: float
    """Per Gb/s."""
    most_gbps: float = inf


@dataclass(frozen=True, slots=True)
class Room:
    """What a state leaves, and what it costs to use."""

    ends: Mapping[int, Pair]
    """Of each surviving lightpath that is lit, the two sites that it joins."""
    gbps: Mapping[Hop, float]
    """What fits on each lightpath with all its tiers, and on each hop of listed paths [Gb/s]."""
    price: Mapping[int, float]
    """Of a lightpath, per Gb/s."""
    extra: float = 0.0
    """On top, for each path that is found."""
    usd: Mapping[int, float] = field(default_factory=dict)
    """Of a lightpath where traffic costs money, per Gb/s [US$]."""
    most_usd: float = inf
    """All traffic together."""


@dataclass(slots=True)
class Flows:
    """The program of one state."""

    problem: Problem
    room: Room
    asked: Mapping[int, float]
    """Demand -> [Gb/s]"""
    listed: Sequence[Column]
    free: frozenset[int]
    """Demands for which further paths may be found; the others take listed ones."""
    columns: list[Column] = field(default_factory=list)
    _linear: Linear = field(init=False)
    _rows: dict[Hop, int] = field(init=False)
    _served: dict[int, int] = field(init=False)
    _limit: int = field(init=False)
    _net: _Net = field(init=False)

    def __post_init__(self) -> None:
        program = Program()
        self._served = {d: d_row for d_row, d in enumerate(self.asked)}
        short = {d: program.column(f"u{d}", SHORT) for d in self.asked}
        for d, gbps in self.asked.items():
            program.row(f"d{d}", {short[d]: 1.0}, gbps, gbps)
        hops = {*map(self.problem.top, self.room.ends), *(hop for one in self.listed for hop in one.path)}
        empty: dict[Hop, dict[int, float]] = {hop: {} for hop in hops}
        self._rows = {hop: program.row(f"h{len(program.rows)}", {}, upper=self.room.gbps[hop]) for hop in nested(empty)}
        self._limit = program.row("usd", {}, upper=self.room.most_usd)
        self._linear = Linear(program)
        self._net = _Net(self.room.ends)
        self._add(self.listed)

    def cheapest(self) -> list[tuple[Column, float]]:
        """The paths in use [Gb/s]. SolverError where not all that is asked can be carried."""
        if not self.asked:
            return []
        for _ in range(ROUNDS):
            if self._linear.solve() != "optimal":
                break
            if not self._add(self._paying()):
                values = self._linear.values
                if all(values[u] <= LEFT * max(1.0, gbps) for u, gbps in enumerate(self.asked.values())):
                    return [(one, values[len(self.asked) + c]) for c, one in enumerate(self.columns)]
                break
        raise SolverError("the traffic of a state cannot be routed on what was chosen for it")

    def _add(self, fresh: Iterable[Column]) -> int:
        new = list(fresh)
        for one in new:
            terms = dict.fromkeys((self._served[one.demand], *self._rows_of(one.path)), 1.0)
            usd = sum(self.room.usd.get(i, 0.0) for i, _ in one.path)
            self._linear.add_column(one.price, terms | ({self._limit: usd} if usd else {}), one.most_gbps)
        self.columns += new
        return len(new)

    def _rows_of(self, path: Path) -> list[int]:
        """A hop takes up its own tier and all slower ones that are counted."""
        return [
            self._rows[i, k]
            for i, tier in path
            for k in range(tier, len(self.problem.tiers[i]))
            if (i, k) in self._rows
        ]

    def _paying(self) -> list[Column]:
        """For each free demand the cheapest path with tolls, where it beats what the demand pays now."""
        duals, demands = self._linear.duals, self.problem.demands
        room, limit = self.room, duals[self._limit]
        tolled = {
            i: STEP + max(0.0, room.price[i] - duals[self._rows[self.problem.top(i)]] - limit * room.usd.get(i, 0.0))
            for i in room.ends
        }
        worth = {d: duals[self._served[d]] - room.extra - PAYS for d in self.asked if d in self.free}
        found = self._net.cheaper(tolled, {d: (demands[d].ends, value) for d, value in worth.items()})
        known = {(one.demand, one.path) for one in self.columns if one.most_gbps == inf}
        fresh = []
        for d, chain in found.items():
            path = tuple(self.problem.top(i) for i in chain)
            if (d, path) not in known:
                fresh.append(Column(d, path, room.extra + sum(room.price[i] for i in chain)))
        return fresh


class _Net:
    """The sites that lit lightpaths join, for cheapest paths between all of them at once."""

    def __init__(self, ends: Mapping[int, Pair]) -> None:
        import numpy as np

        sites = sorted({site for pair in ends.values() for site in pair})
        self._at: dict[SiteId, int] = {site: k for k, site in enumerate(sites)}
        self._joining: dict[Pair, list[int]] = {}
        for i, pair in ends.items():
            self._joining.setdefault(pair, []).append(i)
        self._pairs = sorted(self._joining)
        self._links = np.array([[self._at[a], self._at[b]] for a, b in self._pairs], dtype=np.intp).reshape(-1, 2)
        self._number = numbered(len(sites), self._links)

    def cheaper(
        self, price: Mapping[int, float], wanted: Mapping[int, tuple[Pair, float]]
    ) -> dict[int, tuple[int, ...]]:
        """The cheapest chain of lightpaths of each demand, from its first end, where it is cheaper than given."""
        import numpy as np

        asking = [d for d, (ends, _) in wanted.items() if all(site in self._at for site in ends)]
        if not asking:
            return {}
        best = [min((price[i], i) for i in self._joining[pair]) for pair in self._pairs]
        lengths = np.array([length for length, _ in best])
        ends = np.array([[self._at[site] for site in wanted[d][0]] for d in asking])
        than = np.array([wanted[d][1] for d in asking])
        paying, walked = shorter(self._links, lengths, self._number, ends, than)
        return {asking[c]: tuple(best[e][1] for e in links) for c, links in zip(paying.tolist(), walked, strict=True)}
