"""Rates within a solver's tolerance of what can be lit have a plan that passes its check, which `design` makes."""

from __future__ import annotations

import pytest

from dcplan.design.engine import Options, design
from dcplan.design.traffic import fixed_demands
from dcplan.model.states import promised_states
from tests.design import factory

FIBERS = {"ab": ("a", "b", 50, 4), "bc": ("b", "c", 50, 4), "ac": ("a", "c", 50, 4)}


@pytest.mark.parametrize("scheme", ["none", "reroute", "one-plus-one", "relight"])
def test_a_hair_more_than_a_wavelength_carries(scheme):
    net = factory.network("abc", FIBERS, {"scheme": scheme}, demands=[("a", "b", 800.0003)])
    states = promised_states(net)
    demands, paths, lines = fixed_demands(net, states), factory.lightpaths(net), factory.lines(net)
    proof = design(net, lines, paths, demands, states, Options()).proof
    assert proof.status == "optimal"
    least = factory.network("abc", FIBERS, {"scheme": scheme}, demands=[("a", "b", 800)])
    most = factory.network("abc", FIBERS, {"scheme": scheme}, demands=[("a", "b", 801)])
    below, above = (design(one, lines, paths, fixed_demands(one, states), states, Options()) for one in (least, most))
    assert below.cost_usd * (1 - 1e-6) <= proof.cost_usd <= above.cost_usd * (1 + 1e-6)
