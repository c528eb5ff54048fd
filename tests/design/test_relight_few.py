"""Scheme relight where demands may take few routes at a time, in each state its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.design.engine import Options, design
from dcplan.design.few.program import Few, counted
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.relight.block import whole
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.verify import verify
from dcplan.design.ways.chains import ways_of
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_optimum import BAND, ONE

FIBERS = {"ab": ("a", "b", 80, 2), "bc": ("b", "c", 90, 2), "ca": ("c", "a", 100, 2), "other": ("a", "b", 85, 2)}


def planned(net, demands):
    return design(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net), Options(gap=1e-6))


@pytest.mark.parametrize(("gbps", "most"), [(900, 1), (1700, 1), (2500, 2)])
def test_it_costs_what_the_whole_program_costs(gbps, most):
    """Split freely, 900 Gb/s are 800 on one wavelength and 100 beside other traffic, which takes a transponder less."""
    net = factory.network("abc", FIBERS, {"scheme": "relight", "routes": 2}, modes=ONE, price=60_000.0)
    free = factory.demand(net, "x", "a", "b", gbps)
    demands = [replace(free, max_paths=most), factory.demand(net, "y", "b", "c", 500)]
    found = planned(net, demands)
    assert isinstance(found, Design)
    lines, paths, states = factory.lines(net), factory.lightpaths(net), promised_states(net)
    made = problem(net, lines, paths, demands, states)
    few = Few({d: ways_of(made, made.demands[d]).ways for d in counted(made)}, complete=True)
    program, _ = whole(made, [whole_slots(made)] * len(states), {}, few)
    written_out = solve("highs", program, Limits(60, 1e-6))
    assert written_out.objective is not None
    assert found.proof.status == "optimal"
    assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
    routes = [{flow.lightpaths for flow in one.flows if flow.demand == "x"} for one in found.routing]
    assert max(map(len, routes)) <= most
    assert verify(net, lines, paths, demands, states, found) == ()
    split = planned(net, [free, demands[1]])
    assert split.cost_usd <= found.cost_usd
    if gbps == 900:
        assert split.cost_usd < found.cost_usd


def test_why_few_routes_are_not_enough():
    fibers = {"n": ("a", "b", 80, 1), "s": ("a", "b", 90, 1)}
    net = factory.network("ab", fibers, {"scheme": "relight"}, BAND, modes=ONE)
    demand = factory.demand(net, "x", "a", "b", 2000, 0.5)
    assert isinstance(planned(net, [demand]), Design)
    found = planned(net, [replace(demand, max_paths=1)])
    assert isinstance(found, Infeasible)
    assert found.reason.startswith("x asks 2.00 Tb/s on at most 1 route at a time, on which 1.60 Tb/s can go at best")
