"""A design that stops by nodes is the same, byte for byte, wherever it is made; it says why it stopped, and its gap."""

from __future__ import annotations

import pytest

from dcplan import api
from dcplan.planfile import dumps
from tests.cli.test_progress import lumpy


@pytest.fixture
def network(tmp_path):
    file = tmp_path / "lumpy.yaml"
    file.write_text(lumpy(sites=8, chords=5, demands=16).replace(", time_limit_s: 600", ""))
    return api.load(file)


def test_same_bytes_by_nodes(network):
    made = [api.plan(network, max_nodes=1) for _ in range(2)]
    assert dumps(made[0]) == dumps(made[1])
    assert made[0].options["max_nodes"] == "1"
    assert made[0].options["time_limit_s"] == "none"
    proof = made[0].design.proof
    assert (proof.status, proof.reason) == ("feasible", "node limit")
    assert proof.gap > 0
    assert api.verify(network, made[0]) == ()


def test_enough_nodes_prove(network):
    few, many = api.plan(network, max_nodes=1), api.plan(network, max_nodes=1_000_000)
    assert many.design.proof.status == "optimal"
    assert many.design.proof.bound_usd >= few.design.proof.bound_usd * (1 - 1e-9)
    assert many.design.cost_usd <= few.design.cost_usd


def test_time_is_said_where_it_counts(network):
    assert api.plan(network, time_limit_s=30, max_nodes=1).options["time_limit_s"] == "30"
    assert "max_nodes" not in api.plan(network).options


def test_relight_answers_however_few_nodes_it_has(tmp_path):
    file = tmp_path / "lumpy.yaml"
    file.write_text(lumpy(sites=5, chords=3, demands=8).replace("policy: {", "policy: {scheme: relight, "))
    network = api.load(file)
    best = api.plan(network).design.proof
    for nodes in (1, 2, 4, 8):
        made = api.plan(network, max_nodes=nodes)
        proof = made.design.proof
        assert 0.5 * best.bound_usd < proof.bound_usd <= best.bound_usd * (1 + 1e-9)
        assert made.design.cost_usd >= best.bound_usd * (1 - 1e-9)
        assert api.verify(network, made) == ()
