"""Groups of every layer over sites: bytes by counting messages, latency by trips, order, what is refused."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.design.result import Infeasible
from dcplan.model.job import ParallelismPlan
from dcplan.model.network import pair
from dcplan.training import shapes
from dcplan.training.across.cross_layers import cross_layers_gb, spanned
from dcplan.training.across.place import places
from dcplan.training.compute import attention_core_s, ring_exchange_s
from dcplan.training.engine import cross_site_gb, needed_rates, one_site, step_time, without_sites
from dcplan.training.layout import complete
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, Links, Misfit, Workload

from .records import model, share


def job(counts: dict[str, int], *, name: str = "llama3-70b", batch: int = 512, kind: str = "h100-sxm") -> Workload:
    shares = tuple(share(site, kind, count) for site, count in counts.items())
    return Workload("job", model(name), 8192, batch, "bf16", 32, shares)


TWO = job({"a": 256, "b": 256})
SPARSE = job({"a": 1024, "b": 1024}, name="deepseek-v3-671b", batch=4096, kind="h800-sxm")
PLANS = {
    "tp": (TWO, ParallelismPlan(tp=8, pp=4, across="tp")),
    "cp": (TWO, ParallelismPlan(tp=8, cp=2, pp=2, across="cp")),
    "gathered": (TWO, ParallelismPlan(tp=8, cp=4, pp=2, across="cp", cp_exchange="all-gather", recompute="full")),
    "ep": (SPARSE, ParallelismPlan(pp=16, ep=64, recompute="full", across="ep")),
}
names = st.sampled_from(sorted(PLANS))


def layout(load: Workload, plan: ParallelismPlan) -> Layout:
    found = complete("plan", plan, load)
    assert isinstance(found, Layout), found
    return found


def step_s(load: Workload, plan: Layout, gbps: float, ms: float) -> float:
    pairs = cross_site_gb(load, plan)
    return step_time(load, plan, Links(dict.fromkeys(pairs, gbps), dict.fromkeys(pairs, ms))).step_s


@given(names, st.floats(100, 1e6), st.floats(1, 10), st.floats(0, 20), st.floats(0, 20))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_more_rate_never_hurts_and_more_latency_never_helps(
    name: str, gbps: float, factor: float, ms: float, more: float
) -> None:
    load, plan = PLANS[name][0], layout(*PLANS[name])
    here = step_s(load, plan, gbps, ms)
    assert step_s(load, plan, gbps * factor, ms) <= here * (1 + 1e-9)
    assert step_s(load, plan, gbps, ms + more) >= here * (1 - 1e-9)
    assert here >= one_site(load, plan).step_s * (1 - 1e-9)


@pytest.mark.parametrize("name", PLANS)
def test_no_distance_leaves_the_step_of_one_site_and_rates_are_its_inverse(name: str) -> None:
    load, plan = PLANS[name][0], layout(*PLANS[name])
    assert step_s(load, plan, math.inf, 0.0) == one_site(load, plan).step_s
    ms = dict.fromkeys(cross_site_gb(load, plan), 0.0)
    found = needed_rates(load, plan, ms, 20.0)
    assert found is not None
    limit = one_site(load, plan).step_s * 1.2
    assert step_time(load, plan, Links(found, ms)).step_s <= limit * (1 + 1e-9)
    less = {ends: rate * (1 - 1e-6) for ends, rate in found.items()}
    assert step_time(load, plan, Links(less, ms)).step_s > limit
    far = dict.fromkeys(ms, 20.0)
    assert needed_rates(load, plan, far, 5.0) is None


def test_latency_is_paid_in_every_layer_of_every_microbatch() -> None:
    """tp: four all-reduces a layer and one for the embedding, two trips each; 20 layers in a stage."""
    load, plan = PLANS["tp"][0], layout(*PLANS["tp"])
    pairs = cross_site_gb(load, plan)
    found = step_time(load, plan, Links(dict.fromkeys(pairs, math.inf), dict.fromkeys(pairs, 2.0))).terms
    assert found.cross_layers_s == pytest.approx((20 * 4 + 1) * 2 * 0.002 * (plan.microbatches + 3))
    assert found.sync_s == 0.0
    load, plan = (
        PLANS["ep"][0],
        layout(*PLANS["ep"]),
    )  # dispatch and combine, forward, again, backward; 4 layers a stage
    pairs = cross_site_gb(load, plan)
    found = step_time(load, plan, Links(dict.fromkeys(pairs, math.inf), dict.fromkeys(pairs, 2.0))).terms
    assert found.cross_layers_s == pytest.approx(4 * 6 * 0.002 * (plan.microbatches + 15))


def test_a_ring_hides_behind_the_attention_core() -> None:
    load, plan = PLANS["cp"][0], layout(*PLANS["cp"])
    where, (box, *_) = places(load, plan), machines(load)
    core, backward = attention_core_s(load, plan.tile, box)
    near = ring_exchange_s(load, plan.tile, box)
    once, twice = spanned(load, plan, where, box).dense
    for ms in (0.0, 0.1, 5.0):
        links = Links({("a", "b"): math.inf}, {("a", "b"): ms})
        for each, core_s, trips, inside in ((once, core, 1, near), (twice, backward, 2, 2 * near)):
            took = max(inside, trips * ms / 1e3)
            assert each.adds_s(links, plan.pp) == pytest.approx(
                max(0, took - core_s) - max(0, inside - core_s), abs=1e-12
            )


@pytest.mark.parametrize("members", [{"a": 4, "b": 4}, {"a": 2, "b": 6}, {"a": 1, "b": 2, "c": 5}])
def test_bytes_of_an_all_reduce_are_those_of_its_messages(members: dict[str, int]) -> None:
    """Parts of S/t, one for each member: sites send their sums to where a part lives, and get all the other parts."""
    load = job({site: 64 * own for site, own in members.items()})
    plan = layout(load, ParallelismPlan(tp=8, pp=4, across="tp"))
    owner = [site for site, own in members.items() for _ in range(own)]
    sent: Counter[tuple[str, str]] = Counter()
    size = 2 * 8192 * load.model.hidden * plan.dp / 1e9
    for home in owner:
        for other in members:
            if other != home:
                sent[other, home] += size / 8
                sent[home, other] += size / 8
    reduces = 80 * 4 + 2
    found = cross_layers_gb(load, plan, places(load, plan), machines(load)[0])
    assert set(found) == set(combinations(members, 2))
    for (a, b), gb in sent.items():
        assert found[pair(a, b)] == pytest.approx(reduces * plan.microbatches * gb)


def test_bytes_of_a_ring_are_those_of_its_blocks() -> None:
    """Each of c−1 steps moves the block of every rank one on; those at the edge of a site cross."""
    load = job({"a": 128, "b": 256, "c": 128})
    plan = layout(load, ParallelismPlan(tp=8, cp=4, pp=2, across="cp"))
    where, order = ["a", "b", "b", "c"], Counter[tuple[str, str]]()
    for rank in range(4):
        here, there = where[rank], where[(rank + 1) % 4]
        order[here, there] += 3 * (here != there)  # c−1 steps
    block = 2 * 8192 / 4 * shapes.kv_width(load.model) * plan.dp / 1e9
    found = cross_layers_gb(load, plan, places(load, plan), machines(load)[0])
    for (a, b), blocks in order.items():
        if blocks:  # forward once, backward twice
            assert found[pair(a, b)] == pytest.approx(80 * plan.microbatches * 3 * blocks * block)
    assert cross_site_gb(load, plan)["a", "b"] > found["a", "b"]  # gradients cross as well


def test_a_token_crosses_once_however_many_of_its_experts_are_there() -> None:
    load, plan = PLANS["ep"][0], layout(*PLANS["ep"])
    box = machines(load)[0]
    assert box.one_copy
    dispatch, combine = spanned(load, plan, places(load, plan), box).moe
    rng, topk, crossing = random.Random(1), load.model.topk or 1, 0
    for _ in range(20_000):
        crossing += any(rng.random() < 0.5 for _ in range(topk))
    tokens = 8192 * plan.dp / 2
    expected = tokens * crossing / 20_000 * 2 * load.model.hidden / 1e9
    assert combine.size_gb["a", "b"] == pytest.approx(expected, rel=0.01)
    assert dispatch.size_gb["a", "b"] == combine.size_gb["a", "b"]


def test_only_what_all_tokens_meet_is_summed_over_sites_where_experts_span_them() -> None:
    load, plan = PLANS["ep"][0], layout(*PLANS["ep"])
    layers = cross_layers_gb(load, plan, places(load, plan), machines(load)[0])["a", "b"]
    routed = shapes.moe_layers(load.model) * shapes.layer_size(load.model, moe=True).experts
    shared = shapes.parameters(load.model) - routed
    assert cross_site_gb(load, plan)["a", "b"] - layers == pytest.approx(shared * 4 / 1e9, rel=1e-6)


@pytest.mark.parametrize(
    ("load", "plan", "reason"),
    [
        (TWO, ParallelismPlan(tp=1, across="tp"), "tp is 1"),
        (TWO, ParallelismPlan(tp=8, cp=2, sync="synchronous", across="cp"), "one ring through all ranks"),
        (job({"a": 100, "b": 412}), ParallelismPlan(tp=8, pp=4, across="tp"), "members of every tensor parallel group"),
        (job({"a": 128, "b": 384}), ParallelismPlan(tp=8, cp=2, pp=2, across="cp"), "of the 2 members of each group"),
        (TWO, ParallelismPlan(tp=8, pp=2, ep=2, across="ep"), "the model is dense"),
    ],
)  # fmt: skip
def test_what_cannot_span_sites_says_why(load: Workload, plan: ParallelismPlan, reason: str) -> None:
    found = complete("plan", plan, load)
    assert isinstance(found, Misfit)
    assert reason in found.reason


@pytest.mark.parametrize("name", PLANS)
def test_a_lost_site_stops_it(name: str) -> None:
    load, plan = PLANS[name][0], layout(*PLANS[name])
    lost = without_sites(load, plan, frozenset("a"))
    assert isinstance(lost, Misfit)
    assert "group" in lost.reason


FILE = """\
dcplan: 1
name: Which dimension crosses
sites:
  a: {lat: 40.0, lon: -100.0, accelerators: {h100-sxm: 256}}
  b: {lat: 40.0, lon: -99.0, accelerators: {h100-sxm: 256}}
fibers:
  one: {ends: [a, b], length_km: 95, type: g652d, pairs: 16}
gear:
  allow: {transponders: [400zr, 800zr+]}
jobs:
  train:
    model: llama3-70b
    accelerators: {a: 256, b: 256}
    sequence_length: 8192
    global_batch_tokens: 4194304
    plans:
      data: {tp: 8, pp: 4}
      stages: {tp: 8, pp: 4, across: pp}
      tensors: {tp: 8, pp: 4, across: tp}
      contexts: {tp: 8, cp: 2, pp: 2, across: cp}
policy: {survive: []}
"""


def test_a_user_sees_why_not(tmp_path, capsys) -> None:
    from dcplan.cli.app import run

    file = tmp_path / "x.yaml"
    file.write_text(FILE, encoding="utf-8")
    network = api.load(file)
    rows = {row.plan: row for row in api.steps(network, gbps=1600)}
    assert min(rows["tensors"].step_s, rows["contexts"].step_s) > 2 * max(rows["data"].step_s, rows["stages"].step_s)
    assert rows["tensors"].terms.cross_layers_s > 10 * rows["tensors"].one_site_s
    assert rows["tensors"].cross_site_gb > 50 * rows["data"].cross_site_gb
    assert rows["tensors"].needed_gbps is None
    assert {row.evidence for row in rows.values() if row.across in {"tp", "cp"}} == {"extrapolated"}
    made = api.plan(network)
    assert not isinstance(made, Infeasible)
    assert {row.plan for row in made.plans if row.chosen} <= {"data", "stages"}
    assert api.verify(network, made) == ()
    assert run(["steps", str(file)]) == 0
    assert "Cross layers: what groups over sites" in " ".join(capsys.readouterr().out.split())
    file.write_text(FILE.replace("    plans:", "    use: tensors\n    plans:"), encoding="utf-8")
    refused = api.plan(api.load(file))
    assert isinstance(refused, Infeasible)
    assert refused.limit == "latency"


def test_where_distance_is_nothing_it_may_be_planned(tmp_path) -> None:
    """Close to each other context parallel ranks over sites meet a wide target, and are planned for."""
    file = tmp_path / "x.yaml"
    near = FILE.replace("lon: -99.0", "lon: -99.97").replace("length_km: 95", "length_km: 3")
    near = near.replace("pairs: 16", "pairs: 64").replace(
        "    plans:", "    use: contexts\n    targets: {max_overhead_percent: 60}\n    plans:"
    )
    file.write_text(near, encoding="utf-8")
    network = api.load(file)
    made = api.plan(network)
    assert not isinstance(made, Infeasible)
    (one,) = made.collectives
    assert one.pattern == "direct"
    (demand,) = made.design.demands
    (row,) = [row for row in made.plans if row.chosen]
    assert row.overhead_percent <= 60
    assert demand.gbps["healthy"] > 1000
    assert api.verify(network, made) == ()


def test_by_speed_cannot_split_what_waits_in_every_layer() -> None:
    shares = (share("a", "h100-sxm", 256), share("b", "a100-sxm-80gb", 256))
    load = replace(TWO, shares=shares)
    plan = layout(load, PLANS["tp"][1])
    assert step_s(replace(load, split="by-speed"), plan, 1e5, 0.1) == step_s(load, plan, 1e5, 0.1)
