"""A mode on many routes as arrays: with what margin it closes, where it is worst, and what stops it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.penalty import limit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Mode
    from dcplan.optics.journey import Journey
    from dcplan.optics.penalty import Verdict
    from dcplan.optics.walk import Loads, Noise

    Array = NDArray[float64]

LIMITS = ("OSNR", "dispersion", "PMD", "PDL", "power")
"""Names of the codes that `limits` gives."""


@dataclass(frozen=True, slots=True)
class Named:
    """A mode with its name and its transponder's."""

    transponder: str
    name: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Judged:
    """One mode on a block of routes in one direction, in one band."""

    named: Named
    journey: Journey
    loads: Loads
    noise: Noise
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Worst:
    """The band in which a direction has least margin, or as little and most noise; shape (R,)."""

    band: NDArray[int64]
    margin_db: Array
    noise: Array

    @classmethod
    def of(cls, bands: Sequence[Judged]) -> Worst:
        """The worst of all bands of one direction; of equals the first."""
        import numpy as np

        found = cls(np.zeros(len(bands[0].noise.total), np.int64), bands[0].verdict.margin, bands[0].noise.total)
        for place, one in enumerate(bands[1:], 1):
            here = cls(np.full_like(found.band, place), one.verdict.margin, one.noise.total)
            worse = here.worse_than(found)
            pairs = ((here.band, found.band), (here.margin_db, found.margin_db), (here.noise, found.noise))
            found = cls(*(np.where(worse, mine, its) for mine, its in pairs))
        return found

    def worse_than(self, other: Worst) -> NDArray[bool_]:
        """Less margin, or as little and more noise."""
        alike: NDArray[bool_] = (self.margin_db == other.margin_db) & (self.noise > other.noise)
        return (self.margin_db < other.margin_db) | alike


@dataclass(frozen=True, slots=True)
class Block:
    """One mode on a block of routes, in both directions and all bands."""

    numbers: tuple[int, ...]
    """Place of each route among those given."""
    sides: tuple[tuple[Judged, ...], tuple[Judged, ...]]
    """From the first site of each route to its last, and back; for each band in which a channel fits."""

    @property
    def channels(self) -> int:
        """Channels of the mode in all bands."""
        return sum(one.loads.comb.channels for one in self.sides[0])


def limits(judged: Judged) -> NDArray[int64]:
    """What stops the mode; where it closes, what would stop it first were the route longer and otherwise alike.

    Index into `LIMITS`, shape (R,). A penalty that cannot be borne comes before noise: power, dispersion, PMD, PDL.
    Length at which each limit is met, over the length of the route: dispersion L/D, PMD and PDL squared (they add in
    quadrature), noise of the lines up to what the margin leaves.
    """
    import numpy as np

    journey, noise, verdict, mode = judged.journey, judged.noise, judged.verdict, judged.named.mode
    lines = (noise.booster + noise.spans + noise.nonlinear).sum(axis=1)
    with np.errstate(divide="ignore"):
        reach = np.stack(
            [
                1 + noise.total * (10 ** (verdict.margin / 10) - 1) / lines,
                limit_of(mode.cd_penalty) / journey.dispersion_ps_nm,
                (limit_of(mode.pmd_penalty) / journey.pmd_ps) ** 2,
                (limit_of(mode.pdl_penalty) / journey.pdl_db) ** 2,
            ]
        )
    found = np.where(verdict.margin < 0, LIMITS.index("OSNR"), reach.argmin(axis=0))
    for name, penalty in (
        ("PDL", verdict.pdl),
        ("PMD", verdict.pmd),
        ("dispersion", verdict.dispersion),
        ("power", verdict.power),
    ):
        found[np.isinf(penalty)] = LIMITS.index(name)
    return found
