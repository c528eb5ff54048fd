"""What a job says of its work: precision, mask of attention, how evenly tokens go to experts."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator
from dcplan.model.rules import effect
from dcplan.model.rules.examples import WITH_JOB, adding
from dcplan.training import shapes
from dcplan.training.engine import one_site
from dcplan.training.site.machine import machine
from dcplan.training.step import StepTime, Workload
from dcplan.training.workload import workload

from .records import layout, model, share
from .test_rules import findings, network

DENSE = layout(64, tp=8, pp=4, dp=2)
SPARSE = layout(512, pp=4, ep=8, dp=8)


def dense(precision: str = "bf16", attention: str = "causal", s: int = 8192, accelerator: str = "b200-sxm") -> StepTime:
    shares = (share("here", accelerator, 64, precision),)
    return one_site(Workload("job", model("llama3-70b"), s, 64, precision, 32, shares, attention=attention), DENSE)


def sparse(imbalance: float, ep: int = 8) -> StepTime:
    shares = (share("here", "h100-sxm", 32),)
    work = Workload("job", model("mixtral-8x22b"), 4096, 512, "bf16", 32, shares, expert_imbalance=imbalance)
    return one_site(work, replace(SPARSE, ep=ep))


def test_fp4_is_faster_than_fp8_and_that_than_bf16() -> None:
    steps = [dense(precision) for precision in ("bf16", "fp8", "fp4")]
    assert steps[0].terms.compute_s > 1.2 * steps[1].terms.compute_s
    assert steps[1].terms.compute_s > 1.1 * steps[2].terms.compute_s
    assert steps[0].terms.tp_s > steps[1].terms.tp_s > steps[2].terms.tp_s
    assert {step.terms.optimizer_s for step in steps} == {steps[0].terms.optimizer_s}
    assert steps[2].evidence == "extrapolated"


def test_fp4_keeps_bf16_and_two_copies_of_nine_bits_for_every_sixteen_half_bytes() -> None:
    bf16, fp8, fp4 = (dense(precision).memory.weights_gb for precision in ("bf16", "fp8", "fp4"))
    assert fp8 / bf16 == pytest.approx(2)
    assert fp4 / bf16 == pytest.approx(1 + 2 * (0.5 + 1 / 16) / 2)


def test_fp4_leaves_attention_core_and_dispatch() -> None:
    fp8, fp4 = (machine(share("here", "b200-sxm", 8, precision), precision) for precision in ("fp8", "fp4"))
    assert (fp4.bf16_flops, fp4.hbm, fp4.dispatch_bytes) == (fp8.bf16_flops, fp8.hbm, fp8.dispatch_bytes)


@pytest.mark.parametrize("name", ["b200-sxm", "gb200-nvl72", "b300-sxm", "gb300-nvl72", "mi355x"])
def test_fp4_peaks_are_at_least_twice_those_of_fp8(name: str) -> None:
    part = cast("Accelerator", shipped("accelerators")[name])
    assert (part.fp4_tflops or 0) >= 1.99 * (part.fp8_tflops or 0)


def test_what_has_no_fp4_is_told_what_it_has() -> None:
    (found,) = [finding for finding in findings(adding("    precision: fp4\n")) if finding.rule.code == "DCP408"]
    assert found.message == "h100-sxm has no fp4 peak in the catalog"
    assert found.hint == "all its accelerators have bf16, fp8"


@pytest.mark.parametrize("s", [2048, 8192, 65536])
def test_full_attention_doubles_the_core_in_time_and_in_what_mfu_counts(s: int) -> None:
    shape, causal, full = model("llama3-70b"), dense(s=s), dense(attention="full", s=s)
    core = 3 * shape.layers * s * shapes.attention_width(shape) * 64 * s
    flops = [shapes.model_flops(shape, s, 64, attention) for attention in ("causal", "full")]
    assert flops[1] - flops[0] == pytest.approx(core)
    ours = [step.mfu_percent * step.step_s for step in (causal, full)]
    assert ours[1] / ours[0] == pytest.approx(flops[1] / flops[0])
    assert full.terms.compute_s > causal.terms.compute_s
    assert full.terms.tp_s == causal.terms.tp_s


def test_software_without_flash_attention_multiplies_the_masked_half_anyway() -> None:
    causal, full = (dense(attention=mask, s=2048, accelerator="a100-sxm-80gb") for mask in ("causal", "full"))
    assert causal.step_s == full.step_s
    assert full.mfu_percent > causal.mfu_percent


@given(st.floats(1, 4), st.floats(1, 2))
def test_uneven_experts_cost_compute_exchange_and_memory(imbalance: float, more: float) -> None:
    less, worse = sparse(imbalance), sparse(imbalance * more)
    assert worse.terms.ep_s >= less.terms.ep_s * (1 - 1e-12)
    assert worse.terms.compute_s >= less.terms.compute_s * (1 - 1e-12)
    assert worse.memory.activations_gb >= less.memory.activations_gb * (1 - 1e-12)


def test_expert_exchange_is_that_of_the_fullest_rank() -> None:
    even, uneven = sparse(1.0), sparse(1.5)
    assert uneven.terms.ep_s == pytest.approx(1.5 * even.terms.ep_s, rel=0.01)  # apart from latency
    assert uneven.mfu_percent < even.mfu_percent


def test_where_every_rank_has_all_experts_none_is_fuller() -> None:
    assert sparse(1.5, ep=1) == sparse(1.0, ep=1)


def test_the_file_reaches_the_workload() -> None:
    text = adding("    attention: full\n", WITH_JOB)
    assert workload(network(text), "pretrain").attention == "full"
    assert workload(network(WITH_JOB), "pretrain").attention == "causal"
    assert workload(network(WITH_JOB), "pretrain").expert_imbalance == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (adding("    expert_imbalance: 1.2\n", WITH_JOB), "llama3-405b has no experts"),
        (
            adding(
                "    expert_imbalance: 1.2\n    plans: {flat: {tp: 8, pp: 8}}\n",
                WITH_JOB.replace("llama3-405b", "mixtral-8x22b"),
            ),
            "ep is 1",
        ),
    ],
)
def test_evenness_without_effect_is_told(text: str, why: str) -> None:
    assert any(why in found.message for found in effect.check(network(text)) if found.rule.code == "DCP341")
