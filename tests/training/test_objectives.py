"""The front against looking at every pair; the search over everything against sorting everything."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.job import ParallelismPlan
from dcplan.training.engine import step_time
from dcplan.training.memory import USABLE
from dcplan.training.plans.explore import RANKED, Weighing, explore, weigh_named
from dcplan.training.plans.objectives import OBJECTIVES, figures, front
from dcplan.training.plans.search import name
from dcplan.training.plans.space import Space
from dcplan.training.plans.table import Table, candidates, table
from dcplan.training.step import Layout, Links, Misfit, StepTime, Workload

from .records import model, share

few = st.integers(0, 4).map(float)


@given(st.lists(st.tuples(few, few, few), max_size=30))
@settings(derandomize=True, deadline=None)
def test_the_front_is_all_that_nothing_beats(points: list[tuple[float, float, float]]) -> None:
    def beats(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    expected = {point for point in points if not any(beats(other, point) for other in points)}
    found = front((point, (point, i)) for i, point in enumerate(points))
    assert {point for point, _ in found} == expected
    assert len(found) == len(expected)
    assert [point for point, _ in found] == sorted(expected)
    assert all(points.index(point) == i for point, i in found)


def test_what_is_not_finite_is_on_no_front() -> None:
    assert front([((math.inf, 0.0), "a"), ((1.0, 1.0), "b")]) == ["b"]
    assert front([]) == []


def load(sites: str = "ab") -> Workload:
    shares = tuple(share(site, "h100-sxm", 16) for site in sites)
    return Workload("job", model("llama3-8b"), 8192, 32, "bf16", 32, shares)


LINKS = Links({("a", "b"): 3200.0}, {("a", "b"): 1.0})


def test_figures_by_hand() -> None:
    plan = next(candidates(load()))
    step = step_time(load(), plan, LINKS)
    found = figures(load(), plan, LINKS, 2.5)
    assert found.step_s == step.step_s
    assert found.tokens_per_usd == pytest.approx(32 * 8192 / (step.step_s / 3600 * 32 * 2.5))
    assert found.headroom_gb == pytest.approx(0.95 * 80 - step.memory.total_gb)
    assert found.cross_site_gb == max(step.cross_site_gb.values())
    assert figures(load(), plan, LINKS, None).tokens_per_usd is None
    assert tuple(found.losses) == tuple(OBJECTIVES)


@cache
def everything(sites: str) -> tuple[Table, list[Layout], dict[str, StepTime]]:
    work, space = (
        load(sites),
        Space(ParallelismPlan(cp=1, recompute="full", sequence_parallel=True, sync="hierarchical")),
    )
    every = list(candidates(work, space))
    return table(work, space), every, {name(plan): step_time(work, plan, LINKS) for plan in every}


@pytest.mark.parametrize("sites", ["a", "ab"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_explore_against_sorting_everything(sites: str, objective: str) -> None:
    by = Weighing(load(sites), LINKS, objective=objective, usd_per_h=2.0)
    found = explore(by, everything(sites)[0])
    every, known = everything(sites)[1:]
    assert found.fitting == len(every)
    assert found.priced < len(every) / 2
    whole = weigh_named(by, every, [])
    for part in ("ranked", "best", "over", "front", "apart", "weighed"):
        assert getattr(found, part) == getattr(whole, part)
    strict = {name(plan): known[name(plan)] for plan in every if plan.outer is None}
    exact = {
        "step": lambda plan: known[plan].step_s,
        "cost": lambda plan: known[plan].step_s,  # the same accelerators for every plan
        "memory": lambda plan: known[plan].memory.total_gb - USABLE * known[plan].memory.capacity_gb,
        "bytes": lambda plan: max(known[plan].cross_site_gb.values(), default=0.0),
    }
    assert set(found.best) == set(OBJECTIVES) - set(found.left_out)
    for each, best in found.best.items():
        assert exact[each](best) == pytest.approx(min(map(exact[each], strict)), rel=1e-3)
    losses = [exact[objective](plan) for plan in found.ranked]
    assert losses == pytest.approx(sorted(losses), rel=1e-3)
    assert 0 < len(found.ranked) <= RANKED
    for plan in strict:
        step, memory, size = (exact[each](plan) for each in ("step", "memory", "bytes"))
        assert any(
            exact["step"](other) <= step * 1.001
            and exact["memory"](other) <= memory + 1e-3 * abs(memory)
            and exact["bytes"](other) <= size * 1.001
            for other in found.front
        ), plan


def test_what_says_nothing_is_left_out_with_the_reason() -> None:
    found = explore(Weighing(load("a"), LINKS), everything("a")[0])
    assert set(found.left_out) == {"cost", "bytes"}
    assert set(found.best) == {"step", "memory"}


def test_progress_and_nothing_at_all() -> None:
    said: list[str] = []
    explore(Weighing(load(), LINKS), everything("ab")[0], said.append)
    assert said
    assert " plans looked at, " in said[0]
    nothing = weigh_named(Weighing(load(), LINKS), [], [Misfit("mine", "layout", "no")])
    assert (nothing.best, nothing.front, nothing.ranked, nothing.fitting) == ({}, (), (), 0)
    assert nothing.misfits
