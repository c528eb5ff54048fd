"""The line that says what a plan is: nothing of the software is left out that a file asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.api.recipe import in_words
from dcplan.model.job import ParallelismPlan
from tests.training.records import layout

PLAIN = layout(512, tp=8, pp=4, ep=2, dp=16)
SAID = {
    "sequence_parallel": (False, "no SP"),
    "grad_reduce_in_fp32": (False, "gradients bf16"),
    "fp8_param_gather": (True, "weights fp8"),
    "exp_avg_dtype": ("bf16", "moments bf16"),
    "fp8_attention": (True, "attention fp8"),
    "flash_attention": (2, "flash 2"),
    "fused_experts": (True, "experts fused"),
    "token_dispatcher": ("flex", "tokens by flex"),
    "cuda_graphs": ("layer", "graphs layer"),
    "recompute_modules": (("layernorm", "mlp"), "selective+layernorm+mlp"),
    "expert_overlap": (True, "EP overlapped"),
    "schedule": ("zb-h1", "zb-h1"),
    "optimizer_offload_percent": (50.0, "50 % of the optimizer in the host"),
}
"""Key of a plan -> another value than the default, and how the line says it."""
SIZES = {"tp", "cp", "pp", "dp", "ep", "virtual_stages", "microbatch", "sharding", "recompute"}
ELSEWHERE = {"cp_exchange", "across", "sync", "outer", "extra_in_flight"}
"""Said where cp is more than one, or in columns and lines about sites."""
UNSAID = {"shard_size"}
"""A layout does not know whether that was asked for: without it, it is the ranks of one site."""


def test_every_key_is_said_but_one() -> None:
    assert set(ParallelismPlan.model_fields) == {*SAID, *SIZES, *ELSEWHERE, *UNSAID}


@pytest.mark.parametrize("key", SAID)
def test_what_is_not_the_default_is_said_and_nothing_else(key: str) -> None:
    value, words = SAID[key]
    usual, changed = in_words(PLAIN), in_words(replace(PLAIN, **{key: value}))
    assert words not in usual
    assert words in changed
    assert usual == "TP8 PP4 EP2 DP16 mb1 ZeRO-1 selective"
