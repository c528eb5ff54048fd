"""Layer counts that do not divide: every layer stands somewhere, the fullest stage sets pace and memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.catalog.parts import ModelShape
from dcplan.model.job import ParallelismPlan
from dcplan.training.engine import one_site
from dcplan.training.layout import complete
from dcplan.training.memory import memory
from dcplan.training.pipeline.stages import divides, fills, fullest_layers, stage_layers
from dcplan.training.plans.table import candidates
from dcplan.training.step import Layout, Misfit, Workload

from .records import layout, listed, model, share

quiet = settings(derandomize=True, deadline=None, max_examples=60)
PUBLISHED = ParallelismPlan(tp=1, pp=16, ep=64, recompute="full")


def sparse(name: str, precision: str = "bf16") -> Workload:
    return Workload("job", model(name), 4096, 15360, precision, 32, (share("here", "h800-sxm", 2048, precision),))


def plain(layers: int) -> Workload:
    """A dense model whose embedding and logits weigh next to nothing."""
    shape = ModelShape(layers=layers, hidden=4096, heads=32, ffn=16384, vocab=128, glu=False)
    return Workload("job", shape, 4096, 512, "bf16", 32, (share("here", "h100-sxm", 128),))


@pytest.mark.parametrize("name", ["deepseek-v3-671b", "kimi-k2-1t"])
def test_published_layouts_are_plans(name: str) -> None:
    found = complete("published", PUBLISHED, sparse(name))
    assert isinstance(found, Layout)
    assert (found.dp, found.microbatches) == (128, 120)
    first, inner, last = stage_layers(model(name), 16)
    assert [kind.dense + kind.moe for kind in (first, inner, last)] == [3, 4, 2]
    assert inner.stages == 14


def test_only_an_empty_stage_is_refused() -> None:
    load = sparse("deepseek-v3-671b")
    for change in ({"pp": 64, "ep": 32}, {"pp": 16, "virtual_stages": 4}):
        found = complete("deep", PUBLISHED.model_copy(update=change), load)
        assert isinstance(found, Misfit)
        assert "do not fall evenly" in found.reason
        assert "empty" in found.reason
    assert isinstance(complete("deep", PUBLISHED.model_copy(update={"pp": 32}), load), Layout)
    two_each = PUBLISHED.model_copy(update={"virtual_stages": 2})
    assert isinstance(complete("deep", two_each, replace(load, batch=16384)), Layout)


@given(layers=st.integers(1, 130), pp=st.integers(1, 64), v=st.integers(1, 6))
@quiet
def test_every_layer_stands_in_one_stage(layers: int, pp: int, v: int) -> None:
    shape = ModelShape(layers=layers, hidden=64, heads=1, ffn=64, vocab=128, glu=False)
    assume((v == 1 or pp > 1) and fills(shape, pp, v))
    kinds = stage_layers(shape, pp, v)
    most, least = fullest_layers(shape, pp, v), min(kind.dense for kind in kinds)
    assert sum(kind.stages * kind.dense for kind in kinds) == pytest.approx(layers)
    assert sum(kind.stages for kind in kinds) <= pp + 1e-9
    assert 0 <= least <= max(kind.dense for kind in kinds) <= most
    if pp > 2:
        assert kinds[1].dense == most
    if divides(shape, pp, v):
        assert sum(kind.stages for kind in kinds) == pp


@pytest.mark.parametrize("layers", [61, 57, 50, 63])
def test_the_fullest_stage_sets_pace_and_memory(layers: int) -> None:
    plan = layout(512, tp=8, pp=16, dp=1, recompute="full")
    uneven, even = plain(layers), plain(64)
    ours, theirs = one_site(uneven, plan).terms, one_site(even, plan).terms
    assert ours.compute_s == pytest.approx(theirs.compute_s, rel=0.02)  # the embedding
    assert ours.bubble_s == pytest.approx(theirs.bubble_s * (layers - 4) / 60, rel=0.02)
    assert memory(uneven, plan).total_gb <= memory(even, plan).total_gb
    assert memory(uneven, plan).total_gb > memory(plain(48), plan).total_gb


def test_a_pipeline_over_sites_may_be_uneven_too() -> None:
    shares = (share("a", "h100-sxm", 64), share("b", "h100-sxm", 64))
    over = layout(512, tp=8, pp=16, dp=1, across="pp", recompute="full")
    inside = layout(512, tp=8, pp=16, dp=1, recompute="full")
    load = plain(61)
    split = Workload("job", load.model, 4096, 512, "bf16", 32, shares)
    assert one_site(split, over).step_s == pytest.approx(one_site(load, inside).step_s, rel=0.05)


def test_the_search_cuts_odd_layer_counts_into_powers_of_two() -> None:
    load = sparse("deepseek-v3-671b")
    found = list(candidates(load))
    assert {plan.pp for plan in found} >= {4, 8, 16, 32}
    assert all(fullest_layers(load.model, plan.pp, plan.virtual_stages) * plan.pp < 61 + plan.pp for plan in found)
    even = list(candidates(plain(80)))
    assert even
    assert all(divides(plain(80).model, plan.pp, plan.virtual_stages) for plan in even)


def test_misfits_of_a_search_say_what_they_are() -> None:
    misfits = listed(sparse("deepseek-v3-671b")).misfits
    assert len(misfits) > 1
    assert [misfit.plan for misfit in misfits] == [f"auto: {misfit.kind}" for misfit in misfits]


def test_deepseek_v3_as_published() -> None:
    """DeepSeek-V3 report: 180,000 H800 hours for 10^12 tokens, 15,360 sequences a step: 19.9 s.

    The rate of experts is fitted on that run. Here the plan is a simpler one, which keeps its activations and runs
    1F1B: its expert exchange is in the open.
    """
    own = share("here", "h800-sxm", 2048, "fp8", "hopper-2024-fp8")
    load = replace(sparse("deepseek-v3-671b", "fp8"), shares=(own,))
    found = one_site(load, layout(15360, tp=1, pp=16, ep=64, dp=128))
    hours = 180_000 * 15360 * 4096 / 1e12
    assert 1 < found.step_s / (hours * 3600 / 2048) < 1.4
    assert found.terms.ep_s > 0.2 * found.step_s
