"""What the design engine takes and answers: demands by state in, a design with its proof out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dcplan.design.certificate.record import Certificate
from dcplan.model.grid import Band
from dcplan.model.network import FiberId, Pair
from dcplan.training.across.packing import Packing


@dataclass(frozen=True, slots=True)
class Demand:
    """Traffic between two sites, the same in both directions."""

    id: str
    ends: Pair
    gbps: Mapping[str, float]
    """State name -> rate in each direction [Gb/s]; a state that is absent asks for nothing (an end is gone)."""
    max_latency_ms: float | None = None
    """Largest one-way latency of any route it takes [ms]."""
    job: str | None = None
    """The training job it serves; none for a fixed demand."""
    scheme: str = "reroute"
    """How it survives failures."""
    max_paths: int | None = None
    """Routes that it may take at a time at most; none: any number."""

    @property
    def protected(self) -> bool:
        """It goes two ways at once, on capacity that is set aside for it."""
        return self.scheme == "one-plus-one"

    @property
    def waits(self) -> bool:
        """In a failure it may wait until transponders are retuned; where it is promised nothing it may as well."""
        return self.scheme in ("relight", "none")


@dataclass(frozen=True, slots=True)
class Proof:
    """How good the design is, and how that is known."""

    status: str
    """optimal: cost within `gap` of the bound; feasible: stopped earlier; never `optimal` for a time limit."""
    reason: str
    """proven, time limit, node limit, interrupted, gap, spectrum repaired, solver gives no bound."""
    cost_usd: float
    bound_usd: float | None
    """No design over the same candidates costs less [US$]."""
    gap: float | None
    """(cost − bound) / cost."""
    solver: str
    solver_version: str
    candidates: int
    """Lightpath candidates (route and mode) that the proof is over."""
    states: int
    spectrum: str = ""
    """How the channels found their places, and whether other places could have saved anything."""


@dataclass(frozen=True, slots=True)
class Wavelengths:
    """What is lit on one lightpath with one mode."""

    lightpath: str
    transponder: str
    mode: str
    count: int
    rate_gbps: float
    """Of one wavelength [Gb/s]."""
    width_ghz: float
    latency_ms: float
    """One way, transponders included [ms]."""
    existing: int = 0
    """Of the count, those that were lit already."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One wavelength in the spectrum: the same slots on every fiber, on one pair of each."""

    lightpath: str
    transponder: str
    mode: str
    first_slot: int
    """Counted in 12.5 GHz from the lower edge of the band."""
    slots: int
    pairs: tuple[int, ...]
    """Which lit pair it takes on each fiber of its route, from 0."""
    n: int = 0
    """Centre on the flexible grid, 193.1 THz + n × 6.25 GHz; its m (width in 12.5 GHz) is `slots` (ITU-T G.694.1)."""


@dataclass(frozen=True, slots=True)
class LitFiber:
    """A fiber that carries light."""

    fiber: FiberId
    pairs: int
    """Pairs lit."""
    channels: int
    used_ghz: float
    """Spectrum taken, all pairs together [GHz]."""
    fill_percent: float
    """Of the spectrum of the lit pairs [%]."""
    existing: int = 0
    """Of the pairs, those that were lit already."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A part of a demand on one route in one state."""

    demand: str
    lightpaths: tuple[str, ...]
    """Lightpath ids from the demand's first end to its second."""
    gbps: float
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Routing:
    """All traffic in one state."""

    state: str
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """Transponders of one type at one site, which scheme relight tunes to other fibers in a failure."""

    site: str
    transponder: str
    count: int
    """As many as are in use in the state that takes most, and those that are there already and stay."""
    existing: int = 0
    """Of these, so many are there already."""


@dataclass(frozen=True, slots=True)
class Relit:
    """What is lit in one failure under scheme relight."""

    state: str
    wavelengths: tuple[Wavelengths, ...]
    channels: tuple[Channel, ...]
    retuned: int
    """Wavelengths that are not lit, or not so, in the healthy network."""


@dataclass(frozen=True, slots=True)
class BillItem:
    """One line of the bill of materials."""

    part: str
    what: str
    quantity: float
    unit_usd: float
    total_usd: float
    source: str
    confidence: str
    existing: float = 0.0
    """What is there already beside the quantity, and not paid."""
    running: bool = False
    """Paid year by year, not once: lease and energy, over the horizon."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What binds, in words: a limit that is met, and what relaxing it is worth where that is known."""

    what: str
    worth: str


@dataclass(frozen=True, slots=True)
class Design:
    """The answer: what is lit, how traffic goes in each state, what it costs, how good it is."""

    scheme: str
    proof: Proof
    lit: tuple[LitFiber, ...]
    wavelengths: tuple[Wavelengths, ...]
    channels: tuple[Channel, ...]
    demands: tuple[Demand, ...]
    routing: tuple[Routing, ...]
    """One entry per state, healthy first; under one-plus-one both routes of each demand stand in healthy."""
    bill: tuple[BillItem, ...]
    binding: tuple[Binding, ...]
    assumptions: tuple[str, ...]
    band: Band = field(default_factory=Band)
    """Spectrum of each lit pair."""
    owned: tuple[Owned, ...] = ()
    """Under relight: the transponders by site; else those at both ends of each wavelength."""
    relit: tuple[Relit, ...] = ()
    """Under relight: what is lit in each promised failure; else what survives of `wavelengths`."""
    anchored: tuple[Channel, ...] = ()
    """Under relight, where demands of other schemes ride on them: channels that no promised failure retunes."""
    certificate: Certificate | None = None
    """A bound that can be added up; the solver's may be higher. None where the solver gives no prices."""

    @property
    def ever_lit(self) -> tuple[Wavelengths, ...]:
        """What is lit when healthy, then what only some failure lights; each with the most that any state lights."""
        most: dict[tuple[str, str, str], Wavelengths] = {}
        for wavelengths in (self.wavelengths, *(relit.wavelengths for relit in self.relit)):
            for group in wavelengths:
                kind = (group.lightpath, group.transponder, group.mode)
                if kind not in most or most[kind].count < group.count:
                    most[kind] = group
        return tuple(most.values())

    def lit_in(self, state: str) -> Design:
        """The design with the wavelengths and channels that are lit in a state, of which a failure breaks some."""
        relit = next((one for one in self.relit if one.state == state), None)
        return self if relit is None else replace(self, wavelengths=relit.wavelengths, channels=relit.channels)

    @property
    def cost_usd(self) -> float:
        """Sum of the bill [US$]."""
        return sum(item.total_usd for item in self.bill)

    @property
    def running_usd(self) -> float:
        """Of the cost, lease and energy over the horizon [US$]."""
        return sum(item.total_usd for item in self.bill if item.running)


@dataclass(frozen=True, slots=True)
class CollectiveLink:
    """What a collective sends between two sites in a step, in each direction, and the rate that is sized for it."""

    ends: Pair
    gb: float
    gbps: float
    """Healthy [Gb/s]."""


@dataclass(frozen=True, slots=True)
class CollectiveTried:
    """A collective that was compared: what it asks, and the least that a network for it costs."""

    kind: str
    plan: str
    """The parallelism plan that would be chosen with it."""
    gbps: float | None
    """Between all sites together, healthy [Gb/s]."""
    least_usd: float | None
    """Cost of the relaxation: no network that carries it without retuning costs less [US$]."""
    why_not: str
    """Why it is out of the question; else empty."""


@dataclass(frozen=True, slots=True)
class JobCollective:
    """How the sites of a job sum its gradients."""

    job: str
    kind: str
    """direct, ring, tree, hub or optimal: what sites do that reduce inside first."""
    pattern: str
    """What the chosen plan does: the same; flat ring, one through all ranks; nothing, for a pipeline over sites."""
    sites: tuple[str, ...]
    """Ring: in its order; tree and hub: the root first."""
    links: tuple[CollectiveLink, ...]
    tried: tuple[CollectiveTried, ...] = ()
    """What was compared, where the file leaves the choice to dcplan."""
    trees: Packing = ()
    """Those of `optimal`, with the share of the gradients that each carries."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A demand that cannot be served in a state."""

    demand: str
    state: str
    asked_gbps: float
    short_gbps: float


@dataclass(frozen=True, slots=True)
class Member:
    """Something that a user may change, and that is needed for there to be no plan."""

    kind: str
    """demand, job, state, latency, scheme, routes, pairs, circuit, existing, targets, margins."""
    name: str
    """Of the demand, state, fiber, …"""
    what: str
    """In words."""


@dataclass(frozen=True, slots=True)
class Change:
    """A single change to the file, everything else as it is."""

    what: str
    suffices: bool | None
    """There is a plan then; none where time ran out before that was known."""


@dataclass(frozen=True, slots=True)
class Irreducible:
    """A set that has no plan by itself, whatever else is dropped; and what would suffice."""

    members: tuple[Member, ...]
    complete: bool
    """Shown: without any one of them the others have a plan."""
    changes: tuple[Change, ...]
    tried: int
    """Designs that were tried."""
    couples: tuple[Change, ...] = ()
    """Two changes together, where no single one is known to suffice: those that do, or what is known of them."""
    ending: tuple[str, ...] = ()
    """Sites with `regenerate: false` at which wavelengths may still end when the traffic that needs it is left out."""


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No design: what is short, and which limit binds."""

    limit: str
    """fiber pairs, circuits, or both; spectrum, reach, latency, disjointness (one-plus-one), bridge (a failure parts
    sites), no route (they are parted anyway), existing (what is lit already is in the way); layout: no parallelism
    plan of a job fits."""
    reason: str
    """In words, with numbers: after losing X, sites {a, b} need … to the rest, … can be lit."""
    shortages: tuple[Shortage, ...]
    """The least total shortage."""
    irreducible: Irreducible | None = None
    """Only where it was asked for."""
