"""The design problem: what can be bought, at what price, and what must be carried in which state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from dcplan.design import cost, existing
from dcplan.design.circuits import EXISTING
from dcplan.design.nodes import passed_by, patterns
from dcplan.design.schemes import retunes
from dcplan.model import grid
from dcplan.model.spectrum import band_of
from dcplan.optics.ends import Candidate
from dcplan.optics.existing import buyable

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from dcplan.design.existing import Kind, Place
    from dcplan.design.nodes import Pattern
    from dcplan.design.result import Demand
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId, Network, Pair, SiteId
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.ends import Ends


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be bought many times: a wavelength of one mode on one lightpath, or a module of a circuit."""

    lightpath: int
    """Index into `Problem.lightpaths`."""
    part: str
    """Catalog id of the transponder or appliance; of a circuit, its name."""
    mode: str
    """Of a circuit, the name of the module."""
    gbps: float
    """Rate of one in each direction [Gb/s]."""
    slots: int
    """Of the grid; 0 of a circuit, which takes no spectrum."""
    width_ghz: float
    latency_ms: float
    """One way, transponders included [ms]."""
    usd: float
    """Of one: two transponders and their energy, or the price of the module [US$]."""
    most: int
    """More can never be lit: fiber pairs × channels that fit a pair, on the tightest fiber; modules that there are."""
    least: int = 0
    """So many are there already and are kept."""
    only_at: frozenset[Ends] | None = None
    """With ROADMs at which ends of its lightpath it closes, where that is not all the same."""
    existing: bool = False
    """It stands for what is there already, up to `most`: free but for its energy."""


Hop = tuple[int, int]
"""A lightpath, and the slowest of its tiers that traffic may ride on there (see `Problem.tiers`)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything the formulation reads. Only lightpaths that close with some mode are in it, and circuits.

    A circuit is a lightpath of one hop over its own name, without spectrum or fiber pairs.
    """

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
    """Fibers that some lightpath uses, in file order; no circuits."""
    pair_usd: Mapping[FiberId, float]
    """Of one lit pair between multiplexers over the horizon [US$]."""
    build_usd: Mapping[FiberId, float]
    """Of building the route of a fiber, or setting up a circuit, once; only where that costs something [US$]."""
    pairs_lit: Mapping[FiberId, int]
    """Pairs that are lit already."""
    pairs_kept: Mapping[FiberId, int]
    """Pairs that are lit already and stay so."""
    pair_saved_usd: Mapping[FiberId, float]
    """What one pair that is lit already costs less than another [US$]."""
    passed: tuple[SiteId, ...]
    """Sites that light may pass, in file order: those with ROADMs in some designs."""
    patterns: Mapping[FiberId, tuple[Pattern, ...]]
    """Of each fiber at whose ends light may pass: where ROADMs may stand, and what that costs."""
    places: Mapping[int, tuple[Place, ...]]
    """Choice -> where its channels stand already, as far as that is known."""

    @property
    def priced(self) -> dict[int, float]:
        """Lightpaths on which traffic has a price, healthy [US$/(Gb/s)]: some circuits."""
        about = self.network.circuits
        return {i: about[name].usd_per_gbps for name, i in self.circuits.items() if about[name].usd_per_gbps}

    @property
    def protected(self) -> frozenset[int]:
        """Demands that go two ways at once, on capacity that is set aside for them; all others share the rest."""
        return frozenset(d for d, demand in enumerate(self.demands) if demand.protected)

    @property
    def shared(self) -> tuple[int, ...]:
        """Demands that are routed anew in each state."""
        return tuple(d for d, demand in enumerate(self.demands) if not demand.protected)

    @property
    def retunes(self) -> bool:
        """Each failure lights its own wavelengths with the transponders that are bought by site."""
        return retunes(self.demands)

    @property
    def anchored(self) -> frozenset[int]:
        """Demands of other schemes beside relight: they ride on wavelengths only that no failure retunes."""
        if not self.retunes:
            return frozenset()
        return frozenset(d for d, demand in enumerate(self.demands) if not demand.waits)

    @property
    def slots(self) -> int:
        """Slots of a lit pair that channels may take: the bands without the guards at their edges."""
        return self.band.usable

    def circuit(self, lightpath: int) -> FiberId | None:
        """Name of the circuit that a lightpath is; none of light over own fibers."""
        name = self.lightpaths[lightpath].route.fibers[0]
        return name if name in self.network.circuits else None

    def glass(self, lightpath: int) -> tuple[FiberId, ...]:
        """The fibers whose spectrum a lightpath takes; none of a circuit."""
        return () if self.circuit(lightpath) else self.lightpaths[lightpath].route.fibers

    @property
    def circuits(self) -> dict[FiberId, int]:
        """Circuits with their lightpaths, in order."""
        return {name: i for i in range(len(self.lightpaths)) if (name := self.circuit(i)) is not None}

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


def problem(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    demands: Sequence[Demand],
    states: Sequence[State],
) -> Problem:
    """Join what optics found with prices and demands.

    `lightpaths` holds the circuits as well (see `circuits.lightpaths_of`).
    """
    asked_gbps = sum(whole_rate(demand, states) for demand in demands)
    line_of = {line.fiber: line for line in lines}
    band = band_of(network)
    there, may_buy, retuned = existing.counts(network), buyable(network), retunes(demands)
    usable: list[Lightpath] = []
    choices: list[Choice] = []
    offered: list[tuple[int, ...]] = []
    for lightpath in lightpaths:
        mine: Sequence[Choice] = ()
        if lightpath.route.fibers[0] in network.circuits:
            mine = _modules(network, lightpath, len(usable), asked_gbps, there)
        elif all(fiber in line_of for fiber in lightpath.route.fibers):
            mine = _choices(network, lightpath, len(usable), band.usable, there, may_buy, of_one_part=retuned)
        if mine:
            usable.append(lightpath)
            offered.append(tuple(range(len(choices), len(choices) + len(mine))))
            choices += mine
    lit = {fiber: pairs for fiber, pairs in existing.pairs_lit(network).items() if fiber in line_of}
    used = {fiber for lightpath in usable for fiber in lightpath.route.fibers} | lit.keys()
    fibers = tuple(fiber for fiber in network.fibers if fiber in used)
    builds = {edge: cost.total(cost.build_items(network, edge)) for edge in network.edges if edge in used}
    stand = existing.places(network, usable, band)
    open_at = passed_by(usable)
    plain = replace(network, roadms=frozenset())
    pair_usd = {fiber: cost.total(cost.pair_items(plain, line_of[fiber], 1)) for fiber in fibers}
    return Problem(
        network=network,
        lines=line_of,
        lightpaths=tuple(usable),
        choices=tuple(choices),
        offered=tuple(offered),
        tiers=tuple(tuple(sorted({choices[j].latency_ms for j in mine})) for mine in offered),
        demands=tuple(demand for demand in demands if whole_rate(demand, states) > 0),
        states=tuple(states),
        band=band,
        fibers=fibers,
        pair_usd=pair_usd,
        build_usd={edge: usd for edge, usd in builds.items() if usd > 0},
        pairs_lit=lit,
        pairs_kept={fiber: lit[fiber] for fiber in existing.pairs_kept(network) if fiber in lit},
        pair_saved_usd={
            fiber: pair_usd[fiber] - cost.total(cost.pair_items(plain, line_of[fiber], 1, existing=1)) for fiber in lit
        },
        passed=tuple(site for site in network.sites if site in open_at),
        patterns={
            fiber: types for fiber in fibers if (types := patterns(network, line_of[fiber], open_at, lit=fiber in lit))
        },
        places={
            j: stand[kind]
            for j, choice in enumerate(choices)
            if choice.existing and (kind := (usable[choice.lightpath].route.fibers, choice.part, choice.mode)) in stand
        },
    )


def _modules(
    network: Network, lightpath: Lightpath, index: int, asked_gbps: float, leased: Mapping[Kind, int]
) -> list[Choice]:
    """What is there of a circuit, kept, and its modules; never more of one than could carry all traffic.

    No two ways of one demand meet on a circuit. Where at most one module may be picked, none that is smaller and no
    cheaper than another.
    """
    name = lightpath.route.fibers[0]
    circuit = network.circuits[name]
    found = []

    def offer(mode: str, gbps: float, usd: float, most: int, there: int = 0) -> None:
        one = Choice(index, name, mode, gbps, 0, 0.0, lightpath.latency_ms, usd, most - there)
        if there:
            least = 0 if mode != EXISTING and existing.removable(network) else there
            found.append(replace(one, usd=0.0, most=there, least=least, existing=True))
        if one.most > 0:
            found.append(one)

    if circuit.existing_gbps:
        offer(EXISTING, circuit.existing_gbps, 0.0, 1, 1)
    for mode, module in circuit.modules.items():
        there = leased.get(((name,), name, mode), 0)
        enough = max(1, ceil(asked_gbps / module.gbps))
        if circuit.pick == "any":
            offer(mode, module.gbps, module.usd, max(there, min(module.most or there + enough, there + enough)), there)
        elif there or not any(
            (other.gbps, -other.usd) > (module.gbps, -module.usd) and other.usd <= module.usd
            for other in circuit.modules.values()
        ):
            offer(mode, module.gbps, module.usd, 1, there)
    return found


def _choices(
    network: Network,
    lightpath: Lightpath,
    index: int,
    slots: int,
    there: Mapping[Kind, int],
    may_buy: Container[str],
    *,
    of_one_part: bool,
) -> list[Choice]:
    """What is lit already on a lightpath, then the modes worth buying.

    No mode that is as wide, slow, dear and late as another or more so. of_one_part: only among those of the same
    transponder, which under relight may be worth having for another lightpath.
    """
    pairs = min(network.fibers[fiber].pairs for fiber in lightpath.route.fibers)
    only_at = lightpath.only_at if isinstance(lightpath, Candidate) else {}
    offered, lit = [], []
    for budget in lightpath.closing:
        width = grid.width_slots(budget.width_ghz)
        one = Choice(
            lightpath=index,
            part=budget.transponder,
            mode=budget.mode,
            gbps=budget.rate_gbps,
            slots=width,
            width_ghz=budget.width_ghz,
            latency_ms=lightpath.latency_ms + network.catalog.latency_us(budget.transponder) / 1000,
            usd=cost.total(cost.wavelength_items(network, lightpath, budget.transponder, 1)),
            most=pairs * (slots // width),
            only_at=only_at.get((budget.transponder, budget.mode)),
        )
        if count := there.get((lightpath.route.fibers, budget.transponder, budget.mode), 0):
            running_usd = cost.total(cost.wavelength_items(network, lightpath, budget.transponder, 1, existing=1))
            least = 0 if existing.removable(network) else count
            lit.append(replace(one, usd=running_usd, most=count, least=least, existing=True))
        if width <= slots and budget.transponder in may_buy:
            offered.append(one)
    offered.sort(key=lambda one: (-one.gbps, one.usd, one.slots, one.latency_ms, one.part, one.mode))
    kept: list[Choice] = []
    for one in offered:
        better = any(
            other.gbps >= one.gbps
            and other.usd <= one.usd
            and other.slots <= one.slots
            and other.latency_ms <= one.latency_ms
            and (other.part == one.part or not of_one_part)
            and (other.only_at is None or other.only_at == one.only_at)
            for other in kept
        )
        if not better:
            kept.append(one)
    return [*lit, *kept]
