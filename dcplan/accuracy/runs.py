"""Published step times of single runs: `data/runs/*.toml`, a file per set."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dcplan.accuracy.workloads import work
from dcplan.training import shapes
from dcplan.training.site.machine import peak_tflops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.training.step import Layout, Workload


@dataclass(frozen=True, slots=True)
class Run:
    """One published run of a job in one site."""

    id: str
    workload: Workload
    layout: Layout
    seconds: float
    """Measured step time."""
    mfu_percent: float | None = None
    """Where that is what was published."""


@dataclass(frozen=True, slots=True)
class RunSet:
    """Runs of one source."""

    name: str
    title: str
    source: str
    confidence: str
    """high: published as it is used; medium: something about the runs is assumed."""
    note: str
    runs: Mapping[str, Run]


def data(folder: str) -> dict[str, dict[str, Any]]:
    """The TOML files of a folder of the data, by name."""
    there = files("dcplan.accuracy") / "data" / folder
    names = sorted(entry.name for entry in there.iterdir() if entry.name.endswith(".toml"))
    return {name.removesuffix(".toml"): tomllib.loads((there / name).read_text(encoding="utf-8")) for name in names}


@cache
def run_sets() -> Mapping[str, RunSet]:
    """All sets by name."""
    found = {}
    for name, table in data("runs").items():
        common = table.get("common", {})
        runs = {run: run_of(run, {**common, **row}) for run, row in table["runs"].items()}
        found[name] = RunSet(name, table["title"], table["source"], table["confidence"], table.get("note", ""), runs)
    return found


@cache
def all_runs() -> Mapping[str, Run]:
    """All runs by id."""
    return {name: run for group in run_sets().values() for name, run in group.runs.items()}


def run_of(name: str, row: Mapping[str, Any]) -> Run:
    """A row of the data with its measured step time."""
    load, plan = work(name, row)
    return Run(name, load, plan, _seconds(load, row), row.get("mfu_percent"))


def _seconds(load: Workload, row: Mapping[str, Any]) -> float:
    """Step time [s]: as published, or from tokens/s of one accelerator, or from MFU (causal attention half)."""
    if "seconds" in row:
        return float(row["seconds"])
    if "mfu_percent" in row:
        flops = shapes.model_flops(load.model, load.sequence_length, load.batch)
        peak = sum(share.count * (peak_tflops(share, load.precision) or 0.0) for share in load.shares) * 1e12
        return 100 * flops / peak / float(row["mfu_percent"])
    tokens = load.batch * load.sequence_length
    return tokens / load.accelerators / float(row["tokens_per_s_per_accelerator"])
