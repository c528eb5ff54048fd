"""Sharding groups smaller than the data parallel ranks (HSDP, MiCS): two hops, counted by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.training import shapes
from dcplan.training.engine import one_site
from dcplan.training.site.collectives import OUT_HOP_S, UP_HOP_S
from dcplan.training.site.machine import machine
from dcplan.training.step import StepTime, Workload

from .records import layout, model, share

SHAPE = model("llama2-70b").model_copy(update={"layers": 8})
BOX = machine(share("here", "a100-sxm-80gb", 64), "bf16")
PARAMETERS = shapes.parameters(SHAPE) - SHAPE.hidden  # the final norm is on no layer


def step(sharding: int, shard_size: int, microbatches: int = 4) -> StepTime:
    """64 A100, software of 2021: nothing overlaps, so that every collective shows."""
    batch = 64 * microbatches
    work = Workload("job", SHAPE, 2048, batch, "bf16", 32, (share("here", "a100-sxm-80gb", 64),))
    return one_site(work, layout(batch, dp=64, sharding=sharding, shard_size=shard_size))


def half_ring_s(ranks: int, stride: int, size: float) -> float:
    """Reduce-scatter or all-gather: a ring of few ranks, halving for many, on the NICs of its ranks in a node."""
    if ranks == 1:
        return 0.0
    inside = max(1, min(ranks, 8 // stride))
    rate, hop = (BOX.up, UP_HOP_S) if inside == ranks else (min(BOX.up, BOX.out * inside), OUT_HOP_S)
    return (ranks - 1) / ranks * size / rate + min(ranks - 1, 2 * math.log2(ranks)) * hop


def sum_s(ranks: int, stride: int, size: float) -> float:
    """All-reduce: ring or tree."""
    if ranks == 1:
        return 0.0
    inside = max(1, min(ranks, 8 // stride))
    rate, hop = (BOX.up, UP_HOP_S) if inside == ranks else (min(BOX.up, BOX.out * inside), OUT_HOP_S)
    ring = 2 * (ranks - 1) * (size / ranks / rate + hop)
    return min(ring, 2 * (size / rate + math.log2(ranks) * hop))


@pytest.mark.parametrize("shard_size", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("sharding", [1, 2, 3])
def test_two_hops(sharding: int, shard_size: int) -> None:
    """fp32 gradients scattered in the group, for each microbatch from ZeRO-2 on; sums of a shard once a step; bf16
    weights gathered once, or twice for each microbatch under ZeRO-3."""
    m, q = 4, shard_size
    scatters, gathers = (1 if sharding == 1 else m), (2 * m if sharding == 3 else 1)
    expected = scatters * half_ring_s(q, 1, 4 * PARAMETERS) + gathers * half_ring_s(q, 1, 2 * PARAMETERS)
    expected += sum_s(64 // q, q, 4 * PARAMETERS / q)
    assert step(sharding, q, m).terms.dp_s == pytest.approx(expected)


@given(st.sampled_from([2, 3]), st.sampled_from([8, 16, 32]), st.integers(1, 8))
def test_groups_are_summed_once_however_many_microbatches(sharding: int, shard_size: int, m: int) -> None:
    one, more = (step(sharding, shard_size, n).terms.dp_s for n in (1, m))
    once = sum_s(64 // shard_size, shard_size, 4 * PARAMETERS / shard_size)
    once += half_ring_s(shard_size, 1, 2 * PARAMETERS) if sharding == 2 else 0.0
    assert more - once == pytest.approx(m * (one - once))


def test_smaller_groups_trade_memory_for_time() -> None:
    """MiCS: weights gathered inside a node are fast, and each accelerator keeps more of them."""
    node, all_of_them = step(3, 8), step(3, 64)
    assert node.terms.dp_s < 0.6 * all_of_them.terms.dp_s
    assert node.memory.weights_gb > all_of_them.memory.weights_gb
    assert node.memory.optimizer_gb == pytest.approx(8 * all_of_them.memory.optimizer_gb)


def test_a_group_of_all_ranks_is_what_nothing_said_means() -> None:
    work = Workload("job", SHAPE, 2048, 256, "bf16", 32, (share("here", "a100-sxm-80gb", 64),))
    plan = layout(256, dp=64, sharding=3)
    assert one_site(work, plan) == one_site(work, replace(plan, shard_size=64))
