"""Where wavelengths may end and start again, and what follows for candidates and designs."""

from __future__ import annotations

import pytest

from dcplan.design.candidates import routes
from dcplan.design.engine import Options, design
from dcplan.design.result import Infeasible
from dcplan.model.states import promised_states
from tests.design import factory

CHAIN = {"f0": ("a", "b", 250, 4), "f1": ("b", "c", 250, 4)}
SHORT = {"fast": 300.0, "slow": 900.0}


def net_of(**middle):
    return factory.network({"a": {}, "b": middle, "c": {}}, CHAIN, {"scheme": "none"}, demands=[("a", "c", 800)])


def designed(net, reach):
    demands = [factory.demand(net, "x", "a", "c", 800)]
    paths = factory.lightpaths(net, reach)
    return design(net, factory.lines(net), paths, demands, promised_states(net), Options(gap=1e-6))


def test_no_candidate_ends_where_nothing_is_regenerated():
    assert {route.fibers for route in routes(net_of())} == {("f0",), ("f1",), ("f0", "f1")}
    assert {route.fibers for route in routes(net_of(regenerate=False))} == {("f0", "f1")}
    assert {route.fibers for route in routes(net_of(express=False))} == {("f0",), ("f1",)}
    assert routes(net_of(express=False, regenerate=False)) == ()


def test_a_site_with_its_own_traffic_ends_wavelengths_all_the_same():
    ends = [("a", "b", 800), ("a", "c", 800)]
    net = factory.network({"a": {}, "b": {"regenerate": False}, "c": {}}, CHAIN, {"scheme": "none"}, demands=ends)
    assert {route.fibers for route in routes(net)} == {("f0",), ("f1",), ("f0", "f1")}


def test_the_cheaper_of_cutting_and_passing_is_bought():
    """One fast wavelength cut at b takes four transponders, two slow ones straight through take four as well."""
    cut = designed(net_of(), SHORT)
    assert {(lit.lightpath, lit.mode, lit.count) for lit in cut.wavelengths} in (
        {("L1", "fast", 1), ("L3", "fast", 1)},
        {("L2", "slow", 2)},
    )
    straight = designed(net_of(regenerate=False), SHORT)
    assert [(lit.mode, lit.count) for lit in straight.wavelengths] == [("slow", 2)]
    assert straight.cost_usd == pytest.approx(cut.cost_usd, rel=0.2)
    assert straight.cost_usd >= cut.cost_usd - 1e-6


def test_where_nothing_closes_straight_through_the_reason_names_the_site():
    found = designed(net_of(regenerate=False), {"fast": 300.0, "slow": 400.0})
    assert isinstance(found, Infeasible)
    assert found.limit == "reach"
    assert "no mode closes through b, where `regenerate: false`" in found.reason


def test_a_wall_is_named():
    found = designed(net_of(express=False, regenerate=False), SHORT)
    assert isinstance(found, Infeasible)
    assert "no fiber joins a and c past b, which nothing crosses" in found.reason
