"""A line in one direction under a full load of one mode: launch power, amplifier noise, nonlinear noise."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.amplifier import MEASURED_IN_GHZ, SETTLING, ase_w, noise_figure_db, per_50_ghz_dbm
from dcplan.optics.fiber import effective_length_m, gamma_per_w_m, span_attenuation_db_per_km
from dcplan.optics.nonlinear import interaction_in, optimum_w
from dcplan.units import db, dbm, from_db

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Amplifier, FiberType
    from dcplan.optics.budget import SpanRow
    from dcplan.optics.nonlinear import Comb
    from dcplan.optics.spans import PlainSpan

    Array = NDArray[float64]


GIVEN_FOR_GHZ = 75.0
"""Width of the channel that a given launch is stated for [GHz]."""


def nli_per_w2(
    kind: FiberType,
    connector_db: float,
    spans: Iterable[PlainSpan | SpanRow],
    comb: Comb,
    types: Mapping[str, FiberType] | None = None,
) -> Array:
    """Nonlinear noise over signal of spans, shape (channels,) [1/W²]: Σ η P² = NLI / P, signal bandwidth.

    P is the power per channel in front of each span; behind the input connector and splice it is less by their
    loss c, and noise over signal less by c²: η = η_fiber × 10^(−2c/10). kind: the fiber's; types: those that spans
    name instead.
    """
    import numpy as np

    total: Array = np.zeros(comb.channels)
    glasses: dict[str, tuple[FiberType, float]] = {}
    strength: dict[tuple[str, float], float] = {}  # γ² Leff² 10^(−2c/10), of spans that differ in length alone
    alike = Counter((span.type, span.length_km, span.fiber_loss_db) for span in spans)
    for (named, length_km, loss_db), count in alike.items():
        if named not in glasses:
            glass = (types or {})[named] if named else kind
            glasses[named] = glass, gamma_per_w_m(glass) ** 2 * from_db(-2 * (connector_db + glass.splice_db))
        glass, factor = glasses[named]
        attenuation = span_attenuation_db_per_km(glass, length_km, loss_db)
        here = count * factor * effective_length_m(attenuation, length_km) ** 2
        strength[named, attenuation] = strength.get((named, attenuation), 0.0) + here
    for (named, attenuation), whole in strength.items():
        total += whole * interaction_in(glasses[named][0], comb, attenuation)
    return total


def noise_factor(rows: Iterable[SpanRow]) -> float:
    """NF × G summed over the amplifiers behind the spans, linear: their noise at launch level in units of h f B."""
    return math.fsum(from_db(row.noise_figure_db + row.gain_db) for row in rows)


@dataclass(frozen=True, slots=True)
class Following:
    """An amplifier behind a span whose noise figure follows its input power."""

    amplifier: Amplifier
    gain_db: float
    """Of the amplifier, which makes up for the span and any padding in front: the input is launch − gain [dB]."""


@dataclass(frozen=True, slots=True)
class Loading:
    """A line in one direction under a full load of one mode."""

    launch_dbm: float
    """Power per channel in front of each span, as the line's amplifiers allow it [dBm]."""
    limit: str
    """optimum, amplifier output, given, or given, clipped by amplifier output."""
    noise_factor: float
    """NF × G of the amplifiers behind the spans, at that launch."""
    nli_per_w2: Array
    """Nonlinear noise over signal, per launch power squared, signal bandwidth; shape (channels,) [1/W²]."""
    steady: float = 0.0
    """The part of the noise factor that does not follow the launch."""
    following: tuple[Following, ...] = ()
    width_ghz: float = MEASURED_IN_GHZ
    unlike: Array | None = None
    """Amplifier noise of each channel over that of the mean channel; none: all alike; shape (channels,)."""
    tilt_db: Array | None = None
    """What each channel loses beyond the mean: in the worst span, or along the line where levels are made equal at
    sites only [dB]."""
    sag_db: float = 0.0
    """By how much the lowest channel leaves the line below the mean [dB]."""

    def noise_factor_at(self, launch_dbm: float) -> float:
        """The noise factor at another launch: less light into a long line where a booster lacks gain."""
        if not self.following:
            return self.noise_factor
        return _noise_at(self.steady, self.following, launch_dbm, self.width_ghz)


def _noise_at(steady: float, following: Iterable[Following], launch_dbm: float, width_ghz: float) -> float:
    figures = (
        noise_figure_db(each.amplifier, each.gain_db, per_50_ghz_dbm(launch_dbm - each.gain_db, width_ghz))
        + each.gain_db
        for each in following
    )
    return steady + math.fsum(from_db(figure) for figure in figures)


def load(
    rows: tuple[SpanRow, ...],
    booster: str,
    amplifiers: Mapping[str, Amplifier],
    kind: FiberType,
    connector_db: float,
    comb: Comb,
    types: Mapping[str, FiberType] | None = None,
    given_dbm: float | None = None,
) -> Loading:
    """Launch as given, else at the optimum of the centre channel (ASE = 2 NLI), or what amplifiers can put out.

    All channels: P + 10 log10 N ≤ output_max_dbm of the booster and of the amplifier behind each span. Where a noise
    figure follows the input power, launch and noise are found together. given_dbm: of a 75 GHz channel; another
    width launches at the same power density.
    """
    follows = [row for row in rows if amplifiers[row.amplifier].osnr_cubic is not None]
    following = tuple(Following(amplifiers[row.amplifier], row.gain_db) for row in follows)
    steady = noise_factor(row for row in rows if row not in follows) if follows else noise_factor(rows)
    nli = nli_per_w2(kind, connector_db, rows, comb, types)
    centre = float(nli[comb.centre])
    largest_dbm = min(amplifiers[name].output_max_dbm for name in {booster, *(row.amplifier for row in rows)})
    most_dbm = largest_dbm - db(comb.channels)
    if given_dbm is not None:
        wanted = given_dbm + db(comb.width_ghz / GIVEN_FOR_GHZ)
        launch = min(wanted, most_dbm)
        noise = _noise_at(steady, following, launch, comb.width_ghz)
        limit = "given" if wanted <= most_dbm + 1e-9 else "given, clipped by amplifier output"
        return Loading(launch, limit, noise, nli, steady, following, comb.width_ghz)
    noise = steady
    for _ in range(SETTLING if following else 0):
        best = dbm(optimum_w(ase_w(noise, comb.centre_thz, comb.baud_gbd), centre)) if noise else most_dbm
        noise = _noise_at(steady, following, min(best, most_dbm), comb.width_ghz)
    optimum = optimum_w(ase_w(noise, comb.centre_thz, comb.baud_gbd), centre)
    limited = math.isinf(optimum) or dbm(optimum) > most_dbm
    launch, limit = (most_dbm, "amplifier output") if limited else (dbm(optimum), "optimum")
    return Loading(launch, limit, noise, nli, steady, following, comb.width_ghz)
