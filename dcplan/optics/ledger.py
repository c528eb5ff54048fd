"""Writes a link budget line by line, so that a reader can add it up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.budget import Budget, BudgetItem
from dcplan.optics.penalty import limit_of, penalty_db
from dcplan.units import db, from_db

if TYPE_CHECKING:
    from dcplan.catalog.parts import Equipment, Mode
    from dcplan.model.network import SiteId
    from dcplan.model.schema import Policy


@dataclass(frozen=True, slots=True)
class Hop:
    """One line of a route under one mode: noise over signal in 0.1 nm at the worst channel."""

    fiber: str
    start: SiteId
    launch_dbm: float
    limit: str
    booster: float
    spans: float
    nonlinear: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A route in one direction under one mode: all that its budget is written from."""

    transponder: str
    mode: str
    part: Mode
    channels: int
    channel_thz: float
    hops: tuple[Hop, ...]
    nodes: tuple[tuple[SiteId, Equipment], ...]
    """Sites in the order of travel with their terminal gear."""
    noise: float
    """All noise over signal in 0.1 nm."""
    dispersion_ps_nm: float
    pmd_ps: float
    pdl_db: float
    arriving_dbm: float
    """Power per channel behind the drop [dBm]."""

    @property
    def rx_dbm(self) -> float:
        """Received power per channel [dBm]: what arrives, attenuated to the receiver's largest where it is more."""
        most = self.part.rx_max_dbm
        return self.arriving_dbm if most is None else min(self.arriving_dbm, most)


@dataclass(frozen=True, slots=True)
class Penalties:
    """Penalties of one mode on one route [dB]; infinite where the impairment cannot be borne."""

    dispersion: float
    pmd: float
    pdl: float
    power: float

    @property
    def total(self) -> float:
        """Their sum [dB]."""
        return self.dispersion + self.pmd + self.pdl + self.power


def penalties(passage: Passage) -> Penalties:
    """CD, PMD and PDL from the mode's tables; received power below the mode's least is infinite."""
    mode = passage.part
    starving = mode.rx_min_dbm is not None and passage.rx_dbm < mode.rx_min_dbm - 1e-9
    return Penalties(
        penalty_db(mode.cd_penalty, passage.dispersion_ps_nm),
        penalty_db(mode.pmd_penalty, passage.pmd_ps),
        penalty_db(mode.pdl_penalty, passage.pdl_db),
        math.inf if starving else 0.0,
    )


def margin_db(passage: Passage, policy: Policy) -> float:
    """GSNR − required OSNR − penalties − system margin − ageing [dB]; −inf where an impairment cannot be borne."""
    required = passage.part.required_osnr_db or 0.0
    return db(1 / passage.noise) - required - penalties(passage).total - policy.margin_db - policy.ageing_db


def write(passage: Passage, policy: Policy) -> Budget:
    """The budget of a passage. The mode must have a required OSNR."""
    mode, pays = passage.part, penalties(passage)
    first = passage.hops[0]
    margin = margin_db(passage, policy)
    nonlinear = sum(hop.nonlinear for hop in passage.hops)
    return Budget(
        transponder=passage.transponder,
        mode=passage.mode,
        rate_gbps=mode.rate_gbps,
        width_ghz=mode.width_ghz,
        launch_dbm=first.launch_dbm,
        launch_limit=first.limit,
        channels=passage.channels,
        channel_thz=passage.channel_thz,
        direction=f"{passage.nodes[0][0]} -> {passage.nodes[-1][0]}",
        osnr_ase_db=-db(sum(hop.booster + hop.spans for hop in passage.hops)),
        osnr_nli_db=_finite(-db(nonlinear)),
        gsnr_db=-db(passage.noise),
        required_osnr_db=mode.required_osnr_db or 0.0,
        penalties_db=_finite(pays.total),
        margins_db=policy.margin_db + policy.ageing_db,
        margin_db=_finite(margin),
        rx_dbm=passage.rx_dbm,
        limit=_limit(passage, pays, margin),
        items=_items(passage, pays, policy, margin),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _items(passage: Passage, pays: Penalties, policy: Policy, margin: float) -> tuple[BudgetItem, ...]:
    mode = passage.part
    (start, entry), (end, exit_) = passage.nodes[0], passage.nodes[-1]
    items = [
        BudgetItem("level", "transmitter", mode.tx_dbm, f"before the add loss of {entry.loss_db:g} dB"),
        BudgetItem("noise", "transmitter", mode.tx_osnr_db),
        BudgetItem("noise", f"add at {start}", entry.add_drop_osnr_db),
    ]
    for number, (hop, (site, node)) in enumerate(zip(passage.hops, passage.nodes, strict=False)):
        if number > 0:
            items.append(
                BudgetItem("noise", f"pass {site}", node.express_osnr_db, f"loss {node.express_loss_db or 0:g} dB")
            )
        items += [
            BudgetItem("level", f"launch into {hop.fiber}", hop.launch_dbm, hop.limit),
            BudgetItem("noise", f"booster at {site}", -db(hop.booster)),
            BudgetItem("noise", f"amplifiers of {hop.fiber}", -db(hop.spans)),
            BudgetItem("noise", f"nonlinearity of {hop.fiber}", _finite(-db(hop.nonlinear))),
        ]
    return (
        *items,
        BudgetItem("noise", f"drop at {end}", exit_.add_drop_osnr_db),
        BudgetItem("sum", "GSNR", -db(passage.noise), "noise above, 0.1 nm"),
        BudgetItem("level", "received", passage.rx_dbm, _received(passage)),
        BudgetItem("required", "required OSNR", mode.required_osnr_db),
        BudgetItem("penalty", "chromatic dispersion", _finite(pays.dispersion), _cd(passage)),
        BudgetItem("penalty", "PMD", _finite(pays.pmd), _of(passage.pmd_ps, limit_of(mode.pmd_penalty), "ps")),
        BudgetItem("penalty", "PDL", _finite(pays.pdl), _of(passage.pdl_db, limit_of(mode.pdl_penalty), "dB")),
        BudgetItem("penalty", "received power", _finite(pays.power)),
        BudgetItem("margin", "system margin", policy.margin_db),
        BudgetItem("margin", "ageing", policy.ageing_db),
        BudgetItem("sum", "margin", _finite(margin)),
    )


def _cd(passage: Passage) -> str:
    return _of(passage.dispersion_ps_nm, limit_of(passage.part.cd_penalty), "ps/nm")


def _of(amount: float, limit: float, unit: str) -> str:
    most = f"at most {limit:g} {unit}" if math.isfinite(limit) else "no limit known"
    return f"{amount:.4g} {unit}, {most}"


def _received(passage: Passage) -> str:
    mode = passage.part
    low = "none" if mode.rx_min_dbm is None else f"{mode.rx_min_dbm:g}"
    high = "none" if mode.rx_max_dbm is None else f"{mode.rx_max_dbm:g}"
    pad = passage.arriving_dbm - passage.rx_dbm
    return f"window {low} to {high} dBm" + (f", attenuated by {pad:.1f} dB" if pad > 0 else "")


def _limit(passage: Passage, pays: Penalties, margin: float) -> str:
    """What stops the mode; where it closes, what would stop it first were the route longer and otherwise alike.

    Length at which each limit is met, over the length of the route: dispersion L/D, PMD and PDL squared (they add
    in quadrature), noise of the lines up to what the margin leaves.
    """
    for name, pay in (("power", pays.power), ("dispersion", pays.dispersion), ("PMD", pays.pmd), ("PDL", pays.pdl)):
        if math.isinf(pay):
            return name
    if margin < 0:
        return "OSNR"
    mode = passage.part
    lines = sum(hop.booster + hop.spans + hop.nonlinear for hop in passage.hops)
    reach = {
        "OSNR": 1 + passage.noise * (from_db(margin) - 1) / lines,
        "dispersion": _ratio(limit_of(mode.cd_penalty), passage.dispersion_ps_nm),
        "PMD": _ratio(limit_of(mode.pmd_penalty), passage.pmd_ps) ** 2,
        "PDL": _ratio(limit_of(mode.pdl_penalty), passage.pdl_db) ** 2,
    }
    return min(reach, key=lambda name: reach[name])


def _ratio(limit: float, amount: float) -> float:
    return limit / amount if amount > 0 else math.inf
