"""Bytes between sites against a count of every message, and overlap against a fluid simulation of the links."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.network import pair
from dcplan.training.across.patterns import Collective
from dcplan.training.across.sync import Reduction, Window, across_s, exchange_s
from dcplan.training.engine import cross_site_gb, step_time
from dcplan.training.site.collectives import Group, all_reduce_s, reduce_scatter_s
from dcplan.training.step import Layout, Links, Workload

from .records import layout, model, share

quiet = settings(derandomize=True, deadline=None, max_examples=60)
SIZE_GB = 341.02 * 2
"""Gradients of nemotron-4-340b in bf16."""


def job(ranks: dict[str, int], bits: int = 16) -> tuple[Workload, Layout]:
    shares = tuple(share(site, "h100-sxm", 8 * count) for site, count in ranks.items())
    dp = sum(ranks.values())
    return (
        Workload("job", model("nemotron-4-340b"), 4096, dp, "bf16", bits, shares),
        layout(dp, tp=8, dp=dp, across="dp", shard_size=min(ranks.values())),
    )


def test_340_billion_bf16_gradients_between_two_sites_are_5_4_terabits_each_way() -> None:
    assert cross_site_gb(*job({"a": 4, "b": 4})) == {("a", "b"): pytest.approx(5440 / 8, rel=0.01)}


def test_400_tb_over_5_pbps_take_0_64_s() -> None:
    assert exchange_s({("a", "b"): 400e3}, Links({("a", "b"): 5e6}, {})) == pytest.approx(0.64)


@given(st.integers(2, 6))
@quiet
def test_direct_exchange_is_what_a_count_of_messages_says(n: int) -> None:
    sites = "abcdef"[:n]
    sent: Counter[tuple[str, str]] = Counter()
    for a in sites:  # scatter: a's part for b; gather: a's reduced part to b
        for b in sites:
            if a != b:
                sent[a, b] += SIZE_GB / n
                sent[a, b] += SIZE_GB / n
    load, plan = job(dict.fromkeys(sites, 2))
    found = cross_site_gb(load, plan)
    for (a, b), size in sent.items():
        assert found[pair(a, b)] == pytest.approx(size, rel=1e-4)
    assert sum(size for ends, size in found.items() if "a" in ends) == pytest.approx(
        2 * (n - 1) / n * SIZE_GB, rel=1e-4
    )


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4))
@quiet
def test_flat_ring_is_what_a_count_of_messages_says(counts: list[int]) -> None:
    ranks = dict(zip("abcd", counts, strict=False))
    order = [site for site, count in ranks.items() for _ in range(count)]
    d = len(order)
    sent: Counter[tuple[str, str]] = Counter()
    for way in (order, order[::-1]):  # half of the gradients each way round
        for _ in range(2 * (d - 1)):
            for here, there in zip(way, way[1:] + way[:1], strict=True):
                if here != there:
                    sent[here, there] += SIZE_GB / 2 / d
    load, plan = job(ranks)
    flat = layout(d, tp=8, dp=d, across="dp", sync="synchronous", shard_size=1)
    found = cross_site_gb(load, flat)
    assert {pair(*ends) for ends in sent} == set(found)
    for (a, b), size in sent.items():
        assert found[pair(a, b)] == pytest.approx(size, rel=1e-4)
    assert plan.sync == "hierarchical"


def ring_by_steps(n: int, size: float, rate: float, hop: float) -> float:
    """2(n−1) rounds in each of which every rank passes one n-th to its neighbour."""
    return sum(size / n / rate + hop for _ in range(2 * (n - 1)))


@given(st.integers(2, 64), st.floats(1e6, 1e10))
@quiet
def test_all_reduce_is_no_slower_than_a_ring_and_moves_its_bytes(n: int, size: float) -> None:
    over = Group(n, n, 1e11, 3e-6)
    found = all_reduce_s(over, size)
    assert found <= ring_by_steps(n, size, 1e11, 3e-6) * (1 + 1e-9)
    assert found >= 2 * (n - 1) / n * size / 1e11
    assert 2 * reduce_scatter_s(over, size) <= ring_by_steps(n, size, 1e11, 3e-6) * (1 + 1e-9)


def fluid(p: int, window: float, stagger: float, wan_s: float, step: float) -> float:
    """Exposed time when p stages feed one link, each steadily in a window that ends i·stagger early."""
    start = -window - (p - 1) * stagger
    now, queue, sent_until = start, 0.0, 0.0
    while now < 0 or queue > 1e-9 * wan_s:
        end = now + step
        for i in range(p):
            begin, stop = -window - i * stagger, -i * stagger
            overlap = max(0.0, min(end, stop) - max(now, begin))
            queue += wan_s / p * overlap / window
        queue = max(0.0, queue - step)
        now = end
        sent_until = now
    return max(0.0, sent_until)


@given(p=st.integers(1, 8), window=st.floats(0.3, 2), stagger=st.floats(0.0, 1.0), wan_s=st.floats(0.5, 12))
@quiet
def test_overlap_is_what_a_fluid_link_does(p: int, window: float, stagger: float, wan_s: float) -> None:
    plan = layout(8 * p, pp=p, dp=1, across="dp")
    many = 10**6
    work = Reduction(reduce_s=0.0, mirror_s=0.0, cross_s=0.0, gather_s=0.0, buckets=many)
    found = across_s(plan, work, Window(window, window / 2, stagger, overlap=True), wan_s)
    expected = fluid(p, window, stagger, wan_s, 0.01)
    assert found == pytest.approx(expected, abs=0.03)


def test_without_overlap_everything_is_exposed_and_nothing_hides_latency() -> None:
    plan = layout(8, dp=8, across="dp")
    work = Reduction(1.0, 0.0, 0.5, 0.25, 100)
    assert across_s(plan, work, Window(9.0, 4.0, 9.0, overlap=False), 2.0) == 1.5
    assert across_s(plan, work, Window(9.0, 4.0, 9.0, overlap=False), math.inf) == math.inf


def test_messages_to_other_sites_cost_their_host() -> None:
    """Two TPU slices and one bucket a layer: 2 messages × layers × what one costs, after all gradients are there."""
    shares = tuple(share(name, "tpu-v5e", 256) for name in ("a", "b"))
    load = Workload("job", model("llama3-8b"), 2048, 1024, "bf16", 32, shares)
    plan = layout(1024, dp=512, sharding=3, shard_size=256, across="dp")
    near = Links({("a", "b"): math.inf}, {("a", "b"): 0.0})

    def step_s(message_us: float) -> float:
        changed = tuple(
            replace(part, accelerator=part.accelerator.model_copy(update={"site_message_us": message_us}))
            for part in shares
        )
        return step_time(replace(load, shares=changed), plan, near).step_s

    assert step_s(700) - step_s(0) == pytest.approx(2 * 32 * 700e-6)
    pushed = replace(load, collective=Collective("tree"))
    assert step_time(pushed, plan, near).step_s == pytest.approx(step_time(load, plan, near).step_s, rel=0.01)
