"""Can the traffic of each state be carried by what is bought and not set aside? If not: what is short, and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from dcplan.design.arrays import Arrays, arrays
from dcplan.design.cuts.inequality import Cut
from dcplan.design.distances import between_all
from dcplan.design.formulation import TBPS
from dcplan.design.resources import resources
from dcplan.design.routing.aside import left_over, shared, taken
from dcplan.design.routing.lanes import lanes, side_by_side
from dcplan.design.routing.pathlp import PathLp, Routed
from dcplan.design.routing.reroute import Traffic, near_of, rerouted
from dcplan.errors import DcplanError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.limits import Until
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.ways.chains import Way

SHORT = 1e-7
"""Share of all traffic of a state that may be short by rounding."""
VIOLATED = 1e-6
"""Share of its right side by which an inequality must be missed to be worth adding."""
MOST_TIMES = 24
"""Largest whole number that weights are written as."""
CLOSE = 1e-7
LEAST_SHARE = 1e-5
"""Weights below this share of the largest are left out; coefficients would lie too far apart."""
PARTS = 4
MUCH = 30_000
"""Commodities × states from which failures are checked in so many parts: below, a check takes well under a second."""
KEPT_LOADS = 4
"""Loads that are kept of each state: what they fit, carries it."""


class UncheckedError(DcplanError):
    """Time is up before every state was looked at."""


@dataclass(frozen=True, slots=True)
class Short:
    """What is short in a state: who bears it, and a violated inequality."""

    state: int
    by_demand: Mapping[int, float]
    """[Gb/s]; the least total only where it was asked for."""
    cut: Cut


class StateCheck:
    """Checks states by loads that were seen to carry them, by rerouting, by a linear program.

    Where that is much work, failures are dealt into `PARTS` parts for several cores, each with a program of its own
    that begins where the healthy state ended. Nothing passes between them, so that answers do not hang on how many
    cores there are. (Paths of one part hardly serve another: programs that share them are larger, and slower by half.)
    """

    def __init__(
        self,
        problem: Problem,
        ways: Mapping[int, Sequence[Way]],
        table: Arrays | None = None,
        *,
        rerouting: bool = True,
    ) -> None:
        """rerouting: try traffic of before first, which seldom helps where each state has wavelengths of its own."""
        self.problem, self.ways, self._rerouting = problem, ways, rerouting
        self.table = shared(problem, table or arrays(problem))
        self.resources = resources(problem, self.table, ways)
        self.asked = self.resources.asked_tbps(self.table.rates)
        many = len(self.resources.commodities) * len(problem.states)
        self._parts = [PathLp(self.resources) for _ in range(PARTS if many >= MUCH else 1)]
        self._begun = False
        """The programs of all parts know the healthy state."""
        self._loads: dict[int, list[Any]] = {}
        self._traffic: dict[int, Traffic] = {}
        """Of each state what it was last seen to carry, all or not."""
        self._first = next((k for k, state in enumerate(problem.states) if state.healthy), 0)
        self._near = near_of(self.resources)
        self._aside: tuple[Hop, ...] = ()

    def broken(
        self,
        counts: Sequence[float],
        states: Sequence[int],
        enough: int,
        aside: Mapping[Hop, float] | None = None,
        until: Until | None = None,
    ) -> list[Short]:
        """Of the states, in that order, those that so many of each choice cannot carry; stops after `enough`.

        aside: what demands on two ways have for themselves [Tb/s].
        UncheckedError where time is up before any of them was found and before all were looked at.
        """
        rooms = self._rooms(counts, aside)
        asking = [state for state in states if self.asked[state].any()]
        if len(self._parts) == 1:
            looked = self._look(0, asking, rooms, enough, until)
        else:
            looked = self._in_parts(asking, rooms, enough, until)
        if looked is None:
            raise UncheckedError("time is up before every state was looked at")
        return looked

    def _in_parts(self, states: Sequence[int], rooms: Any, enough: int, until: Until | None) -> list[Short] | None:
        """As of `_look`: the healthy state, whose traffic the others begin from, then the parts side by side."""
        healthy, *others = self._parts
        found = self._look(0, [state for state in states if state == self._first], rooms, 1, until)
        if found is None:
            return None
        for lp in others if self._first in states and not self._begun else ():
            lp.learn(healthy.paths)
            lp.solve(self._first, rooms[self._first], self.asked[self._first])
        self._begun = self._begun or self._first in states
        those = [[k for k in states if k != self._first and k % PARTS == part] for part in range(PARTS)]
        each = -(-enough // PARTS)
        looked = side_by_side(lambda part: self._look(part, those[part], rooms, each, until), range(PARTS), lanes())
        found += [short for mine in looked if mine is not None for short in mine]
        if not found and None in looked:
            return None
        rank = {state: r for r, state in enumerate(states)}
        return sorted(found, key=lambda short: rank[short.state])[:enough]

    def _look(
        self, part: int, states: Sequence[int], rooms: Any, enough: int, until: Until | None
    ) -> list[Short] | None:
        """The first of the states that are broken, `enough` at most; none where time is up before one was found."""
        found: list[Short] = []
        for state in states:
            if until is not None and until.over:
                return found or None
            if self._carried(state, rooms[state]):
                continue
            short = self._solved(state, rooms[state], self.table.rates[state], part=part)
            if short is not None:
                found.append(short)
                if len(found) >= enough:
                    break
        return found

    def least_short(
        self, state: int, counts: Sequence[float], rates: Mapping[int, float], aside: Mapping[Hop, float] | None = None
    ) -> Short | None:
        """None where so many of each choice carry these rates [Gb/s]; else the least total that is short."""
        import numpy as np

        asked = np.array([rates.get(d, 0.0) for d in range(len(self.problem.demands))])
        return self._solved(state, self._rooms(counts, aside)[state], asked, converge=True)

    def _rooms(self, counts: Sequence[float], aside: Mapping[Hop, float] | None) -> Any:
        """(states, resources) what demands that share may use [Tb/s]."""
        self._aside = tuple(aside or ())
        return left_over(self.resources, self.resources.room_tbps(counts), aside or {})

    def _carried(self, state: int, room: Any) -> bool:
        """Known loads fit, or traffic of before, of the state or healthy, does with what does not fit moved."""
        known = self._loads.setdefault(state, [])
        slack = SHORT * max(1.0, float(self.asked[state].sum())) / 10
        if any(bool((loads <= room + slack).all()) for loads in known):
            return True
        for traffic in (self._traffic.get(state), self._traffic.get(self._first)) if self._rerouting else ():
            loads = None if traffic is None else rerouted(self.resources, self._near, traffic, room, self.asked[state])
            if loads is not None:
                self._keep(state, loads)
                return True
        return False

    def _keep(self, state: int, loads: Any) -> None:
        known = self._loads.setdefault(state, [])
        known.insert(0, loads)
        del known[KEPT_LOADS:]

    def _solved(self, state: int, room: Any, rates: Any, *, part: int = 0, converge: bool = False) -> Short | None:
        lp, asked = self._parts[part], self.resources.asked_tbps(rates)
        least = SHORT * max(1.0, float(asked.sum()))
        cuts: list[Cut] = []

        def enough(found: Routed) -> bool:
            if found.total <= least:
                return True
            if converge:
                return False
            cut, missing = self._metric(state, found.prices, room, asked)
            if missing > VIOLATED:
                cuts.append(cut)
                return True
            return False

        found = lp.solve(state, room, asked, enough)
        if not converge:
            self._traffic[state] = Traffic.of(lp.paths, found.flows, len(asked))
        if found.total <= least:
            if not converge:
                self._keep(state, found.loads)
            return None
        cut = cuts[0] if cuts else self._metric(state, found.prices, room, asked)[0]
        return Short(state, self._by_demand(found.short, rates, least), cut)

    def _by_demand(self, short: Any, rates: Any, least: float) -> dict[int, float]:
        """What is short by demand [Gb/s]; of free demands between the same sites in proportion to what they ask."""
        found: dict[int, float] = {}
        for c, one in enumerate(self.resources.commodities):
            if short[c] > least:
                asked = rates[list(one.demands)]
                found |= zip(one.demands, (asked / asked.sum() * short[c] / TBPS).tolist(), strict=True)
        return found

    def _metric(self, state: int, prices: Any, room: Any, asked: Any) -> tuple[Cut, float]:
        """The metric inequality of prices of resources, and the share of its right side that is missing.

        Distances are computed anew, so that it holds whatever the prices; where ends are parted nothing is enough. A
        wavelength weighs what its link does and what each hop does that it serves; traffic pays the weight of the
        slowest wavelength that it may ride on.
        """
        import numpy as np

        table = self.table
        scaled = _tidy(prices)
        choices, lightpaths = self.resources.weights(scaled)
        alive = table.alive[state]
        lengths = np.full(len(table.links), np.inf)
        np.minimum.at(lengths, table.link_of[alive], lightpaths[alive])
        apart = between_all(len(table.sites), table.links, lengths)
        far = apart[self.resources.ends[:, 0], self.resources.ends[:, 1]]
        for c, one in enumerate(self.resources.commodities):
            if one.ways is not None:
                mine = (w for w in range(len(one.ways)) if state not in one.broken[w])
                far[c] = min((scaled[list(one.ways[w])].sum() for w in mine), default=inf)
        parted = (asked > 0) & ~np.isfinite(far)
        if parted.any():
            lone = {d: 1.0 for c in np.flatnonzero(parted) for d in self.resources.commodities[c].demands}
            return Cut(state, {}, {}, dict(sorted(lone.items()))), 1.0
        far = np.where(np.isfinite(far), far, 0.0)
        need = float((far * asked).sum())
        have = float((scaled * room).sum())
        faster = choices - lightpaths[table.owner]
        distances = {
            d: float(far[c])
            for c, one in enumerate(self.resources.commodities)
            for d in one.demands
            if far[c] > 0 and self.table.rates[state, d] > 0
        }
        cut = Cut(
            state,
            {int(i): float(lightpaths[i]) for i in np.flatnonzero(alive & (lightpaths > 0))},
            {},
            dict(sorted(distances.items())),
            faster={int(j): float(faster[j]) for j in np.flatnonzero((faster > 0) & alive[table.owner])},
            aside={
                hop: weight
                for hop in self._aside
                if alive[hop[0]] and (weight := float(scaled[taken(self.resources, hop)].sum())) > 0
            },
        )
        return cut, (need - have) / need if need > 0 else 0.0


def _tidy(prices: Any) -> Any:
    """The same in proportion: small whole numbers where they are that, else shares of the largest to nine digits."""
    import numpy as np

    shares = prices / (prices.max() or 1.0)
    for times in range(1, MOST_TIMES + 1):
        whole = np.round(shares * times)
        if np.abs(shares * times - whole).max() < CLOSE * times:
            return whole
    shares[shares < LEAST_SHARE] = 0.0
    return np.round(shares, 9)
