"""Links without amplifiers: light goes from transmitter to receiver on its own, and its power is what counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.model import grid
from dcplan.model.spectrum import band_of
from dcplan.optics.allowed import load_of, usable_modes
from dcplan.optics.budget import Budget, BudgetItem
from dcplan.optics.fiber import dispersion_at
from dcplan.optics.loading import nli_per_w2
from dcplan.optics.nonlinear import Comb
from dcplan.optics.penalty import limit_of, penalty_db
from dcplan.optics.tilt import wavelength_loss_db
from dcplan.units import NOISE_BANDWIDTH_GHZ, db, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.catalog.parts import Appliance, Equipment, FiberType, Mode, Table
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Line, SpanRow

ROUNDING_DB = 0.05
"""OSNR of transmitters and sensitivities are quoted in whole decibels; so much of nonlinear noise is not held against a
link [dB]."""


def terminal(network: Network, fiber: FiberId) -> Equipment | None:
    """The gear at each end of a fiber without amplifiers: a multiplexer, or none."""
    return network.catalog.equipment["mux"] if network.fibers[fiber].multiplexed else None


def budgets(
    network: Network, line: Line, *, modes: Sequence[tuple[str, str, Mode]] | None = None, itemise: bool = True
) -> list[Budget]:
    """The budget of every allowed mode, and of every allowed appliance where no multiplexer stands between.

    Margin = received power − least received power − penalties − reserve [dB]. Least received power: the sensitivity
    without amplifiers, if the light has the OSNR at which it is quoted, else by the OSNR that there is (`_need`).
    Reserve: system margin and ageing.
    """
    named = usable_modes(network) if modes is None else modes
    found = [_mode(_Link(network, line, part, name, mode), itemise=itemise) for part, name, mode in named]
    if modes is None and not network.fibers[line.fiber].multiplexed:
        boxes = {name: network.catalog.appliances[name] for name in network.topology.gear.allow.appliances}
        found += [_appliance(network, line, name, part, itemise=itemise) for name, part in boxes.items()]
    return found


def pair_ghz(network: Network) -> float:
    """What a wavelength takes that has a pair to itself: all that channels may take in the band [GHz]."""
    return band_of(network).usable * grid.SLOT_GHZ


@dataclass(frozen=True, slots=True)
class _Link:
    """One mode on one fiber."""

    network: Network
    line: Line
    transponder: str
    name: str
    mode: Mode

    @property
    def row(self) -> SpanRow:
        return self.line.spans[0]

    @property
    def kind(self) -> FiberType:
        named = self.row.type
        return self.network.catalog.fibers[named] if named else self.network.fiber_type(self.line.fiber)

    @property
    def dispersion_ps_nm(self) -> float:
        """The largest of any channel, fiber and terminal gear [ps/nm]."""
        gear = terminal(self.network, self.line.fiber)
        grid_thz = self.comb.frequencies_thz()
        ends = 0.0 if gear is None else 2 * gear.pass_dispersion_ps_nm
        fiber = (dispersion_at(self.kind, float(edge)) * self.row.length_km for edge in (grid_thz[0], grid_thz[-1]))
        return max(abs(one + ends) for one in fiber)

    @property
    def comb(self) -> Comb:
        """The channels of the lowest band, or one alone in its middle."""
        mode, band = self.mode, self.network.topology.gear.bands[0]
        if self.network.fibers[self.line.fiber].multiplexed:
            return load_of(self.network, mode)
        return Comb((band.start_thz + band.end_thz) / 2, mode.width_ghz, mode.baud_gbd, 1)


@dataclass(frozen=True, slots=True)
class _Light:
    """What becomes of the light of the worst channel."""

    launch_dbm: float
    arriving_dbm: float
    rx_dbm: float
    """Attenuated to the receiver's largest where more arrives."""
    nonlinear: float
    """Noise over signal in 0.1 nm."""
    noise: float
    """All noise over signal in 0.1 nm."""
    channel_thz: float
    end_db: float
    """Loss of the terminal gear at one end [dB]."""
    extra_db: float
    """What the channel that loses most loses beyond the middle of the band [dB]."""


def _light(link: _Link) -> _Light:
    """Launch = transmitter − multiplexer; received = launch − span − demultiplexer; noise of transmitter and glass."""
    network, mode, comb = link.network, link.mode, link.comb
    gear = terminal(network, link.line.fiber)
    end_db = 0.0 if gear is None else gear.loss_db
    launch = mode.tx_dbm - end_db
    eta = nli_per_w2(link.kind, network.policy.connector_db, link.line.spans, comb, network.catalog.fibers)
    worst = int(eta.argmax())
    nonlinear = float(eta[worst]) * watts(launch) ** 2 * NOISE_BANDWIDTH_GHZ / mode.baud_gbd
    ends = 0.0 if gear is None else 2 * _noise(gear.add_drop_osnr_db)
    extra = max(float(wavelength_loss_db(link.kind, comb.frequencies_thz(), link.row.length_km).max()), 0.0)
    arriving = launch - link.row.loss_db - extra - end_db
    return _Light(
        launch_dbm=launch,
        arriving_dbm=arriving,
        rx_dbm=arriving if mode.rx_max_dbm is None else min(arriving, mode.rx_max_dbm),
        nonlinear=nonlinear,
        noise=_noise(mode.tx_osnr_db) + ends + nonlinear,
        channel_thz=float(comb.frequencies_thz()[worst]),
        end_db=end_db,
        extra_db=extra,
    )


def _noise(osnr_db: float | None) -> float:
    return 0.0 if osnr_db is None else from_db(-osnr_db)


def _penalties(link: _Link) -> dict[str, float]:
    import numpy as np

    mode, gear = link.mode, terminal(link.network, link.line.fiber)
    pmd2 = link.line.pmd_ps**2 + (0.0 if gear is None else 2 * gear.pass_pmd_ps**2)
    pdl = 0.0 if gear is None else math.sqrt(2) * gear.add_drop_pdl_db

    def paid(table: Table, amount: float) -> float:
        return float(penalty_db(table, np.array([amount]))[0])

    return {
        "dispersion": paid(mode.cd_penalty, link.dispersion_ps_nm),
        "PMD": paid(mode.pmd_penalty, math.sqrt(pmd2)),
        "PDL": paid(mode.pdl_penalty, pdl),
    }


@dataclass(frozen=True, slots=True)
class _Need:
    """The least received power that holds for the light there is."""

    rx_min_dbm: float
    required_osnr_db: float
    why: str


def _need(mode: Mode, gsnr_db: float, reserve_db: float) -> _Need | str:
    """The least received power that holds for the OSNR of the light, or what is lacking.

    The sensitivity without amplifiers where the light has the OSNR at which it is quoted; the ordinary one where GSNR
    covers the required OSNR and the reserve; linear in dB between these two, which is cautious: a receiver with noise
    of its own does better in between.
    """
    bare, required = mode.unamplified, math.inf if mode.required_osnr_db is None else mode.required_osnr_db
    if bare is not None and gsnr_db >= bare.required_osnr_db - ROUNDING_DB:
        return _Need(bare.rx_min_dbm, bare.required_osnr_db, "without amplifiers")
    if mode.rx_min_dbm is None:
        return "OSNR" if bare is not None else "power: no sensitivity known"
    if gsnr_db < required + reserve_db:
        return "OSNR"
    if bare is None or bare.required_osnr_db <= required + reserve_db:
        return _Need(mode.rx_min_dbm, required, "ordinary window")
    share = (gsnr_db - required - reserve_db) / (bare.required_osnr_db - required - reserve_db)
    least = mode.rx_min_dbm + share * (bare.rx_min_dbm - mode.rx_min_dbm)
    return _Need(least, gsnr_db, "between ordinary window and sensitivity without amplifiers")


def _mode(link: _Link, *, itemise: bool) -> Budget:
    network, mode, light, pays = link.network, link.mode, _light(link), _penalties(link)
    policy = network.policy
    reserve = policy.margin_db + policy.ageing_db
    penalties = math.fsum(pays.values())
    gsnr = -db(light.noise) if light.noise else math.inf
    need = _need(mode, gsnr, penalties + reserve)
    margin = -math.inf if isinstance(need, str) else light.rx_dbm - need.rx_min_dbm - penalties - reserve
    direct = not network.fibers[link.line.fiber].multiplexed
    a, b = network.fibers[link.line.fiber].ends
    return Budget(
        transponder=link.transponder,
        mode=link.name,
        rate_gbps=mode.rate_gbps,
        width_ghz=pair_ghz(network) if direct else mode.width_ghz,
        launch_dbm=light.launch_dbm,
        launch_limit="transmitter",
        channels=link.comb.channels,
        channel_thz=light.channel_thz,
        direction=f"{a} -> {b}",
        osnr_ase_db=None,
        osnr_nli_db=-db(light.nonlinear) if light.nonlinear else None,
        gsnr_db=_finite(gsnr),
        required_osnr_db=mode.required_osnr_db if isinstance(need, str) else need.required_osnr_db,
        penalties_db=_finite(penalties),
        margins_db=reserve,
        margin_db=_finite(margin),
        rx_dbm=light.rx_dbm,
        limit=_limit(link, pays, need, margin),
        items=_items(link, light, pays, need, margin) if itemise else (),
    )


def _limit(link: _Link, pays: dict[str, float], need: _Need | str, margin: float) -> str:
    """What stops the mode; where it closes, what would first on a longer fiber: power, or dispersion."""
    for name, paid in pays.items():
        if math.isinf(paid):
            return name
    if isinstance(need, str):
        return need
    dispersion = link.dispersion_ps_nm
    longer = 1 + margin / (link.row.loss_db or 1e-9)
    by_dispersion = limit_of(link.mode.cd_penalty) / dispersion if dispersion else math.inf
    return "dispersion" if margin >= 0 and by_dispersion < longer else "power"


def _items(
    link: _Link, light: _Light, pays: dict[str, float], need: _Need | str, margin: float
) -> tuple[BudgetItem, ...]:
    mode, policy, fiber = link.mode, link.network.policy, link.line.fiber
    a, b = link.network.fibers[fiber].ends
    gear = "multiplexer" if link.network.fibers[fiber].multiplexed else "no multiplexer: a pair for each wavelength"
    pad = light.arriving_dbm - light.rx_dbm
    known = not isinstance(need, str)
    least = need.rx_min_dbm if isinstance(need, _Need) else None
    return (
        BudgetItem("level", "transmitter", mode.tx_dbm),
        BudgetItem("loss", f"add at {a}", light.end_db, gear),
        BudgetItem("level", f"launch into {fiber}", light.launch_dbm, "transmitter"),
        BudgetItem("loss", f"span of {fiber}", link.row.loss_db, "fiber, connectors and repair allowance"),
        *([BudgetItem("loss", "wavelength-dependent loss", light.extra_db)] if light.extra_db > 0 else []),
        BudgetItem("loss", f"drop at {b}", light.end_db, gear),
        BudgetItem("level", "received", light.rx_dbm, f"attenuated by {pad:.1f} dB" if pad > 0 else ""),
        BudgetItem("noise", "transmitter", mode.tx_osnr_db),
        BudgetItem("noise", f"nonlinearity of {fiber}", -db(light.nonlinear) if light.nonlinear else None),
        BudgetItem("sum", "GSNR", -db(light.noise) if light.noise else None, "noise above, 0.1 nm"),
        BudgetItem("level", "least received", least, _least(need)),
        BudgetItem("sum", "power over the least", light.rx_dbm - least if least is not None else None),
        BudgetItem("penalty", "chromatic dispersion", _finite(pays["dispersion"]), _amount(link)),
        BudgetItem("penalty", "PMD", _finite(pays["PMD"])),
        BudgetItem("penalty", "PDL", _finite(pays["PDL"])),
        BudgetItem("margin", "system margin", policy.margin_db),
        BudgetItem("margin", "ageing", policy.ageing_db),
        BudgetItem("sum", "margin", _finite(margin), "of received power" if known else ""),
    )


def _least(need: _Need | str) -> str:
    if isinstance(need, str):
        return f"none that holds: {need}"
    return f"{need.why}, at an OSNR of {need.required_osnr_db:.4g} dB"


def _amount(link: _Link) -> str:
    return f"{link.dispersion_ps_nm:.4g} ps/nm"


def _appliance(network: Network, line: Line, name: str, part: Appliance, *, itemise: bool) -> Budget:
    """A port of an appliance: its maker states a reach and no levels, so the margin is the loss of the length left.

    Closes where length ≤ reach. No reserve is taken: the reach has the maker's own.
    """
    named = line.spans[0].type
    kind = network.catalog.fibers[named] if named else network.fiber_type(line.fiber)
    margin = (part.reach_km - line.length_km) * kind.attenuation_db_per_km
    a, b = network.fibers[line.fiber].ends
    left = f"{part.reach_km - line.length_km:,.1f} km left of {part.reach_km:g} km"
    why = f"{left}, at {kind.attenuation_db_per_km:g} dB/km"
    return Budget(
        transponder=name,
        mode="long-haul port",
        rate_gbps=part.rate_gbps,
        width_ghz=pair_ghz(network),
        launch_dbm=None,
        launch_limit="appliance",
        channels=1,
        channel_thz=None,
        direction=f"{a} -> {b}",
        osnr_ase_db=None,
        osnr_nli_db=None,
        gsnr_db=None,
        required_osnr_db=None,
        penalties_db=0.0,
        margins_db=0.0,
        margin_db=margin,
        rx_dbm=None,
        limit="reach",
        items=(BudgetItem("sum", "margin", margin, why),) if itemise else (),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
