"""Inequalities between two shores in the terms of relight: what is lit in a state, what is owned, what is lit at all.

Whatever leaves a set of sites in a state rides on wavelengths that cross; each takes a transponder on either shore and
its slots on a fiber that crosses. All three sides ask for the same need, and each may be rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from dcplan.design.arrays import arrays
from dcplan.design.certificate.record import PAIRS, TRANSPONDERS, WAVELENGTHS
from dcplan.design.cuts.shores import ShoreCuts
from dcplan.design.formulation import TBPS
from dcplan.design.problem import rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.design.relight.block import Purchase
    from dcplan.design.relight.stock import Stock
    from dcplan.model.network import SiteId

TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Asked:
    """Σ terms ≥ Σ distance × rate of demands in a state [Tb/s]."""

    terms: Mapping[int, float]
    state: int
    distances: Mapping[int, float]
    """Demand -> distance."""
    over: str = WAVELENGTHS
    """What the terms are: wavelengths, fiber pairs or transponders."""
    shore: tuple[SiteId, ...] = ()
    """The sites on one side, those whose transponders are meant, where it is about two shores."""
    metric: Cut | None = None
    """Where it is not."""

    @property
    def per_demand(self) -> Mapping[int, float]:
        """By how much the right side rises with the rate of a demand in the state."""
        return self.distances

    def need(self, problem: Problem) -> float:
        """The right side [Tb/s]."""
        state = problem.states[self.state]
        return fsum(value * rate(problem.demands[d], state) for d, value in self.distances.items()) * TBPS


class Shores:
    """Sets of sites with what must leave them in each state."""

    def __init__(self, problem: Problem, stood: Stock) -> None:
        import numpy as np

        self.problem, self.stood = problem, stood
        table = arrays(problem)
        cuts = ShoreCuts(problem, table)
        self._pair_gbps = cuts.pair_gbps
        self.shores = [frozenset(site for i, site in enumerate(table.sites) if shore >> i & 1) for shore in cuts.shores]
        inside = {site: np.array([site in shore for shore in self.shores], dtype=float) for site in table.sites}
        empty = np.zeros((len(self.shores), 0))

        def crossing(ends: Sequence[tuple[str, str]]) -> Any:
            return np.stack([np.abs(inside[a] - inside[b]) for a, b in ends], axis=1) if ends else empty

        routes = [lightpath.route for lightpath in problem.lightpaths]
        fibers = [problem.network.fibers[fiber] for fiber in problem.fibers]
        self._crossing = crossing([route.ends for route in routes])
        self._over = crossing([(fiber.ends[0], fiber.ends[1]) for fiber in fibers])
        self._inside = np.stack([inside[site] for site, _ in stood.places], axis=1) if stood.places else empty
        states = problem.states
        self._alive = np.array([[not state.breaks(route) for route in routes] for state in states], dtype=float)
        self._stands = np.array(
            [
                [name not in state.fibers and state.sites.isdisjoint(fiber.ends)
                 for name, fiber in zip(problem.fibers, fibers, strict=True)]
                for state in states
            ],
            dtype=float,
        ).reshape(len(states), len(fibers))  # fmt: skip
        rates = np.array([[rate(demand, state) for demand in problem.demands] for state in states])
        self._asking = crossing([demand.ends for demand in problem.demands])
        self.need = np.einsum("sd,kd->sk", self._asking, rates.reshape(len(states), len(problem.demands)))
        """Of each shore in each state [Gb/s]."""

    def lit(self, state: int, counts: Sequence[float], columns: Bought, most: int) -> Iterator[Asked]:
        """The tightest over the wavelengths of a state: Σ rate × n of those that cross ≥ need."""
        import numpy as np

        capacity = np.asarray(self.problem.capacity_gbps(counts)) * self._alive[state]
        have = np.einsum("sl,l->s", self._crossing, capacity)
        for shore in _tightest(have, self.need[:, state], most):
            crosses = self._crossing[shore] * self._alive[state]
            terms = {
                columns.wavelengths[j]: choice.gbps * TBPS
                for j, choice in enumerate(self.problem.choices)
                if crosses[choice.lightpath]
            }
            yield self._asked(WAVELENGTHS, terms, shore, state)

    def owned(self, values: Sequence[float], bought: Purchase, most: int) -> Iterator[Asked]:
        """The tightest over transponders on one shore: Σ best rate × m + circuits that cross ≥ need, in any state."""
        import numpy as np

        owned = np.array([values[column] for column in bought.owned])
        leased = self._leased(values, bought)
        outside = 1.0 - self._inside
        found: list[tuple[float, int, int, bool]] = []
        for state in range(len(self.problem.states)):
            by_place = owned * self._best(state)
            circuits = np.einsum("sl,l->s", self._crossing, leased * self._alive[state])
            for near, side in ((self._inside, True), (outside, False)):
                have = np.einsum("sp,p->s", near, by_place) + circuits
                need = self.need[:, state]
                found += [
                    (float((have[shore] - need[shore]) / need[shore]), int(shore), state, side)
                    for shore in _tightest(have, need, most)
                ]
        for _, shore, state, side in sorted(found)[:most]:
            terms = self._of_owned(bought, shore, state, inside=side)
            yield self._asked(TRANSPONDERS, terms, shore, state, inside=side)

    def pairs(self, values: Sequence[float], bought: Purchase, most: int) -> Iterator[Asked]:
        """The tightest over lit pairs: Σ most that a pair carries × p + circuits that cross ≥ need, in any state."""
        import numpy as np

        fibers = self.problem.fibers
        full = np.array([values[bought.pairs[fiber]] * self._pair_gbps[fiber] for fiber in fibers])
        leased = self._leased(values, bought)
        found: list[tuple[float, int, int]] = []
        for state in range(len(self.problem.states)):
            have = np.einsum("sf,f->s", self._over, full * self._stands[state])
            have += np.einsum("sl,l->s", self._crossing, leased * self._alive[state])
            need = self.need[:, state]
            found += [
                (float((have[shore] - need[shore]) / need[shore]), int(shore), state)
                for shore in _tightest(have, need, most)
            ]
        for _, shore, state in sorted(found)[:most]:
            over = self._over[shore] * self._stands[state]
            terms = {
                bought.pairs[fiber]: self._pair_gbps[fiber] * TBPS
                for fiber, crosses in zip(fibers, over, strict=True)
                if crosses
            }
            yield self._asked(PAIRS, terms | self._modules(bought, shore, state), shore, state)

    def _asked(self, over: str, terms: Mapping[int, float], shore: int, state: int, *, inside: bool = True) -> Asked:
        distances = {d: 1.0 for d, crosses in enumerate(self._asking[shore]) if crosses}
        sites = tuple(site for site in self.problem.network.sites if (site in self.shores[shore]) == inside)
        return Asked(terms, state, distances, over, sites)

    def _best(self, state: int) -> Any:
        """The fastest surviving wavelength of each place [Gb/s]."""
        import numpy as np

        choices, alive = self.problem.choices, self._alive[state]
        return np.array(
            [max((choices[j].gbps for j in users if alive[choices[j].lightpath]), default=0.0)
             for users in self.stood.users]
        )  # fmt: skip

    def _of_owned(self, bought: Purchase, shore: int, state: int, *, inside: bool) -> dict[int, float]:
        """The best rate across of each place on one shore, as terms [Tb/s]."""
        crosses = self._crossing[shore] * self._alive[state]
        terms = {}
        for i, users in enumerate(self.stood.users):
            if bool(self._inside[shore, i]) == inside:
                rates = [self.problem.choices[j].gbps for j in users if crosses[self.problem.choices[j].lightpath]]
                if rates:
                    terms[bought.owned[i]] = max(rates) * TBPS
        return terms | self._modules(bought, shore, state)

    def _leased(self, values: Sequence[float], bought: Purchase) -> Any:
        """Capacity of circuits by lightpath [Gb/s]."""
        import numpy as np

        leased = np.zeros(len(self.problem.lightpaths))
        for j, column in bought.modules.items():
            leased[self.problem.choices[j].lightpath] += self.problem.choices[j].gbps * values[column]
        return leased

    def _modules(self, bought: Purchase, shore: int, state: int) -> dict[int, float]:
        crosses = self._crossing[shore] * self._alive[state]
        choices = self.problem.choices
        return {column: choices[j].gbps * TBPS for j, column in bought.modules.items() if crosses[choices[j].lightpath]}


def _tightest(have: Any, need: Any, most: int) -> list[int]:
    """Shores with the least left relative to their need."""
    import numpy as np

    needed = need > TINY
    left = np.where(needed, (have - need) / np.where(needed, need, 1.0), np.inf)
    order = np.argsort(left, kind="stable")[:most]
    return [int(shore) for shore in order if np.isfinite(left[shore])]
