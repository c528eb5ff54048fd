"""Published memory of single accelerators: `data/memory/*.toml`, a file per set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.accuracy.runs import data
from dcplan.accuracy.workloads import work
from dcplan.training.memory import memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.training.step import Layout, Workload

GIB = 2**30
"""Bytes; what frameworks report, beside GB = 10^9 bytes in everything else."""


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """One published figure."""

    id: str
    workload: Workload
    layout: Layout
    part: str
    """total, activations, or state: weights, gradients and optimizer."""
    gib: float


@dataclass(frozen=True, slots=True)
class MemorySet:
    """Figures of one source."""

    name: str
    title: str
    source: str
    confidence: str
    note: str
    runs: tuple[MemoryRun, ...]


@cache
def memory_sets() -> Mapping[str, MemorySet]:
    """All sets by name."""
    found = {}
    for name, table in data("memory").items():
        common = table.get("common", {})
        runs = tuple(_run(run, {**common, **row}) for run, row in table["runs"].items())
        found[name] = MemorySet(name, table["title"], table["source"], table["confidence"], table.get("note", ""), runs)
    return found


def _run(name: str, row: Mapping[str, Any]) -> MemoryRun:
    return MemoryRun(name, *work(name, row), row["part"], float(row["gib"]))


def predicted_gib(run: MemoryRun) -> float:
    """Ours [GiB]."""
    found = memory(run.workload, run.layout)
    parts = {
        "total": found.total_gb,
        "activations": found.activations_gb,
        "state": found.weights_gb + found.gradients_gb + found.optimizer_gb,
    }
    return parts[run.part] * 1e9 / GIB
