"""Writes link budgets line by line, so that a reader can add them up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.optics.budget import Budget, BudgetItem, OtherWay
from dcplan.optics.judged import LIMITS, limits
from dcplan.optics.penalty import limit_of
from dcplan.units import db

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Equipment
    from dcplan.model.network import SiteId
    from dcplan.model.schema import Policy
    from dcplan.optics.judged import Judged

    Array = NDArray[float64]


class Ledger:
    """The budgets of some routes of a block in one direction under one mode; arrays become lists once.

    A row is a place among `rows`, the routes of the block that are asked for.
    """

    def __init__(
        self, judged: Judged, gear: Mapping[SiteId, Equipment], roadm: Equipment, policy: Policy, rows: NDArray[int64]
    ) -> None:
        named, journey, noise, verdict = judged.named, judged.journey, judged.noise, judged.verdict
        self.named, self.journey, self.loads, self.gear, self.policy = named, journey, judged.loads, gear, policy
        self.pass_osnr_db = roadm.express_osnr_db
        self.at: list[int] = rows.tolist()
        self.hops: list[list[int]] = journey.hops[rows].tolist()
        self.worst: list[float] = noise.worst_thz[rows].tolist()
        self.booster: list[list[float]] = noise.booster[rows].tolist()
        self.spans: list[list[float]] = noise.spans[rows].tolist()
        self.nonlinear: list[list[float]] = noise.nonlinear[rows].tolist()
        self.launch: list[list[float]] = noise.launch_dbm[rows].tolist()
        self.starved: list[list[bool]] = noise.starved[rows].tolist()
        self.arriving: list[float] = noise.arriving_dbm[rows].tolist()
        self.received: list[float] = verdict.rx_dbm[rows].tolist()
        self.pays: dict[str, list[float]] = {
            "power": verdict.power[rows].tolist(),
            "dispersion": verdict.dispersion[rows].tolist(),
            "PMD": verdict.pmd[rows].tolist(),
            "PDL": verdict.pdl[rows].tolist(),
        }
        self.gsnr: list[float] = _decibels(noise.total[rows])
        self.ase: list[float] = _decibels((noise.booster.sum(axis=1) + noise.spans.sum(axis=1))[rows])
        self.nli: list[float] = _decibels(noise.nonlinear.sum(axis=1)[rows])
        self.limit: list[int] = limits(judged)[rows].tolist()
        self.penalties: list[float] = verdict.penalties[rows].tolist()
        self.margin: list[float] = verdict.margin[rows].tolist()
        mode = named.mode
        self.amounts: dict[str, list[float]] = {
            "dispersion": journey.dispersion_ps_nm[rows].tolist(),
            "PMD": journey.pmd_ps[rows].tolist(),
            "PDL": journey.pdl_db[rows].tolist(),
        }
        most = {
            "dispersion": limit_of(mode.cd_penalty),
            "PMD": limit_of(mode.pmd_penalty),
            "PDL": limit_of(mode.pdl_penalty),
        }
        self.most = {
            name: f" {unit}, at most {most[name]:g}" if math.isfinite(most[name]) else f" {unit}, no limit known"
            for name, unit in (("dispersion", "ps/nm"), ("PMD", "ps"), ("PDL", "dB"))
        }
        low, high = ("none" if level is None else f"{level:g}" for level in (mode.rx_min_dbm, mode.rx_max_dbm))
        self.window = f"window {low} to {high} dBm"
        self.head = (
            BudgetItem("level", "transmitter", mode.tx_dbm),
            BudgetItem("noise", "transmitter", mode.tx_osnr_db),
        )
        self.required = BudgetItem("required", "required OSNR", mode.required_osnr_db)
        self.allowance: list[float] = journey.allowance_db[rows].tolist()
        self.tail = (
            BudgetItem("margin", "system margin", policy.margin_db),
            BudgetItem("margin", "ageing", policy.ageing_db),
        )

    def other_way(self, row: int) -> OtherWay:
        """What stands beside the budget of the opposite, worse direction."""
        return OtherWay(
            direction=self.journey.directions[self.at[row]],
            channel_thz=self.worst[row],
            gsnr_db=self.gsnr[row],
            penalties_db=_finite(self.penalties[row]),
            margin_db=_finite(self.margin[row]),
            launch_dbm=self.launch[row][0],
            rx_dbm=self.received[row],
        )

    def budget(self, row: int, *, itemise: bool, other: OtherWay | None = None) -> Budget:
        """The budget of one route, with or without its items."""
        mode = self.named.mode
        return Budget(
            transponder=self.named.transponder,
            mode=self.named.name,
            rate_gbps=mode.rate_gbps,
            width_ghz=mode.width_ghz,
            launch_dbm=self.launch[row][0],
            launch_limit=self._launch_limit(row, 0),
            channels=self.loads.comb.channels,
            channel_thz=self.worst[row],
            direction=self.journey.directions[self.at[row]],
            osnr_ase_db=self.ase[row],
            osnr_nli_db=_finite(self.nli[row]),
            gsnr_db=self.gsnr[row],
            required_osnr_db=mode.required_osnr_db or 0.0,
            penalties_db=_finite(self.penalties[row]),
            margins_db=self.policy.margin_db + self.policy.ageing_db + self.allowance[row],
            margin_db=_finite(self.margin[row]),
            rx_dbm=self.received[row],
            limit=LIMITS[self.limit[row]],
            items=self._items(row) if itemise else (),
            other=other,
        )

    def _launch_limit(self, row: int, hop: int) -> str:
        return "booster gain" if self.starved[row][hop] else self.loads.each[self.hops[row][hop]].limit

    def _tilt(self, row: int, hop: int) -> str:
        """What the channel loses more than the mean, where channels lose unlike."""
        tilt, comb = self.loads.each[self.hops[row][hop]].tilt_db, self.loads.comb
        if tilt is None:
            return ""
        channel = round((self.worst[row] - comb.first_thz) * 1e3 / comb.width_ghz)
        where = "along the line" if self.policy.equalise == "site" else "in a span"
        return f"{float(tilt[channel]):+.2f} dB of loss {where} by wavelength and Raman"

    def _items(self, row: int) -> tuple[BudgetItem, ...]:
        ways, last = self.journey.ways[self.at[row]], self.journey.ends[self.at[row]]
        items = [*self.head, BudgetItem("noise", f"add at {ways[0].start}", self.gear[ways[0].start].add_drop_osnr_db)]
        for hop, way in enumerate(ways):
            if hop > 0:
                items.append(BudgetItem("noise", f"pass {way.start}", self.pass_osnr_db))
            launch, booster, spans, nonlinear = way.labels
            items += [
                BudgetItem("level", launch, self.launch[row][hop], self._launch_limit(row, hop)),
                BudgetItem("noise", booster, -db(self.booster[row][hop])),
                BudgetItem("noise", spans, -db(self.spans[row][hop]), self._tilt(row, hop)),
                BudgetItem("noise", nonlinear, _finite(-db(self.nonlinear[row][hop]))),
            ]
        pad = self.arriving[row] - self.received[row]
        window = f"{self.window}, attenuated by {pad:.1f} dB" if pad > 0 else self.window
        items += [
            BudgetItem("noise", f"drop at {last}", self.gear[last].add_drop_osnr_db),
            BudgetItem("sum", "GSNR", self.gsnr[row], "noise above, 0.1 nm"),
            BudgetItem("level", "received", self.received[row], window),
            self.required,
            self._penalty("chromatic dispersion", "dispersion", row),
            self._penalty("PMD", "PMD", row),
            self._penalty("PDL", "PDL", row),
            BudgetItem("penalty", "received power", _finite(self.pays["power"][row])),
            *self.tail,
            *self._ripple(row),
            BudgetItem("sum", "margin", _finite(self.margin[row])),
        ]
        return tuple(items)

    def _ripple(self, row: int) -> tuple[BudgetItem, ...]:
        if self.allowance[row] == 0:
            return ()
        ways, policy = self.journey.ways[self.at[row]], self.policy
        spans = sum(len(way.rows) for way in ways)
        each = f"{spans} × {policy.ripple_db_per_span:g} dB a span"
        why = f"{each}, {len(ways)} × {policy.equalisation_db_per_line:g} dB a line"
        return (BudgetItem("margin", "ripple and equalisation", self.allowance[row], why),)

    def _penalty(self, shown: str, name: str, row: int) -> BudgetItem:
        why = f"{self.amounts[name][row]:.4g}{self.most[name]}"
        return BudgetItem("penalty", shown, _finite(self.pays[name][row]), why)


def _decibels(noise: Array) -> list[float]:
    """OSNR of noise over signal [dB]; infinite for none."""
    import numpy as np

    with np.errstate(divide="ignore"):
        osnr: list[float] = (-10 * np.log10(noise)).tolist()
    return osnr


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
