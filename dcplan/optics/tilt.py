"""Lines on which channels lose unlike: Raman scattering between them, and fiber whose loss depends on wavelength."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from dcplan.catalog.bands import BANDS
from dcplan.optics.fiber import span_attenuation_db_per_km
from dcplan.optics.mixture import Mixture, kernel_s2, nli_of_kernel
from dcplan.optics.raman import excess_loss_db, nli_weight, slope_per_w_km_thz
from dcplan.units import from_db, watts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import FiberType
    from dcplan.model.network import Network
    from dcplan.optics.budget import SpanRow
    from dcplan.optics.loading import Loading
    from dcplan.optics.nonlinear import Comb

    Array = NDArray[float64]

WIDE_GHZ = 5000.0
"""Up to this width of all bands, the tilt that Raman scattering makes stays small (0.06 dB of GSNR in 4.8 THz)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What makes channels unlike on a network."""

    raman: bool
    """Raman scattering between channels counts."""
    at_sites: bool
    """Levels are made equal at sites only; else behind each span."""

    @classmethod
    def of(cls, network: Network) -> Shape:
        """From the policy and the bands."""
        policy, bands = network.policy, network.topology.gear.bands
        wide = sum(band.width_ghz for band in bands) > WIDE_GHZ
        return cls(wide or policy.raman_tilt == "always", policy.equalise == "site")

    def matters(self, kinds: Sequence[FiberType]) -> bool:
        """Some span of these kinds of fiber tilts."""
        return any(kind.wdl_db_per_km > 0 or (self.raman and slope_per_w_km_thz(kind) > 0) for kind in kinds)


@dataclass(frozen=True, slots=True)
class Lit:
    """Channels of one band at their launch power."""

    comb: Comb
    launch_dbm: float


def tilted(
    loading: Loading,
    rows: Sequence[SpanRow],
    kinds: Sequence[FiberType],
    connector_db: float,
    comb: Comb,
    shape: Shape,
    beside: Sequence[Lit] = (),
) -> Loading:
    """The loading with channels that lose unlike; `beside`: other bands on the same fiber; kinds: of each row.

    e_k,i: what channel i loses in span k beyond the mean [dB], by Raman scattering and wavelength. Levels made equal
    behind each span: its amplifier gives e more, its noise grows by 10^(e_k,i / 10). Made equal at sites only: channel
    i is lower by e_1,i + … + e_k,i behind span k, and noise over signal greater by that; its nonlinear noise follows
    the power in front of each span. Gains and launch stay those of the mean channel.
    """
    import numpy as np

    powers = [(comb, loading.launch_dbm), *((lit.comb, lit.launch_dbm) for lit in beside)]
    frequency = np.concatenate([one.frequencies_thz() for one, _ in powers])
    launch = np.concatenate([np.full(one.channels, watts(level)) for one, level in powers])
    combs = tuple(one for one, _ in powers)
    bauds, own = _bauds(combs), slice(0, comb.channels)
    low = np.zeros(len(frequency))
    noise, nli, tilt = np.zeros(comb.channels), np.zeros(comb.channels), np.zeros(comb.channels)
    flat = 0.0
    for row, kind in zip(rows, kinds, strict=True):
        into = launch * 10 ** (-(low + connector_db + kind.splice_db) / 10)
        attenuation = span_attenuation_db_per_km(kind, row.length_km, row.fiber_loss_db)
        excess = wavelength_loss_db(kind, frequency, row.length_km)
        weight: Array | float = 1.0
        if shape.raman:
            excess = excess + excess_loss_db(kind, frequency, into, attenuation, row.length_km)
            weight = nli_weight(kind, frequency, into, attenuation)
        if kind.nonlinear:
            mixture = Mixture(frequency, bauds, into)
            kernel = _kernel(combs, kind, attenuation)
            here = nli_of_kernel(kernel, kind, mixture, attenuation, row.length_km, weight)
            nli += here[own] / launch[own] ** 2
        behind = low + excess
        factor = from_db(row.noise_figure_db + row.gain_db)
        flat += factor
        noise += factor * 10 ** (behind[own] / 10)
        tilt = behind[own] if shape.at_sites else np.where(np.abs(excess[own]) > np.abs(tilt), excess[own], tilt)
        low = behind if shape.at_sites else low
    sag = float(tilt.max()) if shape.at_sites else 0.0
    return replace(loading, unlike=noise / flat, nli_per_w2=nli, tilt_db=tilt, sag_db=sag)


def wavelength_loss_db(kind: FiberType, frequency_thz: Array, length_km: float) -> Array:
    """Loss beyond that at the middle of the C band [dB]: WDL × km × (f − 193.725 THz) / 4.8 THz."""
    band = BANDS["c"]
    middle, width = (band.start_thz + band.end_thz) / 2, band.end_thz - band.start_thz
    result: Array = kind.wdl_db_per_km * length_km * (frequency_thz - middle) / width
    return result


def _bauds(combs: Sequence[Comb]) -> Array:
    import numpy as np

    return np.concatenate([np.full(comb.channels, comb.baud_gbd) for comb in combs])


@lru_cache(maxsize=256)
def _kernel(combs: tuple[Comb, ...], kind: FiberType, attenuation_db_per_km: float) -> Array:
    """The same for every span of a kind: not to be written to."""
    import numpy as np

    frequency = np.concatenate([comb.frequencies_thz() for comb in combs])
    kernel = kernel_s2(kind, frequency, _bauds(combs), attenuation_db_per_km)
    kernel.setflags(write=False)
    return kernel
