"""The comparison with published runs: each set with its rows, and how far off they are, fitted and tested apart."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from dcplan.accuracy import ettr
from dcplan.accuracy.fit import predicted_s
from dcplan.accuracy.memory import MemorySet, memory_sets, predicted_gib
from dcplan.accuracy.outer import OuterSet, outer_sets
from dcplan.accuracy.over_schedules import ScheduleSet, gain_percent, schedule_sets
from dcplan.accuracy.over_sites import SiteSet, predicted_percent, site_sets
from dcplan.accuracy.runs import RunSet, run_sets
from dcplan.catalog.load import shipped
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dcplan.catalog.parts import Accelerator, Calibration

AT_LEAST_SLACK = 2.0
"""Points by which a predicted efficiency may fall short of one that was reported as reached or passed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure and ours."""

    id: str
    measured: float
    predicted: float
    fitted: bool = False
    """A calibration was fitted on it."""
    calculon: float | None = None
    """What Calculon predicts for the same run."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Errors of several rows, in per cent or points."""

    n: int
    mean: float
    """Of the absolute errors: MAPE where errors are relative."""
    bias: float
    worst: float
    """The one that is largest without its sign."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A set of rows from one source."""

    name: str
    title: str
    quantity: str
    """step time, memory, throughput, efficiency, ETTR; where sites train by themselves bandwidth, exchange, use."""
    unit: str
    """Of what is measured: s, GiB, Gb/s or %."""
    source: str
    confidence: str
    note: str
    rows: tuple[Row, ...]
    at_least: bool = False
    """What was reported is a bound from below: ours is wrong where it is more than 2 points less, or over 100 %."""

    @property
    def error_unit(self) -> str:
        """% of what was measured, or pt (points) where that is itself in per cent."""
        return "pt" if self.unit == "%" else "%"

    def error(self, measured: float, predicted: float) -> float:
        """Relative error [%], or difference [points]."""
        return predicted - measured if self.unit == "%" else 100 * (predicted / measured - 1)

    def figures(self, *, fitted: bool) -> Figures | None:
        """Those of the rows that were fitted, or of those that were not; None without any."""
        return _figures([self.error(row.measured, row.predicted) for row in self.rows if row.fitted == fitted])

    def calculon(self, *, fitted: bool) -> Figures | None:
        """Calculon's own on the same rows, as far as it was run on them."""
        known = [row for row in self.rows if row.fitted == fitted]
        return _figures([self.error(row.measured, row.calculon) for row in known if row.calculon is not None])

    def missed(self) -> tuple[str, ...]:
        """Ids of rows of a bound that ours does not keep."""
        if not self.at_least:
            return ()
        kept = {row.id for row in self.rows if row.measured - AT_LEAST_SLACK <= row.predicted <= 100}
        return tuple(row.id for row in self.rows if row.id not in kept)


def _figures(errors: Sequence[float]) -> Figures | None:
    if not errors:
        return None
    n = len(errors)
    return Figures(n, sum(map(abs, errors)) / n, sum(errors) / n, max(errors, key=abs))


def names() -> tuple[str, ...]:
    """All sets: step times, memory, schedules, several sites, sites that train by themselves, what failures leave."""
    return (*run_sets(), *memory_sets(), *schedule_sets(), *site_sets(), *outer_sets(), *ettr.ettr_sets())


def own_comparison(path: Path) -> Comparison:
    """The runs of a file of one's own. UsageError for whatever is wrong with them."""
    from dcplan.accuracy.own import own_set

    return _times(own_set(path))


def comparisons(chosen: Iterable[str] = ()) -> tuple[Comparison, ...]:
    """The sets with these names, or all of them. UsageError for a name that is not there."""
    wanted = tuple(chosen) or names()
    for name in wanted:
        if name not in names():
            near = get_close_matches(name, names(), 1)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names())}"
            raise UsageError(f"there is no set `{name}`: {hint}")
    return tuple(_comparison(name) for name in names() if name in wanted)


@cache
def _comparison(name: str) -> Comparison:
    if name in run_sets():
        return _times(run_sets()[name])
    if name in memory_sets():
        return _memory(memory_sets()[name])
    if name in schedule_sets():
        return _schedules(schedule_sets()[name])
    if name in site_sets():
        return _sites(site_sets()[name])
    return _outer(outer_sets()[name]) if name in outer_sets() else _ettr(ettr.ettr_sets()[name])


@cache
def fitted_ids() -> frozenset[str]:
    """Ids of the runs that some calibration, or a constant of an accelerator, was fitted on."""
    entries = cast(
        "Iterable[Calibration | Accelerator]", (*shipped("calibrations").values(), *shipped("accelerators").values())
    )
    return frozenset(name for entry in entries for name in entry.fitted_on)


@cache
def _calculon() -> Mapping[str, float]:
    text = (files("dcplan.accuracy") / "data" / "calculon.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["step_s"])


def _times(group: RunSet) -> Comparison:
    known, fitted = _calculon(), fitted_ids()
    rows = tuple(
        Row(name, run.seconds, predicted_s(run), name in fitted, known.get(name)) for name, run in group.runs.items()
    )
    return Comparison(group.name, group.title, "step time", "s", group.source, group.confidence, group.note, rows)


def _memory(group: MemorySet) -> Comparison:
    rows = tuple(Row(run.id, run.gib, predicted_gib(run)) for run in group.runs)
    return Comparison(group.name, group.title, "memory", "GiB", group.source, group.confidence, group.note, rows)


def _outer(group: OuterSet) -> Comparison:
    rows = tuple(Row(row.id, row.published, row.predicted, row.fitted) for row in group.rows)
    about = (group.source, group.confidence, group.note)
    return Comparison(group.name, group.title, group.quantity, group.unit, *about, rows)


def _schedules(group: ScheduleSet) -> Comparison:
    rows = tuple(Row(run.id, run.reported_percent, gain_percent(run)) for run in group.runs)
    return Comparison(group.name, group.title, "throughput", "%", group.source, group.confidence, group.note, rows)


def _sites(group: SiteSet) -> Comparison:
    fitted = fitted_ids()
    rows = tuple(Row(run.id, run.reported_percent, predicted_percent(run), run.id in fitted) for run in group.runs)
    return Comparison(
        group.name, group.title, "efficiency", "%", group.source, group.confidence, group.note, rows, group.at_least
    )


def _ettr(group: ettr.EttrSet) -> Comparison:
    rows = tuple(Row(run.id, run.reported_percent, ettr.predicted_percent(run)) for run in group.runs)
    return Comparison(
        group.name, group.title, "ETTR", "%", group.source, group.confidence, group.note, rows, group.at_least
    )
