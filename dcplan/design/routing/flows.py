"""Cheapest flows of one state over what is lit: a linear program over paths, which are added as they pay.

Column generation (Ford and Fulkerson, Management Science 5, 1958): with the duals of the capacities as tolls, the
cheapest path of a demand joins the program where it beats what the demand pays. Traffic that may stay where it is
stands outside of the program, and what it leaves is the room of all other: a demand joins when it pays to move it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import fsum, inf
from typing import TYPE_CHECKING, Any

from dcplan.design.problem import Hop, Problem
from dcplan.design.routing.lit_net import LitNet
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from dcplan.model.network import Pair

Path = tuple[Hop, ...]
SHORT = 1e7
"""Price of traffic that no path carries yet, above that of any path."""
STEP = 1e-6
"""Added to the price of a lightpath, so that of paths that cost the same the one with fewest lightpaths is taken."""
PAYS = 1e-6
"""A path must be cheaper by this to be added."""
LEFT = 1e-6
"""Share of a demand that may be short by rounding."""
ROUNDED = 1e-9
"""Share of a demand, or of what fits on a hop, that is rounding in what stands there."""
ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Column:
    """A path that a demand may take."""

    demand: int
    path: Path
    price: float
    """Per Gb/s."""


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
    anchored: Mapping[Hop, float] = field(default_factory=dict)
    """Of `gbps`, what no failure retunes: all that the demands of `Problem.anchored` may use [Gb/s]."""


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
    kept: Sequence[tuple[Column, float]] = ()
    """Paths that demands may keep at their price, up to so many Gb/s."""
    _standing: list[tuple[Column, float]] = field(init=False)
    """What of the kept is not more than asked, the cheapest first."""
    _spare: list[tuple[Column, float]] = field(init=False)
    """What of the kept could stand in its place."""
    _missing: dict[int, float] = field(init=False)
    """Demand -> what is asked beyond [Gb/s]"""
    _hops: dict[Hop, int] = field(init=False)
    """Hop -> row"""
    _anchored: dict[Hop, int] = field(init=False)
    """Hop -> row of what no failure retunes, where some demands ride on that only"""
    _never: frozenset[int] = field(init=False)
    """`Problem.anchored`"""
    _limit: int = field(init=False)
    _served: dict[int, int] = field(init=False)
    """Demand in the program -> row"""
    _short: dict[int, int] = field(init=False)
    """Demand -> column of what no path carries; all other columns follow."""
    _columns: list[tuple[Column, int | None]] = field(default_factory=list)
    """A path; or with a number, what leaves that of what stands."""
    _known: set[tuple[int, Path]] = field(default_factory=set)
    _linear: Linear = field(init=False)
    _nets: list[_Net] = field(init=False)
    _stood: _Stood = field(init=False)

    def __post_init__(self) -> None:
        self._never = self.problem.anchored
        self._stand()
        hops = {*map(self.problem.top, self.room.ends), *(hop for one in self.listed for hop in one.path)}
        hops |= {hop for one, _ in self.kept for hop in one.path}
        self._hops = {hop: row for row, hop in enumerate(sorted(hops))}
        some = not self._never.isdisjoint(self.asked)
        self._anchored = {hop: row for row, hop in enumerate(self._hops if some else (), len(self._hops))}
        self._limit = len(self._hops) + len(self._anchored)
        self._stood = _Stood([(one.demand, one.price, self._rows_of(one), gbps) for one, gbps in self._standing])
        left = self._left()
        program = Program()
        for row, gbps in enumerate(left):
            program.row(f"h{row}", {}, upper=gbps)
        program.row("usd", {}, upper=self.room.most_usd)
        joining = self._joining(left)
        self._short = {d: program.column(f"u{d}", SHORT) for d in joining}
        self._served = {d: program.row(f"d{d}", {self._short[d]: 1.0}, *[self._missing[d]] * 2) for d in joining}
        self._linear = Linear(program)
        self._leaving(self._served)
        self._add([one for one, _ in self._spare], [gbps for _, gbps in self._spare])
        self._add(self.listed)
        self._known = {(one.demand, one.path) for one in self.listed}
        self._linear.begin(self._short.values(), self._served.values())
        self._nets = list(self._free_nets())

    def cheapest(self) -> list[tuple[Column, float]]:
        """The paths in use [Gb/s]. SolverError where not all that is asked can be carried."""
        if not self._short:
            return self._standing
        for _ in range(ROUNDS):
            if self._linear.solve() != "optimal":
                break
            fresh = self._paying()
            if not fresh:
                values = self._linear.values
                if any(values[u] > LEFT * max(1.0, self.asked[d]) for d, u in self._short.items()):
                    break
                return self._used(values[len(self._short) :])
            self._join({one.demand for one in fresh})
            self._add(fresh)
            self._known.update((one.demand, one.path) for one in fresh)
        raise SolverError("the traffic of a state cannot be routed on what was chosen for it")

    def _used(self, values: Sequence[float]) -> list[tuple[Column, float]]:
        stays = [gbps for _, gbps in self._standing]
        moved = []
        for (one, leaves), gbps in zip(self._columns, values, strict=True):
            if leaves is None:
                moved.append((one, gbps))
            else:
                stays[leaves] -= gbps
        return [*((one, gbps) for (one, _), gbps in zip(self._standing, stays, strict=True)), *moved]

    def _stand(self) -> None:
        """Each demand on the cheapest of what it may keep, as long as it asks for it."""
        self._standing, self._spare, self._missing = [], [], dict(self.asked)
        for one, most in sorted(self.kept, key=lambda each: each[0].price):
            d = one.demand
            gbps = min(most, self._missing[d])
            left = self._missing[d] - gbps
            self._missing[d] = left if left > ROUNDED * self.asked[d] else 0.0
            if gbps > 0:
                self._standing.append((one, gbps))
            if gbps < most:
                self._spare.append((one, most - gbps))
        several = Counter(one.demand for one, _ in self.kept)
        self._spare = [(one, gbps) for one, gbps in self._spare if several[one.demand] > 1]

    def _left(self) -> list[float]:
        """What is left of each hop by what stands [Gb/s]."""
        on: list[list[float]] = [[] for _ in range(self._limit)]
        for rows, gbps in self._stood.each:
            for row in rows:
                on[row].append(gbps)
        rooms = [self.room.gbps[hop] for hop in self._hops] + [
            self.room.anchored.get(hop, 0.0) for hop in self._anchored
        ]
        left = [gbps - fsum(mine) for gbps, mine in zip(rooms, on, strict=True)]
        return [0.0 if 0 > rest > -LEFT * gbps else rest for rest, gbps in zip(left, rooms, strict=True)]

    def _joining(self, left: Sequence[float]) -> list[int]:
        """Demands that begin in the program: not all of what they ask stands, or it could stand elsewhere as well, or
        where it stands is too much.
        """
        some = {d for d, gbps in self._missing.items() if gbps > 0}
        some |= {one.demand for one in self.listed} | {one.demand for one, _ in self._spare}
        for (one, _), (rows, _) in zip(self._standing, self._stood.each, strict=True):
            if any(left[row] < 0 for row in rows):
                some.add(one.demand)
        return [d for d in self.asked if d in some]

    def _join(self, demands: Collection[int]) -> None:
        """Take demands into the program that stood outside of it."""
        new = [d for d in self.asked if d in demands and d not in self._served]
        for d in new:
            self._served[d] = self._linear.add_row({}, 0.0, 0.0)
        self._leaving(new)

    def _leaving(self, demands: Collection[int]) -> None:
        """What stands of demands may leave."""
        some = [k for k, (one, _) in enumerate(self._standing) if one.demand in demands]
        if some:
            rows = [[self._served[self._standing[k][0].demand], *self._stood.each[k][0]] for k in some]
            self._linear.add_columns(
                [-self._standing[k][0].price for k in some],
                rows,
                [[-1.0] * len(mine) for mine in rows],
                [self._standing[k][1] for k in some],
            )
            self._columns += [(self._standing[k][0], k) for k in some]

    def _add(self, fresh: Sequence[Column], most: Sequence[float] | None = None) -> None:
        if fresh:
            terms = [self._terms(one) for one in fresh]
            rows, values = [mine for mine, _ in terms], [mine for _, mine in terms]
            self._linear.add_columns([one.price for one in fresh], rows, values, most)
            self._columns += [(one, None) for one in fresh]

    def _terms(self, one: Column) -> tuple[list[int], list[float]]:
        """Rows in which a path stands, and the coefficients."""
        rows = [self._served[one.demand], *self._rows_of(one)]
        usd = sum(self.room.usd.get(i, 0.0) for i, _ in one.path)
        return ([*rows, self._limit], [1.0] * len(rows) + [usd]) if usd else (rows, [1.0] * len(rows))

    def _rows_of(self, one: Column) -> list[int]:
        """A hop takes up its own tier and all slower ones that are counted."""
        counted = (self._hops, self._anchored) if one.demand in self._never else (self._hops,)
        return [
            rows[i, k]
            for rows in counted
            for i, tier in one.path
            for k in range(tier, len(self.problem.tiers[i]))
            if (i, k) in rows
        ]

    def _free_nets(self) -> Iterator[_Net]:
        """What lightpaths join: all of them, and those with something that no failure retunes."""
        problem, room = self.problem, self.room
        ends = {d: problem.demands[d].ends for d in self.asked if d in self.free}
        never = {d: pair for d, pair in ends.items() if d in self._never}
        yield _Net(LitNet(problem, room, self._hops, {d: pair for d, pair in ends.items() if d not in never}), None)
        if never:
            some = {i: pair for i, pair in room.ends.items() if room.anchored.get(problem.top(i), 0.0) > 0}
            net = LitNet(problem, replace(room, ends=some), self._hops, never)
            yield _Net(net, [self._anchored[problem.top(i)] for i in net.lightpaths])

    def _paying(self) -> list[Column]:
        """The cheapest path with tolls of each free demand in the program that pays more, or else of those outside."""
        import numpy as np

        room = self.room
        duals = np.asarray(self._linear.duals)
        pays = self._stood.pays(duals) | {d: float(duals[row]) for d, row in self._served.items()}
        nearest = [(each.net, each.net.nearest(each.tolls(duals, self._limit))) for each in self._nets]
        for within in (True, False):
            fresh = []
            for net, found in nearest:
                worth = np.array([pays[d] for d in net.demands]) - room.extra - PAYS
                asking = np.array([(d in self._served) == within for d in net.demands], dtype=bool)
                for d, chain in found.chains(asking, worth):
                    path = tuple(self.problem.top(i) for i in chain)
                    if (d, path) not in self._known:
                        fresh.append(Column(d, path, room.extra + sum(room.price[i] for i in chain)))
            if fresh:
                break
        return fresh


@dataclass(frozen=True, slots=True)
class _Net:
    """Lightpaths on which some demands may find paths."""

    net: LitNet
    anchored: Sequence[int] | None
    """By lightpath: the further row that they take up."""

    def tolls(self, duals: Any, limit: int) -> Any:
        """Of each lightpath."""
        import numpy as np

        tolls = self.net.price - duals[self.net.rows] - duals[limit] * self.net.usd
        if self.anchored is not None:
            tolls = tolls - duals[list(self.anchored)]
        return STEP + np.maximum(0.0, tolls)


class _Stood:
    """Traffic that stands, and what it pays."""

    def __init__(self, standing: Sequence[tuple[int, float, list[int], float]]) -> None:
        """Of (demand, price, rows of hops, Gb/s)."""
        import numpy as np

        self.each = [(rows, gbps) for _, _, rows, gbps in standing]
        """Rows of hops, and [Gb/s]"""
        self._demands = [d for d, *_ in standing]
        self._price = np.array([price for _, price, *_ in standing], dtype=float)
        self._rows = np.array([row for rows, _ in self.each for row in rows], dtype=np.intp)
        self._owner = np.repeat(np.arange(len(standing)), [len(rows) for rows, _ in self.each]).astype(np.intp)

    def pays(self, duals: Any) -> dict[int, float]:
        """The most that any of it pays with tolls, by demand."""
        import numpy as np

        tolled = self._price - np.bincount(self._owner, weights=duals[self._rows], minlength=len(self._price))
        found: dict[int, float] = {}
        for d, paid in zip(self._demands, tolled.tolist(), strict=True):
            found[d] = max(paid, found.get(d, paid))
        return found
