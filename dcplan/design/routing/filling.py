"""The highest common fraction of some demands beside fixed ones, raised again and again on the same links.

A program over ways that are added as they pay (column generation; Ford and Fulkerson, Management Science 5(1), 1958),
in units of the largest demand. With prices p of room and worths w of demands no way is cheaper at the end than its
demand is worth, so that Σ p room − Σ w fixed is a bound, which the fraction reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.distances import numbered, shorter
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.design.simplex import Simplex
    from dcplan.design.solver.solve import Linear
    from dcplan.model.network import Pair

    Programs = Callable[[Program], Linear | Simplex]

PAYS = 1e-10
"""A way must be cheaper than its demand is worth by this to be added."""
STEP = 1e-12
"""Length of a link without a price, so that of equal ways the one with fewest links is taken."""
ROUNDS = 1000
NEARLY = 1 - 1e-9
"""Of a fixed amount, what is asked of the program: the rest is rounding."""


@dataclass(frozen=True, slots=True)
class Way:
    """Links one after the other, and the lightpaths of its own that it must fit, where those are told apart."""

    links: tuple[Pair, ...]
    lightpaths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A demand in a state."""

    ends: Pair
    gbps: float
    ways: tuple[Way, ...]
    """Those to begin with, or all that there are."""
    held: bool
    """It takes no other ways."""


class Filling:
    """Room, and demands of which some rise together while others are fixed. Ends of demands are joined by links."""

    def __init__(
        self, links: Mapping[Pair, float], lightpaths: Mapping[str, float], wishes: Mapping[str, Wish],
        settled: frozenset[str], programs: Programs,
    ) -> None:  # fmt: skip
        """settled: demands that are carried whole, and never rise."""
        import numpy as np

        self._unit = max((wish.gbps for wish in wishes.values()), default=1.0)
        self._amounts = {name: wish.gbps / self._unit for name, wish in wishes.items()}
        room = {one: gbps / self._unit for one, gbps in (*links.items(), *lightpaths.items())}
        self._rooms = {one: row for row, one in enumerate(room)}
        self._rows = {name: len(room) + d for d, name in enumerate(wishes)}
        """Of each demand, what is carried of it."""
        self._risers = [name for name in wishes if name not in settled]
        self._linear = programs(self._program(room.values()))
        sites = sorted({site for ends in links for site in ends})
        at = {site: i for i, site in enumerate(sites)}
        self._links: Any = np.array([[at[a], at[b]] for a, b in links], dtype=np.intp).reshape(-1, 2)
        self._between: Any = numbered(len(sites), self._links)
        self._free = [name for name, wish in wishes.items() if not wish.held]
        ends = [[at[site] for site in wishes[name].ends] for name in self._free]
        self._ends: Any = np.array(ends, dtype=np.intp).reshape(-1, 2)
        self._known: set[tuple[str, tuple[int, ...]]] = set()
        self._add(
            (name, [self._rooms[one] for one in (*way.links, *way.lightpaths)])
            for name, wish in wishes.items()
            for way in wish.ways
        )
        self._near(np.ones(len(links)), np.full(len(ends), inf))

    def _program(self, room: Iterable[float]) -> Program:
        """Of each demand: what is carried ≥ what is fixed; and of those that rise, ≥ amount × level."""
        program = Program()
        level = program.column("level", -1.0)
        for row, gbps in enumerate(room):
            program.row(f"room{row}", {}, upper=gbps)
        for d, (name, amount) in enumerate(self._amounts.items()):
            program.row(f"carried{d}", {}, lower=0.0 if name in self._risers else amount * NEARLY)
        for d, name in enumerate(self._risers):
            program.row(f"rises{d}", {level: -self._amounts[name]})
        self._first = len(program.rows) - len(self._risers)
        return program

    def highest(self, rising: Sequence[str], fixed: Mapping[str, float], most: float) -> tuple[float, list[str]] | None:
        """The highest common fraction of those that rise, and which of them then can rise no further.

        fixed: fractions of others; who is in neither asks for nothing. None where these do not fit.
        """
        several = len(self._risers)
        asked = [fixed.get(name, 0.0) * self._amounts[name] * NEARLY for name in self._risers]
        rises = [0.0 if name in rising else -inf for name in self._risers]
        rows = [*(self._rows[name] for name in self._risers), *range(self._first, self._first + several)]
        self._linear.bound_rows(rows, [*asked, *rises], [inf] * (2 * several))
        self._linear.bound_columns([0], [0.0], [most])
        for _ in range(ROUNDS):
            if self._linear.solve() != "optimal":
                return None
            if self._linear.values[0] >= most * NEARLY:
                return most, list(rising)
            if not self._priced():
                break
        duals = self._linear.duals
        blocked = [name for d, name in enumerate(self._risers) if name in rising and duals[self._first + d] > PAYS]
        return self._linear.values[0], blocked or list(rising)

    def _priced(self) -> int:
        """Add ways that pay; returns how many."""
        import numpy as np

        duals: Any = np.asarray(self._linear.duals)
        worth = dict(zip(self._rows, duals[list(self._rows.values())], strict=True))
        for d, name in enumerate(self._risers):
            worth[name] += duals[self._first + d]
        than: Any = np.array([worth[name] for name in self._free])
        return self._near(np.maximum(0.0, -duals[: len(self._links)]) + STEP, than - PAYS)

    def _near(self, lengths: Any, than: Any) -> int:
        """Add the shortest way of each demand that may take any, where it is shorter than given; returns how many."""
        if not len(self._free):
            return 0
        paying, ways = shorter(self._links, lengths, self._between, self._ends, than)
        return self._add((self._free[d], way) for d, way in zip(paying.tolist(), ways, strict=True))

    def _add(self, ways: Iterable[tuple[str, Sequence[int]]]) -> int:
        """Add ways, as a demand and the rows of room that it takes, that are not there yet; returns how many."""
        fresh = [way for way in dict.fromkeys((d, tuple(sorted(rows))) for d, rows in ways) if way not in self._known]
        if fresh:
            rises = {name: [self._first + d] for d, name in enumerate(self._risers)}
            columns = [[*rows, self._rows[name], *rises.get(name, ())] for name, rows in fresh]
            self._linear.add_columns([0.0] * len(fresh), columns)
            self._known.update(fresh)
        return len(fresh)
