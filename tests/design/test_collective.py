"""The collective of a job in three or more sites: what the network is sized for, and what `auto` takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dcplan import api
from dcplan.api.standing import as_it_is
from dcplan.cli.app import run
from dcplan.design.collective.choice import traffic_by_cost
from dcplan.design.result import Infeasible
from dcplan.design.traffic import traffic_of
from dcplan.model.states import promised_states
from dcplan.planfile import Plan

CHAIN = """\
dcplan: 1
name: Chain of four
sites:
  a: {lat: 40.0, lon: -100.0, accelerators: {h100-sxm: 2048}}
  b: {lat: 40.0, lon: -99.0, accelerators: {h100-sxm: 2048}}
  c: {lat: 40.0, lon: -98.0, accelerators: {h100-sxm: 2048}}
  d: {lat: 40.0, lon: -97.0, accelerators: {h100-sxm: 2048}}
fibers:
  ab: {ends: [a, b], length_km: 95, type: g652d, pairs: 16, lease_usd_per_km_year: 300}
  bc: {ends: [b, c], length_km: 95, type: g652d, pairs: 16, lease_usd_per_km_year: 300}
  cd: {ends: [c, d], length_km: 95, type: g652d, pairs: 16, lease_usd_per_km_year: 300}
gear:
  allow: {transponders: [400zr, 800zr+]}
jobs:
  pretrain:
    model: llama3-70b
    accelerators: {a: 1024, b: 1024, c: 1024, d: 1024}
    sequence_length: 8192
    global_batch_tokens: 8388608
    plans: {wide: {tp: 8, pp: 4}}
    targets: {max_overhead_percent: 10}
policy: {survive: []}
"""


def network(tmp_path: Path, collective: str | None, text: str = CHAIN):
    file = tmp_path / "chain.yaml"
    more = "" if collective is None else f"    collective: {collective}\n"
    file.write_text(text.replace("    plans:", f"{more}    plans:"), encoding="utf-8")
    return api.load(file)


def least_gbps_km(net):
    """A cost by hand: every demand goes along the chain, each Gb/s and fiber of it for a dollar."""
    return lambda demands: sum(
        demand.gbps["healthy"] * abs(ord(demand.ends[0]) - ord(demand.ends[1])) for demand in demands
    )


def test_a_chain_is_cheapest_as_a_tree(tmp_path):
    net = network(tmp_path, "auto")
    states = promised_states(net)
    jobs, demands, tried = traffic_by_cost(net, states, least_gbps_km(net), lambda _: None)
    assert {demand.ends for demand in demands} == {("a", "b"), ("b", "c"), ("c", "d")}
    assert jobs[0].plans.workload.collective.kind == "tree"
    costs = {one.kind: one.least_usd for one in tried["pretrain"]}
    assert costs.pop("optimal") == pytest.approx(costs["tree"])  # where prices add up one tree is best
    for kind, cost in costs.items():
        asked = traffic_of(network(tmp_path, kind), states)[1]
        assert cost == pytest.approx(least_gbps_km(net)(asked))
    # S on 3 links; (n−1)/n S on 3 short ones and one that is three long; S/2 on 3 + 2 × 2 + 3; S on 1 + 1 + 2
    tree = costs["tree"] / 3
    assert costs["ring"] == pytest.approx(tree * 0.75 * 6, rel=0.02)
    assert costs["direct"] == pytest.approx(tree * 0.5 * 10, rel=0.02)
    assert costs["hub"] == pytest.approx(tree * 4, rel=0.02)


def test_what_misses_its_targets_or_has_no_network_is_left_out(tmp_path):
    net = network(tmp_path, "auto", CHAIN.replace("length_km: 95", "length_km: 160"))
    states = promised_states(net)
    free = traffic_by_cost(net, states, lambda _: 1.0, lambda _: None)[2]["pretrain"]
    assert [one.why_not for one in free] == [""] * 5

    def but_tree(demands):
        return None if len(demands) == 3 else float(len(demands))

    jobs, _, tried = traffic_by_cost(net, states, but_tree, lambda _: None)
    assert jobs[0].plans.workload.collective.kind == "ring"
    assert [one.why_not for one in tried["pretrain"] if one.least_usd is None] == ["no network carries it"] * 2
    strict = network(tmp_path, "auto", CHAIN.replace("max_overhead_percent: 10", "max_overhead_percent: 0.01"))
    refused = traffic_by_cost(strict, states, lambda _: 1.0, lambda _: None)
    assert isinstance(refused, Infeasible)
    assert refused.limit == "latency"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    folder = tmp_path_factory.mktemp("chain")
    made = api.plan(network(folder, "auto"))
    assert isinstance(made, Plan)
    return folder, made


def test_plan_report_and_verify(planned, capsys, monkeypatch):
    folder, made = planned
    monkeypatch.chdir(folder)
    (one,) = made.collectives
    assert (one.kind, one.pattern, len(one.tried), one.trees) == ("tree", "tree", 5, ())
    cheapest = min(each.least_usd for each in one.tried)
    assert cheapest <= made.design.cost_usd
    assert {link.ends: link.gb for link in one.links} == pytest.approx(
        dict.fromkeys([("a", "b"), ("b", "c"), ("c", "d")], 4 * 70.55), rel=0.01
    )
    net = network(folder, "auto")
    assert api.verify(net, made) == ()
    from dcplan.planfile import dumps

    (folder / "plan.json").write_text(dumps(made), encoding="utf-8")
    assert run(["report", "plan.json", "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [row["gb"] for row in tables["collectives"]["rows"]] == [pytest.approx(link.gb) for link in one.links]
    taken = [row["collective"] for row in tables["collectives_compared"]["rows"] if row["chosen"]]
    assert taken == ["tree"]


def test_on_a_network_as_it_is_the_collective_is_the_one_it_was_built_for(planned, monkeypatch, capsys):
    folder, made = planned
    monkeypatch.chdir(folder)
    net = network(folder, "auto")
    found = as_it_is(net, existing=made)
    assert [one.kind for one in found.plan.collectives] == ["tree"]
    assert found.given.routing.whole
    assert run(["plan", "chain.yaml", "--fixed"]) == 2
    assert "nothing is lit" in capsys.readouterr().err


def test_another_collective_in_the_plan_does_not_verify(planned):
    folder, made = planned
    net = network(folder, "auto")
    (one,) = made.collectives
    for other in (replace(one, kind="ring"), replace(one, links=one.links[1:]), replace(one, kind="nothing")):
        assert api.verify(net, replace(made, collectives=(other,))) != ()
    dear = tuple(replace(each, least_usd=1.0) if each.kind == "hub" else each for each in one.tried)
    (fault,) = api.verify(net, replace(made, collectives=(replace(one, tried=dear),)))
    assert "tree is not the collective whose network costs least" in fault


def test_a_key_without_effect_is_said(tmp_path):
    def said(text):
        (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
        return [finding.message for finding in api.check([tmp_path / "x.yaml"]) if "`collective`" in finding.message]

    assert said(CHAIN.replace("    plans:", "    collective: tree\n    plans:")) == []
    assert said(CHAIN) == []
    flat = CHAIN.replace("pp: 4}", "pp: 4, sync: synchronous}").replace("    plans:", "    collective: hub\n    plans:")
    assert "no plan sums gradients site by site" in said(flat)[0]
    two = CHAIN.replace(", c: 1024, d: 1024}", "}").replace("    plans:", "    collective: auto\n    plans:")
    assert "between two sites all collectives are the same" in said(two)[0]
