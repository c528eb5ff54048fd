"""Amplifiers: noise at the working gain, and which one suits a place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dcplan.optics.nonlinear import optimum_w
from dcplan.units import NOISE_BANDWIDTH_GHZ, PLANCK_J_S, db, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.parts import Amplifier

LATENCY_MS = 1e-4
"""Latency of an amplifier: some 15 m of doped fiber and its patch cords, 0.1 µs (Huawei forum 681393) [ms]."""


def noise_figure_db(amplifier: Amplifier, gain_db: float) -> float:
    """Noise figure at a gain [dB]: linear between the points of the table, constant beyond its ends."""
    points = amplifier.nf_db
    if gain_db <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if gain_db <= x1:
            return y0 + (y1 - y0) * (gain_db - x0) / (x1 - x0)
    return points[-1][1]


@dataclass(frozen=True, slots=True)
class Setting:
    """An amplifier set to make up for a loss."""

    amplifier: str
    gain_db: float
    padding_db: float
    noise_figure_db: float

    @property
    def noise_factor(self) -> float:
        """NF × G, both linear: noise at the output in units of h f B."""
        return from_db(self.noise_figure_db + self.gain_db)


def set_to(name: str, amplifier: Amplifier, loss_db: float) -> Setting | None:
    """The amplifier at gain = loss, padded in front up to its least gain; none where the loss is beyond its gain."""
    if loss_db > amplifier.gain_max_db + 1e-9:
        return None
    gain = max(loss_db, amplifier.gain_min_db)
    return Setting(name, gain, gain - loss_db, noise_figure_db(amplifier, gain))


def ase_w(noise_factor: float, frequency_thz: float, bandwidth_ghz: float = NOISE_BANDWIDTH_GHZ) -> float:
    """Amplified spontaneous emission at the output [W]: NF G h f B (G, not G − 1, as GNPy), both polarisations."""
    return noise_factor * PLANCK_J_S * frequency_thz * 1e12 * bandwidth_ghz * 1e9


@dataclass(frozen=True, slots=True)
class Need:
    """What a place asks of its amplifier, with the load by which candidates are compared."""

    role: str
    loss_db: float
    """To be made up for [dB]."""
    frequency_thz: float
    baud_gbd: float
    channels: int
    nli_per_w2: float
    """Nonlinear noise that grows with the launch power which this amplifier gives [1/W²]."""


def noise_to_signal(need: Need, setting: Setting, output_max_dbm: float) -> float:
    """Least noise over signal that the amplifier allows: min over P ≤ Pmax of ASE/P + η P², in the signal bandwidth."""
    ase = ase_w(setting.noise_factor, need.frequency_thz, need.baud_gbd)
    power = min(optimum_w(ase, need.nli_per_w2), watts(output_max_dbm - db(need.channels)))
    return ase / power + need.nli_per_w2 * power**2


def choose(allowed: Mapping[str, Amplifier], need: Need) -> tuple[Setting, str] | None:
    """The allowed amplifier that leaves the best GSNR at its place, and why; none where no gain reaches the loss.

    Counted: noise figure at the working gain, padding below the least gain, launch power up to the output limit.
    Ties go to the amplifier listed first.
    """
    ranked: list[tuple[float, int, Setting]] = []
    for rank, (name, amplifier) in enumerate(allowed.items()):
        if amplifier.role not in ("any", need.role) or (setting := set_to(name, amplifier, need.loss_db)) is None:
            continue
        ranked.append((noise_to_signal(need, setting, amplifier.output_max_dbm), rank, setting))
    if not ranked:
        return None
    _, _, best = min(ranked, key=lambda entry: entry[:2])
    padded = f", padded by {best.padding_db:.1f} dB" if best.padding_db > 0 else ""
    return best, f"best GSNR of {len(ranked)} that reach {need.loss_db:.1f} dB{padded}"


def largest_gain_db(allowed: Mapping[str, Amplifier], role: str) -> float:
    """Largest gain of the allowed amplifiers that may stand in a role [dB]; −inf for none."""
    gains = [amplifier.gain_max_db for amplifier in allowed.values() if amplifier.role in ("any", role)]
    return max(gains, default=-math.inf)
