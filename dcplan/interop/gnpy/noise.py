"""Noise figures of GNPy's amplifier models."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import db, from_db

FIRST_DIFFERENCE_DB = 5.0
"""Gain by which the first coil lags the whole amplifier, to start with (GNPy core/science_utils.py)."""


@dataclass(frozen=True, slots=True)
class TwoCoil:
    """A variable-gain amplifier of two coils: NF = 10 log10(F1 + F2 / G1), G1 the gain of the first coil."""

    first_db: float
    second_db: float
    difference_db: float
    gain_max_db: float

    def noise_figure_db(self, gain_db: float) -> float:
        """Noise figure at a gain [dB]: G1 = gain − difference − (gain_max − gain). Source: GNPy core/elements.py."""
        first_gain_db = gain_db - self.difference_db - max(self.gain_max_db - gain_db, 0.0)
        return db(from_db(self.first_db) + from_db(self.second_db - first_gain_db))


def two_coil(gain_min_db: float, gain_max_db: float, nf_min_db: float, nf_max_db: float) -> TwoCoil:
    """The coils behind the noise figures at largest and least gain. ValueError where there are none.

    F_min = F1 + F2 / G1(gain_max), F_max = F1 + F2 / G1(gain_min); F2 is kept within 0.3 to 2 dB above F1 by moving
    the difference. Source: GNPy core/science_utils.py, estimate_nf_model.
    """
    difference = FIRST_DIFFERENCE_DB
    least, most = _first_gains(gain_min_db, gain_max_db, difference)
    low, high = from_db(nf_min_db), from_db(nf_max_db)
    if nf_max_db <= nf_min_db or most <= least:
        raise ValueError("nf_max must lie above nf_min, and gain_flatmax above gain_min")
    second = (low - high) / (1 / from_db(most) - 1 / from_db(least))
    first = low - second / from_db(most)
    if first <= 0 or db(first) < 4:
        raise ValueError("the first coil would have a noise figure below 4 dB")
    first_db, second_db = db(first), db(second)
    if not first_db + 0.3 < second_db < first_db + 2:
        second_db = min(max(second_db, first_db + 0.3), first_db + 2)
        if low <= first:
            raise ValueError("no second coil gives these noise figures")
        difference = gain_max_db - db(from_db(second_db) / (low - first))
        if not 1 < difference < 11:
            raise ValueError(f"the coils would differ by {difference:.1f} dB")
    return TwoCoil(first_db, second_db, difference, gain_max_db)


def _first_gains(gain_min_db: float, gain_max_db: float, difference_db: float) -> tuple[float, float]:
    return gain_min_db - (gain_max_db - gain_min_db) - difference_db, gain_max_db - difference_db


def polynomial_db(coefficients: list[float], gain_db: float, gain_max_db: float) -> float:
    """Noise figure of GNPy's advanced model [dB]: a polynomial, highest power first, of −(gain_max − gain)."""
    value, x = 0.0, -max(gain_max_db - gain_db, 0.0)
    for coefficient in coefficients:
        value = value * x + coefficient
    return value
