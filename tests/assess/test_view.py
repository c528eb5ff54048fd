"""What the routes of a plan carry in full, but for the rounding of its file, needs no program to say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcplan import api
from dcplan.assess.view import NetworkView
from dcplan.design.circuits import lightpaths_of
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.model.states import HEALTHY
from dcplan.planfile import Plan

TOPOLOGY = """
dcplan: 1
name: Two sites
sites:
  a: {lat: 41.0, lon: -96.0}
  b: {lat: 41.0, lon: -95.3}
circuits:
  ab: {ends: [a, b], length_km: 75, modules: {big: {gbps: 1000, usd: 1000}}}
fibers: {}
demands:
  all: {between: [a, b], gbps: 2000}
policy: {survive: []}
"""


class AskedError(Exception):
    pass


def refuses(_: Program) -> Linear:
    raise AskedError


def test_nine_digits_are_enough(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TOPOLOGY, encoding="utf-8")
    network = api.load(file)
    made = api.plan(network)
    assert isinstance(made, Plan)
    routing = made.design.routing[0]
    (flow,) = routing.flows

    def fractions(gbps: float) -> dict[str, float]:
        """Where the routes of the plan carry so much."""
        flows = (replace(routing, flows=(replace(flow, gbps=gbps),)),)
        view = NetworkView(lightpaths_of(network), replace(made.design, routing=flows), refuses)
        return view.fractions(HEALTHY, made.design.demands)

    assert fractions(2000.0) == {"all": 1.0}
    assert fractions(1999.999997) == {"all": 1.0}
    with pytest.raises(AskedError):
        fractions(1999.9999)
