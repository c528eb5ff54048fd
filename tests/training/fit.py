"""How a calibration is fitted to published runs; the results stand in the catalog, the tests fit anew where they ask.

Minimises the sum over sets of the mean absolute relative error by coordinate search with shrinking steps.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training.engine import one_site

if TYPE_CHECKING:
    from dcplan.catalog.parts import Calibration

    from .records import Record

KEYS = ("gemm_efficiency", "memory_efficiency", "scale_up_efficiency", "scale_out_efficiency", "layer_us", "step_ms")


def relative_error(record: Record, calibration: Calibration | None = None) -> float:
    """Predicted over measured step time, minus one."""
    work = record.workload
    if calibration is not None:
        work = replace(work, shares=(replace(work.shares[0], calibration=calibration),))
    return one_site(work, record.layout).step_s / record.seconds - 1


def mape(records: list[Record], calibration: Calibration | None = None) -> float:
    """Mean absolute relative error [%]."""
    return 100 * sum(abs(relative_error(record, calibration)) for record in records) / len(records)


def fit(start: Calibration, sets: list[list[Record]], rounds: int = 14) -> Calibration:
    """The calibration near `start` that fits all sets best."""
    best, error = start, sum(mape(records, start) for records in sets)
    step = 0.2
    for _ in range(rounds):
        moved = False
        for key, sign in itertools.product(KEYS, (1, -1)):
            value = getattr(best, key) * (1 + sign * step)
            tried = best.model_copy(update={key: min(value, 0.9) if key.endswith("efficiency") else value})
            found = sum(mape(records, tried) for records in sets)
            if found < error - 1e-9:
                best, error, moved = tried, found, True
        step = step if moved else step / 2
    return best
