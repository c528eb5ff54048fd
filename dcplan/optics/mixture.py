"""Nonlinear interference among any channels on one fiber: mixed widths, symbol rates and powers, gaps between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.fiber import alpha_per_m, beta2_s2_per_m, dispersion_at, effective_length_m, gamma_per_w_m

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import FiberType

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Mixture:
    """Channels side by side on one fiber, in any order; each array has shape (channels,)."""

    frequency_thz: Array
    baud_gbd: Array
    power_w: Array
    """Behind the input connector [W]."""

    @classmethod
    def of(cls, channels: Sequence[tuple[float, float, float]]) -> Mixture:
        """From (centre frequency [THz], symbol rate [GBd], power [W]) of each channel."""
        import numpy as np

        columns = np.array(channels, dtype=np.float64).reshape(-1, 3).T
        return cls(*columns)


def kernel_s2(fiber: FiberType, frequency_thz: Array, baud_gbd: Array, attenuation_db_per_km: float) -> Array:
    """What channel j does to channel i, over γ² Leff² and the square of the power density of j; shape (i, j) [Hz²].

    16/27 (2 − δij) [asinh(κi (f_j − f_i + B_j/2)) − asinh(κi (f_j − f_i − B_j/2))] / (4π |β2| La),
    κi = π² La |β2| B_i, B symbol rate [Hz], La = 1/α [m], β2 at f_i.
    Source: Poggiolini, arXiv:1209.0394, eq. 120 and 123.
    """
    import numpy as np

    frequency, baud = frequency_thz * 1e12, baud_gbd * 1e9
    beta2 = np.array([beta2_s2_per_m(dispersion_at(fiber, at)) for at in frequency_thz.tolist()])[:, None]
    asymptotic = 1 / alpha_per_m(attenuation_db_per_km)
    distance = frequency[None, :] - frequency[:, None]
    kappa = math.pi**2 * asymptotic * beta2 * baud[:, None]
    half = baud[None, :] / 2
    terms = np.arcsinh(kappa * (distance + half)) - np.arcsinh(kappa * (distance - half))
    result: Array = 16 / 27 * (2 - np.eye(len(frequency))) * terms / (4 * math.pi * beta2 * asymptotic)
    return result


def nli_to_signal(
    fiber: FiberType, mixture: Mixture, attenuation_db_per_km: float, length_km: float, weight: Array | float = 1.0
) -> Array:
    """Nonlinear noise over signal of one span in the signal bandwidth of each channel, shape (channels,).

    NLI_i / P_i = γ² Leff² Σ_j kernel_ij w_j (P_j / B_j)². `weight`: w_j, what Raman scattering makes of the noise
    that channel j causes (`raman.nli_weight`).
    """
    kernel = kernel_s2(fiber, mixture.frequency_thz, mixture.baud_gbd, attenuation_db_per_km)
    return nli_of_kernel(kernel, fiber, mixture, attenuation_db_per_km, length_km, weight)


def nli_of_kernel(
    kernel: Array,
    fiber: FiberType,
    mixture: Mixture,
    attenuation_db_per_km: float,
    length_km: float,
    weight: Array | float = 1.0,
) -> Array:
    """`nli_to_signal` where the kernel is known."""
    length = effective_length_m(attenuation_db_per_km, length_km)
    density = mixture.power_w / (mixture.baud_gbd * 1e9)
    result: Array = (gamma_per_w_m(fiber) * length) ** 2 * (kernel @ (weight * density**2))
    return result
