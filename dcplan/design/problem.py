"""The design problem: what can be bought, at what price, and what must be carried in which state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.model import grid
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId, Network, Pair
    from dcplan.model.states import State
    from dcplan.optics.budget import Budget, Lightpath, Line


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be bought any number of times: a wavelength of one mode on one lightpath."""

    lightpath: int
    """Index into `Problem.lightpaths`."""
    budget: Budget
    slots: int
    latency_ms: float
    """One way, transponders included [ms]."""
    usd: float
    """Of one wavelength: two transponders and their energy [US$]."""
    most: int
    """More can never be lit: fiber pairs × channels that fit a pair, on the tightest fiber."""

    @property
    def gbps(self) -> float:
        """Rate of one wavelength in each direction [Gb/s]."""
        return self.budget.rate_gbps


Hop = tuple[int, int]
"""A lightpath, and the slowest of its tiers that traffic may ride on there (see `Problem.tiers`)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything the formulation reads. Only lightpaths that close with some mode are in it."""

    network: Network
    lines: Mapping[FiberId, Line]
    lightpaths: tuple[Lightpath, ...]
    choices: tuple[Choice, ...]
    offered: tuple[tuple[int, ...], ...]
    """Of each lightpath: its choices."""
    tiers: tuple[tuple[float, ...], ...]
    """Of each lightpath: the latencies of its choices, each once, the fastest first [ms]."""
    demands: tuple[Demand, ...]
    states: tuple[State, ...]
    band: Band
    """Spectrum of each lit pair."""
    fibers: tuple[FiberId, ...]
    """Fibers that some lightpath uses, in file order."""
    pair_usd: Mapping[FiberId, float]
    """Of one lit pair over the horizon [US$]."""
    build_usd: Mapping[FiberId, float]
    """Of building the route, once; only where that costs something [US$]."""

    @property
    def slots(self) -> int:
        """Slots of a lit pair that channels may take: the bands without the guards at their edges."""
        return self.band.usable

    def latency_ms(self, lightpath: int) -> float:
        """One-way latency of a lightpath with the fastest of its modes [ms]."""
        return self.tiers[lightpath][0]

    def tier(self, choice: Choice) -> int:
        """Rank of a choice among the latencies of its lightpath, the fastest 0."""
        return self.tiers[choice.lightpath].index(choice.latency_ms)

    def top(self, lightpath: int) -> Hop:
        """A lightpath with all of its wavelengths."""
        return lightpath, len(self.tiers[lightpath]) - 1

    def within(self, hop: Hop) -> tuple[int, ...]:
        """The choices that traffic on a hop may ride on."""
        lightpath, tier = hop
        slowest_ms = self.tiers[lightpath][tier]
        return tuple(j for j in self.offered[lightpath] if self.choices[j].latency_ms <= slowest_ms)

    def alive(self, state: State) -> tuple[int, ...]:
        """Indices of the lightpaths that survive."""
        return tuple(i for i, lightpath in enumerate(self.lightpaths) if not state.breaks(lightpath.route))

    def links(self, lightpaths: Sequence[int]) -> dict[Pair, list[int]]:
        """The lightpaths by the two sites that they join, sorted."""
        found: dict[Pair, list[int]] = {}
        for i in lightpaths:
            found.setdefault(self.lightpaths[i].route.ends, []).append(i)
        return dict(sorted(found.items()))

    def capacity_gbps(self, counts: Sequence[float]) -> list[float]:
        """Capacity of each lightpath for a number of wavelengths per choice [Gb/s]."""
        capacity = [0.0] * len(self.lightpaths)
        for choice, count in zip(self.choices, counts, strict=True):
            capacity[choice.lightpath] += choice.gbps * count
        return capacity


def rate(demand: Demand, state: State) -> float:
    """What a demand asks in a state [Gb/s]; nothing where an end is gone or the state is not named."""
    return demand.gbps.get(state.name, 0.0) if state.sites.isdisjoint(demand.ends) else 0.0


def whole_rate(demand: Demand, states: Sequence[State]) -> float:
    """The largest rate that a demand asks in any state: what one-plus-one reserves on both routes [Gb/s]."""
    return max((rate(demand, state) for state in states), default=0.0)


def band_of(network: Network) -> Band:
    """Whole slots between the edges of the amplified bands, with the guards of the policy."""
    guard_ghz = network.policy.guard_ghz
    return grid.joined([grid.band(one.start_thz, one.end_thz, guard_ghz) for one in network.topology.gear.bands])


def problem(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
) -> Problem:
    """Join what optics found with prices and demands; with scheme `none` only the healthy state counts."""
    line_of = {line.fiber: line for line in lines}
    band = band_of(network)
    usable: list[Lightpath] = []
    choices: list[Choice] = []
    offered: list[tuple[int, ...]] = []
    for lightpath in lightpaths:
        if all(fiber in line_of for fiber in lightpath.route.fibers):
            mine = _choices(network, lightpath, len(usable), band.usable)
            if mine:
                usable.append(lightpath)
                offered.append(tuple(range(len(choices), len(choices) + len(mine))))
                choices += mine
    used = {fiber for lightpath in usable for fiber in lightpath.route.fibers}
    fibers = tuple(fiber for fiber in network.fibers if fiber in used)
    builds = {fiber: cost.total(cost.build_items(network, fiber)) for fiber in fibers}
    wanted = (HEALTHY,) if network.policy.scheme == "none" else tuple(states)
    return Problem(
        network=network,
        lines=line_of,
        lightpaths=tuple(usable),
        choices=tuple(choices),
        offered=tuple(offered),
        tiers=tuple(tuple(sorted({choices[j].latency_ms for j in mine})) for mine in offered),
        demands=tuple(demand for demand in demands if whole_rate(demand, wanted) > 0),
        states=wanted,
        band=band,
        fibers=fibers,
        pair_usd={fiber: cost.total(cost.pair_items(network, line_of[fiber], 1)) for fiber in fibers},
        build_usd={fiber: usd for fiber, usd in builds.items() if usd > 0},
    )


def _choices(network: Network, lightpath: Lightpath, index: int, slots: int) -> list[Choice]:
    """The modes worth having on a lightpath: none that is as wide, slow, dear and late as another or more so."""
    pairs = min(network.fibers[fiber].pairs for fiber in lightpath.route.fibers)
    offered = []
    for budget in lightpath.closing:
        width = grid.width_slots(budget.width_ghz)
        usd = cost.total(cost.wavelength_items(network, lightpath, budget.transponder, 1))
        latency_ms = lightpath.latency_ms + network.catalog.latency_us(budget.transponder) / 1000
        if width <= slots:
            offered.append(Choice(index, budget, width, latency_ms, usd, pairs * (slots // width)))
    offered.sort(
        key=lambda one: (-one.gbps, one.usd, one.slots, one.latency_ms, one.budget.transponder, one.budget.mode)
    )
    kept: list[Choice] = []
    for one in offered:
        better = any(
            other.gbps >= one.gbps
            and other.usd <= one.usd
            and other.slots <= one.slots
            and other.latency_ms <= one.latency_ms
            for other in kept
        )
        if not better:
            kept.append(one)
    return kept
