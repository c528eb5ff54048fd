"""The topology file as types. The docstring below each field is what the JSON Schema and an editor's hover show."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.bands import BANDS, NamedBand
from dcplan.catalog.parts import (
    Accelerator,
    Amplifier,
    Appliance,
    Count,
    Equipment,
    FiberType,
    ModelShape,
    NotNegative,
    Positive,
    Strict,
    Transponder,
)
from dcplan.model.existing import Existing
from dcplan.model.fabric import Inside
from dcplan.model.fields import Name, Percent, Promise, Rate
from dcplan.model.job import Job
from dcplan.model.period import Period, Share
from dcplan.model.reliability import Failing

Frequency = Annotated[float, Field(ge=180, le=240)]
Length = Annotated[float, Field(gt=0, le=50_000)]
GridWidth = Annotated[float, Field(gt=0, le=1000, multiple_of=12.5)]
Launch = Annotated[float, Field(ge=-30, le=30, allow_inf_nan=False)]


class Site(Failing, Inside):
    """A place on the map."""

    kind: Literal["datacenter", "pop"] | None = None
    """datacenter or pop; without it, a site with accelerators is a datacenter and one without is a pop."""
    lat: Annotated[float, Field(ge=-90, le=90)]
    """Latitude [degrees north]."""
    lon: Annotated[float, Field(ge=-180, le=180)]
    """Longitude [degrees east]."""
    power_mw: Positive | None = None
    """Power of the facility [MW]."""
    pue: Annotated[float, Field(ge=1, le=3)] = 1.25
    """Power usage effectiveness: facility power over IT power."""
    accelerators: dict[Name, Annotated[int, Field(ge=0)]] = {}
    """Accelerators by catalog id."""
    express: bool = True
    """Wavelengths may pass through without electronics (there is a ROADM)."""
    regenerate: bool = True
    """Wavelengths may end here only to start again; where false, none ends here unless a job or demand of the site
    asks for it, and all other traffic can only pass as light."""

    @property
    def is_datacenter(self) -> bool:
        """Has, or may have, accelerators."""
        return self.kind == "datacenter" or (self.kind is None and bool(self.accelerators))


class SpanOfFiber(Strict):
    """Fiber between two amplifiers."""

    length_km: Length
    """Length of the span [km]."""
    loss_db: Positive | None = None
    """Measured loss between the connectors [dB]; without it, length times the attenuation of the fiber type."""
    type: Name | None = None
    """Catalog id of the fiber type of this span; without it, that of the fiber."""
    amplifier: Name | None = None
    """Catalog id of the amplifier that stands behind this span, each way, and is kept; without it, one is chosen."""


class Fiber(Failing):
    """A cable route between two sites. Two fibers between the same sites are two risks."""

    ends: Annotated[list[Name], Field(min_length=2, max_length=2)]
    """The two sites it joins."""
    type: Name
    """Catalog id of the fiber type."""
    length_km: Length | None = None
    """Length of the cable [km]; spans are then designed. Give this or `spans`."""
    spans: Annotated[list[SpanOfFiber], Field(min_length=1)] | None = None
    """The spans as built, from the first end to the second. Give this or `length_km`."""
    huts_km: Annotated[list[Positive], Field(min_length=1)] | None = None
    """Where huts stand, from the first end [km]; designed spans end only there, at the fewest that do."""
    amplified: bool = True
    """False: one span without amplifiers, for modes with `unamplified` figures and for appliances."""
    multiplexed: bool = True
    """False: no multiplexer at either end, so that a wavelength has a fiber pair to itself; asks `amplified: false`."""
    booster: Name | None = None
    """Catalog id of the boosters that stand at both ends and are kept; without it, one is chosen."""
    preamp: Name | None = None
    """Catalog id of the preamplifiers that stand at both ends and are kept; without it, as `spans` say or chosen."""
    pairs: Count
    """Fiber pairs that can be lit."""
    launch_dbm: Launch | None = None
    """Launch power of a 75 GHz channel into every span [dBm], in place of the policy's; wider channels get more."""
    shared_risk: list[Name] = []
    """Shared-risk groups: fibers that name the same group fail together."""
    lease_usd_per_km_year: NotNegative | None = None
    """Lease of one pair [US$/(km year)]."""
    build_usd_per_km: NotNegative | None = None
    """Price of building the route, paid once if any of its pairs is lit [US$/km]."""

    @model_validator(mode="after")
    def _length_or_spans(self) -> Self:
        if (self.length_km is None) == (self.spans is None):
            raise ValueError("give either length_km or spans")
        if self.huts_km is not None and self.length_km is None:
            raise ValueError("huts_km goes with length_km; spans say where the huts are")
        return self

    @model_validator(mode="after")
    def _amplifiers_where_amplified(self) -> Self:
        given = [span for span in self.spans or () if span.amplifier]
        if self.amplified:
            if not self.multiplexed:
                raise ValueError("multiplexed: false asks for amplified: false")
            if self.preamp and given and len(self.spans or ()) == 1:
                raise ValueError("behind the only span stands the preamplifier: give preamp or the span's amplifier")
        elif self.huts_km or self.booster or self.preamp or given:
            raise ValueError("a fiber with amplified: false has no huts and no amplifiers")
        elif self.spans is not None and len(self.spans) > 1:
            raise ValueError("a fiber with amplified: false is one span")
        return self

    @property
    def total_km(self) -> float:
        """Length of the cable [km]."""
        return self.length_km if self.length_km is not None else sum(span.length_km for span in self.spans or ())


class Module(Strict):
    """A size in which capacity of a circuit is leased."""

    gbps: Rate
    """Capacity of one module in each direction [Gb/s]."""
    usd: NotNegative
    """Price of one module over the horizon [US$]."""
    most: Count | None = None
    """Largest number of such modules; without it, as many as are asked for."""


class Circuit(Failing):
    """Capacity leased from a carrier between two sites, in whole modules. It fails as a fiber does; no optics."""

    ends: Annotated[list[Name], Field(min_length=2, max_length=2)]
    """The two sites it joins."""
    modules: dict[Name, Module] = {}
    """Modules that can be leased, by name."""
    pick: Literal["any", "one"] = "any"
    """any: modules of all sizes, any number of each; one: at most one module of the list."""
    existing_gbps: NotNegative = 0.0
    """Capacity that is there already and costs nothing [Gb/s]."""
    usd_per_gbps: NotNegative = 0.0
    """Price of traffic that the circuit carries in the healthy state, over the horizon [US$ per Gb/s each way]."""
    build_usd: NotNegative = 0.0
    """Set-up price, paid once if any module is leased [US$]."""
    length_km: Length | None = None
    """Length [km], for the latency, 4.9 µs/km. Give this or `latency_ms`."""
    latency_ms: NotNegative | None = None
    """One-way latency [ms]. Give this or `length_km`."""
    shared_risk: list[Name] = []
    """Shared-risk groups: fibers and circuits that name the same group fail together."""

    @model_validator(mode="after")
    def _length_or_latency(self) -> Self:
        if (self.length_km is None) == (self.latency_ms is None):
            raise ValueError("give either length_km or latency_ms")
        if not self.modules and not self.existing_gbps:
            raise ValueError("give modules or existing_gbps: there is no capacity to have")
        if "existing" in self.modules:
            raise ValueError("no module may be called existing: that is what is there already")
        return self


class Allow(Strict):
    """Which catalog parts a plan may use; a kind that is not named may use all whose figures are published."""

    transponders: Annotated[list[Name], Field(min_length=1)] | None = None
    """Catalog ids of transponders."""
    amplifiers: Annotated[list[Name], Field(min_length=1)] | None = None
    """Catalog ids of amplifiers."""
    appliances: list[Name] = []
    """Catalog ids of appliances; without it, none: they go where somebody wants one."""


class Gear(Strict):
    """What may be used, and a user's own parts beside the catalog."""

    allow: Allow = Allow()
    """Allowed parts."""
    fibers: dict[Name, FiberType] = {}
    """Own fiber types."""
    amplifiers: dict[Name, Amplifier] = {}
    """Own amplifiers."""
    transponders: dict[Name, Transponder] = {}
    """Own transponders."""
    appliances: dict[Name, Appliance] = {}
    """Own appliances."""
    equipment: dict[Name, Equipment] = {}
    """Own terminal gear, in place of the shipped `mux`, `roadm`."""
    accelerators: dict[Name, Accelerator] = {}
    """Own accelerators."""
    models: dict[Name, ModelShape] = {}
    """Own model shapes."""
    prices_usd: dict[Name, NotNegative] = {}
    """Own prices of catalog parts by id [US$]."""
    band: Literal["c", "super-c", "l", "c+l"] | None = None
    """The amplified band by name, in place of its edges; c+l: both, each with its own amplifiers on every lit pair."""
    band_start_thz: Frequency = 191.325
    """Lower edge of the amplified band [THz]."""
    band_end_thz: Frequency = 196.125
    """Upper edge of the amplified band [THz]; the default is the C band, 4.8 THz."""
    grid_ghz: Annotated[list[GridWidth], Field(min_length=1)] | None = None
    """Widths of a fixed grid [GHz], a mixed one with several; a mode takes the narrowest that holds it.
    Without it the grid is flexible: a mode takes its own width."""

    @model_validator(mode="after")
    def _band(self) -> Self:
        if self.band is not None and self.model_fields_set & {"band_start_thz", "band_end_thz"}:
            raise ValueError("give either band or its edges")
        if self.band_end_thz <= self.band_start_thz:
            raise ValueError("band_end_thz must lie above band_start_thz")
        return self

    @property
    def bands(self) -> tuple[NamedBand, ...]:
        """The amplified bands, from low to high frequency."""
        if self.band is None:
            return (NamedBand("band", self.band_start_thz, self.band_end_thz),)
        return tuple(band for name, band in BANDS.items() if name in self.band.split("+"))


class Demand(Strict):
    """A fixed service between two sites, the same in both directions."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)]
    """The two sites."""
    gbps: Rate
    """Rate in each direction [Gb/s]."""
    max_latency_ms: Positive | None = None
    """Largest one-way latency of any route it takes [ms]."""
    under_failure_percent: Percent = 100.0
    """Share of the rate that is promised in a failure [%]."""
    survive: list[Promise] | None = None
    """Failures that this demand survives, in place of the policy's."""
    scheme: Literal["none", "reroute", "one-plus-one", "relight"] | None = None
    """How this demand survives them, in place of the policy's. Where some are under relight, those under `reroute` and
    `one-plus-one` ride on wavelengths only that no failure retunes."""
    max_paths: Count | None = None
    """Most routes at a time, healthy and in each failure; 1: a single path. Under one-plus-one so many for each of the
    two ways. Without it any number. A route is a chain of lightpaths that passes no site twice, not even as light."""


class Failure(Failing):
    """Things that fail together, to be promised by name in `survive`."""

    fibers: list[Name] = []
    """Fibers and circuits that are lost."""
    sites: list[Name] = []
    """Sites that are lost, with every fiber and circuit that ends in them."""
    shared_risk: list[Name] = []
    """Shared-risk groups all of whose fibers and circuits are lost."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.fibers or self.sites or self.shared_risk):
            raise ValueError("give fibers, sites or shared_risk: a failure takes something")
        return self


class SolverLimits(Strict):
    """When the solver may stop before the proof."""

    time_limit_s: Positive | None = None
    """Longest time for the design problem [s]; without it 60, or none where `max_nodes` is given."""
    max_nodes: Annotated[int, Field(ge=1)] | None = None
    """Branch-and-bound nodes of all integer programs together, each of which counts as one at least: a limit that
    gives the same plan on every machine."""
    gap: Annotated[float, Field(ge=0, le=1)] = 1e-4
    """Relative gap at which a design counts as optimal."""


class Policy(Strict):
    """What is promised, and what is assumed."""

    survive: list[Promise] = ["any-fiber"]
    """Failures that every job and demand survives that has no list of its own; an empty list promises nothing. Any one
    fiber (or circuit), shared-risk group or site; any two of them, or one alone; or what `failures` names."""
    scheme: Literal["none", "reroute", "one-plus-one", "relight"] = "reroute"
    """none: healthy network only; reroute: routed anew in each failure; one-plus-one: pairs of disjoint routes;
    relight: transponders that survive are tuned to other fibers, then traffic is routed anew. Wavelengths that carry
    anything for a job or demand whose own scheme is another are not retuned."""
    parted: Literal["refuse", "excuse"] = "refuse"
    """What is promised where a failure leaves no fiber route between two sites. refuse: the same as elsewhere, so that
    there is no plan; excuse: nothing, as where one of the sites is lost itself."""
    margin_db: NotNegative = 2.0
    """System margin on top of the required OSNR [dB] (GNPy's sys_margins)."""
    ageing_db: NotNegative = 0.5
    """Transponder ageing [dB]."""
    repair_db_per_span: NotNegative = 0.5
    """Allowance for repair splices over the life of a span [dB]."""
    connector_db: NotNegative = 0.25
    """Loss of the connector at each end of a span [dB]."""
    launch_dbm: Launch | None = None
    """Launch power of a 75 GHz channel into every span [dBm], other widths at the same power density; without it the
    optimum of each line. What amplifiers cannot give is clipped."""
    load_percent: Annotated[float, Field(gt=0, le=100)] = 100.0
    """Share of the band that is loaded when light is judged [%]; below 100, what is lit later is not foreseen."""
    equalise: Literal["span", "site"] = "span"
    """Where channels are brought back to equal power: span, behind each span by the gain of its amplifier; site, only
    where wavelengths are added or pass, so that tilt adds up along a line."""
    raman_tilt: Literal["wide", "always"] = "wide"
    """Raman scattering between channels is counted: wide, in bands wider than C, where it matters; always."""
    max_span_km: Annotated[float, Field(ge=1, le=1000)] = 100.0
    """Longest span when spans are designed [km]."""
    max_span_loss_db: Annotated[float, Field(ge=3, le=100)] = 27.0
    """Largest loss of a designed span, connectors and repairs included [dB] (OpenROADM)."""
    min_span_loss_db: NotNegative = 0.0
    """Loss to which a shorter span is padded, whatever its amplifier's least gain [dB] (GNPy: padding, 10)."""
    span_split: Literal["equal", "gnpy"] = "equal"
    """How a fiber without huts is split: the fewest equal spans within the limits, or by GNPy's rule (near 90 km,
    only from 150 km on), which knows no limit of loss."""
    ripple_db_per_span: NotNegative = 0.0
    """Allowance for gain ripple and tilt that is left behind each amplified span [dB]."""
    equalisation_db_per_line: NotNegative = 0.0
    """Allowance for unequal channels behind each amplified line [dB]."""
    years: Positive = 5.0
    """Horizon over which lease and energy are paid [years]."""
    energy_usd_per_mwh: NotNegative = 80.0
    """Price of energy [US$/MWh]."""
    demand_percent: Share = 100.0
    """What all demands ask, and jobs (as so many of each), of what the file says [%]."""
    price_percent: NotNegative = 100.0
    """Price of what is bought, of that in the catalog or the file [%]; lease and energy stay as they are."""
    periods: list[Period] = []
    """Periods of growth, first to last: each keeps what the earlier ones lit, and adds what it lacks."""
    routes: Annotated[int, Field(ge=1, le=20)] | None = None
    """Only so many shortest fiber routes per pair of sites may carry lightpaths, so that one fiber more may displace
    one of them; without it every route that closes."""
    max_hops: Annotated[int, Field(ge=1, le=12)] = 6
    """Most fibers in one lightpath."""
    guard_ghz: Annotated[float, Field(ge=0, le=1000, multiple_of=12.5)] = 0.0
    """Spectrum kept free at both band edges and between channels of different width, a multiple of 12.5 [GHz]."""
    solver: SolverLimits = SolverLimits()
    """When the solver may stop before the proof."""


class Topology(Strict):
    """A topology file: sites, fibers, gear, training jobs and what the network must survive."""

    dcplan: Literal[1]
    """Version of the file format."""
    name: Name
    """What the plan is called."""
    description: str = ""
    """What it is about: printed below the title of a report."""
    sites: Annotated[dict[Name, Site], Field(min_length=1)]
    """Sites by name."""
    fibers: dict[Name, Fiber] = {}
    """Fibers by name."""
    circuits: dict[Name, Circuit] = {}
    """Circuits by name, distinct from those of fibers."""
    gear: Gear = Gear()
    """Allowed parts and own parts."""
    jobs: dict[Name, Job] = {}
    """Training jobs by name."""
    demands: dict[Name, Demand] = {}
    """Fixed demands by name."""
    failures: dict[Name, Failure] = {}
    """Failures with a name of their own, to be promised in `survive`."""
    existing: Existing | None = None
    """What is lit already: paid for, kept, and free but for its running costs."""
    policy: Policy = Policy()
    """What is promised, and what is assumed."""
