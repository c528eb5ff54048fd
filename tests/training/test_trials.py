"""Published runs over several sites, and runs of one site that nothing was fitted on."""

from __future__ import annotations

import math

import pytest

from dcplan.catalog.parts import ModelShape
from dcplan.training.engine import one_site, step_time
from dcplan.training.step import Layout, Links, Workload

from .records import layout, model, share


def efficiency_percent(load: Workload, plan: Layout, rate_gbps: float, latency_ms: float) -> float:
    pair = (min(s.site for s in load.shares), max(s.site for s in load.shares))
    far = step_time(load, plan, Links({pair: rate_gbps}, {pair: latency_ms}))
    return 100 * one_site(load, plan).step_s / far.step_s


def test_nvidia_340b_over_1000_km() -> None:
    """NVIDIA NeMo, 2 x 1,536 H100, hierarchical, chunked: 96 % of one site. DCI not published: 12.8 Tb/s, bf16."""
    shares = (share("chicago", "h100-sxm", 1536), share("ashburn", "h100-sxm", 1536))
    load = Workload("job", model("nemotron-4-340b"), 4096, 1536, "bf16", 16, shares)
    plan = layout(1536, tp=8, pp=12, dp=32, virtual_stages=8, across="dp", shard_size=16)
    assert 94 <= efficiency_percent(load, plan, 12_800, 10.5) <= 100


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("accelerator", ["a100-sxm-80gb", "ascend-910b", "h100-sxm"])
def test_china_telecom_177b_over_500_km(accelerator: str, bits: int) -> None:
    """China Telecom 2025: 1,024 accelerators, 3.2 Tb/s, 500 km: 97 to 99 %. Type, batch and bits not published."""
    shape = ModelShape(layers=96, hidden=12288, heads=96, ffn=49152, vocab=125696, glu=False)
    shares = (share("wuqing", accelerator, 512), share("yinghai", accelerator, 512))
    load = Workload("job", shape, 4096, 1024, "bf16", bits, shares)
    over_dp = layout(1024, tp=8, pp=8, dp=16, virtual_stages=4, across="dp", shard_size=8, recompute="full")
    over_pp = layout(1024, tp=8, pp=8, dp=16, across="pp", recompute="full")
    latency_ms = 500 * 1.468 / 299.792
    floor = 95 if bits == 16 else 90  # 32 bits double the exchange: reported efficiency is then out of reach
    assert floor <= efficiency_percent(load, over_dp, 3200, latency_ms) <= 100
    assert 95 <= efficiency_percent(load, over_pp, 3200, latency_ms) <= 100


def test_palm_over_two_pods() -> None:
    """PaLM: two pods of 3,072 TPU v4 at 97 % of twice one pod, gradients not overlapped.

    All hosts of both pods sent 81 Tb/s at once, so 40.5 Tb/s each way; the pods stand side by side.
    """
    shape = model("palm-540b")
    one = Workload("job", shape, 2048, 1024, "bf16", 16, (share("p1", "tpu-v4", 3072),))
    two = Workload("job", shape, 2048, 2048, "bf16", 16, (share("p1", "tpu-v4", 3072), share("p2", "tpu-v4", 3072)))
    sizes = {"tp": 12, "sharding": 3, "recompute": "full", "microbatch": 4}
    alone = one_site(one, layout(1024, dp=256, **sizes))
    both = step_time(
        two,
        layout(2048, dp=512, across="dp", shard_size=256, **sizes),
        Links({("p1", "p2"): 40_500}, {("p1", "p2"): 0.05}),
    )
    loss = 100 * (1 - both.tokens_per_s / alone.tokens_per_s / 2)
    assert 1 <= loss <= 4


@pytest.mark.parametrize(("dp", "published"), [(64, 43), (128, 41)])
def test_llama3_405b_mfu(dp: int, published: float) -> None:
    """Llama 3 (arXiv 2407.21783) table 4, one layer per virtual stage (assumed), no recompute,
    optimizer and fp32 gradients sharded, 16M tokens a step."""
    load = Workload("job", model("llama3-405b"), 8192, 2048, "bf16", 32, (share("here", "h100-sxm", 128 * dp),))
    plan = layout(2048, tp=8, pp=16, dp=dp, virtual_stages=8, sharding=2, recompute="none")
    assert one_site(load, plan).mfu_percent == pytest.approx(published, abs=4)


def test_a_planner_that_needs_petabits_has_a_bug() -> None:
    """Data parallel training of 405B over two sites with a fiber pair or two of 64 x 400 Gb/s stays above 90 %."""
    shares = (share("a", "h100-sxm", 8192), share("b", "h100-sxm", 8192))
    load = Workload("job", model("llama3-405b"), 8192, 2048, "bf16", 16, shares)
    plan = layout(2048, tp=8, cp=2, pp=16, dp=64, virtual_stages=8, across="dp", shard_size=32)
    assert efficiency_percent(load, plan, 51_200, 0.5) > 97
    assert math.isfinite(one_site(load, plan).step_s)
