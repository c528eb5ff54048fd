"""Penalties of a receiver: tables of (impairment, penalty), and the margin that they leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Mode, Table
    from dcplan.model.schema import Policy
    from dcplan.optics.journey import Journey
    from dcplan.optics.walk import Noise

    Array = NDArray[float64]


def penalty_db(table: Table, amount: Array) -> Array:
    """Penalty [dB] of impairments, any shape: linear between points, from (0, 0) to the first, infinite past the last.

    An empty table knows no limit: 0. Source: GNPy core/elements.py, Transceiver penalties.
    """
    import numpy as np

    if not table:
        return np.zeros_like(amount)
    points = np.array(table if table[0][0] <= 0 else ((0.0, 0.0), *table))
    inside = np.interp(amount, points[:, 0], points[:, 1])
    result: Array = np.where(amount > points[-1, 0], np.inf, inside)
    return result


def limit_of(table: Table) -> float:
    """The largest impairment that a table allows; infinite for an empty one."""
    return table[-1][0] if table else math.inf


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is left of a mode on each route; shape (R,) [dB], penalties infinite where they cannot be borne."""

    rx_dbm: Array
    """Received power per channel: what arrives, attenuated to the receiver's largest where it is more [dBm]."""
    dispersion: Array
    pmd: Array
    pdl: Array
    power: Array
    """0, or infinite below the receiver's least power."""
    penalties: Array
    margin: Array


def judge(journey: Journey, noise: Noise, mode: Mode, policy: Policy) -> Verdict:
    """Margin = GSNR − required OSNR − CD, PMD, PDL and power penalties − reserve [dB], in 0.1 nm.

    Reserve: system margin, ageing, and what the policy allows for ripple and unequal channels.
    """
    import numpy as np

    received = noise.arriving_dbm if mode.rx_max_dbm is None else np.minimum(noise.arriving_dbm, mode.rx_max_dbm)
    least = -math.inf if mode.rx_min_dbm is None else mode.rx_min_dbm - 1e-9
    dispersion = penalty_db(mode.cd_penalty, journey.dispersion_ps_nm)
    pmd = penalty_db(mode.pmd_penalty, journey.pmd_ps)
    pdl = penalty_db(mode.pdl_penalty, journey.pdl_db)
    power = np.where(received < least, np.inf, 0.0)
    penalties = dispersion + pmd + pdl + power
    required = math.inf if mode.required_osnr_db is None else mode.required_osnr_db
    reserve = policy.margin_db + policy.ageing_db + journey.allowance_db
    margin = -10 * np.log10(noise.total) - required - penalties - reserve
    return Verdict(received, dispersion, pmd, pdl, power, penalties, margin)
