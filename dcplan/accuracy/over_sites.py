"""Published runs over several sites, pods or slices: `data/sites/*.toml`, a file per set.

What is compared is an efficiency: tokens per second over those of the same accelerators in one site, or over those of
one of the sites times their number.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.accuracy.runs import data
from dcplan.accuracy.workloads import work
from dcplan.model.network import pair
from dcplan.training.engine import one_site, step_time
from dcplan.training.step import Links

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.training.step import Layout, Workload


@dataclass(frozen=True, slots=True)
class SiteRun:
    """One published run."""

    id: str
    workload: Workload
    layout: Layout
    links: Links
    alone: tuple[Workload, Layout]
    """What it is compared with, in one site."""
    times: int
    """How many of those it is compared with."""
    reported_percent: float


@dataclass(frozen=True, slots=True)
class SiteSet:
    """Runs of one source."""

    name: str
    title: str
    source: str
    confidence: str
    note: str
    at_least: bool
    """What was reported is a bound from below."""
    runs: tuple[SiteRun, ...]


@cache
def site_sets() -> Mapping[str, SiteSet]:
    """All sets by name."""
    found = {}
    for name, table in data("sites").items():
        common = table.get("common", {})
        runs = tuple(_run(run, {**common, **row}) for run, row in table["runs"].items())
        about = (table["title"], table["source"], table["confidence"], table.get("note", ""))
        found[name] = SiteSet(name, *about, table.get("at_least", False), runs)
    return found


def _run(name: str, row: Mapping[str, Any]) -> SiteRun:
    """A row: `sites` alike, joined two by two with rate_gbps and latency_ms, the batch that of all of them.

    compared_with: one-site (the same job in one site) or a-site (one of the sites with its part of the batch).
    """
    sites = row["sites"]
    load, plan = work(name, row, sites)
    ends = [pair(a.site, b.site) for a, b in itertools.combinations(load.shares, 2)]
    links = Links(dict.fromkeys(ends, float(row["rate_gbps"])), dict.fromkeys(ends, float(row["latency_ms"])))
    alone, times = (load, plan), 1
    if row["compared_with"] == "a-site":
        alone, times = _one_of(load, plan, sites), sites
    return SiteRun(name, load, plan, links, alone, times, float(row["reported_percent"]))


def _one_of(load: Workload, plan: Layout, sites: int) -> tuple[Workload, Layout]:
    one = replace(load, shares=load.shares[:1], batch=load.batch // sites)
    return one, replace(plan, dp=plan.dp // sites, across="none")


def predicted_percent(run: SiteRun) -> float:
    """Ours [%]."""
    together = step_time(run.workload, run.layout, run.links).tokens_per_s
    return 100 * together / (run.times * one_site(*run.alone).tokens_per_s)
