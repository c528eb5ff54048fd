"""Fiber types of imported spans: catalog entries where the figures are theirs, own types else."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import FiberType
from dcplan.errors import UsageError
from dcplan.interop.gnpy.lost import GNPY_INDEX
from dcplan.optics.fiber import NONLINEAR_INDEX_M2_PER_W, WAVELENGTH_M

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.interop.gnpy.entry import Entry
    from dcplan.interop.gnpy.fold import Cable
    from dcplan.interop.gnpy.section import Glass

MOST_TYPES = 3
"""Attenuations of one variety that each get a type of their own; of more, they are rounded up to `STEP`."""
STEP_DB_PER_KM = 0.01


class Types:
    """Types by variety and attenuation."""

    def __init__(self, cables: Sequence[Cable], varieties: Mapping[str, Entry]) -> None:
        self.varieties = varieties
        self.own: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self.named: dict[tuple[str, float], str] = {}
        counts: dict[str, Counter[float]] = {}
        for span in (span for cable in cables for span in cable.spans):
            counts.setdefault(span.variety, Counter())[round(span.coefficient, 9)] += 1
        self.many = {variety for variety, each in counts.items() if len(each) > MOST_TYPES}
        for variety, each in counts.items():
            for coefficient, _ in each.most_common():
                self._add(variety, self._attenuation(variety, coefficient))

    def of(self, span: Glass) -> str:
        """The id of a span's type."""
        return self.named[span.variety, self._attenuation(span.variety, round(span.coefficient, 9))]

    def attenuation_db_per_km(self, span: Glass) -> float:
        """The attenuation that the type has."""
        return self._attenuation(span.variety, round(span.coefficient, 9))

    def _attenuation(self, variety: str, coefficient: float) -> float:
        if variety not in self.many:
            return coefficient
        return round(math.ceil(coefficient / STEP_DB_PER_KM - 1e-6) * STEP_DB_PER_KM, 6)

    def _add(self, variety: str, attenuation: float) -> None:
        if (variety, attenuation) in self.named:
            return
        figures = self._figures(variety, attenuation)
        known = next((name for name, kind in shipped("fibers").items() if _alike(kind, figures)), None)
        first = not any(name == variety for name, _ in self.named)
        name = known or (variety if first else f"{variety} {attenuation:g} dB per km")[:80]
        self.named[variety, attenuation] = name
        if known is None:
            self.own[name] = {**figures, "source": f"GNPy equipment, Fiber {variety}"}

    def _figures(self, variety: str, attenuation: float) -> dict[str, float]:
        entry = self.varieties.get(variety)
        if entry is None:
            raise UsageError(f"the equipment file has no Fiber `{variety}`")
        area, gamma = entry.positive("effective_area"), entry.positive("gamma")
        if area is None:
            if gamma is None:
                self.notes.append(f"fiber {variety} has no effective area: 83 µm² is taken, as in GNPy")
            area = 83e-12 if gamma is None else 2 * math.pi * NONLINEAR_INDEX_M2_PER_W / (WAVELENGTH_M * gamma)
        unsaid = [key for key in ("dispersion_slope", "dispersion_per_frequency", "loss_coef_ripple") if entry.get(key)]
        self.notes += [f"fiber {variety}: {key} is left out" for key in unsaid]
        dispersion = entry.number("dispersion")
        return {
            "attenuation_db_per_km": attenuation,
            "dispersion_ps_nm_km": round((1.67e-5 if dispersion is None else dispersion) * 1e6, 6),
            "effective_area_um2": round(area * 1e12, 6),
            "pmd_ps_sqrt_km": round((entry.number("pmd_coef") or 0.0) * 1e12 * 1000**0.5, 6),
            "group_index": GNPY_INDEX,
        }


def _alike(kind: object, figures: Mapping[str, float]) -> bool:
    if not isinstance(kind, FiberType) or not kind.nonlinear or kind.splice_db or kind.wdl_db_per_km:
        return False
    if kind.dispersion_slope_ps_nm2_km:
        return False
    return all(
        abs(value - (getattr(kind, key) or 0.0)) <= 1e-4 * max(abs(value), 1e-9) for key, value in figures.items()
    )
