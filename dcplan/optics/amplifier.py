"""Amplifiers: noise at the working gain, and which one suits a place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dcplan.optics.nonlinear import optimum_w
from dcplan.units import NOISE_BANDWIDTH_GHZ, PLANCK_J_S, db, dbm, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Amplifier, Table

    Array = NDArray[float64]

LATENCY_MS = 1e-4
"""Latency of an amplifier: some 15 m of doped fiber and its patch cords, 0.1 µs (Huawei forum 681393) [ms]."""


SETTLING = 16
"""Iterations of launch against noise figure."""
MEASURED_IN_GHZ = 50.0
"""OpenROADM quotes input powers for channels of this width; wider ones are scaled by their spectral density [GHz]."""


def noise_figure_db(amplifier: Amplifier, gain_db: float, input_dbm: float | None = None) -> float:
    """Noise figure at a gain [dB]: linear between the points of the table, constant beyond its ends.

    Behind a Raman stage of gain G1: NF = 10 log10(F1 + F2 / G1), F2 of the rest of the gain (Friis).
    With an OSNR cubic: NF = P − OSNR(P) + 58, P = input_dbm, the power per 50 GHz in front; attenuated above its
    window, constant below. ValueError where a cubic has no input.
    Source: GNPy core/elements.py (openroadm, dual_stage).
    """
    if (cubic := amplifier.osnr_cubic) is not None:
        if input_dbm is None:
            raise ValueError("an OSNR cubic needs the input power")
        power = min(max(input_dbm, cubic.input_min_dbm), cubic.input_max_dbm)
        osnr = ((cubic.a * power + cubic.b) * power + cubic.c) * power + cubic.d
        return power - osnr + 58 + max(0.0, input_dbm - power)
    if (raman := amplifier.raman) is not None:
        rest = from_db(_at(amplifier.nf_db, gain_db - raman.gain_db))
        return db(from_db(raman.nf_db) + rest / from_db(raman.gain_db))
    return _at(amplifier.nf_db, gain_db)


def _at(points: Table, gain_db: float) -> float:
    if gain_db <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if gain_db <= x1:
            return y0 + (y1 - y0) * (gain_db - x0) / (x1 - x0)
    return points[-1][1]


def noise_figures_db(amplifier: Amplifier, gain_db: Array, input_dbm: Array) -> Array:
    """The same for many gains and inputs at once."""
    import numpy as np

    if amplifier.osnr_cubic is None and amplifier.raman is None:
        points = np.array(amplifier.nf_db)
        figures: Array = np.interp(gain_db, points[:, 0], points[:, 1])
        return figures
    pairs = zip(gain_db.tolist(), input_dbm.tolist(), strict=True)
    return np.array([noise_figure_db(amplifier, gain, power) for gain, power in pairs])


def per_50_ghz_dbm(channel_dbm: float, width_ghz: float) -> float:
    """Power in 50 GHz of a channel that fills its width evenly [dBm]: P + 10 log10(50 / width)."""
    return channel_dbm + db(MEASURED_IN_GHZ / width_ghz)


def may_stand(amplifier: Amplifier, role: str) -> bool:
    """It is for this role or any; a Raman stage pumps the span in front, which a booster has not."""
    return amplifier.role in ("any", role) and not (role == "booster" and amplifier.raman is not None)


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


def set_to(name: str, amplifier: Amplifier, loss_db: float, input_dbm: float | None = None) -> Setting | None:
    """The amplifier at gain = loss, padded in front up to its least gain; none where the loss is beyond its gain.

    A Raman hybrid is not padded: its first stage is the fiber itself. input_dbm: power per 50 GHz behind loss and
    padding, where the noise figure follows it.
    """
    if loss_db > amplifier.gain_max_db + 1e-9 or (amplifier.raman is not None and loss_db < amplifier.gain_min_db):
        return None
    gain = max(loss_db, amplifier.gain_min_db)
    return Setting(name, gain, gain - loss_db, noise_figure_db(amplifier, gain, input_dbm))


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
    width_ghz: float = MEASURED_IN_GHZ


def settled_w(noise_factor: Callable[[float], float], need: Need, most_w: float) -> float:
    """Launch per channel at which ASE = 2 NLI, at most `most_w` [W], where the noise follows the launch.

    noise_factor: NF × G at a launch in dBm. By iteration: launch goes with the cube root of the noise, so that the
    distance falls to a third each time.
    """
    power = most_w
    for _ in range(SETTLING):
        ase = ase_w(noise_factor(dbm(power)), need.frequency_thz, need.baud_gbd)
        before, power = power, min(optimum_w(ase, need.nli_per_w2), most_w)
        if power == before:
            break
    return power


def settle(name: str, amplifier: Amplifier, need: Need) -> Setting | None:
    """The amplifier set for a need; where its noise follows the input power, at the launch that suits it best."""
    if amplifier.osnr_cubic is None:
        return set_to(name, amplifier, need.loss_db)
    gain = max(need.loss_db, amplifier.gain_min_db)

    def input_dbm(launch_dbm: float) -> float:
        return per_50_ghz_dbm(launch_dbm - gain, need.width_ghz)

    def noise_factor(launch_dbm: float) -> float:
        return from_db(noise_figure_db(amplifier, gain, input_dbm(launch_dbm)) + gain)

    launch = settled_w(noise_factor, need, watts(amplifier.output_max_dbm - db(need.channels)))
    return set_to(name, amplifier, need.loss_db, input_dbm(dbm(launch)))


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
        if not may_stand(amplifier, need.role) or (setting := settle(name, amplifier, need)) is None:
            continue
        ranked.append((noise_to_signal(need, setting, amplifier.output_max_dbm), rank, setting))
    if not ranked:
        return None
    ranked.sort(key=lambda entry: entry[:2])
    best = ranked[0][2]
    padded = f", padded by {best.padding_db:.1f} dB" if best.padding_db > 0 else ""
    raman = ", Raman pumps: high power in the fiber" if allowed[best.amplifier].raman else ""
    return best, f"best GSNR of {len(ranked)} that reach {need.loss_db:.1f} dB{_lead(ranked)}{padded}{raman}"


def _lead(ranked: list[tuple[float, int, Setting]]) -> str:
    """How far the second is behind, where there is one."""
    if len(ranked) < 2:
        return ""
    second = ranked[1][2].amplifier
    return f", {db(ranked[1][0] / ranked[0][0]):.1f} dB before {second}"


def largest_gain_db(allowed: Mapping[str, Amplifier], role: str) -> float:
    """Largest gain of the allowed amplifiers that may stand in a role [dB]; −inf for none."""
    gains = [amplifier.gain_max_db for amplifier in allowed.values() if may_stand(amplifier, role)]
    return max(gains, default=-math.inf)
