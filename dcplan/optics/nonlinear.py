"""Nonlinear interference of a full comb of equal channels: the incoherent Gaussian noise model in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from dcplan.optics.fiber import alpha_per_m, beta2_s2_per_m, effective_length_m, gamma_per_w_m
from dcplan.optics.mixture import kernel_s2

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import FiberType

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Comb:
    """Equal channels side by side: centre frequencies rise by the width."""

    first_thz: float
    width_ghz: float
    baud_gbd: float
    channels: int

    @property
    def centre(self) -> int:
        """Index of the centre channel; of two, the upper."""
        return self.channels // 2

    @property
    def centre_thz(self) -> float:
        """Frequency of the centre channel [THz]."""
        return self.first_thz + self.centre * self.width_ghz * 1e-3

    def frequencies_thz(self) -> Array:
        """Centre frequencies [THz], shape (channels,)."""
        import numpy as np

        grid: Array = self.first_thz + np.arange(self.channels, dtype=np.float64) * self.width_ghz * 1e-3
        return grid


def full_load(start_thz: float, end_thz: float, width_ghz: float, baud_gbd: float) -> Comb:
    """The comb that fills a band from its lower edge: floor(band / width) channels; none where the width exceeds it."""
    channels = max(0, math.floor((end_thz - start_thz) * 1e3 / width_ghz + 1e-9))
    return Comb(start_thz + width_ghz / 2e3, width_ghz, baud_gbd, channels)


@lru_cache(maxsize=4096)
def interaction(comb: Comb, attenuation_db_per_km: float, dispersion_ps_nm_km: float) -> Array:
    """What all channels do to each, over γ² Leff²; shape (channels,), a pure number, not to be written to.

    Σ_j w_ij [asinh(κ (f_j − f_i + B/2)) − asinh(κ (f_j − f_i − B/2))] / (4π |β2| La B²), κ = π² La |β2| B,
    w = 16/27 for the channel itself and 32/27 for another; La = 1/α [m], B symbol rate [Hz]. In an even comb the
    terms depend on |i − j| alone, so two running sums give all channels.
    Source: Poggiolini, arXiv:1209.0394, eq. 120 and 123.
    """
    import numpy as np

    baud = comb.baud_gbd * 1e9
    beta2, asymptotic = beta2_s2_per_m(dispersion_ps_nm_km), 1 / alpha_per_m(attenuation_db_per_km)
    distance = np.arange(comb.channels) * comb.width_ghz * 1e9
    kappa = math.pi**2 * asymptotic * beta2 * baud
    terms = np.arcsinh(kappa * (distance + baud / 2)) - np.arcsinh(kappa * (distance - baud / 2))
    others = np.concatenate([[0.0], np.cumsum(terms[1:])])
    total: Array = (16 / 27 * terms[0] + 32 / 27 * (others + others[::-1])) / (
        4 * math.pi * beta2 * asymptotic * baud**2
    )
    total.setflags(write=False)
    return total


@lru_cache(maxsize=4096)
def _sloped_interaction(comb: Comb, fiber: FiberType, attenuation_db_per_km: float) -> Array:
    """The same where dispersion differs from channel to channel: that of the channel which is disturbed."""
    import numpy as np

    bauds = np.full(comb.channels, comb.baud_gbd)
    kernel = kernel_s2(fiber, comb.frequencies_thz(), bauds, attenuation_db_per_km)
    total: Array = kernel.sum(axis=1) / (comb.baud_gbd * 1e9) ** 2
    total.setflags(write=False)
    return total


def interaction_in(fiber: FiberType, comb: Comb, attenuation_db_per_km: float) -> Array:
    """`interaction` in a kind of fiber, with the dispersion at each channel; not to be written to."""
    if fiber.dispersion_slope_ps_nm2_km == 0 or not fiber.nonlinear:
        return interaction(comb, attenuation_db_per_km, fiber.dispersion_ps_nm_km)
    return _sloped_interaction(comb, fiber, attenuation_db_per_km)


def span_nli_per_w2(fiber: FiberType, comb: Comb, attenuation_db_per_km: float, length_km: float) -> Array:
    """Nonlinear noise of one span, shape (channels,) [1/W²]: P_NLI = η P³, P per channel behind the input connector.

    η_i = γ² Leff² × interaction, with the dispersion at each channel; P_NLI in the signal bandwidth, both before the
    loss of the span.
    """
    strength = (gamma_per_w_m(fiber) * effective_length_m(attenuation_db_per_km, length_km)) ** 2
    return strength * interaction_in(fiber, comb, attenuation_db_per_km)


def optimum_w(ase_w: float, nli_per_w2: float) -> float:
    """Launch power at which GSNR is largest [W]: ASE = 2 NLI, P = (ASE / 2η)^(1/3); infinite without nonlinearity.

    ase_w: ASE of all amplifiers in the signal bandwidth, at the launch point. nli_per_w2: sum of η over spans.
    """
    return (ase_w / (2 * nli_per_w2)) ** (1 / 3) if nli_per_w2 > 0 else math.inf
