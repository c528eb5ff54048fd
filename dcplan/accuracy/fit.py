"""How calibrations are fitted to published runs.

Minimises the sum over sets of the root mean square of log(predicted / measured) by coordinate search with shrinking
steps: deterministic, and good enough for seven constants on curves this smooth. Squares rather than MAPE, since a
median of few runs would follow some of them and forget the others.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training.engine import one_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.accuracy.runs import Run
    from dcplan.catalog.parts import Calibration

KEYS = (
    "gemm_efficiency",
    "memory_efficiency",
    "scale_up_efficiency",
    "scale_out_efficiency",
    "layer_us",
    "step_ms",
    "moe_efficiency",
)
"""What a fit may move."""
START: Mapping[str, float] = {
    "gemm_efficiency": 0.7,
    "memory_efficiency": 0.7,
    "scale_up_efficiency": 0.8,
    "scale_out_efficiency": 0.8,
    "layer_us": 100.0,
    "step_ms": 50.0,
    "moe_efficiency": 0.5,
}
"""Where a fit anew starts, so that it gives the same whatever stood there before."""
CEILING = 0.9
"""No efficiency is fitted above it: kernels and collectives that are measured alone do not reach more."""


def predicted_s(run: Run, calibration: Calibration | None = None) -> float:
    """Step time of a run [s], with its own calibration or another."""
    work = run.workload
    if calibration is not None:
        work = replace(work, shares=tuple(replace(share, calibration=calibration) for share in work.shares))
    return one_site(work, run.layout).step_s


def relative_error(run: Run, calibration: Calibration | None = None) -> float:
    """Predicted over measured step time, minus one."""
    return predicted_s(run, calibration) / run.seconds - 1


def mape(runs: Iterable[Run], calibration: Calibration | None = None) -> float:
    """Mean absolute relative error [%]."""
    errors = [abs(relative_error(run, calibration)) for run in runs]
    return 100 * sum(errors) / len(errors)


def _misfit(runs: Sequence[Run], calibration: Calibration) -> float:
    """Root of the mean squared logarithm of predicted over measured: twice as slow counts like twice as fast."""
    logs = [math.log(predicted_s(run, calibration) / run.seconds) for run in runs]
    return math.sqrt(sum(log * log for log in logs) / len(logs))


def fit(
    start: Calibration, sets: Sequence[Sequence[Run]], keys: Sequence[str] = KEYS[:-1], rounds: int = 14
) -> Calibration:
    """The calibration near `start` that fits all sets best, moving only `keys`."""
    best, error = start, sum(_misfit(runs, start) for runs in sets)
    step = 0.2
    for _ in range(rounds):
        moved = False
        for key, sign in itertools.product(keys, (1, -1)):
            value = getattr(best, key) * (1 + sign * step)
            tried = best.model_copy(update={key: min(value, CEILING) if key.endswith("efficiency") else value})
            found = sum(_misfit(runs, tried) for runs in sets)
            if found < error - 1e-9:
                best, error, moved = tried, found, True
        step = step if moved else step / 2
    return best
