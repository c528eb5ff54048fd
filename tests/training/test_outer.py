"""Plans whose sites train by themselves: steps, bytes, needed rates, memory, and what a search may choose."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.across.patterns import DIRECT, KINDS, Collective
from dcplan.training.engine import cross_site_gb, needed_rates, one_site, step_time, without_sites
from dcplan.training.memory import memory
from dcplan.training.outer.exchange import Outer, Tier, state_bytes
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, Links, Misfit, Workload
from dcplan.training.transport.links import messages_gb

from .records import layout, model, share

if TYPE_CHECKING:
    from dcplan.model.network import Pair

quiet = settings(derandomize=True, deadline=None, max_examples=60)


def job(
    counts: dict[str, int], outer: Outer | None, sync: str, kinds: dict[str, str] | None = None, **sizes: int
) -> tuple[Workload, Layout]:
    """A 340 billion parameter model, ranks of 8 x 12 accelerators in each site."""
    pp = sizes.get("pp", 12)
    shares = tuple(share(site, (kinds or {}).get(site, "h100-sxm"), 8 * pp * count) for site, count in counts.items())
    dp = sum(counts.values())
    plan = layout(
        16 * dp, tp=8, pp=pp, dp=dp, across="dp", shard_size=min(counts.values()), sync=sync, outer=outer,
        virtual_stages=sizes.get("virtual_stages", 1),
    )  # fmt: skip
    return Workload("job", model("nemotron-4-340b"), 4096, 16 * dp, "bf16", 32, shares, DIRECT), plan


def links(load: Workload, gbps: float, ms: float) -> Links:
    sites = sorted({one.site for one in load.shares})
    pairs = [(a, b) for i, a in enumerate(sites) for b in sites[i + 1 :]]
    return Links(dict.fromkeys(pairs, gbps), dict.fromkeys(pairs, ms))


TWO = {"a": 4, "b": 4}
seen = {"gbps": st.floats(1, 1e5), "ms": st.floats(0, 50)}


@given(**seen, bits=st.sampled_from([8, 16, 32]), kind=st.sampled_from(KINDS), sites=st.integers(2, 4))
@quiet
def test_local_sgd_every_step_in_the_bits_of_gradients_is_hierarchical(
    gbps: float, ms: float, bits: int, kind: str, sites: int
) -> None:
    """All but the outer optimizer, which a synchronous plan does not have."""
    counts = dict.fromkeys("abcd"[:sites], 4)
    load, plan = job(counts, Outer(1, bits), "local-sgd")
    load = replace(load, gradient_bits=bits, collective=Collective(kind))
    other = replace(plan, sync="hierarchical", outer=None)
    view = links(load, gbps, ms)
    mine, theirs = step_time(load, plan, view), step_time(load, other, view)
    assert mine.step_s - mine.terms.optimizer_s == pytest.approx(theirs.step_s - theirs.terms.optimizer_s, rel=1e-12)
    assert mine.cross_site_gb == theirs.cross_site_gb
    assert theirs.quality is None


outers = st.one_of(
    st.builds(
        lambda every, bits: ("local-sgd", Outer(every, bits)), st.integers(1, 200), st.sampled_from([4, 8, 16, 32])
    ),
    st.builds(
        lambda every, bits, count, late, pattern: (
            "streaming", Outer(every, bits, min(count, every), min(late, every - 1), pattern)
        ),
        st.integers(2, 200), st.sampled_from([4, 8, 16, 32]), st.integers(1, 96), st.integers(0, 20),
        st.sampled_from(["strided", "sequential"]),
    ),
    st.builds(
        lambda every, bits: ("parameter-server", Outer(every, bits, tiers=(Tier(every, (("a", ("a", "b")),)),))),
        st.integers(1, 200), st.sampled_from([4, 8, 16, 32]),
    ),
)  # fmt: skip


@given(**seen, how=outers)
@quiet
def test_steps_fall_with_rate_and_rise_with_latency_and_end_at_one_site(
    gbps: float, ms: float, how: tuple[str, Outer]
) -> None:
    load, plan = job(TWO, how[1], how[0])
    found = step_time(load, plan, links(load, gbps, ms)).step_s
    assert step_time(load, plan, links(load, 1.3 * gbps, ms)).step_s <= found * (1 + 1e-12)
    assert step_time(load, plan, links(load, gbps, ms + 5)).step_s >= found * (1 - 1e-12)
    assert step_time(load, plan, links(load, math.inf, 0)).step_s == one_site(load, plan).step_s


@given(**seen, how=outers)
@quiet
def test_needed_rates_keep_the_promise_and_a_hair_less_does_not(gbps: float, ms: float, how: tuple[str, Outer]) -> None:
    load, plan = job(TWO, how[1], how[0])
    latency_ms: dict[Pair, float] = {("a", "b"): ms}
    rates = needed_rates(load, plan, latency_ms, 5)
    limit = one_site(load, plan).step_s * 1.05
    if rates is None:
        assert step_time(load, plan, Links({("a", "b"): math.inf}, latency_ms)).step_s > limit
        return
    assert step_time(load, plan, Links(rates, latency_ms)).step_s <= limit * (1 + 1e-12)
    less = {ends: rate * (1 - 1e-6) for ends, rate in rates.items()}
    assert step_time(load, plan, Links(less, latency_ms)).step_s > limit * (1 - 1e-9)


@pytest.mark.parametrize("gbps", [50.0, 400.0, 3000.0])
def test_a_mean_step_falls_with_the_steps_between_exchanges(gbps: float) -> None:
    steps = []
    for every in (1, 2, 5, 30, 100, 500):
        load, plan = job(TWO, Outer(every, 32), "local-sgd")
        steps.append(step_time(load, plan, links(load, gbps, 5)).step_s)
        sent = cross_site_gb(load, plan)["a", "b"]
        assert sent == pytest.approx(341.02 * 4 / every, rel=0.01)
    assert steps == sorted(steps, reverse=True)
    assert steps[0] > steps[-1]


@given(**seen, how=outers, times=st.integers(2, 10))
@quiet
def test_mean_steps_never_rise_with_the_steps_between_exchanges(
    gbps: float, ms: float, how: tuple[str, Outer], times: int
) -> None:
    sync, outer = how
    rarer = replace(
        outer,
        every_steps=times * outer.every_steps,
        tiers=tuple(replace(tier, every=times * tier.every) for tier in outer.tiers),
    )
    (load, plan), (_, other) = job(TWO, outer, sync), job(TWO, rarer, sync)
    view = links(load, gbps, ms)
    assert step_time(load, other, view).step_s <= step_time(load, plan, view).step_s * (1 + 1e-9)


def test_fewer_bits_send_less() -> None:
    """H = 100 in 4 bits against 16 bit data parallel: 1.10 TB for 441 (Streaming DiLoCo, table 1)."""
    load, plan = job(TWO, Outer(100, 4, 32, 1), "streaming")
    dense = replace(load, gradient_bits=16)
    synchronous = replace(plan, sync="hierarchical", outer=None)
    assert cross_site_gb(dense, synchronous)["a", "b"] / cross_site_gb(load, plan)["a", "b"] == pytest.approx(
        441 / 1.1, rel=0.01
    )


def test_streaming_hides_what_local_sgd_exposes() -> None:
    load, plan = job(TWO, Outer(100, 4, 32, 1), "streaming")
    whole = replace(plan, sync="local-sgd", outer=Outer(100, 4))
    view = links(load, 100, 5)
    assert step_time(load, plan, view).terms.sync_s < 0.2 * step_time(load, whole, view).terms.sync_s


def test_outer_state_is_five_thirds_of_parameters_and_adam() -> None:
    """Streaming DiLoCo, section 2.5: outer weight and momentum beside weight and two moments of Adam."""
    load, plan = job(TWO, Outer(100, 16), "local-sgd")
    used, plain = memory(load, plan), memory(load, replace(plan, sync="hierarchical", outer=None))
    assert used.optimizer_gb / plain.optimizer_gb == pytest.approx(5 / 3)
    assert used.total_gb - used.optimizer_gb == pytest.approx(plain.total_gb - plain.optimizer_gb)
    streamed = memory(load, replace(plan, sync="streaming", outer=Outer(100, 16, 50, 4)))
    # two fragments of fifty under way, 4 bytes each
    assert streamed.optimizer_gb / plain.optimizer_gb == pytest.approx((20 + 4 * 2 / 50) / 12)


def test_state_in_the_host_is_there_and_one_fragment_of_it_here() -> None:
    """Streaming DiLoCo, section 2.5: 100 billion parameters in 36 fragments of three layers, 20 GB beside 1,117."""
    load, plan = job(TWO, Outer(100, 16, 50, 4), "streaming")
    away = replace(plan, outer=Outer(100, 16, 50, 4, state_in_host=True))
    here, there = memory(load, plan), memory(load, away)
    assert there.host_gb == pytest.approx(8 / 12 * memory(load, replace(plan, outer=None)).optimizer_gb)
    assert here.host_gb == 0
    assert here.optimizer_gb - there.optimizer_gb == pytest.approx(49 / 50 * there.host_gb)
    assert state_bytes("streaming", Outer(100, 16, 36, 0, state_in_host=True)) * 100 == pytest.approx(20, rel=0.12)
    view = links(load, 200, 5)
    assert step_time(load, away, view).step_s >= step_time(load, plan, view).step_s
    slow = Outer(50, 16, 50, 0, state_in_host=True)
    waits = [
        step_time(load, replace(plan, outer=one), view).terms.sync_s
        for one in (slow, replace(slow, state_in_host=False))
    ]
    held = there.host_gb / 8 * 1e9  # parameters of one accelerator
    link = machines(load)[0].host.link
    assert 0 < waits[0] - waits[1] <= 2 * 8 * held / link / 50 * (1 + 1e-9)


def test_a_lost_site_leaves_the_others_training() -> None:
    counts = {"a": 4, "b": 4, "c": 4}
    load, plan = job(counts, Outer(50, 16), "local-sgd")
    left = without_sites(load, plan, frozenset("c"))
    assert not isinstance(left, Misfit)
    assert left[1].outer == plan.outer
    assert set(cross_site_gb(*left)) == {("a", "b")}
    alone = without_sites(load, plan, frozenset("bc"))
    assert not isinstance(alone, Misfit)
    assert alone[1].outer is None
    assert cross_site_gb(*alone) == {}
    assert memory(*alone).optimizer_gb < memory(load, plan).optimizer_gb


def test_quality_stands_beside_the_time_and_says_where_nobody_has_been() -> None:
    load, plan = job(TWO, Outer(100, 4), "local-sgd")
    found = step_time(load, plan, links(load, 400, 5)).quality
    assert found is not None
    assert found.loss_percent == pytest.approx(100 * (2**0.0116 - 1))
    assert len(found.doubts) == 3  # H, parameters, bits
    small = replace(load, model=model("nemotron-4-340b").model_copy(update={"layers": 1, "hidden": 1024, "ffn": 4096}))
    plain = step_time(small, replace(plan, pp=1, outer=Outer(30, 16)), links(load, 400, 5)).quality
    assert plain is not None
    assert plain.doubts == ()


def test_a_site_with_few_nics_may_hold_up_those_with_longer_steps() -> None:
    """Sites meet at each exchange. A hub with one rank sends three times as much as the others, which have four each
    and a longer step for it: its own step and its exchange together are the longest."""
    hub = Collective("hub")
    load, plan = job({"a": 1, "b": 4, "c": 4, "d": 4}, Outer(1, 32), "local-sgd")
    small, alike = job(dict.fromkeys("abcd", 1), Outer(1, 32), "local-sgd")
    large, larger = job(dict.fromkeys("abcd", 4), Outer(1000, 32), "local-sgd")
    found, least, longer = (
        step_time(replace(work, collective=hub), replace(one, shard_size=1), links(work, math.inf, 0))
        for work, one in ((load, plan), (small, alike), (large, larger))
    )
    assert longer.step_s - longer.terms.sync_s > least.step_s - least.terms.sync_s
    assert found.step_s == pytest.approx(least.step_s)


def test_a_message_of_an_outer_step_is_a_whole_exchange_or_a_fragment() -> None:
    load, plan = job(TWO, Outer(100, 16), "local-sgd")
    whole = messages_gb(load, plan)["a", "b"]
    assert whole == pytest.approx(341.02 * 2 / 2, rel=0.01)
    streamed = replace(plan, sync="streaming", outer=Outer(100, 16, 50, 1))
    assert messages_gb(load, streamed)["a", "b"] == pytest.approx(whole / 50)
    served = replace(plan, sync="parameter-server", outer=Outer(100, 16, tiers=(Tier(100, (("a", ("a", "b")),)),)))
    assert messages_gb(load, served)["a", "b"] == pytest.approx(2 * whole)
