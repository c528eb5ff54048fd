"""What the optics engine answers: lines with their span tables, lightpaths with their link budgets."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.model.network import FiberId, Route


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span of a designed line, in the direction from its first end to its second, with the amplifier behind it."""

    number: int
    length_km: float
    fiber_loss_db: float
    """Loss of the fiber and its splices [dB]."""
    loss_db: float
    """Fiber, two connectors and the repair allowance [dB]."""
    measured: bool
    """The loss was given, not computed from the length."""
    amplifier: str
    """Catalog id of the amplifier behind the span; empty: none."""
    padding_db: float
    """Attenuation added to reach the amplifier's least gain [dB]."""
    gain_db: float
    noise_figure_db: float
    """At that gain [dB]."""
    why: str
    """Why this amplifier."""
    type: str = ""
    """Catalog id of the fiber type of the span; empty: that of the fiber."""


@dataclass(frozen=True, slots=True)
class Line:
    """A fiber made ready for light: booster, spans, amplifiers in huts, preamplifier. The same for each lit pair."""

    fiber: FiberId
    length_km: float
    latency_ms: float
    """One way: fiber and amplifiers [ms]."""
    booster: str
    """Catalog id of the boosters at both ends; empty: a line without amplifiers."""
    spans: tuple[SpanRow, ...]
    dispersion_ps_nm: float
    pmd_ps: float
    back: tuple[SpanRow, ...] = ()
    """The spans in the other direction, numbered from the second end; empty: the mirror image of `spans`."""
    band: str = ""
    """The band that its amplifiers serve, where it has a name."""
    further: tuple[Line, ...] = ()
    """The same glass in further bands, each with amplifiers of its own; empty in these."""

    @property
    def in_bands(self) -> tuple[Line, ...]:
        """The line in each band, from low to high frequency."""
        return (self, *self.further)

    @property
    def huts(self) -> int:
        """Amplifier huts: one less than spans."""
        return len(self.spans) - 1

    @property
    def amplifiers(self) -> tuple[str, ...]:
        """Catalog ids of every amplifier of one lit pair: boosters at both ends, one behind each span each way."""
        names: list[str] = []
        for line in self.in_bands if self.booster else ():
            rows = (*line.spans, *(line.back or line.spans))
            names += [line.booster, *(row.amplifier for row in rows), line.booster]
        return tuple(names)


@dataclass(frozen=True, slots=True)
class BudgetItem:
    """One line of a link budget; `kind` says how it enters.

    level: power per channel [dBm]. loss: what a level falls by [dB]. noise: OSNR of one contribution; 1/GSNR =
    Σ 1/OSNR, linear. sum: what the lines above it give: GSNR, then the margin = GSNR − required − Σ penalty −
    Σ margin. required, penalty, margin: [dB].
    """

    kind: str
    name: str
    value_db: float | None
    """[dB], or [dBm] for levels; none: infinite (does not count, or cannot be borne)."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class OtherWay:
    """The figures of a link budget in the direction that has more margin: its own worst channel. OSNR in 0.1 nm."""

    direction: str
    """As `b -> a`."""
    channel_thz: float
    """Frequency of the worst channel [THz]."""
    gsnr_db: float
    penalties_db: float | None
    """None for infinite."""
    margin_db: float | None
    """None for −infinity."""
    launch_dbm: float
    """Power per channel into the first span [dBm]."""
    rx_dbm: float
    """Received power per channel [dBm]."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The link budget of one mode on one lightpath: its worst channel in its worse direction. OSNR in 0.1 nm."""

    transponder: str
    mode: str
    rate_gbps: float
    width_ghz: float
    launch_dbm: float | None
    """Power per channel into the first span [dBm]; none: an appliance, whose maker states a reach and no levels."""
    launch_limit: str
    """What set the launch: optimum, amplifier output, booster gain."""
    channels: int
    """Channels of this mode that fill the band; the budget is for full load."""
    channel_thz: float | None
    """Frequency of the worst channel [THz]; none: an appliance."""
    direction: str
    """The worse direction, as `a -> b`."""
    osnr_ase_db: float | None
    """From amplifier noise alone, 0.1 nm [dB]; none for infinite: no amplifiers."""
    osnr_nli_db: float | None
    """From nonlinear noise alone, 0.1 nm [dB]; none for infinite."""
    gsnr_db: float | None
    """All noise, transmitter and add/drop included, 0.1 nm [dB]; none: infinite, or an appliance."""
    required_osnr_db: float | None
    """Of the mode, without amplifiers that of its sensitivity, 0.1 nm [dB]; none: an appliance."""
    penalties_db: float | None
    """CD + PMD + PDL + power [dB]; none for infinite."""
    margins_db: float
    """System margin + ageing + allowance for ripple and equalisation [dB]."""
    margin_db: float | None
    """gsnr − required − penalties − margins [dB]; the mode closes if it is not negative; none for −infinity.

    Without amplifiers, received power − the least − penalties − margins; of an appliance, the loss of the fiber that
    its reach leaves.
    """
    rx_dbm: float | None
    """Received power per channel [dBm]; none: an appliance."""
    limit: str
    """What stops the mode where it does not close, or would stop it first: OSNR, dispersion, PMD, PDL, power."""
    items: tuple[BudgetItem, ...]
    """The whole budget, line by line, for a reader who adds it up."""
    other: OtherWay | None = None
    """The other direction, which has no less margin."""

    @property
    def closes(self) -> bool:
        """The mode works with all margins."""
        return self.margin_db is not None and self.margin_db >= 0


@dataclass(frozen=True, slots=True)
class Lightpath:
    """An optical route end to end with the budget of every allowed mode, those that close first, fastest first."""

    id: str
    """`L1`, `L2`, …: short and stable within a plan."""
    route: Route
    length_km: float
    latency_ms: float
    """One way: fiber, amplifiers and nodes; the transponder pair is counted by its mode [ms]."""
    budgets: tuple[Budget, ...]

    @property
    def closing(self) -> tuple[Budget, ...]:
        """The modes that may be lit."""
        return tuple(budget for budget in self.budgets if budget.closes)
