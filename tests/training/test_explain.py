"""Every term of every kind of plan can be worked out again from the formula and the inputs that are shown for it."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest

from dcplan.model.load import load_document
from dcplan.model.rules.examples import adding
from dcplan.model.source import parse
from dcplan.training.explain.memory import MEMORY
from dcplan.training.explain.terms import TERMS, explained
from dcplan.training.plans.search import named
from dcplan.training.step import Layout, Links, Memory, Terms, Workload
from dcplan.training.workload import workload
from tests.training.evaluate import evaluate

PAIR = ("lincoln", "papillion")
PLANS = {
    "interleaved": "tp: 8, cp: 2, pp: 16, virtual_stages: 8",
    "plain": "tp: 8, cp: 2, pp: 16",
    "uneven": "tp: 8, cp: 2, pp: 16, virtual_stages: 2",
    "whole-weights": "tp: 8, cp: 2, pp: 16, sharding: 0, recompute: full",
    "gradients-sharded": "tp: 8, cp: 2, pp: 16, sharding: 2",
    "interleaved-sharded": "tp: 8, cp: 2, pp: 16, virtual_stages: 4, sharding: 2",
    "fsdp": "tp: 8, pp: 1, sharding: 3, recompute: full",
    "hybrid-fsdp": "tp: 8, pp: 1, sharding: 3, shard_size: 512, recompute: full",
    "flat-ring": "tp: 8, cp: 2, pp: 16, sync: synchronous",
    "zb-h1": "tp: 8, cp: 2, pp: 16, schedule: zb-h1, recompute: full",
    "zb-h2": "tp: 8, cp: 2, pp: 16, schedule: zb-h2, recompute: full",
    "zbv": "tp: 8, cp: 2, pp: 16, schedule: zbv, recompute: full",
    "v-half": "tp: 8, cp: 2, pp: 16, schedule: v-half, recompute: full",
    "dualpipe": "tp: 8, cp: 2, pp: 16, schedule: dualpipe, recompute: full",
    "offloaded": "tp: 8, cp: 2, pp: 16, optimizer_offload_percent: 60",
    "gathered": "tp: 8, cp: 2, pp: 16, cp_exchange: all-gather",
    "over-stages": "tp: 8, cp: 2, pp: 16, across: pp",
    "few-in-flight": "tp: 8, cp: 2, pp: 16, across: pp, extra_in_flight: 1",
    "zero-over-stages": "tp: 8, cp: 2, pp: 16, schedule: zb-h1, across: pp, recompute: full",
    "tensors-over": "tp: 8, cp: 2, pp: 16, across: tp",
    "contexts-over": "tp: 8, cp: 2, pp: 16, across: cp",
    "gathered-over": "tp: 8, cp: 2, pp: 16, across: cp, cp_exchange: all-gather",
    "local-sgd": "tp: 8, cp: 2, pp: 16, sync: local-sgd, outer: {every_steps: 50}",
    "streaming": "tp: 8, cp: 2, pp: 16, sync: streaming, outer: {every_steps: 30, overlap_steps: 1, bits: 4}",
    "servers": "tp: 8, cp: 2, pp: 16, sync: parameter-server, "
    "outer: {tiers: [{every: 10, servers: {lincoln: [lincoln, papillion]}}]}",
}
TRANSPORT = "    transport: {protocol: roce-gbn, packet_loss: 1.0e-7, encryption: macsec, flows: 4096, window_mb: 1}\n"
GPT = {
    "gpt": "tp: 8, pp: 8",
    "gpt-interleaved": "tp: 8, pp: 8, virtual_stages: 4",
    "gpt-over": "tp: 8, pp: 8, across: pp",
}
DEEPSEEK = {
    "moe": "pp: 16, ep: 32, recompute: full",
    "moe-over": "pp: 16, ep: 32, recompute: full, across: ep",
    "moe-dual": "pp: 16, ep: 32, schedule: dualpipe, recompute: full",
    "moe-overlap": "pp: 16, ep: 32, virtual_stages: 2, expert_overlap: true, recompute: full",
}
SMALL = {
    "waits": "pp: 4, ep: 8, recompute_modules: [layernorm, moe_act], grad_reduce_in_fp32: false, exp_avg_dtype: bf16, "
    "cuda_graphs: router, token_dispatcher: alltoall, fp8_param_gather: true, fp8_attention: true",
    "waits-paired": "pp: 4, ep: 8, virtual_stages: 2, expert_overlap: true, recompute: full",
}


def written(plans: dict[str, str], job: str, extra: str = "") -> str:
    return adding(f"    plans: {{{', '.join(f'{name}: {{{keys}}}' for name, keys in plans.items())}}}\n{extra}", job)


def changed(*changes: tuple[str, str]) -> str:
    text = adding("")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


GPT3, OLD = ("llama3-405b", "gpt3-175b"), ("h100-sxm", "a100-sxm-80gb")
TWO_KINDS = ("-96.60, power_mw: 100, accelerators: {h100-sxm", "-96.60, accelerators: {h200-sxm")
ALONE = ("{papillion: 8192, lincoln: 8192}", "{papillion: 8192}")
FILES = {
    "llama": written(PLANS, changed()),
    "llama-lossy": written(PLANS, changed(), TRANSPORT),
    "llama-mixed": written(PLANS, changed(TWO_KINDS)),
    "gpt": written(GPT, changed(GPT3)),
    "gpt-old": written(GPT, changed(GPT3, OLD, ("h: 8192", "h: 2048"))),
    "deepseek": written(
        DEEPSEEK, changed(("llama3-405b", "deepseek-v3-671b"), ("h100-sxm", "h200-sxm"), ("16777216", "268435456"))
    ),
    "qwen": written(
        SMALL, changed(("llama3-405b", "qwen3-30b-a3b"), ("16777216", "268435456")), "    precision: fp8\n"
    ),
    "by-speed": written(PLANS, changed(TWO_KINDS, ("16777216", "33554432")), "    split: by-speed\n"),
    "tpu": written({"sharded": "tp: 8, pp: 1, sharding: 3, recompute: full"}, changed(("h100-sxm", "tpu-v5p"))),
    "one-site": written({"interleaved": PLANS["interleaved"]}, changed(ALONE)),
}


def jobs() -> list[tuple[str, Workload, Layout]]:
    found = []
    for name, text in FILES.items():
        network, findings = load_document(parse(text, "example.yaml"))
        assert network is not None, findings
        load = workload(network, "pretrain")
        fitting, misfits = named(load, network.jobs["pretrain"])
        assert not misfits, (name, misfits)
        found += [(f"{name}: {layout.name}", load, layout) for layout in fitting]
    return found


JOBS = jobs()


def test_every_term_has_an_explanation() -> None:
    """Whoever adds a term to `Terms` says in `explain.terms.TERMS` what it is, and shows how it is worked out."""
    assert list(TERMS) == [field.name for field in fields(Terms)]
    assert all(term.what and term.source for term in TERMS.values())
    assert {*MEMORY, "capacity_gb", "host_capacity_gb"} == {field.name for field in fields(Memory)}


@pytest.mark.parametrize("gbps", [800.0, math.inf])
@pytest.mark.parametrize(("load", "layout"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS])
def test_the_step_can_be_worked_out_again(load: Workload, layout: Layout, gbps: float) -> None:
    found = explained(load, layout, Links({PAIR: gbps}, {PAIR: 2.0}))
    total = 0.0
    for term in found.terms:
        names = [one.symbol for one in term.worked.inputs]
        assert len(set(names)) == len(names)
        value = evaluate(term.worked.formula, {one.symbol: one.value for one in term.worked.inputs})
        assert value == pytest.approx(term.value_s, rel=1e-9, abs=1e-12), (term.term, term.worked)
        total += value
    assert total == pytest.approx(found.step.step_s, rel=1e-9)


@pytest.mark.parametrize(("load", "layout"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS])
def test_memory_and_bytes_can_be_worked_out_again(load: Workload, layout: Layout) -> None:
    found = explained(load, layout, Links({PAIR: 800.0}, {PAIR: 2.0}))
    for layer in found.layers:
        value = evaluate(layer.worked.formula, {one.symbol: one.value for one in layer.worked.inputs})
        assert value == pytest.approx(layer.value_s, rel=1e-9, abs=1e-15), (layer.what, layer.worked)
    assert found.layers or layout.across == "pp"
    for part in (*found.memory, *found.between):
        value = evaluate(part.worked.formula, {one.symbol: one.value for one in part.worked.inputs})
        assert value == pytest.approx(part.value_gb, rel=1e-9, abs=1e-12), (part.part, part.worked)
    here = [part.value_gb for part in found.memory if part.part != "host_gb"]
    assert sum(here) == pytest.approx(found.step.memory.total_gb)
    assert len(found.between) == len(found.step.cross_site_gb)


@pytest.mark.parametrize(("load", "layout"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS])
def test_no_input_is_shown_that_its_formula_does_not_have(load: Workload, layout: Layout) -> None:
    for term in explained(load, layout, Links({PAIR: 800.0}, {PAIR: 2.0})).terms:
        assert all(one.what for one in term.worked.inputs)
        if not layout.outer and term.term != "cross_pipeline_s":  # what a schedule is made of is shown beside its time
            words = set(term.worked.formula.replace("(", " ").replace(")", " ").replace(",", " ").split())
            assert {one.symbol for one in term.worked.inputs} <= words, term


def test_without_a_term_the_step_is_shorter_by_it() -> None:
    _, load, layout = JOBS[0]
    found = explained(load, layout, Links({PAIR: 800.0}, {PAIR: 2.0}))
    by_name = {term.term: term for term in found.terms}
    sync = by_name["sync_s"]
    assert sync.without_s == pytest.approx(found.step.step_s - sync.value_s)
    assert sync.without_overhead_percent == pytest.approx(100 * (sync.without_s / found.alone.step_s - 1))
    compute = by_name["compute_s"]
    alone_s = found.alone.step_s - found.alone.terms.compute_s
    assert compute.without_overhead_percent == pytest.approx(100 * (compute.without_s / alone_s - 1))
