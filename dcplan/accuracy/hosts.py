"""Fits what its host costs an accelerator to published runs: a message to another site, and a launch."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.accuracy.fit import relative_error
from dcplan.accuracy.over_sites import predicted_percent, site_sets
from dcplan.accuracy.runs import all_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.accuracy.over_sites import SiteRun
    from dcplan.accuracy.runs import Run
    from dcplan.catalog.parts import Accelerator
    from dcplan.training.step import Workload

HIGHEST_US = 10_000.0
HIGHEST_LAUNCH_US = 200.0
_SHORTER = (math.sqrt(5) - 1) / 2


def fitted_message_us(part: Accelerator) -> float:
    """site_message_us with the least root mean square of points on the runs that the accelerator names [µs].

    Golden-section search between 0 and 10 ms, rounded to 10 µs.
    """
    wanted = set(part.fitted_on)
    runs = [run for group in site_sets().values() for run in group.runs if run.id in wanted]
    return round(_least(lambda us: misfit(runs, us), HIGHEST_US, 1), -1)


def fitted_launch_us(part: Accelerator) -> float:
    """launch_us with the least root mean square of relative errors on the runs that the accelerator names [µs].

    They are runs whose host is far too slow, so that it depends on no other constant. Golden-section search between 0
    and 200 µs, rounded to 0.1 µs.
    """
    runs = [run for name, run in all_runs().items() if name in part.fitted_on]
    return round(_least(lambda us: launch_misfit(runs, us), HIGHEST_LAUNCH_US, 0.01), 1)


def misfit(runs: list[SiteRun], message_us: float) -> float:
    """Root mean square of predicted less reported efficiency, with this much for a message [points]."""
    changed = [_over_sites(run, site_message_us=message_us) for run in runs]
    return _root_mean_square([predicted_percent(run) - run.reported_percent for run in changed])


def launch_misfit(runs: list[Run], launch_us: float) -> float:
    """Root mean square of predicted over measured step time less one, with this much for a launch."""
    changed = [replace(run, workload=_with(run.workload, launch_us=launch_us)) for run in runs]
    return _root_mean_square([relative_error(run) for run in changed])


def _least(of: Callable[[float], float], high: float, width: float) -> float:
    """Where a function with one valley between 0 and `high` is least, by golden section."""
    low = 0.0
    while high - low > width:
        a, b = high - _SHORTER * (high - low), low + _SHORTER * (high - low)
        low, high = (low, b) if of(a) <= of(b) else (a, high)
    return (low + high) / 2


def _root_mean_square(errors: list[float]) -> float:
    return math.sqrt(sum(error * error for error in errors) / len(errors))


def _over_sites(run: SiteRun, **constants: float) -> SiteRun:
    return replace(
        run, workload=_with(run.workload, **constants), alone=(_with(run.alone[0], **constants), run.alone[1])
    )


def _with(load: Workload, **constants: float) -> Workload:
    shares = (replace(share, accelerator=share.accelerator.model_copy(update=constants)) for share in load.shares)
    return replace(load, shares=tuple(shares))
