"""The plan file: a versioned answer that `show`, `report`, `diff`, `verify` and `assess` read without solving anything.

No dates, host names or absolute paths: the same input gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.assess.result import Assessment
from dcplan.design.result import Design
from dcplan.optics.budget import Line, Lightpath
from dcplan.training.step import Memory, Terms

FORMAT = 1
"""Version of the plan file; a new major number breaks readers."""


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """A site as the report shows it."""

    name: str
    kind: str
    lat: float
    lon: float
    accelerators: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FiberInfo:
    """A fiber as the report shows it."""

    name: str
    a: str
    b: str
    type: str
    length_km: float
    latency_ms: float
    pairs: int
    shared_risk: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One parallelism plan of a job, compared on the designed network."""

    job: str
    plan: str
    layout: str
    """TP × CP × PP × EP × DP in words."""
    across: str
    fits: bool
    why_not: str
    chosen: bool
    """The network is sized for it."""
    step_s: float | None
    one_site_s: float | None
    overhead_percent: float | None
    overhead_worst_percent: float | None
    """In the worst promised failure that leaves all its sites alive [%]."""
    terms: Terms | None
    memory: Memory | None
    cross_site_gb: float | None
    """Largest over pairs of sites, each direction [GB per step]."""
    needed_gbps: float | None
    """Largest rate over pairs of sites at which the healthy target holds [Gb/s]."""
    mfu_percent: float | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the answer rests on, with where it comes from."""

    what: str
    value: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a report needs."""

    format: int
    dcplan: str
    name: str
    inputs: Mapping[str, str]
    """File as named -> SHA-256 of its bytes."""
    options: Mapping[str, str]
    sites: tuple[SiteInfo, ...]
    fibers: tuple[FiberInfo, ...]
    lines: tuple[Line, ...]
    lightpaths: tuple[Lightpath, ...]
    """All candidates; those that are lit stand in design.wavelengths."""
    design: Design
    assessment: Assessment
    plans: tuple[PlanRow, ...]
    assumptions: tuple[Assumption, ...]


# load, dump and JSON Schema: see dcplan.planfile functions `loads`, `dumps`, `json_schema` below.
