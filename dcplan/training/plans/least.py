"""What plans can be at best, all at once with numpy: no plan has a shorter step, more memory left or fewer bytes.

A search prices plans only as long as their bounds leave them a chance; tests hold bounds against what plans are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.training.memory import USABLE, smallest
from dcplan.training.pipeline.line import may_be_by_speed
from dcplan.training.plans.bounds import least_step_s
from dcplan.training.plans.far import far_s, least_bytes_gb
from dcplan.training.plans.inside import inside_s
from dcplan.training.plans.objectives import DIGITS, OBJECTIVES, tokens_per_usd
from dcplan.training.plans.weigh import memory_gb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.training.plans.table import Table
    from dcplan.training.step import Links, Workload

    Array = Any

ROUNDING = 1e-9
"""Sums in another order differ by less, relative to the sum."""


HALFWAY = 1e-6
"""Of the last digit: what lies no further above the half of it is rounded down, so that no bound is too high."""


def least_losses(found: Table, rows: Array, links: Links, loads: Sequence[Workload], usd_per_h: float | None) -> Array:
    """Of each row a lower bound of `objectives.Figures.losses`, a column for each of `OBJECTIVES`.

    loads: the job with each collective that a plan may use, where that is open.
    """
    import numpy as np

    load, at = found.workload, found.columns.at(rows)
    step_s = least_s(found, rows, links, loads)
    with np.errstate(divide="ignore"):  # where there is no bound
        per_usd = 1 / step_s * tokens_per_usd(load, 1.0, usd_per_h) if usd_per_h else np.zeros(len(rows))
    left_gb = USABLE * smallest(load).accelerator.hbm_gb - memory_gb(load, at)[0]
    if may_be_by_speed(load):
        left_gb = np.where(at.has("across", "pp"), np.inf, left_gb)
    sent_gb = least_bytes_gb(found, rows, at, loads)
    exact = {"step": step_s, "cost": -per_usd, "memory": -left_gb, "bytes": sent_gb}
    return np.stack([_rounded(exact[each]) for each in OBJECTIVES], axis=1)


def least_s(found: Table, rows: Array, links: Links, loads: Sequence[Workload]) -> Array:
    """Of each row a lower bound of the step [s]."""
    at = found.columns.at(rows)
    near = least_step_s(found.workload, at)
    exchange_s, rest_s = inside_s(found, rows, at, near)
    step_s: Array = (far_s(found, rows, at, near, exchange_s, links, loads) + rest_s) * (1 - ROUNDING)
    return step_s


def _rounded(values: Array) -> Array:
    """To so many digits, as `Figures.losses` are; halfway, and by a hair above that, down."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(values))) - (DIGITS - 1)
        digits = np.ceil(values / 10.0**power - 0.5 - HALFWAY)
        rounded = np.where(power < 0, digits / 10.0**-power, digits * 10.0**power)
    return np.where(np.isfinite(rounded), rounded, values)
