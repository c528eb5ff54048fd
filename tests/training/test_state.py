"""What recipes of 2025 and 2026 keep of a parameter, and what they recompute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcplan.accuracy.compare import names
from dcplan.accuracy.runs import run_sets
from dcplan.model.job import ParallelismPlan
from dcplan.training.compute import layer_kernels
from dcplan.training.engine import one_site
from dcplan.training.layout import complete
from dcplan.training.memory import memory
from dcplan.training.plans.idle import idle
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, Memory, Misfit, Workload

from .records import layout, model, share

DENSE = Workload("job", model("llama3-8b"), 8192, 64, "fp8", 32, (share("here", "h100-sxm", 64, "fp8"),))
DEEPSEEK = Workload("job", model("deepseek-v3-671b"), 4096, 512, "fp8", 32, (share("here", "gb200-nvl72", 256, "fp8"),))


def held(work: Workload = DENSE, **given: Any) -> Memory:
    return memory(work, layout(64, dp=64, sharding=0, **given))


def state_gb(used: Memory) -> float:
    return used.weights_gb + used.gradients_gb + used.optimizer_gb


def test_bytes_per_parameter() -> None:
    """4 + 4 + 12 as a rule; 2 + 2 + 8 with all three; each apart."""
    gb = 8.03
    cases = {
        (): 20,
        ("grad_reduce_in_fp32",): 18,
        ("fp8_param_gather",): 18,
        ("exp_avg_dtype",): 16,
        ("grad_reduce_in_fp32", "fp8_param_gather", "exp_avg_dtype"): 12,
    }
    said = {"grad_reduce_in_fp32": False, "fp8_param_gather": True, "exp_avg_dtype": "bf16"}
    for keys, each in cases.items():
        assert state_gb(held(**{key: said[key] for key in keys})) == pytest.approx(each * gb, rel=0.001)
    assert held(exp_avg_dtype="fp8").optimizer_gb == pytest.approx(6 * gb, rel=0.001)


def test_less_to_keep_is_less_to_move() -> None:
    """Gradients are reduced in half the time, and Adam moves 30, 22 or 18 bytes for a parameter."""
    plain = layout(64, dp=64, sharding=1)
    exposed = [one_site(DENSE, replace(plain, grad_reduce_in_fp32=fp32)).terms.dp_s for fp32 in (True, False)]
    assert exposed[0] > exposed[1] > 0
    stepped = [
        one_site(DENSE, replace(plain, grad_reduce_in_fp32=False, exp_avg_dtype=kept)).terms.optimizer_s
        for kept in ("fp32", "bf16", "fp8")
    ]
    whole = one_site(DENSE, plain).terms.optimizer_s
    assert [one / whole for one in stepped] == pytest.approx([28 / 30, 20 / 30, 16 / 30])


@pytest.mark.parametrize(
    ("given", "precision", "said"),
    [
        ({"fp8_param_gather": True}, "bf16", "fp8_param_gather keeps weights in fp8 alone, the job multiplies in bf16"),
        ({"fp8_param_gather": True}, "fp4", "the job multiplies in fp4"),
        ({"exp_avg_dtype": "bf16", "optimizer_offload_percent": 50.0}, "bf16", "keeps its moments in fp32"),
    ],
)
def test_what_cannot_be_kept_so_is_refused(given: dict[str, Any], precision: str, said: str) -> None:
    work = replace(DENSE, precision=precision)
    found = complete("plan", ParallelismPlan(dp=64, sharding=3, **given), work)
    assert isinstance(found, Misfit)
    assert said in found.reason


def deepseek(*modules: str, recompute: str = "selective") -> Layout:
    return layout(
        512, pp=4, ep=64, dp=64, virtual_stages=4, sequence_parallel=False, recompute=recompute,
        recompute_modules=modules,
    )  # fmt: skip


def test_what_is_recomputed_is_not_kept_and_takes_time() -> None:
    plain = deepseek()
    every = ("layernorm", "mla_up_proj", "moe_act")
    used = {module: memory(DEEPSEEK, deepseek(module)).activations_gb for module in every}
    took = {module: one_site(DEEPSEEK, deepseek(module)).terms.compute_s for module in every}
    before, before_s = memory(DEEPSEEK, plain).activations_gb, one_site(DEEPSEEK, plain).terms.compute_s
    assert all(used[module] < before and took[module] > before_s for module in every)
    saved = [before - memory(DEEPSEEK, deepseek(*every)).activations_gb, sum(before - one for one in used.values())]
    assert saved[0] == pytest.approx(saved[1])
    assert (
        memory(DEEPSEEK, deepseek(*every)).activations_gb > memory(DEEPSEEK, deepseek(recompute="full")).activations_gb
    )


def test_dense_blocks_keep_their_input_alone() -> None:
    """Three inner tensors of 14,336 in bf16, 32 layers, one sequence in flight; and their three products once more."""
    plain, less = (layout(64, dp=64, recompute_modules=modules) for modules in ((), ("mlp",)))
    saved = memory(DENSE, plain).activations_gb - memory(DENSE, less).activations_gb
    assert saved == pytest.approx(6 * 14336 * 8192 * 32 / 1e9)
    products_s = 32 * 2 * 8192 * 3 * 4096 * 14336 / machines(DENSE)[0].gemm_flops
    added = one_site(DENSE, less).terms.compute_s - one_site(DENSE, plain).terms.compute_s
    assert products_s < added < 1.3 * products_s


def test_queries_keys_and_values_of_latent_attention() -> None:
    """A token keeps 1,536 + 512 + 64 of a layer instead of 128 heads × (2 × 192 + 128); 16.25 layers at most."""
    dropped = 2 * 4096 * (128 * (2 * 192 + 128) - 1536 - 512 - 64)
    plain, less = (memory(DEEPSEEK, deepseek(*modules)).activations_gb for modules in ((), ("mla_up_proj",)))
    in_flight = 4 + 3 / 4
    assert (plain - less) * 1e9 / dropped / in_flight == pytest.approx(16, abs=1.01)


def test_fused_experts_write_and_read_nothing_between_their_products() -> None:
    """Of 8 experts with 2,048 inner units: 6 bytes each for the activation function, 4 beside what the second takes."""
    plain, fused = (replace(deepseek(), fused_experts=on).tile for on in (False, True))
    (box,) = machines(DEEPSEEK)
    moved = [layer_kernels(DEEPSEEK, tile, box, moe=True).other_bytes for tile in (plain, fused)]
    assert moved[0] - moved[1] == pytest.approx(4096 * (6 + 4) * 8 * 2048)
    assert layer_kernels(DEEPSEEK, plain, box, moe=False) == layer_kernels(DEEPSEEK, fused, box, moe=False)
    assert "fused_experts" in idle(ParallelismPlan(fused_experts=True), DENSE)


def test_biases_of_experts_move_bytes_unless_they_are_fused() -> None:
    """GPT-OSS: 4 experts a token, hidden size 2,880."""
    here = (share("here", "b200-sxm", 64),)
    with_, without = (
        Workload("job", model("gpt-oss-120b").model_copy(update={"expert_bias": on}), 4096, 64, "bf16", 32, here)
        for on in (True, False)
    )
    (box,) = machines(with_)
    for fused, each in ((False, 22), (True, 0)):
        tile = layout(64, ep=8, dp=64, fused_experts=fused).tile
        moved = [layer_kernels(work, tile, box, moe=True).other_bytes for work in (with_, without)]
        assert moved[0] - moved[1] == pytest.approx(each * 4096 * 4 * 2880)


@pytest.mark.parametrize(
    ("plan", "work", "said"),
    [
        (ParallelismPlan(recompute="none", recompute_modules=["layernorm"]), DENSE, "recompute is none"),
        (ParallelismPlan(recompute_modules=["moe_act", "mla_up_proj"]), DENSE, "the model has no"),
        (ParallelismPlan(recompute_modules=["moe_act", "mlp"]), DENSE, None),
        (ParallelismPlan(recompute_modules=["mlp"]), DEEPSEEK, None),
    ],
)
def test_modules_that_change_nothing_are_told(plan: ParallelismPlan, work: Workload, said: str | None) -> None:
    found = idle(plan, work).get("recompute_modules")
    assert (found is None) == (said is None)
    assert (said or "") in (found or "")


def test_recompute_is_not_idle_where_it_names_modules() -> None:
    assert "recompute" in idle(ParallelismPlan(), DENSE)
    assert "recompute" not in idle(ParallelismPlan(recompute_modules=["layernorm"]), DENSE)


def test_an_older_attention_kernel_tells_where_sequences_are_long() -> None:
    """Llama 3 405B: 4 % of the products are its attention core's at 8,192 tokens, 40 % at 131,072."""
    slower = {}
    for s, cp in ((8192, 1), (131072, 16)):
        work = Workload("job", model("llama3-405b"), s, 64, "bf16", 32, (share("here", "h100-sxm", 1024),))
        plan = layout(64, tp=8, cp=cp, pp=8, dp=16 // cp, cp_exchange="all-gather")
        new, old = (one_site(work, replace(plan, flash_attention=kind)).terms.compute_s for kind in (3, 2))
        slower[s] = old / new - 1
    assert 0.01 < slower[8192] < 0.04
    assert 0.2 < slower[131072] < 0.3


def test_attention_in_fp8_is_faster_but_not_in_a_job_in_bf16() -> None:
    for precision, faster in (("fp8", True), ("bf16", False)):
        work = replace(DENSE, precision=precision, shares=(share("here", "h100-sxm", 64, precision),))
        plain, fp8 = (one_site(work, layout(64, dp=64, fp8_attention=on)).terms.compute_s for on in (False, True))
        assert (fp8 < plain) == faster
        assert ("fp8_attention" in idle(ParallelismPlan(fp8_attention=True), work)) != faster


def test_recipes_that_ran_fit_with_what_they_state() -> None:
    """Of 88 recipes of Megatron-Bridge all but those that pair passes without a pipeline, and one.

    The former move activations to the host or keep them in fp8, which is not modelled; the other's table has another
    microbatch than its recipe.
    """
    runs = [run for name in names() if name.endswith("-moe") for run in run_sets()[name].runs.values()]
    ran = [run for run in runs if run.id.startswith("bridge")]
    full = [run for run in ran if not fits_at_all(memory(run.workload, run.layout))]
    assert len(ran) == 88
    assert len([run for run in full if not (run.layout.expert_overlap and run.layout.pp == 1)]) == 1
    assert len(full) <= 8


def fits_at_all(used: Memory) -> bool:
    return used.total_gb <= used.capacity_gb
