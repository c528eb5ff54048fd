"""`collective: optimal` from file to report: trees by cost, by step time, and the check of a plan with them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.cli.app import run
from dcplan.design.collective.at_rates import at_rates
from dcplan.design.collective.choice import traffic_by_cost
from dcplan.design.traffic import job_plans
from dcplan.model.states import promised_states
from dcplan.planfile import Plan, dumps, loads
from dcplan.training.across.patterns import KINDS, Collective, as_trees, pattern
from dcplan.training.engine import step_time
from dcplan.training.step import Links

from .test_collective import CHAIN, network

if TYPE_CHECKING:
    from pathlib import Path

RING = CHAIN.replace(
    "gear:\n", "  da: {ends: [d, a], length_km: 380, type: g652d, pairs: 16, lease_usd_per_km_year: 300}\ngear:\n"
).replace("survive: []", "survive: [any-fiber]")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    folder = tmp_path_factory.mktemp("ring")
    made = api.plan(network(folder, "optimal", RING))
    assert isinstance(made, Plan)
    return folder, made


def test_trees_stand_in_plan_and_report_and_pass_the_check(planned, capsys, monkeypatch):
    folder, made = planned
    monkeypatch.chdir(folder)
    (one,) = made.collectives
    assert (one.kind, one.pattern) == ("optimal", "optimal")
    assert sum(tree.share for tree in one.trees) == pytest.approx(1)
    costs = {each.kind: each.least_usd for each in one.tried}
    assert costs["optimal"] <= min(costs.values()) + 1
    sent = {}
    for tree in one.trees:
        for ends in tree.links:
            sent[ends] = sent.get(ends, 0.0) + tree.share * 4 * 70.55
    assert {link.ends: link.gb for link in one.links} == pytest.approx(sent, rel=0.01)
    read = loads(dumps(made), "plan.json")
    assert read.collectives[0].trees == one.trees
    assert api.verify(network(folder, "optimal", RING), read) == ()
    (folder / "plan.json").write_text(dumps(made), encoding="utf-8")
    assert run(["report", "plan.json", "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert sum(row["share_percent"] for row in tables["trees"]["rows"]) == pytest.approx(100)
    assert run(["report", "plan.json"]) == 0
    assert "Trees that gradients take" in capsys.readouterr().out


def test_other_trees_do_not_verify(planned):
    folder, made = planned
    net = network(folder, "optimal", RING)
    (one,) = made.collectives
    tree = one.trees[0]
    half = replace(tree, share=tree.share / 2)
    hub = as_trees(pattern(Collective("hub"), tuple("abcd")), {})
    torn = replace(tree, above=tree.above[1:])
    for other in ((), (half,), (torn,), hub if hub != one.trees else ()):
        assert api.verify(net, replace(made, collectives=(replace(one, trees=other),))) != ()


def test_where_failures_share_spare_capacity_several_trees_cost_less(tmp_path):
    """On a triangle that survives any fiber: a tree has (2, 2, 1) S, direct exchange 4/3 S on each of three links."""
    triangle = (
        CHAIN.replace("  d: {lat: 40.0, lon: -97.0, accelerators: {h100-sxm: 2048}}\n", "")
        .replace("cd: {ends: [c, d]", "ca: {ends: [c, a]")
        .replace("c: {lat: 40.0, lon: -98.0", "c: {lat: 40.6, lon: -99.5")
        .replace(", d: 1024}", "}")
        .replace("8388608", "6291456")
        .replace("survive: []", "survive: [any-fiber]")
    )
    net = network(tmp_path, "optimal", triangle)

    def spare(demands):
        """A dollar for each Gb/s and fiber, healthy or after the loss of any one fiber, each detour the other way."""
        asked = {demand.ends: demand.gbps["healthy"] for demand in demands}
        return sum(
            max(asked.get(ends, 0.0) + max((asked.get(other, 0.0) for other in asked if other != ends), default=0.0), 0)
            for ends in combinations("abc", 2)
        )

    jobs, _, tried = traffic_by_cost(net, promised_states(net), spare, lambda _: None)
    costs = {one.kind: one.least_usd for one in tried["pretrain"]}
    assert costs["direct"] == pytest.approx(0.8 * costs["tree"], rel=0.02)
    assert costs["optimal"] <= costs["direct"] * (1 + 1e-6)
    assert len(jobs[0].plans.workload.collective.packing) == 3


@given(
    rates=st.lists(st.sampled_from((50.0, 400.0, 3200.0)) | st.floats(20, 5000), min_size=6, max_size=6),
    latency=st.lists(st.floats(0.1, 40), min_size=6, max_size=6),
)
@settings(derandomize=True, deadline=None, max_examples=25)
def test_on_given_rates_no_other_collective_makes_a_shorter_step(plans, rates, latency):
    net, own = plans
    pairs = list(combinations("abcd", 2))
    links = Links(dict(zip(pairs, rates, strict=True)), dict(zip(pairs, latency, strict=True)))
    for asked in ("optimal", "auto"):
        job = net.topology.jobs["pretrain"].model_copy(update={"collective": asked})
        free = replace(net, topology=net.topology.model_copy(update={"jobs": {"pretrain": job}}))
        best = at_rates(free, own, links)
        for layout in best.layouts:
            here = step_time(best.load_of(layout), layout, links).step_s
            for kind in KINDS:
                other = replace(own.workload, collective=Collective(kind, own.workload.collective.latency_ms))
                assert here <= step_time(other, layout, links).step_s * (1 + 1e-9)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory):
    net = network(tmp_path_factory.mktemp("rates"), "optimal")
    return net, job_plans(net, "pretrain", promised_states(net))


def test_steps_take_what_is_left_open_by_step_time(tmp_path):
    text = CHAIN.replace("{wide: {tp: 8, pp: 4}}", "{wide: {tp: 8, pp: 4}, flat: {tp: 8, pp: 4, sync: synchronous}}")
    for gbps in (100.0, None):
        steps = {
            kind: {row.plan: row for row in api.steps(network(tmp_path, kind, text), gbps=gbps)}
            for kind in (*KINDS, "optimal", "auto")
        }
        for kind in ("optimal", "auto"):
            least = min(steps[other]["wide"].step_s for other in KINDS)
            assert steps[kind]["wide"].step_s <= least * (1 + 1e-9)
            assert steps[kind]["flat"] == steps["direct"]["flat"]
            assert steps[kind]["flat"].collective == "flat ring"
        assert steps["optimal"]["wide"].collective == "optimal"
    assert math.isfinite(steps["auto"]["wide"].step_s)
