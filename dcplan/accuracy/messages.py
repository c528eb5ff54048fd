"""Fits what a message to another site costs its host to published runs over slices."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.accuracy.over_sites import predicted_percent, site_sets

if TYPE_CHECKING:
    from dcplan.accuracy.over_sites import SiteRun
    from dcplan.catalog.parts import Accelerator
    from dcplan.training.step import Workload

HIGHEST_US = 10_000.0
_SHORTER = (math.sqrt(5) - 1) / 2


def fitted_message_us(part: Accelerator) -> float:
    """site_message_us with the least root mean square of points on the runs that the accelerator names [µs].

    Golden-section search between 0 and 10 ms, rounded to 10 µs.
    """
    wanted = set(part.fitted_on)
    runs = [run for group in site_sets().values() for run in group.runs if run.id in wanted]
    low, high = 0.0, HIGHEST_US
    while high - low > 1:
        a, b = high - _SHORTER * (high - low), low + _SHORTER * (high - low)
        low, high = (low, b) if misfit(runs, a) <= misfit(runs, b) else (a, high)
    return round((low + high) / 2, -1)


def misfit(runs: list[SiteRun], message_us: float) -> float:
    """Root mean square of predicted less reported efficiency, with this much for a message [points]."""
    errors = [predicted_percent(_with(run, message_us)) - run.reported_percent for run in runs]
    return math.sqrt(sum(error * error for error in errors) / len(errors))


def _with(run: SiteRun, message_us: float) -> SiteRun:
    def changed(load: Workload) -> Workload:
        shares = (
            replace(share, accelerator=share.accelerator.model_copy(update={"site_message_us": message_us}))
            for share in load.shares
        )
        return replace(load, shares=tuple(shares))

    return replace(run, workload=changed(run.workload), alone=(changed(run.alone[0]), run.alone[1]))
