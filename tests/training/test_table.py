"""Plans side by side in arrays: what they are by themselves, and bounds that they never beat."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache
from typing import Any

import pytest

from dcplan.model.job import ParallelismPlan
from dcplan.model.network import pair
from dcplan.training.across.patterns import KINDS, Collective
from dcplan.training.layout import checked
from dcplan.training.memory import USABLE, memory
from dcplan.training.plans.explore import Weighing, explore, weigh_named
from dcplan.training.plans.least import least_losses, least_s
from dcplan.training.plans.objectives import OBJECTIVES, figures
from dcplan.training.plans.search import called, name
from dcplan.training.plans.space import WHOLE, Space
from dcplan.training.plans.table import FITS, Table, candidates, table
from dcplan.training.plans.table import KINDS as KINDS_OF_ROW
from dcplan.training.plans.weigh import memory_gb
from dcplan.training.step import Links, Misfit, Workload

from .records import model, share

JOBS: dict[str, tuple[str, dict[str, tuple[str, int]], int, int, str]] = {
    "sites": ("llama3-8b", dict.fromkeys("abc", ("h100-sxm", 16)), 48, 8192, "equal"),
    "alone": ("megatron-22b", {"a": ("a100-sxm-80gb", 64)}, 96, 2048, "equal"),
    "experts": ("qwen3-30b-a3b", dict.fromkeys("ab", ("h100-sxm", 16)), 32, 4096, "equal"),
    "unlike": ("llama3-8b", {"a": ("h100-sxm", 16), "b": ("a100-sxm-80gb", 16)}, 32, 4096, "equal"),
    "by speed": ("llama3-8b", {"a": ("h100-sxm", 8), "b": ("a100-sxm-80gb", 8)}, 16, 4096, "by-speed"),
}
"""Model, accelerators by site, sequences in a step, their tokens, split."""
FEW = Space(ParallelismPlan(cp=1, recompute="full", schedule="1f1b", sequence_parallel=True, microbatch=1))
BY_SPEED = Space(ParallelismPlan(cp=1, recompute="full", sharding=1, sequence_parallel=True, sync="hierarchical"))
SAMPLED = 80


@cache
def load(job: str) -> Workload:
    what, sites, batch, tokens, split = JOBS[job]
    shares = tuple(share(site, part, count) for site, (part, count) in sites.items())
    return Workload("job", model(what), tokens, batch, "bf16", 32, shares, split=split)


@cache
def whole(job: str) -> Table:
    return table(load(job), BY_SPEED if job == "by speed" else WHOLE)


def links(job: str, gbps: float, ms: float) -> Links:
    pairs = list(itertools.starmap(pair, itertools.combinations(JOBS[job][1], 2)))
    return Links(dict.fromkeys(pairs, gbps), {ends: ms * (1 + i) for i, ends in enumerate(pairs)})


def some(rows: object, seed: int, count: int = SAMPLED) -> list[int]:
    every = [int(row) for row in rows]  # type: ignore[attr-defined]
    return random.Random(seed).sample(every, min(count, len(every)))


def fitting(found: Table, seed: int) -> Any:
    """Some rows that fit, as an array."""
    rows = (found.kind == FITS).nonzero()[0]
    return rows[some(range(len(rows)), seed)]


@pytest.mark.parametrize("job", JOBS)
def test_rows_are_what_a_plan_is_by_itself(job: str) -> None:
    work, found = load(job), whole(job)
    used, in_host = memory_gb(work, found.columns)
    of_each_kind = [some((found.kind == kind).nonzero()[0], kind) for kind in range(len(KINDS_OF_ROW))]
    assert all(of_each_kind[i] for i, kind in enumerate(KINDS_OF_ROW) if kind in {"fits", "batch"})
    for row in itertools.chain(*of_each_kind):
        layout = found.layout(row)
        alone = checked(layout, work)
        assert (alone.kind if isinstance(alone, Misfit) else "fits") == KINDS_OF_ROW[found.kind[row]]
        if isinstance(alone, Misfit) and alone.kind != "memory":
            continue
        held = memory(work, layout)
        assert used[row] == pytest.approx(held.total_gb, rel=1e-12)
        assert in_host[row] == pytest.approx(held.host_gb, rel=1e-12)


@pytest.mark.parametrize("pin", [{"extra_in_flight": 2}, {"optimizer_offload_percent": 50.0}, {"shard_size": 2}])
def test_so_they_are_with_keys_that_no_search_varies(pin: dict[str, float]) -> None:
    work = load("unlike")
    found = table(work, Space(ParallelismPlan.model_validate(pin)))
    used, in_host = memory_gb(work, found.columns)
    for row in some((found.kind == FITS).nonzero()[0], 1, 60):
        layout = found.layout(row)
        assert checked(layout, work) == layout
        held = memory(work, layout, (layout.extra_in_flight or 0) if layout.across == "pp" else 0)
        assert (used[row], in_host[row]) == pytest.approx((held.total_gb, held.host_gb), rel=1e-12)
        assert held.total_gb <= USABLE * held.capacity_gb


@pytest.mark.parametrize(("gbps", "ms"), [(math.inf, 0.0), (400.0, 3.0), (math.inf, 20.0), (50.0, 0.1)])
@pytest.mark.parametrize("job", JOBS)
def test_no_plan_beats_its_bounds(job: str, gbps: float, ms: float) -> None:
    work, found, between = load(job), whole(job), links(job, gbps, ms)
    rows = fitting(found, round(ms))
    exactly, to_digits = least_s(found, rows, between, [work]), least_losses(found, rows, between, [work], 2.0)
    for i, row in enumerate(rows):
        layout = found.layout(row)
        alone = figures(work, layout, between, 2.0)
        assert exactly[i] <= alone.step_s, name(layout)
        for each, bound in zip(OBJECTIVES, to_digits[i], strict=True):
            assert bound <= alone.losses[each], (each, name(layout))


def test_bounds_are_close_where_nothing_is_far() -> None:
    """Otherwise a search would price everything. That of v-half and v-min is loose."""
    for job in ("sites", "alone", "experts"):
        work, found, near = load(job), whole(job), links(job, math.inf, 0.0)
        rows = fitting(found, 5)
        least = least_s(found, rows, near, [work])
        ratios = [
            bound / figures(work, found.layout(row), near, None).step_s for bound, row in zip(least, rows, strict=True)
        ]
        assert sorted(ratios)[len(ratios) // 2] > 0.9


@pytest.mark.parametrize(
    ("job", "gbps", "ms"),
    [("sites", 400.0, 3.0), ("sites", math.inf, 1.0), ("unlike", 400.0, 3.0), ("by speed", math.inf, 1.0)],
)
def test_a_search_is_as_if_all_had_been_priced(job: str, gbps: float, ms: float) -> None:
    collectives = tuple(map(Collective, KINDS)) if job == "sites" else ()
    by = Weighing(load(job), links(job, gbps, ms), collectives, objective="bytes")
    found = explore(by, table(load(job), FEW))
    alone = weigh_named(by, list(candidates(load(job), FEW)), [])
    for part in ("ranked", "best", "over", "front", "apart", "weighed"):
        assert getattr(found, part) == getattr(alone, part)


def test_ways_that_change_what_is_learnt_stand_apart() -> None:
    found = explore(Weighing(load("sites"), links("sites", 400.0, 3.0)), table(load("sites"), FEW))
    apart = {layout.name: layout for layout in found.layouts if layout.outer}
    assert set(found.apart) == set(apart)
    assert {(layout.sync, layout.outer.every_steps) for layout in apart.values() if layout.outer} == {
        ("local-sgd", 30), ("local-sgd", 100), ("streaming", 100), ("parameter-server", 30)
    }  # fmt: skip
    assert not set(apart) & {*found.ranked, *found.front, *found.best.values(), *found.over.values()}


def test_a_plan_is_found_by_its_name() -> None:
    found = whole("experts")
    for row in some((found.kind == FITS).nonzero()[0], 3, 20):
        layout = called(found, name(found.layout(row)))
        assert layout is not None
        assert layout.name == name(found.layout(row))
        assert called(found, f"{layout.name}-x") is None
    assert called(found, "tp8") is None
