"""Light in one kind of fiber: attenuation, dispersion, nonlinearity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.units import LIGHT_M_PER_S

if TYPE_CHECKING:
    from dcplan.catalog.parts import FiberType

WAVELENGTH_M = 1550e-9
"""Where the catalog quotes dispersion, attenuation and effective area [m]."""
NONLINEAR_INDEX_M2_PER_W = 2.6e-20
"""n2 of silica [m²/W] (GNPy core/parameters.py)."""
LEAST_BETA2_S2_PER_M = 1e-29
"""The closed form divides by β2; below this (0.008 ps/(nm km)) its limit for β2 -> 0 is reached [s²/m]."""


def gamma_per_w_m(fiber: FiberType) -> float:
    """Nonlinear coefficient [1/(W m)]: γ = 2π n2 / (λ Aeff); 0 for a fiber without Kerr effect.

    Source: GNPy core/parameters.py, n2 = 2.6e-20 m²/W.
    """
    if not fiber.nonlinear or fiber.effective_area_um2 is None:
        return 0.0
    return 2 * math.pi * NONLINEAR_INDEX_M2_PER_W / (WAVELENGTH_M * fiber.effective_area_um2 * 1e-12)


def dispersion_at(fiber: FiberType, frequency_thz: float) -> float:
    """Chromatic dispersion at a frequency [ps/(nm km)]: D + S (c / f − 1550 nm), S its slope."""
    if fiber.dispersion_slope_ps_nm2_km == 0:
        return fiber.dispersion_ps_nm_km
    wavelength_nm = LIGHT_M_PER_S / frequency_thz * 1e-3
    return fiber.dispersion_ps_nm_km + fiber.dispersion_slope_ps_nm2_km * (wavelength_nm - WAVELENGTH_M * 1e9)


def beta2_s2_per_m(dispersion_ps_nm_km: float) -> float:
    """Magnitude of the group velocity dispersion [s²/m]: |β2| = |D| λ² / (2π c), at least `LEAST_BETA2_S2_PER_M`."""
    beta2 = abs(dispersion_ps_nm_km) * 1e-6 * WAVELENGTH_M**2 / (2 * math.pi * LIGHT_M_PER_S)
    return max(beta2, LEAST_BETA2_S2_PER_M)


def alpha_per_m(attenuation_db_per_km: float) -> float:
    """Power attenuation [1/m]: α = a / (10 log10 e), a in dB/m."""
    return attenuation_db_per_km * 1e-3 / (10 * math.log10(math.e))


def effective_length_m(attenuation_db_per_km: float, length_km: float) -> float:
    """Length over which nonlinearity acts [m]: (1 − exp(−α L)) / α."""
    alpha = alpha_per_m(attenuation_db_per_km)
    return -math.expm1(-alpha * length_km * 1e3) / alpha


def span_attenuation_db_per_km(fiber: FiberType, length_km: float, fiber_loss_db: float) -> float:
    """Attenuation that nonlinearity sees in a span [dB/km]: the lesser of the type's and the measured mean.

    A measured loss above length × attenuation is taken as lumped behind the fiber, where it does not weaken the
    light that makes noise: the worse case.
    """
    return min(fiber.attenuation_db_per_km, max(fiber_loss_db / length_km, 1e-3))
