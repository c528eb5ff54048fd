"""The plan file: a versioned answer that `show`, `report`, `diff`, `verify` and `assess` read without solving anything.

No dates, host names or absolute paths: the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.assess.hollow import HollowCore
from dcplan.assess.result import Assessment
from dcplan.design.result import Design, JobCollective
from dcplan.errors import UsageError
from dcplan.model.existing import Existing
from dcplan.optics.budget import Lightpath, Line
from dcplan.training.across.parts import SitePart
from dcplan.training.goodput.chain import Goodput
from dcplan.training.outer.quality import Quality
from dcplan.training.step import Memory, Terms
from dcplan.training.transport.carried import Carried

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
class PlanState:
    """A state that the plan is about: what is gone in it."""

    name: str
    fibers: tuple[str, ...]
    sites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CircuitInfo:
    """A circuit as the report shows it."""

    name: str
    a: str
    b: str
    latency_ms: float
    offers: Mapping[str, float]
    """Module -> rate of one in each direction [Gb/s]."""
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
    quality: Quality | None = None
    """What it costs in learning; none for a plan that synchronises in every step."""
    goodput: Goodput | None = None
    """What is left of its healthy speed, failures of sites and network apart; none where the file asks for none."""
    collective: str = ""
    """How its sites sum gradients; empty where they are fewer than three, or do not."""
    parts: tuple[SitePart, ...] = ()
    """What falls on each site, where accelerators are not alike."""
    equal_s: float | None = None
    """The step in equal parts, where they are by speed: the oldest would set the pace [s]."""
    transport: tuple[Carried, ...] = ()
    """What each pair of sites carries, healthy and in its worst promised failure; none where the job says nothing."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the answer rests on, with where it comes from."""

    what: str
    value: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """The network of a period before the last, with its traffic."""

    design: Design
    assessment: Assessment
    plans: tuple[PlanRow, ...]
    existing: Existing | None
    """What it found lit."""
    lightpaths: tuple[Lightpath, ...]
    """With its own ROADMs."""
    collectives: tuple[JobCollective, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    hollow: HollowCore | None = None


@dataclass(frozen=True, slots=True)
class PeriodCost:
    """A period of growth: what is asked, and what is paid in it."""

    name: str
    after_years: float
    years: float
    """How long it lasts."""
    demand_percent: float
    price_percent: float
    bought_usd: float
    """Once, at the prices of the period [US$]."""
    running_usd: float
    """Lease and energy of all that is lit, for as long as the period lasts [US$]."""
    bound_usd: float | None
    """Part of the bound of the whole: no plan pays less for this period's network (see `Growth`) [US$]."""
    earlier: Earlier | None = None
    """Of all periods but the last, whose network is that of the plan itself."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A plan in periods. Prices are plain sums, not discounted.

    With prices p, falling (else the least so far), and years d, what a network x of period k costs at least is
    (p_k − p_{k+1}) × purchase(x) + d_k × running(x), p after the last being 0: purchases add up over periods, and each
    network holds the one before. The least of this for each period by itself adds up to the bound of all.
    """

    periods: tuple[PeriodCost, ...]
    total_usd: float
    bound_usd: float | None
    """No sequence of networks, each with all of the one before, costs less [US$]."""
    at_once_usd: float | None
    """Buying all that the last period asks for in the first, and running it; none where time ran out [US$]."""
    at_once_status: str
    """optimal or feasible, or why there is none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a report needs."""

    format: int
    dcplan: str
    name: str
    description: str
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
    collectives: tuple[JobCollective, ...] = ()
    """How the sites of each job sum gradients, one entry per job in several sites."""
    hollow: HollowCore | None = None
    """What hollow core saves; none where no fiber has it."""
    states: tuple[PlanState, ...] = ()
    """The states of design and assessment, healthy first."""
    circuits: tuple[CircuitInfo, ...] = ()
    existing: Existing | None = None
    """What was lit before, by the topology file, an earlier plan, or an earlier period."""
    growth: Growth | None = None
    """Where there are periods; the plan itself is then that of the last one."""
    seal: str = ""
    """In a file, SHA-256 of all else in it: what was changed later is noticed, also where only a solver could tell."""


@cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def dumps(plan: Plan) -> str:
    """The plan as JSON text, numbers to nine significant digits, keys in the order of the types, the seal last."""
    text = _text(replace(plan, seal=""))
    return f'{text.removesuffix(_UNSEALED)} "seal": "{_seal(text)}"\n}}\n'


_UNSEALED = ' "seal": ""\n}\n'


def _text(plan: Plan) -> str:
    return json.dumps(rounded(plan), indent=1, ensure_ascii=False) + "\n"


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_sealed(plan: Plan) -> bool:
    """Nothing was changed in the file that the plan was read from, or its seal was made anew as well."""
    return not plan.seal or plan.seal == _seal(_text(replace(plan, seal="")))


def loads(text: str, name: str) -> Plan:
    """A plan from JSON text. UsageError, with the first fault, when `name` is not a plan file of this version."""
    from pydantic import ValidationError

    try:
        version = json.loads(text)["format"]
        if type(version) is not int:
            raise TypeError(version)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(f"{name} is not a plan file: make one with `dcplan plan FILE -o {name}`") from error
    if version != FORMAT:
        raise UsageError(f"{name} has plan format {version}, this dcplan reads format {FORMAT}: plan it again")
    try:
        plan = _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{name} is not a whole plan file: {where}: {first['msg']}") from error
    for lightpath in plan.lightpaths:
        if len(lightpath.route.sites) != len(lightpath.route.fibers) + 1:
            raise UsageError(
                f"{name} is not a whole plan file: the route of {lightpath.id} has a site or fiber too few"
            )
    if not plan.seal:
        raise UsageError(f"{name} has no seal, so that nobody can tell whether it was changed: plan it again")
    return plan


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a plan file."""
    schema = _adapter().json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dcplan plan", **schema}


def rounded(result: Any) -> Any:
    """Any result as plain data, as it stands in a plan file: nine significant digits, none for what is not finite."""
    from pydantic import TypeAdapter

    return _rounded(TypeAdapter(Any).dump_python(result))


def alike(one: Any, other: Any) -> bool:
    """Two results say the same, but for the rounding of a plan file and what follows from it."""
    return _alike(rounded(one), rounded(other))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float) and not isinstance(one, bool):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        number = float(f"{value:.9g}")
        return int(number) if number.is_integer() else number
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
