"""What hollow core saves against solid fiber: latency of each such fiber, step time of each job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Cell, Table, fixed, number, number_column, say, text_column

if TYPE_CHECKING:
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row

_COLUMNS = (
    text_column("what", "What", 10),
    number_column("latency_ms", "One way", "ms"),
    number_column("solid_ms", "In solid", "ms"),
    number_column("saved_ms", "Saves", "ms"),
    number_column("step_s", "Step", "s"),
    number_column("solid_step_s", "In solid", "s"),
    number_column("step_saved_ms", "Saves", "ms a step"),
)


def tables(plan: Plan) -> tuple[Table, ...]:
    """The saving of each hollow-core fiber and of each job; nothing where no fiber has a hollow core."""
    if plan.hollow is None:
        return ()
    rows: list[Row] = []
    for fiber in plan.hollow.fibers:
        name = fiber.fiber if fiber.lit else f"{fiber.fiber} (dark)"
        rows.append((say(name), *_latency(fiber.latency_ms, fiber.solid_ms), *[number(None)] * 3))
    for job in plan.hollow.jobs:
        gain = None if job.step_s is None or job.solid_step_s is None else 1e3 * (job.solid_step_s - job.step_s)
        steps = (fixed(job.step_s, 4), fixed(job.solid_step_s, 4), fixed(gain, 3))
        rows.append((say(f"job {job.job}"), *_latency(job.latency_ms, job.solid_ms), *steps))
    note = (
        "Against the same routes in solid fiber (group index 1.468). A job: its longest route in use, healthy, at the "
        "rates of the plan; what hides behind compute saves nothing."
    )
    return (Table("hollow core", "What hollow core saves", _COLUMNS, tuple(rows), note=note),)


def _latency(here_ms: float, solid_ms: float) -> tuple[Cell, Cell, Cell]:
    return fixed(here_ms, 3), fixed(solid_ms, 3), fixed(solid_ms - here_ms, 3)
