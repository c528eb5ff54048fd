"""`split: by-speed`: what unlike sites take of batch and layers, against equal parts and against every other split."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.across.parts import parts
from dcplan.training.across.place import places
from dcplan.training.engine import needed_rates, one_site, step_time, without_sites
from dcplan.training.layout import checked
from dcplan.training.memory import fits
from dcplan.training.pipeline.line import layers_by_speed, line, memory_of
from dcplan.training.replica import taken
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, Links, Workload
from dcplan.training.terms import cross_site_gb, no_distance

from .records import layout, model, share

OVER_DP = layout(768, tp=8, pp=2, dp=24, across="dp", shard_size=8, recompute="full")
OVER_PP = layout(96, tp=8, pp=12, dp=4, across="pp", recompute="full")


def job(kinds: dict[str, tuple[str, int]], batch: int, split: str = "by-speed") -> Workload:
    shares = tuple(share(site, kind, count) for site, (kind, count) in kinds.items())
    return Workload("job", model("llama3-70b"), 8192, batch, "bf16", 32, shares, split=split)


UNLIKE = {"new": ("h100-sxm", 192), "old": ("a100-sxm-80gb", 192)}


def near(load: Workload, plan: Layout) -> float:
    return step_time(load, plan, no_distance(load)).step_s


def test_a_batch_goes_by_speed_and_no_other_whole_split_is_faster() -> None:
    load = job(UNLIKE, 768)
    new, old = parts(load, OVER_DP, no_distance(load))
    assert sum(taken(load, OVER_DP)) == 768
    assert new.batch_percent + old.batch_percent == pytest.approx(100)
    assert new.microbatch_s < old.microbatch_s
    assert abs(new.busy_s - old.busy_s) <= 2 * old.microbatch_s  # a microbatch, and the bubble that an old one makes
    equal = near(replace(load, split="equal"), OVER_DP)
    here = near(load, OVER_DP)
    assert here < 0.8 * equal
    each = {kind: job({"a": (kind, 192)}, 384, "equal") for kind in ("h100-sxm", "a100-sxm-80gb")}
    alone = layout(384, tp=8, pp=2, dp=12, shard_size=8, recompute="full")
    steps = []
    for fast in range(1, 64):  # microbatches of a new rank; an old one takes the rest of 64 between the two
        per = {"h100-sxm": fast, "a100-sxm-80gb": 64 - fast}
        own = {
            kind: step_time(
                replace(load, batch=12 * per[kind]), replace(alone, microbatches=per[kind]), no_distance(load)
            ).step_s
            for kind, load in each.items()
        }
        steps.append(max(own.values()))
    assert here == pytest.approx(min(steps), rel=0.02)  # beside it the exchange between sites
    assert here >= min(steps) * (1 - 1e-9)


def test_interleaved_stages_take_whole_rounds() -> None:
    load, plan = job(UNLIKE, 768), replace(OVER_DP, virtual_stages=5)
    here = taken(load, plan)
    assert sum(here) == 768
    new, old = parts(load, plan, no_distance(load))
    for part in (new, old):
        assert (part.busy_s / part.microbatch_s) % plan.pp == pytest.approx(0, abs=1e-6)


def test_what_is_alike_is_split_equally() -> None:
    alike = job({"a": ("h100-sxm", 192), "b": ("h100-sxm", 192)}, 768)
    for plan in (OVER_DP, replace(OVER_PP, microbatches=24)):
        assert near(alike, plan) == near(replace(alike, split="equal"), plan)
    assert parts(alike, OVER_DP, no_distance(alike)) == ()


def test_each_site_of_a_pipeline_says_what_is_in_flight_and_what_that_takes() -> None:
    load = job(dict.fromkeys("abc", ("h100-sxm", 128)), 96, "equal")
    pairs = {("a", "b"): 40.0, ("b", "c"): 10.0, ("a", "c"): 50.0}
    links = Links(dict.fromkeys(pairs, 400.0), pairs)
    found, step = parts(load, OVER_PP, links), step_time(load, OVER_PP, links)
    ahead = [part.extra_in_flight for part in found]
    assert ahead[0] > ahead[1] > ahead[2] == 0
    assert [part.layers for part in found] == pytest.approx([26.7, 26.7, 26.7], abs=1.5)
    assert found[0].memory_gb == pytest.approx(step.memory.total_gb)
    assert found[0].memory_gb > found[1].memory_gb > found[2].memory_gb
    few = parts(load, replace(OVER_PP, extra_in_flight=2), links)
    assert [part.extra_in_flight for part in few] == [4, 2, 0]


def test_layers_go_by_speed_as_memory_holds_them() -> None:
    load = job(UNLIKE, 96)
    where, boxes = places(load, OVER_PP), machines(load)
    held = layers_by_speed(load, OVER_PP, where, boxes)
    assert held is not None
    count = [kind.dense for kind in held]
    assert sum(count) == load.model.layers
    assert min(count[:6]) > max(count[6:])
    slowest = max(stage.total_s for stage in line(load, OVER_PP, where, boxes))
    whole = replace(load, split="equal")
    assert slowest < 0.8 * max(stage.total_s for stage in line(whole, OVER_PP, where, boxes))
    assert near(load, OVER_PP) < 0.8 * near(whole, OVER_PP)
    new, old = parts(load, OVER_PP, no_distance(load))
    assert new.layers + old.layers == load.model.layers
    assert new.memory_gb > old.memory_gb
    assert fits(memory_of(load, OVER_PP))
    assert memory_of(load, OVER_PP).total_gb == pytest.approx(max(new.memory_gb, old.memory_gb), rel=0.2)


def test_memory_binds_before_speed() -> None:
    """Where the fast site has little memory the slow one takes more layers than its speed asks for."""
    small = share("new", "h100-sxm", 192)
    small = replace(small, accelerator=small.accelerator.model_copy(update={"hbm_gb": 40.0}))
    free, tight = job(UNLIKE, 96), replace(job(UNLIKE, 96), shares=(small, share("old", "a100-sxm-80gb", 192)))
    plan = replace(OVER_PP, recompute="selective", sharding=0)
    found = []
    for load in (free, tight):
        held = layers_by_speed(load, plan, places(load, plan), machines(load))
        assert held is not None
        found.append(sum(kind.dense for kind in held[:6]))
        part, _ = parts(load, plan, no_distance(load))
        assert part.memory_gb <= part.capacity_gb
    assert found[1] < found[0]
    tiny = replace(small, accelerator=small.accelerator.model_copy(update={"hbm_gb": 1.0}))
    none = replace(free, shares=(tiny, free.shares[1]))
    assert layers_by_speed(none, plan, places(none, plan), machines(none)) is None
    assert not isinstance(checked(replace(plan, shard_size=0), none), Layout)


@given(
    rate=st.floats(50, 1e5), factor=st.floats(1, 8), latency=st.floats(0, 30), more=st.floats(0, 20),
    plan=st.sampled_from((OVER_DP, OVER_PP, replace(OVER_PP, extra_in_flight=1))),
)  # fmt: skip
@settings(derandomize=True, deadline=None, max_examples=40)
def test_order_and_no_distance(rate: float, factor: float, latency: float, more: float, plan: Layout) -> None:
    load = job(UNLIKE, plan.dp * plan.microbatches)

    def step_s(gbps: float, ms: float) -> float:
        pairs = cross_site_gb(load, plan)
        return step_time(load, plan, Links(dict.fromkeys(pairs, gbps), dict.fromkeys(pairs, ms))).step_s

    here = step_s(rate, latency)
    assert step_s(rate * factor, latency) <= here * (1 + 1e-9)
    assert step_s(rate, latency + more) >= here * (1 - 1e-9)
    assert step_s(math.inf, 0.0) == one_site(load, plan).step_s


def test_lost_sites_leave_the_batch_that_the_others_had() -> None:
    kinds = {"new": ("h100-sxm", 192), "old": ("a100-sxm-80gb", 192), "other": ("h100-sxm", 96)}
    load, plan = job(kinds, 960), replace(OVER_DP, dp=30, microbatches=32, shard_size=6)
    before = taken(load, plan)
    assert sum(before) == 960
    left = without_sites(load, plan, frozenset({"new"}))
    assert isinstance(left, tuple)
    assert left[0].batch == before[1] + before[2]
    assert sum(taken(*left)) == left[0].batch
    assert step_time(*left, no_distance(left[0])).step_s <= near(load, plan) * 1.02
    two = without_sites(load, plan, frozenset({"new", "old"}))
    assert isinstance(two, tuple)
    assert two[0].batch == before[2]


def test_rates_are_sized_for_the_split() -> None:
    load = job(UNLIKE, 768)
    found = needed_rates(load, OVER_DP, {("new", "old"): 2.0}, 5.0)
    assert found is not None
    assert step_time(load, OVER_DP, Links(found, {("new", "old"): 2.0})).step_s <= near(load, OVER_DP) * 1.05 * (
        1 + 1e-9
    )


def test_every_order_of_three_generations() -> None:
    """A pipeline over three sites in any order: equal parts are never faster, but for embedding and bubble."""
    kinds = ("h100-sxm", "a100-sxm-80gb", "h200-sxm")
    for order in combinations((*kinds, *kinds), 3):
        load = job({site: (kind, 128) for site, kind in zip("abc", order, strict=True)}, 96)
        if len(set(order)) > 1:
            assert near(load, OVER_PP) <= near(replace(load, split="equal"), OVER_PP) * 1.001


@pytest.mark.parametrize(("kind", "equal"), [("h200-sxm", True), ("a100-sxm-80gb", False)])
def test_parts_by_speed_are_never_slower_than_equal_ones(kind: str, equal: bool) -> None:
    """H100 and H200 take nearly the same time; that whole layers fall as they may then costs more than it saves."""
    load = job({"one": ("h100-sxm", 64), "other": (kind, 64)}, 96)
    found = checked(layout(24, tp=8, pp=4, dp=4, across="pp", recompute="full", shard_size=0), load)
    assert isinstance(found, Layout)
    assert found.equal_parts == equal
    assert near(load, found) == min(near(load, replace(found, equal_parts=each)) for each in (False, True))
    assert near(load, replace(found, equal_parts=True)) == near(replace(load, split="equal"), found)
