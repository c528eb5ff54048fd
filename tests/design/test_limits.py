"""A design that stops by nodes is the same, byte for byte, wherever it is made; it says why it stopped, and its gap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan import api
from dcplan.design.limits import Stop
from dcplan.design.relight import answer
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


@pytest.mark.parametrize("scheme", ["reroute", "one-plus-one", "relight"])
def test_whenever_somebody_asks_to_stop_there_is_a_sound_plan(tmp_path, monkeypatch, scheme):
    """Ctrl-C at the nth look at it; the search is told by its limit on nodes from what is done after it."""
    file = tmp_path / "one-route.yaml"
    text = lumpy(sites=4, chords=1, demands=3).replace("policy: {", f"policy: {{scheme: {scheme}, ")
    file.write_text(text.replace("], gbps:", "], max_paths: 1, gbps:"))
    network = api.load(file)
    best, looks = api.plan(network).design.proof, [0, 0]
    finished = scheme == "one-plus-one"  # its first answer, which is made in any case, is the best

    def now(stop):
        looks[0] += 1
        stop.asked = stop.asked or (stop.nodes is not None and looks[0] >= looks[1])
        return stop.asked or stop.nodes == 0

    monkeypatch.setattr(Stop, "now", property(now))
    for at in range(1, 40, 6):
        looks[:] = 0, at
        made = api.plan(network, max_nodes=10**9)
        proof = made.design.proof
        assert proof.reason == "interrupted" or (proof.status == "optimal" and (at > 20 or finished))
        assert proof.bound_usd <= best.cost_usd * (1 + 1e-6)
        assert best.bound_usd <= made.design.cost_usd * (1 + 1e-6)
        assert api.verify(network, made) == ()


def test_circuits_under_relight_have_the_bound_of_reroute(tmp_path, monkeypatch):
    """Nothing can be retuned: no design costs less than reroute's bound, whatever relight's own search knows."""
    file = tmp_path / "lumpy.yaml"
    file.write_text(lumpy(sites=5, chords=3, demands=8))
    rerouted = api.plan(api.load(file)).design
    file.write_text(lumpy(sites=5, chords=3, demands=8).replace("policy: {", "policy: {scheme: relight, "))
    search = answer.search
    monkeypatch.setattr(answer, "search", lambda *about: replace(search(*about), bound_usd=0.0))
    network = api.load(file)
    made = api.plan(network)
    assert made.design.proof.status == "optimal"
    assert made.design.proof.bound_usd == pytest.approx(rerouted.proof.bound_usd)
    assert api.verify(network, made) == ()
