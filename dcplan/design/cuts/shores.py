"""Cuts between two shores in every state, compared with what is bought all at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dcplan.design.cuts.bonds import bonds, members, neighbours, parts, small
from dcplan.design.cuts.inequality import Cut, pair_capacity_gbps
from dcplan.design.cuts.rounding import TINY
from dcplan.design.cuts.tightness import Side, least_left, rounded_all
from dcplan.design.formulation import TBPS
from dcplan.design.problem import rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dcplan.design.arrays import Arrays
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.model.network import SiteId

MOST_BONDS = 70_000
"""Where a network has no more bonds than this, all are looked at; else connected sets of sites, and those found."""
MOST_EXPRESS = 4_000
"""The same where lightpaths through sites count as joining their ends."""
MOST_SMALL = 2_000
"""Connected sets of sites to begin with where there are too many bonds."""
NEAR = 4.0
"""Shores with less to spare than so many of the largest wavelength or pair are looked at in each round."""
MOST_CELLS = 40_000_000
"""Pairs of sites × shores that are kept, 4 bytes each."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A cut between shores, rounded or not, that a point breaks by a share of its right side."""

    by: float
    shore: int
    state: int
    over_paths: bool
    divisor: float | None


Sight = tuple[tuple[Any, Any, Any], ...]
"""Over wavelengths and over fiber pairs: shores that may be broken, the tightest first, what they have left as a share
of the need, and in which state."""


class ShoreCuts:
    """All cuts between two shores that are known; more can be added."""

    def __init__(
        self,
        problem: Problem,
        table: Arrays,
        bought: Bought | None = None,
        least: Any = None,
        like: ShoreCuts | None = None,
    ) -> None:
        """like: cuts over the same lightpaths, whose first shores are those here too: finding them may take seconds."""
        import numpy as np

        self.problem, self.table = problem, table
        self.pair_gbps = pair_capacity_gbps(problem)
        circuits = sorted(problem.circuits.values())
        ends = [tuple(pair) for pair in (*table.links.tolist(), *table.fibers.tolist())]
        joints = sorted({(min(pair), max(pair)) for pair in ends})
        at = {pair: i for i, pair in enumerate(joints)}
        self._joints = np.array(joints, dtype=np.intp).reshape(-1, 2)
        self._path_joint = np.array([at[tuple(pair)] for pair in table.links.tolist()], dtype=np.intp)[table.link_of]
        self._fiber_joint = np.array([at[min(a, b), max(a, b)] for a, b in table.fibers.tolist()], dtype=np.intp)
        self._leased = np.zeros(len(problem.lightpaths), dtype=bool)
        self._leased[circuits] = True
        self._rows, self._row_of = np.unique(table.rates, axis=0, return_inverse=True)
        self._row_of = self._row_of.reshape(-1)
        self.shores: list[int] = []
        """Sets of sites as bits."""
        self._number: dict[int, int] = {}
        self._cross = np.zeros((len(joints), 0), dtype=np.float32)
        self._need = np.zeros((len(self._rows), 0))
        self._near: list[Any] = [np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)]
        leased = np.flatnonzero(self._leased)
        self._edges = [(a, b) for a, b in (*table.fibers.tolist(), *self._joints[self._path_joint[leased]].tolist())]
        lost = ~np.concatenate([table.fiber_alive, table.alive[:, leased]], axis=1)
        self._lost_edges = [sum(1 << i for i in np.flatnonzero(row).tolist()) for row in lost]
        self.first: list[int]
        """Shores to begin with."""
        self.complete: bool
        """All bonds of the graph of fibers and circuits are among them."""
        self.first, self.complete = (like.first, like.complete) if like else self._first()
        self.grow(self.first)
        both = (True, False)
        self.sides = (
            () if bought is None else tuple(self._side(bought, least, over_paths=over_paths) for over_paths in both)
        )

    def _first(self) -> tuple[list[int], bool]:
        """All bonds, of the lightpaths' graph where these are few, else of that of fibers and circuits."""
        size = len(self.table.sites)
        spans, links = _spans(self.problem, self.table), [(a, b) for a, b in self.table.links.tolist()]
        found, complete = bonds(size, [*spans, *links], MOST_EXPRESS) if set(links) - set(spans) else ([], False)
        if not complete:
            room = min(MOST_BONDS, self.room)
            found, complete = bonds(size, spans, room)
        if not complete:
            found = small(neighbours(size, spans), MOST_SMALL)
        return found, complete

    def grow(self, shores: Iterable[int]) -> int:
        """Add sets of sites, given as bits, that are not among the shores yet; returns how many these are."""
        import numpy as np

        whole = (1 << len(self.table.sites)) - 1
        room = self.room - len(self.shores)
        fresh: dict[int, None] = {}
        for shore in shores:
            one = self.canonical(shore)
            if one not in (0, whole) and one not in self._number and len(fresh) < room:
                fresh[one] = None
        if not fresh:
            return 0
        self._number |= {one: len(self.shores) + i for i, one in enumerate(fresh)}
        self.shores += fresh
        inside = np.array([[shore >> i & 1 for shore in fresh] for i in range(len(self.table.sites))], dtype=bool)
        cross, need = self._of(inside)
        fresh_ones = np.arange(len(self.shores) - len(fresh), len(self.shores))
        self._near = [np.concatenate([near, fresh_ones]) for near in self._near]
        self._cross = np.concatenate([self._cross, cross], axis=1)
        self._need = np.concatenate([self._need, need], axis=1)
        return len(fresh)

    def _of(self, inside: Any) -> tuple[Any, Any]:
        """(joints, shores) whether each crosses, and (rows of rates, shores) the need; inside: (sites, shores)."""
        import numpy as np

        cross = inside[self._joints[:, 0]] != inside[self._joints[:, 1]]
        needed = inside[self.table.demands[:, 0]] != inside[self.table.demands[:, 1]]
        need = np.zeros((len(self._rows), inside.shape[1]))
        for row, rates in enumerate(self._rows):
            for d in np.flatnonzero(rates):
                need[row] += rates[d] * needed[d]
        return cross.astype(np.float32), need

    def crossing(self, shores: Any) -> tuple[Any, Any]:
        """Of known shores: (joints, shores) whether each crosses, and (shores,) the need in the first ruling state."""
        return self._cross[:, shores], self._need[self._row_of[self.table.ruling[0]], shores] * TBPS

    def asking(self, shores: Any) -> Iterator[tuple[float, Any]]:
        """In the first state that rules: what each two sites ask [Tb/s], and (shores,) whether it crosses."""
        import numpy as np

        inside = np.array([[self.shores[shore] >> i & 1 for shore in shores] for i in range(len(self.table.sites))])
        between = np.triu(self.between(self.table.ruling[0]))
        for i, j in np.argwhere(between).tolist():
            yield float(between[i, j]) * TBPS, inside[i] != inside[j]

    def canonical(self, shore: int) -> int:
        """The side with the first site."""
        return shore if shore & 1 else ((1 << len(self.table.sites)) - 1) & ~shore

    def number(self, shore: int) -> int | None:
        """Where a set of sites, given as bits, stands among the shores; it joins them where there is room."""
        self.grow([shore])
        return self._number.get(self.canonical(shore))

    @property
    def room(self) -> int:
        """How many shores may be looked at together."""
        return MOST_CELLS // max(1, len(self._joints))

    def least_left(self, inside: Any, capacity_gbps: Any) -> tuple[Any, Any]:
        """(shores,) the least that wavelengths leave in any state as a share of the need, and that state.

        inside: (shores, sites), known or not; capacity_gbps: (lightpaths,).
        """
        import numpy as np

        cross, need = self._of(inside.T)
        lost = [np.flatnonzero(~row) for row in self.table.alive]
        return least_left(cross, need, self._row_of, self.table.ruling, self._path_joint, lost, capacity_gbps)

    @property
    def waves(self) -> Any:
        """(choices,) their columns in the master."""
        return self.sides[0].columns

    def between(self, state: int) -> Any:
        """(sites, sites) what the demands ask in a state [Gb/s]."""
        import numpy as np

        found = np.zeros((len(self.table.sites), len(self.table.sites)))
        np.add.at(found, tuple(self.table.demands.T), self.table.rates[state])
        return found + found.T

    def _side(self, bought: Bought, least: Any, *, over_paths: bool) -> Side:
        import numpy as np

        table = self.table
        picked = np.arange(len(table.owner)) if over_paths else np.flatnonzero(self._leased[table.owner])
        waves = np.array(bought.wavelengths, dtype=np.intp)[picked]
        columns, joint = waves, self._path_joint[table.owner[picked]]
        tbps, alive = table.gbps[picked] * TBPS, table.alive[:, table.owner[picked]]
        if not over_paths:
            pairs = np.array([bought.pairs[fiber] for fiber in self.problem.fibers], dtype=np.intp)
            full = np.array([self.pair_gbps[fiber] for fiber in self.problem.fibers]) * TBPS
            carries = np.flatnonzero(full)
            columns = np.concatenate([pairs[carries], columns])
            joint = np.concatenate([self._fiber_joint[carries], joint])
            tbps = np.concatenate([full[carries], tbps])
            alive = np.concatenate([table.fiber_alive[:, carries], alive], axis=1)
        kinds, kind = np.unique(np.round(tbps, 9), return_inverse=True)
        lost = tuple(np.flatnonzero(~row) for row in alive)
        return Side(columns, joint, tbps, lost, kinds, kind, least[columns])

    def sight(self, point: Any, *, every: bool) -> Sight:
        """How tight the cuts are at a point: of every shore, or of those that were near when all were looked at."""
        import numpy as np

        seen = []
        for s, side in enumerate(self.sides):
            shores = np.arange(len(self.shores)) if every else self._near[s]
            cross, need = (self._cross, self._need) if every else (self._cross[:, shores], self._need[:, shores])
            gbps = point[side.columns] * side.tbps / TBPS
            share, state = least_left(cross, need, self._row_of, self.table.ruling, side.joint, side.lost, gbps)
            asked = need[self._row_of[state], np.arange(len(shores))] * TBPS
            left = np.full(len(share), np.inf)
            np.multiply(share, asked, out=left, where=np.isfinite(share))
            largest = side.kinds.max(initial=0.0)
            if every:
                self._near[s] = shores[left < NEAR * largest]
            tight = np.flatnonzero(left < largest)
            order = tight[np.argsort(share[tight], kind="stable")]
            seen.append((shores[order], share[order], state[order]))
        return tuple(seen)

    def broken(self, point: Any, sight: Sight, above: float, most: int, *, rounding: bool = True) -> list[Broken]:
        """Cuts, as they stand and rounded, that a point breaks by more than a share; at most two of each shore."""
        found: list[Broken] = []
        for side, (shores, share, state), over_paths in zip(self.sides, sight, (True, False), strict=bool(sight)):
            found += self._broken(side, point, shores, share, state, above, most, over_paths, rounding)
        found.sort(key=lambda one: (-one.by, one.shore, one.over_paths))
        return found[:most]

    def _broken(
        self,
        side: Side,
        point: Any,
        shores: Any,
        share: Any,
        state: Any,
        above: float,
        most: int,
        over_paths: bool,  # noqa: FBT001
        rounding: bool,  # noqa: FBT001
    ) -> list[Broken]:
        import numpy as np

        several: list[tuple[Any, float | None]] = [(-share, None)]
        if rounding and len(shores):
            need = self._need[self._row_of[state], shores] * TBPS
            several += rounded_all(side, self._cross[:, shores], point, state, need)
        by = np.stack([one for one, _ in several])
        ranks = np.argsort(-by, axis=0, kind="stable")[:2]
        worst = np.take_along_axis(by, ranks, axis=0)
        rank, i = np.unravel_index(np.argsort(-worst, axis=None, kind="stable")[:most], worst.shape)
        return [
            Broken(float(worst[r, m]), int(shores[m]), int(state[m]), over_paths, several[ranks[r, m]][1])
            for r, m in zip(rank, i, strict=True)
            if worst[r, m] > above
        ]

    def tightest(self, capacity_gbps: Any, pairs: Any, most: int) -> list[tuple[int, int, bool]]:
        """(shore, its worst state, over wavelengths or over fiber pairs) with the least left relative to the need."""
        import numpy as np

        table = self.table
        capacity = np.asarray(capacity_gbps, dtype=float)
        lit = np.asarray(pairs, dtype=float) * np.array([self.pair_gbps[fiber] for fiber in self.problem.fibers])
        leased = np.flatnonzero(self._leased)
        sides = (
            (self._path_joint, table.alive, capacity, True),
            (
                np.concatenate([self._fiber_joint, self._path_joint[leased]]),
                np.concatenate([table.fiber_alive, table.alive[:, leased]], axis=1),
                np.concatenate([lit, capacity[leased]]),
                False,
            ),
        )
        found: list[tuple[float, int, int, bool]] = []
        for joint, alive, gbps, over_paths in sides:
            lost = [np.flatnonzero(~row) for row in alive]
            share, state = least_left(self._cross, self._need, self._row_of, self.table.ruling, joint, lost, gbps)
            order = np.argsort(share, kind="stable")[:most]
            found += [
                (float(share[shore]), int(shore), int(state[shore]), over_paths)
                for shore in order[np.isfinite(share[order])]
            ]
        found.sort()
        return [item[1:] for item in found]

    def family(self, shore: int) -> list[int]:
        """States whose losses among what crosses do not overlap, the largest first: what `summed` joins."""
        inside = self.shores[shore]
        crossing = sum(1 << i for i, (a, b) in enumerate(self._edges) if (inside >> a ^ inside >> b) & 1)
        losing = []
        for k in self.table.ruling:
            lost = self._lost_edges[k] & crossing
            if lost and lost != crossing and self._need[self._row_of[k], shore] > TINY:
                losing.append((-lost.bit_count(), k, lost))
        chosen: list[int] = []
        covered = 0
        for _, k, lost in sorted(losing):
            if not covered & lost:
                chosen.append(k)
                covered |= lost
        return chosen

    def cut(self, shore: int, state: int, *, over_paths: bool) -> Cut:
        """One of the cuts."""
        import numpy as np

        paths = self._crossing(shore, self._path_joint) & self.table.alive[state]
        if not over_paths:
            paths &= self._leased
        fibers = self._crossing(shore, self._fiber_joint) & self.table.fiber_alive[state]
        inside = self.sites(shore)
        within = np.array([site in inside for site in self.table.sites], dtype=bool)
        demands = within[self.table.demands[:, 0]] != within[self.table.demands[:, 1]]
        return Cut(
            state,
            dict.fromkeys(np.flatnonzero(paths).tolist(), 1.0),
            {} if over_paths else {self.problem.fibers[i]: 1.0 for i in np.flatnonzero(fibers)},
            {int(d): self._times(int(d), state) for d in np.flatnonzero(demands)},
            inside,
        )

    def _times(self, d: int, state: int) -> float:
        """How often the rate of a demand must cross, which the table counts that often (see `aside.across`)."""
        asked = rate(self.problem.demands[d], self.problem.states[state])
        return float(self.table.rates[state, d]) / asked if asked > 0 else 1.0

    def shores_of(self, cut: Cut) -> list[int]:
        """The sets of sites that hang together where a metric weighs nothing."""
        table = self.table
        light = [i for i in range(len(table.link_of)) if table.alive[cut.state, i] and i not in cut.lightpaths]
        edges = [tuple(table.links[table.link_of[i]].tolist()) for i in light]
        return parts(neighbours(len(table.sites), edges), (1 << len(table.sites)) - 1)

    def sites(self, shore: int) -> tuple[SiteId, ...]:
        """The sites of the smaller side of a cut, sorted; the side without the first site where both are as large."""
        one = self.shores[shore]
        whole = (1 << len(self.table.sites)) - 1
        inside = one if 2 * one.bit_count() < len(self.table.sites) else whole & ~one
        return tuple(self.table.sites[i] for i in members(inside))

    def _crossing(self, shore: int, joint: Any) -> Any:
        return self._cross[joint, shore] > 0


def _spans(problem: Problem, table: Arrays) -> list[tuple[int, int]]:
    """Pairs of sites that a fiber or circuit joins."""
    at = {site: i for i, site in enumerate(table.sites)}
    found: dict[tuple[int, int], None] = {}
    for lightpath in problem.lightpaths:
        route = lightpath.route
        for a, b in pairwise(route.sites):
            if a in at and b in at:
                found[min(at[a], at[b]), max(at[a], at[b])] = None
    return list(found)
