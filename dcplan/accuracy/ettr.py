"""Published effective training time ratios: `data/ettr/*.toml`, a file per set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.accuracy.runs import data
from dcplan.training.goodput.checkpoint import Writing, cycle
from dcplan.training.goodput.failures import PUBLISHED_H, mtbf_s
from dcplan.training.goodput.renewal import by_hand, efficiency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.training.goodput.renewal import Cycle

STEP_S = 10.0
"""Checkpoints come between steps; those of these runs are not published."""


@dataclass(frozen=True, slots=True)
class EttrRun:
    """One published ratio."""

    id: str
    cycle: Cycle
    by_hand: bool
    """It was worked out to first order, not measured."""
    reported_percent: float


@dataclass(frozen=True, slots=True)
class EttrSet:
    """Ratios of one source."""

    name: str
    title: str
    source: str
    confidence: str
    note: str
    at_least: bool
    runs: tuple[EttrRun, ...]


@cache
def ettr_sets() -> Mapping[str, EttrSet]:
    """All sets by name."""
    found = {}
    for name, table in data("ettr").items():
        common, hand = table.get("common", {}), table.get("by_hand", False)
        runs = tuple(_run(run, {**common, **row}, hand=hand) for run, row in table["runs"].items())
        about = (table["title"], table["source"], table["confidence"], table.get("note", ""))
        found[name] = EttrSet(name, *about, table.get("at_least", False), runs)
    return found


def _run(name: str, row: Mapping[str, Any], *, hand: bool) -> EttrRun:
    """A row: failures by `cluster` or accelerator_mtbf_h, write_s 0 where writes do not block, the best interval."""
    mtbf_h = row.get("accelerator_mtbf_h", PUBLISHED_H[row["cluster"]])
    about = cycle(
        how=row.get("interval_s", "daly"),
        far_interval_s=None,
        writing=Writing(0.0, row.get("write_s", 0.0), row.get("local_s")),
        near_rate_per_s=1 / mtbf_s(row["accelerators"], mtbf_h),
        far_rate_per_s=0.0,
        detection_s=row.get("detection_s", 0.0),
        restart_s=row["restart_s"],
        step_s=STEP_S,
    )
    return EttrRun(name, about, hand, float(row["reported_percent"]))


def predicted_percent(run: EttrRun) -> float:
    """Ours [%]: exact, or to first order where that is what was published."""
    return 100 * (by_hand if run.by_hand else efficiency)(run.cycle)
