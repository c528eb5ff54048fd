"""A line in one direction under a full load of one mode: launch power, amplifier noise, nonlinear noise."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.amplifier import ase_w
from dcplan.optics.fiber import span_attenuation_db_per_km
from dcplan.optics.nonlinear import optimum_w, span_nli_per_w2
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


def nli_per_w2(kind: FiberType, connector_db: float, spans: Iterable[PlainSpan | SpanRow], comb: Comb) -> Array:
    """Nonlinear noise over signal of spans, shape (channels,) [1/W²]: Σ η P² = NLI / P, signal bandwidth.

    P is the power per channel in front of each span; behind the input connector and splice it is less by their
    loss c, and noise over signal less by c²: η = η_fiber × 10^(−2c/10).
    """
    import numpy as np

    total: Array = np.zeros(comb.channels)
    for (length_km, loss_db), count in Counter((span.length_km, span.fiber_loss_db) for span in spans).items():
        attenuation = span_attenuation_db_per_km(kind, length_km, loss_db)
        total += count * span_nli_per_w2(kind, comb, attenuation, length_km)
    return total * from_db(-2 * (connector_db + kind.splice_db))


def noise_factor(rows: Iterable[SpanRow]) -> float:
    """NF × G summed over the amplifiers behind the spans, linear: their noise at launch level in units of h f B."""
    return math.fsum(from_db(row.noise_figure_db + row.gain_db) for row in rows)


@dataclass(frozen=True, slots=True)
class Loading:
    """A line in one direction under a full load of one mode."""

    launch_dbm: float
    """Power per channel in front of each span, as the line's amplifiers allow it [dBm]."""
    limit: str
    """optimum or amplifier output."""
    noise_factor: float
    """NF × G of the amplifiers behind the spans."""
    nli_per_w2: Array
    """Nonlinear noise over signal, per launch power squared, signal bandwidth; shape (channels,) [1/W²]."""


def load(
    rows: tuple[SpanRow, ...],
    booster: str,
    amplifiers: Mapping[str, Amplifier],
    kind: FiberType,
    connector_db: float,
    comb: Comb,
) -> Loading:
    """Launch at the optimum of the centre channel (ASE = 2 NLI), or what the weakest amplifier can put out.

    All channels: P + 10 log10 N ≤ output_max_dbm of the booster and of the amplifier behind each span.
    """
    noise = noise_factor(rows)
    nli = nli_per_w2(kind, connector_db, rows, comb)
    optimum = optimum_w(ase_w(noise, comb.centre_thz, comb.baud_gbd), float(nli[comb.centre]))
    largest_dbm = min(amplifiers[name].output_max_dbm for name in {booster, *(row.amplifier for row in rows)})
    most_dbm = largest_dbm - db(comb.channels)
    if math.isinf(optimum) or dbm(optimum) > most_dbm:
        return Loading(most_dbm, "amplifier output", noise, nli)
    return Loading(dbm(optimum), "optimum", noise, nli)
