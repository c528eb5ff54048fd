"""What stops a mode on a route, or would stop it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.optics.penalty import limit_of

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from dcplan.optics.judged import Judged

LIMITS = ("OSNR", "dispersion", "PMD", "PDL", "power")
"""Names of the codes that `limits` gives."""


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
