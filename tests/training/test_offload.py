"""Optimizer state in the host: time, memory, refusals; and both ways of context parallel exchange."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.model.job import ParallelismPlan
from dcplan.training.engine import one_site
from dcplan.training.evidence import evidence
from dcplan.training.layout import complete
from dcplan.training.site.collectives import OUT_HOP_S
from dcplan.training.site.machine import machine
from dcplan.training.site.offload import HOST_EFFICIENCY, host_of, host_step_s, is_assumed
from dcplan.training.state import ADAM_BYTES
from dcplan.training.step import Misfit, StepTime, Workload

from .records import layout, model, share

PLAN = layout(128, tp=8, pp=4, dp=4, sharding=1)


def step(percent: float, accelerator: str = "h100-sxm", **sizes: object) -> StepTime:
    shares = (share("here", accelerator, 128),)
    plan = replace(PLAN, optimizer_offload_percent=percent, **sizes)  # type: ignore[arg-type]
    return one_site(Workload("job", model("llama3-70b"), 8192, 128, "bf16", 32, shares), plan)


@pytest.mark.parametrize("gradient", [2, 4])
def test_buckets_pass_the_slowest_of_link_and_host_memory(gradient: int) -> None:
    """As a pipeline of buckets: down the link, through the processor, up the link, one at a time in each."""
    host, n, buckets = host_of(share("here", "h100-sxm", 1).accelerator), 1e9, 1000
    moved = gradient + 3 * 4 + 3 * 4 + 2  # through host memory: all that Adam reads and writes
    stages = [gradient * n / host.link / buckets, moved * n / host.memory / buckets, 2 * n / host.link / buckets]
    free = [0.0, 0.0, 0.0]
    for _ in range(buckets):
        ready = 0.0
        for i, each in enumerate(stages):
            ready = free[i] = max(ready, free[i]) + each
    assert host_step_s(host, n, gradient) == pytest.approx(free[-1], rel=0.01)


def test_time_of_a_step_in_the_host() -> None:
    here, there = step(0), step(100)
    parameters = here.memory.optimizer_gb * 1e9 / ADAM_BYTES
    assert there.terms.optimizer_s == pytest.approx(30 * parameters / (77e9 * HOST_EFFICIENCY))
    assert there.terms.compute_s == here.terms.compute_s
    assert there.step_s > here.step_s


def test_memory_moves_to_the_host() -> None:
    here, half, there = step(0).memory, step(50).memory, step(100).memory
    assert (here.host_gb, here.host_capacity_gb, there.host_capacity_gb) == (0, None, 256)
    assert there.optimizer_gb == 0
    assert half.optimizer_gb == pytest.approx(here.optimizer_gb / 2)
    assert there.host_gb == pytest.approx(here.optimizer_gb * 18 / 12)
    assert there.total_gb == pytest.approx(here.total_gb - here.optimizer_gb)


def test_gradients_in_bf16_take_half_of_the_way_to_the_host() -> None:
    """Kept in the host: 18 bytes a parameter with fp32 gradients, 16 in bf16; moved through its memory: 30 and 28."""
    fp32, bf16 = step(100), step(100, grad_reduce_in_fp32=False)
    assert bf16.memory.host_gb == pytest.approx(fp32.memory.host_gb * 16 / 18)
    assert bf16.terms.optimizer_s == pytest.approx(fp32.terms.optimizer_s * 28 / 30)


@given(st.floats(0, 100), st.floats(0, 100))
def test_more_in_the_host_never_takes_more_of_the_accelerator(one: float, other: float) -> None:
    less, more = step(min(one, other)), step(max(one, other))
    assert more.memory.total_gb <= less.memory.total_gb * (1 + 1e-12)
    assert more.memory.host_gb >= less.memory.host_gb


def test_a_coherent_link_is_faster() -> None:
    assert step(100, "gb200-nvl72").terms.optimizer_s < 0.4 * step(100).terms.optimizer_s


def test_a_link_that_is_not_known_is_assumed() -> None:
    tpu, gpu = share("here", "tpu-v5p", 1).accelerator, share("here", "h100-sxm", 1).accelerator
    assert is_assumed(tpu)
    assert not is_assumed(gpu)
    assert host_of(tpu).link < host_of(gpu).link


def test_what_does_not_fit_the_host_is_refused_with_both_sizes() -> None:
    small = share("here", "h100-sxm", 8)
    part = small.accelerator.model_copy(update={"host_memory_gb": 100})
    load = Workload("job", model("llama3-70b"), 8192, 64, "bf16", 32, (replace(small, accelerator=part),))
    plan = ParallelismPlan(tp=8, sharding=0, recompute="full", optimizer_offload_percent=100)
    found = complete("plan", plan, load)
    assert isinstance(found, Misfit)
    assert found.kind == "memory"
    assert "of the host, 95.0 of 100 GB can be filled" in found.reason


def test_offload_lets_a_plan_fit() -> None:
    load = Workload("job", model("llama3-70b"), 8192, 64, "bf16", 32, (share("here", "h100-sxm", 16),))
    tight = {"tp": 8, "pp": 2, "recompute": "full"}
    assert isinstance(complete("plan", ParallelismPlan(**tight), load), Misfit)  # type: ignore[arg-type]
    found = complete("plan", ParallelismPlan(**tight, optimizer_offload_percent=100), load)  # type: ignore[arg-type]
    assert not isinstance(found, Misfit), found.reason


LONG = layout(64, tp=8, cp=8, dp=2)


def long(exchange: str, s: int = 65536) -> StepTime:
    shares = (share("here", "h100-sxm", 128),)
    work = Workload("job", model("llama3-70b"), s, 64, "bf16", 32, shares)
    return one_site(work, replace(LONG, cp_exchange=exchange))


def test_a_gather_before_the_core_is_not_hidden() -> None:
    ring, gather = long("ring"), long("all-gather")
    assert ring.terms.cp_s < gather.terms.cp_s
    assert (ring.terms.compute_s, ring.terms.tp_s) == (gather.terms.compute_s, gather.terms.tp_s)


def test_a_gather_is_exposed_three_times() -> None:
    """Keys and values of 7 other ranks, forward, backward, and their gradients: 7 × 2 bytes × tokens × width / t."""
    shape, s, box = model("llama3-70b"), 4096, machine(share("here", "h100-sxm", 128), "bf16")
    each = 2 * (s / 8) * 2 * 8 * 128 / 8
    expected = 32 * shape.layers * 3 * (7 * each / box.out + 6 * OUT_HOP_S)
    assert long("all-gather", s).terms.cp_s == pytest.approx(expected)


def test_a_gather_keeps_the_whole_sequence_of_one_layer() -> None:
    ring, gather = long("ring").memory, long("all-gather").memory
    assert gather.activations_gb - ring.activations_gb == pytest.approx(2 * 2 * 65536 * 2 * 8 * 128 / 8 / 1e9)


def test_evidence_says_what_was_not_measured() -> None:
    load = Workload("job", model("llama3-70b"), 8192, 128, "bf16", 32, (share("here", "h100-sxm", 128),))
    own = replace(load, shares=(replace(load.shares[0], all_reduce="hierarchical"),))
    measured = evidence(load, PLAN)
    assert measured in {"measured-range", "interpolated"}
    assert evidence(load, replace(PLAN, optimizer_offload_percent=10)) == "extrapolated"
    assert evidence(load, replace(PLAN, schedule="zbv")) == "interpolated"
    assert evidence(load, replace(PLAN, cp_exchange="all-gather")) == measured  # cp is 1
    assert evidence(load, replace(PLAN, cp=2, dp=2, cp_exchange="all-gather")) == "interpolated"
    assert evidence(own, PLAN) == "interpolated"
