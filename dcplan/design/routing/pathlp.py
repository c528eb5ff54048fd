"""The routing of one state as a linear program over paths, which are added as they pay (column generation)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.distances import numbered, shorter
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.resources import Resources

STEP = 1e-7
"""Length of a link without a price, so that of equal ways the one with fewest links is taken."""
PAYS = 1e-6
"""A path must be cheaper by this to be added."""
ROUNDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    """Where the program of a state ended."""

    short: Any
    """(commodities,) what is not carried [Tb/s]"""
    loads: Any
    """(resources,) [Tb/s]"""
    prices: Any
    """(resources,) what one more Tb/s of each would carry beyond"""
    flows: tuple[tuple[int, float], ...]
    """(path, Tb/s) of those in use"""

    @property
    def total(self) -> float:
        """What is not carried, all together [Tb/s]."""
        return float(self.short.sum())


class PathLp:
    """Minimises what is short; keeps its paths and, of each state, where it ended."""

    def __init__(self, resources: Resources) -> None:
        import numpy as np

        self.resources = resources
        size, several = resources.size, len(resources.commodities)
        program = Program()
        short = [program.column(f"u{c}", 1.0) for c in range(several)]
        for r in range(size):
            program.row(f"r{r}", {}, upper=0)
        for c in range(several):
            program.row(f"c{c}", {short[c]: 1.0}, 0, 0)
        self._linear = Linear(program)
        self._rows = np.arange(size + several, dtype=np.int32)
        self.paths: list[tuple[int, tuple[int, ...]]] = []
        """(commodity, resources that it takes up)"""
        self._known: set[tuple[int, tuple[int, ...]]] = set()
        self._bases: dict[int, Any] = {}
        table = resources.table
        self._number = numbered(len(table.sites), table.links)
        self._free = np.array([c for c, one in enumerate(resources.commodities) if one.ways is None], dtype=np.intp)
        self._held = [c for c, one in enumerate(resources.commodities) if one.ways is not None]

    def solve(self, state: int, room: Any, asked: Any, enough: Any = None) -> Routed:
        """Route what is asked within the room of a state; until nothing is short, nothing pays, or `enough` is true.

        room: (resources,) [Tb/s]; asked: (commodities,) [Tb/s]; enough: a function of what is routed so far.
        """
        import numpy as np

        size = self.resources.size
        lower = np.concatenate([np.full(size, -inf), asked])
        self._linear.bound_rows(self._rows, lower, np.concatenate([room, asked]))
        known = self._bases.get(state, self._bases.get(0))
        if known is not None:
            self._linear.resume(known)
        for _ in range(ROUNDS):
            if self._linear.solve() != "optimal":
                raise SolverError("the routing of a state gave no answer")
            values, duals = np.asarray(self._linear.values), np.asarray(self._linear.duals)
            short = values[: len(asked)]
            prices = np.maximum(0.0, -duals[:size])
            prices[prices < 1e-9] = 0.0
            found = Routed(short, np.asarray(self._linear.row_values)[:size], prices, ())
            if short.sum() <= 0 or (enough is not None and enough(found)):
                break
            if not self._priced(state, prices, duals[size:]):
                break
        self._bases[state] = self._linear.basis()
        flows = values[len(asked) :]
        used = tuple((int(p), float(flows[p])) for p in np.flatnonzero(flows > 1e-12))
        return Routed(found.short, found.loads, found.prices, used)

    def _priced(self, state: int, prices: Any, worth: Any) -> int:
        """Add paths that cost less than the commodity is worth; returns how many."""
        return self.learn([*self._free_paths(state, prices, worth), *self._held_paths(state, prices, worth)])

    def learn(self, paths: Sequence[tuple[int, tuple[int, ...]]]) -> int:
        """Add those of the paths that are not known yet; returns how many."""
        fresh = [path for path in paths if path not in self._known]
        if fresh:
            first = self.resources.size
            self._linear.add_columns([0.0] * len(fresh), [[*path, first + c] for c, path in fresh])
            self._known.update(fresh)
            self.paths += fresh
        return len(fresh)

    def _free_paths(self, state: int, prices: Any, worth: Any) -> list[tuple[int, tuple[int, ...]]]:
        import numpy as np

        table = self.resources.table
        if not len(self._free):
            return []
        alive = np.zeros(len(table.links), dtype=bool)
        alive[table.link_of[table.alive[state]]] = True
        lengths = np.where(alive, prices[: len(table.links)] + STEP, np.inf)
        ends, than = self.resources.ends[self._free], worth[self._free] - PAYS
        paying, walked = shorter(table.links, lengths, self._number, ends, than)
        return [(int(c), tuple(sorted(links))) for c, links in zip(self._free[paying], walked, strict=True)]

    def _held_paths(self, state: int, prices: Any, worth: Any) -> list[tuple[int, tuple[int, ...]]]:
        found = []
        for c in self._held:
            about = self.resources.commodities[c]
            ways = about.ways or ()
            listed = [(prices[list(way)].sum(), w) for w, way in enumerate(ways) if state not in about.broken[w]]
            if listed:
                price, w = min(listed)
                if price < worth[c] - PAYS:
                    found.append((c, ways[w]))
        return found
