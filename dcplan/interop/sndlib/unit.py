"""The unit of an instance, and how its figures become Gb/s."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.interop.sndlib.instance import Instance

UNITS = {
    "BITSPERSEC": ("bit/s", -9),
    "KBITPERSEC": ("kbit/s", -6),
    "MBITPERSEC": ("Mbit/s", -3),
    "GBITPERSEC": ("Gbit/s", 0),
}
"""Name in the files -> in words, and its power of ten [Gb/s]."""
LEAST_GBPS = 1e-3
"""A topology file holds no smaller rate."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How figures of an instance become Gb/s."""

    power: int
    """Of ten."""
    said: str
    """A sentence about it."""
    all_gbps: float
    """All demands together, at least 1: what capacity without limit stands for."""

    def gbps(self, figure: float) -> float:
        """A rate to twelve digits, so that no rounding of powers of ten shows [Gb/s]."""
        return float(f"{figure * 10.0**self.power:.12g}")

    def per_gbps(self, price: float) -> float:
        """A price per unit of rate as one per Gb/s."""
        return float(f"{price / 10.0**self.power:.12g}")


def scale_of(instance: Instance) -> Scale:
    """Gb/s where the file says its unit and no rate becomes too small for it; else a power of ten of the unit."""
    figures = [demand.value for demand in instance.demands if demand.value]
    figures += [module.capacity for link in instance.links for module in link.modules if isfinite(module.capacity)]
    least = min(figures, default=1.0)
    unit, true = UNITS.get(instance.unit.upper(), (None, 0))
    power = true
    while least * 10.0**power < LEAST_GBPS:
        power += 3
    if unit is None:
        of = f"unit of the file ({instance.unit})" if instance.unit else "unit of the file, which does not name it,"
        said = f"1 {of} stands as {10.0**power:g} Gb/s."
    elif power == true:
        said = f"Rates of the file are in {unit}, here in Gb/s."
    else:
        said = (
            f"Rates of the file are in {unit}; 1 {unit} stands as {10.0**power:g} Gb/s, as no rate may be below 0.001."
        )
    total = fsum(demand.value for demand in instance.demands) * 10.0**power
    return Scale(power, said, max(1.0, float(f"{total:.6g}")))
