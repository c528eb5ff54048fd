"""Published figures of sites that train by themselves: `data/outer/*.toml`, a file per set.

Tables of bandwidths, simulated by their authors, and measured runs: what an exchange takes, what is left of compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.accuracy.runs import data
from dcplan.training.outer.streaming import Passes, fragments, waits_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GRID_GBPS = tuple(10 ** (-1 + 4 * i / 49) for i in range(50))
"""Bandwidths that the authors of both tables tried: numpy.logspace(-1, 3, 50) [Gb/s]."""
TARGETS_PERCENT = (50, 80, 90, 95, 99)
"""Compute utilisations of their columns [%]."""


@dataclass(frozen=True, slots=True)
class OuterRow:
    """One published figure and ours."""

    id: str
    published: float
    predicted: float
    fitted: bool = False


@dataclass(frozen=True, slots=True)
class OuterSet:
    """Figures of one source."""

    name: str
    title: str
    quantity: str
    unit: str
    source: str
    confidence: str
    note: str
    rows: tuple[OuterRow, ...]


@cache
def outer_sets() -> Mapping[str, OuterSet]:
    """All sets by name."""
    found = {}
    for name, table in data("outer").items():
        runs = {run: {**table.get("common", {}), **row} for run, row in table["runs"].items()}
        kind, unit, rows = KINDS[table["kind"]]
        each = tuple(row for run, figures in runs.items() for row in rows(run, figures))
        found[name] = OuterSet(
            name, table["title"], kind, unit, table["source"], table["confidence"], table["note"], each
        )
    return found


def utilisation(row: Mapping[str, Any], gbps: float, pattern: str = "strided") -> float:
    """H T / (H T + waits): a third of a step forward, two thirds back, all parameters once over the link."""
    layers, step_s, every = row["layers"], row["step_s"], row["every_steps"]
    passes = Passes(layers, step_s / 3, 2 * step_s / 3, step_s)
    layer_s = row["bits"] * row["parameters_b"] / layers / gbps
    parts = fragments(layers, row.get("fragments", 1), pattern)
    waited_s = waits_s(passes, every, parts, row.get("overlap_steps", 0), layer_s, 0.0)
    return float(every * step_s / (every * step_s + waited_s))


def short_of(row: Mapping[str, Any], pattern: str = "strided") -> tuple[float, ...]:
    """For each target the last bandwidth of the grid that falls short of it, or the first of all [Gb/s]."""
    reached = [100 * utilisation(row, gbps, pattern) for gbps in GRID_GBPS]
    return tuple(GRID_GBPS[max(0, sum(value < target for value in reached) - 1)] for target in TARGETS_PERCENT)


def exchange_s(row: Mapping[str, Any], wire_bytes: float) -> float:
    """What one exchange keeps a run waiting, by our model [s]: `wire_bytes` of each parameter over a link."""
    step_s = row["step_s"]
    whole_s = 8 * wire_bytes * row["parameters_b"] / (row["link_mbps"] / 1e3)
    return waits_s(Passes(1, step_s / 3, 2 * step_s / 3, step_s), row["every_steps"], ((0,),), 0, whole_s, 0.0)


def measured_s(row: Mapping[str, Any]) -> float:
    """What one exchange kept a run waiting, by its utilisation [s]: steps T (1/CU − 1) / exchanges."""
    return float(row["steps"] * row["step_s"] * (100 / row["utilisation_percent"] - 1) / row["exchanges"])


def _bandwidths(name: str, row: Mapping[str, Any]) -> Iterator[OuterRow]:
    for target, published, ours in zip(TARGETS_PERCENT, row["gbps"], short_of(row), strict=False):
        yield OuterRow(f"{name} {target} %", min(GRID_GBPS, key=lambda gbps: abs(gbps - published)), ours)


def _exchanges(name: str, row: Mapping[str, Any]) -> Iterator[OuterRow]:
    yield OuterRow(name, measured_s(row), exchange_s(row, row["wire_bytes"]), row.get("fitted", False))


def _utilisations(name: str, row: Mapping[str, Any]) -> Iterator[OuterRow]:
    step_s, every = row["step_s"], row["every_steps"]
    waited_s = waits_s(Passes(1, step_s / 3, 2 * step_s / 3, step_s), every, ((0,),), 0, row["exchange_s"], 0.0)
    yield OuterRow(name, row["utilisation_percent"], 100 * every * step_s / (every * step_s + waited_s))


KINDS = {
    "bandwidth": ("bandwidth", "Gb/s", _bandwidths),
    "exchange": ("exchange", "s", _exchanges),
    "utilisation": ("utilisation", "%", _utilisations),
}
"""Of a file: what is compared, in which unit, and how a row of it becomes figures."""
