"""Published gains of pipeline schedules: `data/schedules/*.toml`, a file per set.

What is compared is tokens per second over those of the same run under 1F1B without virtual stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from dcplan.accuracy.runs import data
from dcplan.accuracy.workloads import work
from dcplan.training.engine import one_site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.training.step import Layout, Workload


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One published run."""

    id: str
    workload: Workload
    layout: Layout
    reported_percent: float


@dataclass(frozen=True, slots=True)
class ScheduleSet:
    """Runs of one source."""

    name: str
    title: str
    source: str
    confidence: str
    note: str
    runs: tuple[ScheduleRun, ...]


@cache
def schedule_sets() -> Mapping[str, ScheduleSet]:
    """All sets by name."""
    found = {}
    for name, table in data("schedules").items():
        runs = tuple(
            ScheduleRun(run, *work(run, {**table["common"], **row}), float(row["reported_percent"]))
            for run, row in table["runs"].items()
        )
        found[name] = ScheduleSet(name, table["title"], table["source"], table["confidence"], table["note"], runs)
    return found


def gain_percent(run: ScheduleRun) -> float:
    """Ours [%]."""
    plain = replace(run.layout, schedule="1f1b", virtual_stages=1)
    return 100 * one_site(run.workload, plain).step_s / one_site(run.workload, run.layout).step_s
