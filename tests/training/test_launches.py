"""Hosts that launch too slowly: what waits for them, and what CUDA graphs take away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.accuracy.fit import relative_error
from dcplan.accuracy.runs import all_runs
from dcplan.training.engine import one_site
from dcplan.training.launches import launches
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, StepTime, Workload

from .records import layout, model, share

GRAPHS = ("none", "router", "layer", "step")


def load(name: str = "qwen3-30b-a3b", launch_us: float | None = None, precision: str = "fp8") -> Workload:
    here = share("here", "b200-sxm", 8, precision)
    if launch_us is not None:
        here = replace(here, accelerator=here.accelerator.model_copy(update={"launch_us": launch_us}))
    return Workload("job", model(name), 4096, 512, precision, 32, (here,))


def plan(graphs: str = "none", microbatch: int = 1, *, overlap: bool = False, ep: int = 8) -> Layout:
    given = {"cuda_graphs": graphs, "microbatch": microbatch, "expert_overlap": overlap, "ep": ep, "dp": 8}
    return layout(512, sequence_parallel=False, **given)


def step(work: Workload, chosen: Layout) -> StepTime:
    return one_site(work, chosen)


@pytest.mark.parametrize(("precision", "each"), [("bf16", 2), ("fp8", 4)])
def test_launches_of_a_layer_by_what_graphs_hold(precision: str, each: int) -> None:
    """Qwen3 30B: 14 for attention, 12 for the router, 10 for the exchange, 2 or 4 for each of 16 experts."""
    work = load(precision=precision)
    (box,) = machines(work)
    found = [launches(work.model, plan(graphs).tile, box, moe=True) for graphs in GRAPHS]
    assert found == [36 + 16 * each, 25 + 16 * each, 11 + 16 * each, 0]
    assert launches(work.model, plan("none").tile, box, moe=False) == 22
    assert launches(model("deepseek-v3-671b"), plan("none", ep=64).tile, box, moe=True) == 60 + 4 * each


def test_small_microbatches_wait_for_the_host_and_graphs_end_that() -> None:
    steps = [step(load(), plan(graphs)) for graphs in GRAPHS]
    waits = [one.terms.host_s for one in steps]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > 15
    assert waits[-1] == 0
    assert steps[0].step_s - steps[-1].step_s == pytest.approx(waits[0])
    assert step(load(), plan("none", 8)).terms.host_s == 0


def test_the_step_is_as_long_as_the_host_takes() -> None:
    """48 layers, 64 microbatches, launches of three forward passes; embedding and logits have none."""
    found, slow = step(load(), plan("none")), step(load(launch_us=100.0), plan("none"))
    host_s = 64 * 48 * 3 * (36 + 64) * 100e-6
    other_s = found.terms.optimizer_s + found.terms.fixed_s
    assert slow.step_s == pytest.approx(host_s + other_s, rel=1e-6)


@given(st.floats(0, 300), st.floats(0, 300), st.booleans())
def test_a_slower_host_is_never_faster_and_what_it_takes_is_all_that_changes(a: float, b: float, overlap: bool) -> None:
    quick, slow = (step(load(launch_us=us), plan("none", overlap=overlap)) for us in sorted((a, b)))
    assert quick.step_s <= slow.step_s + 1e-9
    assert replace(slow.terms, host_s=quick.terms.host_s) == quick.terms


def test_hidden_expert_exchange_is_no_gain_where_the_host_is_too_slow() -> None:
    """Over the NICs there is something to hide; 64 ranks, 2 experts on each."""
    steps = {}
    for us in (0.0, 1000.0):
        work = load(launch_us=us)
        work = replace(work, batch=4096, shares=(replace(work.shares[0], count=64),))
        for overlap in (False, True):
            chosen = replace(plan("none", ep=64, overlap=overlap), dp=64, shard_size=64)
            steps[us, overlap] = step(work, chosen)
    assert steps[0.0, True].step_s < 0.95 * steps[0.0, False].step_s
    assert steps[1000.0, True].terms.ep_s == steps[0.0, True].terms.ep_s
    assert steps[1000.0, True].step_s == pytest.approx(steps[1000.0, False].step_s, rel=1e-9)


def test_no_host_is_waited_for_that_is_not_known() -> None:
    assert step(load(launch_us=0.0), plan("none")).terms.host_s == 0


def test_what_a_launch_takes_holds_for_runs_that_it_was_not_fitted_on() -> None:
    """Microbatch 1 without graphs of the whole step, other models, accelerators and software."""
    for name in (
        "bridge_25.11_Qwen3_30B_a3B_DGX-B200_8_FP8-MX_gbs512",
        "bridge_26.02_Qwen3_235B_a22B_DGX-B200_256_MXFP8_gbs8192",
        "bridge_25.09_Qwen3_235B_a22B(tokendrop)_DGX-B200_64_FP8-CS(25.09table)_gbs1024",
        "bridge_26.02.01_Qwen3_30B_a3B_DGX-H100_16_FP8_gbs1024",
    ):
        assert one_site(all_runs()[name].workload, all_runs()[name].layout).terms.host_s > 0
        assert abs(relative_error(all_runs()[name])) <= 0.1
