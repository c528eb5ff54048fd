"""Scheme relight where a mode closes between multiplexers only: a ROADM that one state needs darkens it in all."""

from __future__ import annotations

from dataclasses import fields

import pytest

from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.relight.block import whole
from dcplan.design.solver.solve import solve
from dcplan.model.states import promised_states
from dcplan.optics.ends import Candidate
from tests.design import factory


def between_multiplexers(path):
    """The fast mode closes without a ROADM at either end."""
    only_at = {("tx", "fast"): frozenset({(False, False)})}
    return Candidate(**{one.name: getattr(path, one.name) for one in fields(path)}, only_at=only_at)


@pytest.mark.parametrize(
    ("lengths_km", "asked"),
    [
        ((140, 60, 90, 60), [("ac", 1600, 1.0), ("ab", 1600, 1.0), ("ac", 1600, 1.0)]),
        ((60, 60, 140, 90, 90), [("bc", 800, 0.5), ("ac", 400, 1.0), ("ac", 400, 1.0)]),
    ],
)
def test_it_costs_what_the_whole_program_costs(lengths_km, asked):
    """Purchases were once offered whose wavelengths of the first states do not close beside ROADMs added for others."""
    ends = ("ab", "bc", "cd", "da", "ac")
    fibers = {name: (*name, km, 2) for name, km in zip(ends, lengths_km, strict=False)}
    net = factory.network("abcd", fibers, {"scheme": "relight", "survive": ["any-fiber"]}, price=60_000.0)
    demands = [factory.demand(net, f"d{i}", *sites, gbps, share) for i, (sites, gbps, share) in enumerate(asked)]
    paths = tuple(map(between_multiplexers, factory.lightpaths(net)))
    lines, states = factory.lines(net), promised_states(net)
    found = design(net, lines, paths, demands, states, Options(gap=1e-6))
    made = problem(net, lines, paths, demands, states)
    program, _ = whole(made, [whole_slots(made)] * len(states), {})
    written_out = solve("highs", program, Limits(60, 1e-6))
    assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
