"""Oversubscribed tiers and ways to sum inside a site: against flows counted wire by wire, and published sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dcplan.catalog.parts import Accelerator
from dcplan.model.rules.examples import GOOD, JOB, with_change
from dcplan.training.engine import one_site
from dcplan.training.site.collectives import (
    OUT_HOP_S,
    UP_HOP_S,
    Group,
    all_reduce_s,
    all_to_all_s,
    group,
    reduce_scatter_s,
    scatter_and_gather_s,
)
from dcplan.training.site.fabric import Tier, leaving, ring_rate, scattered_s
from dcplan.training.site.machine import Machine, machine
from dcplan.training.step import Layout, StepTime, Workload
from dcplan.training.workload import workload

from .records import layout, model, share
from .test_rules import findings, network

LLAMA3 = Tier(3072, 7.0)
"""Llama 3's cluster: blocks of 3,072 accelerators, 1:7 between them."""


def box(accelerator: str = "h100-sxm", *tiers: Tier, sums: str = "auto", **part: int) -> Machine:
    like = share("here", accelerator, 8)
    own = like.accelerator.model_copy(update=part)
    return machine(replace(like, accelerator=own, fabric=tiers, all_reduce=sums), "bf16")


POWERS = st.integers(0, 5).map(lambda n: 2**n)


@given(ranks=POWERS.filter(lambda n: n > 1), stride=POWERS, block=POWERS, scarce=st.floats(1, 20))
def test_rings_share_uplinks_as_flows_counted_one_by_one(ranks: int, stride: int, block: int, scarce: float) -> None:
    assume(ranks * stride > block)
    leaves = Counter(
        place // block
        for ring in range(stride)
        for place in range(ring, ranks * stride, stride)
        if place // block != (place + stride) % (ranks * stride) // block
    )
    most = max(leaves.values())
    assert ring_rate((Tier(block, scarce),), 1.0, ranks, stride) == pytest.approx(block / scarce / most)


@given(ranks=POWERS.filter(lambda n: n > 1), stride=POWERS, block=POWERS, scarce=st.floats(1, 20))
def test_all_to_all_over_uplinks_counted_message_by_message(ranks: int, stride: int, block: int, scarce: float) -> None:
    assume(ranks * stride > block)
    members = [place for place in range(ranks * stride) if place // block == 0]
    out = sum(
        1 / ranks for place in members for other in range(place % stride, ranks * stride, stride) if other // block != 0
    )  # each rank sends its n-th part to every rank of its group
    found = scattered_s((Tier(block, scarce),), 1.0, ranks, stride, 1.0)
    assert found == pytest.approx(out / (block / scarce))


def test_a_group_inside_its_block_knows_nothing_of_it() -> None:
    plain, scarce = box(), box("h100-sxm", LLAMA3)
    assert group(plain, 24, 128) == group(scarce, 24, 128)
    assert all_to_all_s(group(scarce, 64, 8), scarce, 1e9, 1e9, 8) == all_to_all_s(
        group(plain, 64, 8), plain, 1e9, 1e9, 8
    )


def test_rings_of_llama_3_do_not_feel_one_to_seven() -> None:
    """TP 8, PP 16: data parallel ranks stand 128 apart, 24 of them in a block; 128 rings leave it, 438 NICs could."""
    assert group(box("h100-sxm", LLAMA3), 128, 128) == group(box(), 128, 128)
    lonely = group(box("h100-sxm", LLAMA3), 8, 2048)
    assert lonely.ring == pytest.approx(box().out * 3072 / 7 / 2048)


def test_all_to_all_over_blocks_feels_all_of_it() -> None:
    plain, scarce = box(), box("h100-sxm", LLAMA3)
    over = group(scarce, 1024, 8)  # 8,192 accelerators, 384 of 1,024 ranks in a block
    far = all_to_all_s(over, scarce, 1e9, 1e9, 8) - over.hop_s
    assert far == pytest.approx(7 * (1024 - 384) / 1024 * 1e9 / plain.out)


@given(st.lists(st.floats(1, 20), max_size=3))
def test_what_leaves_the_site_passes_the_scarcest_tier(scarce: list[float]) -> None:
    tiers = tuple(Tier(64 * 4**i, over) for i, over in enumerate(scarce))
    assert leaving(tiers, 1.0) == pytest.approx(1 / max([1.0, *scarce]))


@given(ranks=st.integers(2, 512), size=st.floats(1e3, 1e10))
def test_switches_that_add_up_take_each_byte_once(ranks: int, size: float) -> None:
    over = group(box(sums="in-network"), ranks, 1)
    ring = group(box(sums="ring"), ranks, 1)
    latency = 2 * over.hop_s + (2 * UP_HOP_S if 1 < over.inside < ranks else 0.0)
    assert all_reduce_s(over, size) == pytest.approx(size / over.ring + latency)
    bytes_only = all_reduce_s(ring, size) - 2 * (ranks - 1) * ring.hop_s
    assert bytes_only / (size / over.ring) == pytest.approx(2 * (ranks - 1) / ranks)


@given(ranks=st.integers(2, 512), size=st.floats(1e3, 1e10))
def test_auto_is_the_better_of_ring_and_tree(ranks: int, size: float) -> None:
    times = {kind: all_reduce_s(group(box(sums=kind), ranks, 1), size) for kind in ("auto", "ring", "tree")}
    assert times["auto"] == min(times["ring"], times["tree"])


def test_hierarchical_is_two_levels() -> None:
    """64 ranks in 8 domains: 7/8 S twice by scale-up, S/8 of each rank round 8 domains over its NIC."""
    one = box(sums="hierarchical")
    found = all_reduce_s(group(one, 64, 1), 8e9)
    inside = 2 * (7 / 8 * 8e9 / one.up + 7 * UP_HOP_S)
    ring = 2 * (7 / 8 * 1e9 / one.out + 7 * OUT_HOP_S)
    assert found == pytest.approx(inside + ring)
    assert all_reduce_s(group(one, 8, 1), 8e9) == all_reduce_s(group(box(), 8, 1), 8e9)


@given(st.sampled_from(["auto", "ring", "tree", "hierarchical", "in-network"]), st.integers(2, 64))
def test_scatter_and_gather_apart_gain_nothing(sums: str, ranks: int) -> None:
    over = group(box(sums=sums), ranks, 1)
    plain = group(box(), ranks, 1)
    assert scatter_and_gather_s(over, 1e9) == all_reduce_s(plain, 1e9)
    assert reduce_scatter_s(over, 1e9) == reduce_scatter_s(plain, 1e9)


PLAN = layout(512, tp=8, pp=4, dp=16)


def step(plan: Layout = PLAN, tiers: tuple[Tier, ...] = (), sums: str = "auto") -> StepTime:
    here = replace(share("here", "h100-sxm", 512), fabric=tiers, all_reduce=sums)
    return one_site(Workload("job", model("llama3-70b"), 8192, 512, "bf16", 32, (here,)), plan)


def test_in_network_helps_tensor_parallel_without_sequence_parallel_only() -> None:
    plain = replace(PLAN, sequence_parallel=False)
    assert step(sums="in-network").terms.tp_s == step().terms.tp_s
    ours, theirs = step(plain, sums="in-network").terms.tp_s, step(plain).terms.tp_s
    assert 0.5 < ours / theirs <= 8 / 14  # bytes 8 for 14, hops 2 for 6 to 14


def test_in_network_helps_gradients_that_are_not_sharded() -> None:
    plain = replace(PLAN, sharding=0, pp=1, dp=64, shard_size=64)
    assert step(plain, sums="in-network").terms.dp_s < step(plain).terms.dp_s
    sharded = replace(plain, sharding=1)
    assert step(sharded, sums="in-network").terms.dp_s == step(sharded).terms.dp_s


@given(st.floats(1, 10), st.floats(1, 10), st.sampled_from([64, 128, 256]))
def test_a_scarcer_tier_is_never_faster(scarce: float, more: float, block: int) -> None:
    less, worse = (step(tiers=(Tier(block, over),)).step_s for over in (scarce, scarce * more))
    assert step().step_s <= less * (1 + 1e-12)
    assert less <= worse * (1 + 1e-12)


@pytest.mark.parametrize(
    ("name", "domain", "ranks", "stride"),
    [
        ("h100-sxm", 8, 8, 1),
        ("gb200-nvl72", 72, 64, 1),
        ("gb200-nvl72", 72, 8, 8),
        ("ascend-910c", 384, 384, 1),
        ("ascend-910c", 384, 48, 8),
        ("tpu-v5p", 8960, 1024, 8),
    ],
)
def test_groups_that_fit_a_scale_up_domain_stay_in_it(name: str, domain: int, ranks: int, stride: int) -> None:
    part = share("here", name, 8).accelerator
    assert part.scale_up_domain == domain
    over = group(box(name), ranks, stride)
    assert (over.inside, over.ring, over.hop_s) == (ranks, box(name).up, UP_HOP_S)


def test_a_domain_of_576_keeps_what_72_must_send_out() -> None:
    small, large = box("gb200-nvl72"), box("gb200-nvl72", scale_up_domain=576)
    for ranks, stride in ((128, 1), (256, 2), (72, 8)):
        near, far = group(large, ranks, stride), group(small, ranks, stride)
        assert near.ring == large.up >= far.ring
        assert all_to_all_s(near, large, 1e9, 1e9, stride) < all_to_all_s(far, small, 1e9, 1e9, stride)
    assert isinstance(share("here", "gb200-nvl72", 8).accelerator, Accelerator)


ONE = with_change("{papillion: 8192, lincoln: 8192}", "{papillion: 8192}", GOOD + JOB)
PLANS = "    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n"


def with_site(keys: str, file: str = ONE) -> str:
    return with_change("lon: -96.11, ", f"lon: -96.11, {keys}, ", file)


def test_the_file_reaches_the_share() -> None:
    tiers = "[{accelerators: 512, oversubscription: 2}, {accelerators: 2048, oversubscription: 7}]"
    keys = f"all_reduce: tree, fabric: {tiers}"
    found = workload(network(with_site(keys)), "pretrain").shares[0]
    assert found.fabric == (Tier(512, 2), Tier(2048, 7))
    assert found.all_reduce == "tree"


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("all_reduce: in-network", "no plan has an all-reduce"),
        ("fabric: [{accelerators: 8192, oversubscription: 4}]", "no group of any plan is slower"),
        ("fabric: [{accelerators: 512, oversubscription: 1}]", "no group of any plan is slower"),
    ],
)
def test_keys_that_change_no_step_are_told(keys: str, why: str) -> None:
    (found,) = [finding for finding in findings(with_site(keys) + PLANS) if finding.rule.code == "DCP341"]
    assert why in found.message
    assert [finding for finding in findings(with_site(keys)) if finding.rule.code == "DCP341"] == []  # plans: auto


def test_keys_that_change_a_step_are_not() -> None:
    text = with_site("fabric: [{accelerators: 512, oversubscription: 4}]") + PLANS
    assert [finding for finding in findings(text) if finding.rule.code == "DCP341"] == []


def test_blocks_must_rise() -> None:
    keys = "fabric: [{accelerators: 512, oversubscription: 2}, {accelerators: 768, oversubscription: 7}]"
    with pytest.raises(AssertionError, match="a whole number of those before"):
        network(with_site(keys))


def test_a_group_of_one_level_has_no_hierarchy() -> None:
    assert all_reduce_s(Group(1, 1, 1.0, 1.0, sums="hierarchical"), 1.0) == 0
