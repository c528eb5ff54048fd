"""What must hold of every step time: sums, order, limits, inverse, loss of sites."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.training.engine import cross_site_gb, needed_rates, one_site, step_time, without_sites
from dcplan.training.step import Layout, Links, Misfit, Terms, Workload

from .records import layout, model, share

quiet = settings(derandomize=True, deadline=None, max_examples=40)

PLANS = {
    "over dp": layout(512, tp=8, pp=4, dp=16, virtual_stages=5, across="dp", shard_size=8),
    "flat over dp": layout(512, tp=8, pp=4, dp=16, across="dp", sync="synchronous", shard_size=8),
    "sharded over dp": layout(512, tp=8, pp=1, dp=64, sharding=3, across="dp", shard_size=32),
    "over pp": layout(512, tp=8, pp=4, dp=16, across="pp"),
    "over pp, none extra": layout(512, tp=8, pp=4, dp=16, across="pp", extra_in_flight=0),
    "over pp, two extra": layout(512, tp=8, pp=8, dp=8, across="pp", extra_in_flight=2, recompute="full"),
}
plans = st.sampled_from(sorted(PLANS))
THREE = {
    "over dp": layout(768, tp=8, pp=2, dp=48, across="dp", shard_size=16),
    "over pp": layout(768, tp=8, pp=6, dp=16, across="pp"),
}


def two_sites(a: str = "h100-sxm", b: str = "h100-sxm") -> Workload:
    shares = (share("west", a, 256), share("east", b, 256))
    return Workload("job", model("llama3-70b"), 8192, 512, "bf16", 32, shares)


def three_sites() -> Workload:
    shares = tuple(share(site, "h100-sxm", 256) for site in ("a", "b", "c"))
    return Workload("job", model("gpt3-175b"), 4096, 768, "bf16", 32, shares)


def links(load: Workload, plan: Layout, rate_gbps: float, latency_ms: float) -> Links:
    pairs = cross_site_gb(load, plan)
    return Links(dict.fromkeys(pairs, rate_gbps), dict.fromkeys(pairs, latency_ms))


def step_s(load: Workload, plan: Layout, rate_gbps: float, latency_ms: float) -> float:
    return step_time(load, plan, links(load, plan, rate_gbps, latency_ms)).step_s


@given(plans, st.floats(10, 1e5), st.floats(0, 50))
@quiet
def test_terms_are_not_negative_and_add_up(name: str, rate: float, latency: float) -> None:
    found = step_time(two_sites(), PLANS[name], links(two_sites(), PLANS[name], rate, latency))
    values = [getattr(found.terms, field.name) for field in fields(Terms)]
    assert all(value >= 0 for value in values)
    assert found.step_s == pytest.approx(sum(values))
    assert found.tokens_per_s * found.step_s == pytest.approx(512 * 8192)
    assert 0 < found.mfu_percent < 100


@pytest.mark.parametrize("ep", [2, 4, 8])
@pytest.mark.parametrize("microbatch", [1, 2, 4])
def test_a_bubble_that_is_only_rounding_is_none(ep: int, microbatch: int) -> None:
    """Beside stages far slower than theirs the fast ones wait all the time, and differences of sums are rounding."""
    shares = (share("old", "h200-sxm", 8), share("new", "b200-sxm", 8))
    load = Workload("job", model("qwen3-30b-a3b"), 2048, 64, "bf16", 32, shares)
    plan = layout(64, tp=1, pp=2, dp=8, ep=ep, microbatch=microbatch, across="pp")
    for rate_gbps in (1e2, 1e5):
        found = step_time(load, plan, links(load, plan, rate_gbps, 0.1)).terms
        for value in (found.bubble_s, found.cross_pipeline_s):
            assert value == 0 or value > 1e-12


@pytest.mark.parametrize("name", PLANS)
def test_no_distance_means_no_overhead(name: str) -> None:
    load, plan = two_sites(), PLANS[name]
    assert step_s(load, plan, math.inf, 0.0) == one_site(load, plan).step_s


@given(plans, st.floats(1, 1e6), st.floats(1, 10), st.floats(0, 40), st.floats(0, 40))
@quiet
def test_more_rate_never_hurts_and_more_latency_never_helps(
    name: str, rate: float, factor: float, latency: float, more: float
) -> None:
    load, plan = two_sites(), PLANS[name]
    here = step_s(load, plan, rate, latency)
    assert step_s(load, plan, rate * factor, latency) <= here * (1 + 1e-9)
    assert step_s(load, plan, rate, latency + more) >= here * (1 - 1e-9)
    assert here >= one_site(load, plan).step_s * (1 - 1e-9)


@given(st.sampled_from(sorted(THREE)), st.floats(10, 1e5), st.floats(1, 10), st.floats(0, 40))
@quiet
def test_three_sites_keep_the_order_too(name: str, rate: float, factor: float, latency: float) -> None:
    load, plan = three_sites(), THREE[name]
    here = step_s(load, plan, rate, latency)
    assert one_site(load, plan).step_s * (1 - 1e-9) <= step_s(load, plan, rate * factor, latency) <= here * (1 + 1e-9)


@given(plans, st.floats(0, 20), st.floats(0.5, 30))
@quiet
def test_needed_rates_are_the_inverse_of_the_step_time(name: str, latency: float, overhead: float) -> None:
    load, plan = two_sites(), PLANS[name]
    latencies = dict.fromkeys(cross_site_gb(load, plan), latency)
    limit = one_site(load, plan).step_s * (1 + overhead / 100)
    found = needed_rates(load, plan, latencies, overhead)
    if found is None:
        assert step_s(load, plan, math.inf, latency) > limit
        return
    assert step_time(load, plan, Links(found, latencies)).step_s <= limit * (1 + 1e-12)
    less = {ends: rate * (1 - 1e-6) for ends, rate in found.items()}
    assert step_time(load, plan, Links(less, latencies)).step_s > limit


def test_needed_rates_are_proportional_to_the_bytes_of_each_pair() -> None:
    load, plan = three_sites(), THREE["over pp"]
    sizes = cross_site_gb(load, plan)
    found = needed_rates(load, plan, dict.fromkeys(sizes, 3.0), 5.0)
    assert found is not None
    assert len({round(found[ends] / size, 6) for ends, size in sizes.items()}) == 1
    assert len(set(sizes.values())) > 1  # the tied embedding goes between first and last site


def test_a_pair_without_path() -> None:
    load, plan = two_sites(), PLANS["over dp"]
    nowhere = step_time(load, plan, Links({}, {}))
    assert nowhere.step_s == math.inf
    assert nowhere.mfu_percent == 0
    assert needed_rates(load, plan, {}, 5.0) is None


def test_a_job_in_one_site_needs_nothing_between_sites() -> None:
    load = replace(two_sites(), shares=(share("west", "h100-sxm", 512),))
    plan = layout(512, tp=8, pp=4, dp=16)
    assert cross_site_gb(load, plan) == {}
    assert needed_rates(load, plan, {}, 1.0) == {}
    assert step_time(load, plan, Links({}, {})).step_s == one_site(load, plan).step_s


def test_flat_ring_costs_more_between_sites_than_hierarchy() -> None:
    load = two_sites()
    assert step_s(load, PLANS["flat over dp"], 800, 5) > step_s(
        load, replace(PLANS["over dp"], virtual_stages=1), 800, 5
    )


def test_slower_sites_make_faster_ones_wait() -> None:
    mixed, fast, slow = two_sites("h100-sxm", "a100-sxm-80gb"), two_sites(), two_sites("a100-sxm-80gb", "a100-sxm-80gb")
    for name in ("over dp", "over pp"):
        plan = PLANS[name]
        found = one_site(mixed, plan)
        assert found.terms.straggler_s > 0
        assert one_site(fast, plan).terms.straggler_s == one_site(slow, plan).terms.straggler_s == 0
        assert one_site(fast, plan).step_s < found.step_s <= one_site(slow, plan).step_s * (1 + 1e-9)
    assert one_site(mixed, PLANS["over dp"]).step_s == pytest.approx(one_site(slow, PLANS["over dp"]).step_s, rel=0.02)


def test_unequal_sites_keep_the_same_batch_per_rank() -> None:
    shares = (share("west", "h100-sxm", 384), share("east", "h100-sxm", 128))
    load = replace(two_sites(), shares=shares)
    plan = replace(PLANS["over dp"], shard_size=4)
    assert cross_site_gb(load, plan) == cross_site_gb(two_sites(), PLANS["over dp"])
    assert one_site(load, plan).step_s == pytest.approx(one_site(two_sites(), PLANS["over dp"]).step_s, rel=0.05)


def test_after_the_loss_of_a_site_data_parallel_ranks_go_on() -> None:
    load, plan = three_sites(), THREE["over dp"]
    left = without_sites(load, plan, frozenset({"b"}))
    assert not isinstance(left, Misfit)
    smaller, shrunk = left
    assert (smaller.batch, shrunk.dp, shrunk.across) == (512, 32, "dp")
    assert shrunk.microbatches == plan.microbatches
    assert smaller.accelerators == 512
    assert set(cross_site_gb(smaller, shrunk)) == {("a", "c")}
    assert one_site(smaller, shrunk).tokens_per_s == pytest.approx(one_site(load, plan).tokens_per_s * 2 / 3, rel=0.02)
    alone = without_sites(load, plan, frozenset({"b", "c"}))
    assert not isinstance(alone, Misfit)
    assert alone[1].across == "none"
    assert cross_site_gb(*alone) == {}
    assert without_sites(load, plan, frozenset({"elsewhere"})) == (load, plan)


def test_after_the_loss_of_a_site_a_pipeline_stops() -> None:
    lost = without_sites(three_sites(), THREE["over pp"], frozenset({"c"}))
    assert isinstance(lost, Misfit)
    assert lost.kind == "sites"
    assert isinstance(without_sites(three_sites(), THREE["over dp"], frozenset("abc")), Misfit)


@given(st.integers(0, 8))
@quiet
def test_extra_microbatches_in_flight_help_and_cost_memory(extra: int) -> None:
    load, plan = two_sites(), replace(PLANS["over pp, none extra"], extra_in_flight=extra)
    more = replace(plan, extra_in_flight=extra + 1)
    far = links(load, plan, 20_000, 20.0)
    assume(extra < plan.microbatches)
    assert step_time(load, more, far).step_s <= step_time(load, plan, far).step_s * 1.001
    assert step_time(load, more, far).memory.total_gb > step_time(load, plan, far).memory.total_gb


def test_pipeline_over_sites_sends_activations_and_their_gradients_once() -> None:
    load, plan = two_sites(), PLANS["over pp"]
    assert cross_site_gb(load, plan) == {("east", "west"): pytest.approx(2 * 512 * 8192 * 8192 / 1e9)}


def test_evidence_is_worst_where_least_is_known() -> None:
    near = replace(two_sites(), shares=(share("west", "h100-sxm", 512),))
    plan = layout(512, tp=8, pp=4, dp=16)
    assert one_site(near, plan).evidence == "measured-range"
    assert one_site(two_sites(), PLANS["over dp"]).evidence == "interpolated"
    sparse = replace(near, model=model("deepseek-v3-671b"))
    assert one_site(sparse, plan).evidence == "interpolated"
    assert one_site(replace(sparse, shares=(share("west", "a100-sxm-80gb", 512),)), plan).evidence == "extrapolated"
    assert one_site(replace(near, shares=(share("west", "gb300-nvl72", 512),)), plan).evidence == "extrapolated"
    assert one_site(replace(near, shares=(share("west", "mi300x", 512),)), plan).evidence == "extrapolated"
    assert one_site(replace(near, shares=(share("west", "h200-sxm", 512),)), plan).evidence == "extrapolated"
