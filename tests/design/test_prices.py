"""What one more Gb/s of a demand costs is the slope of the linear relaxation there, wherever its traffic stands."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.cuts import shores
from dcplan.design.cuts.loop import root, start
from dcplan.design.formulation import USD
from dcplan.design.reasons.binding import prices
from dcplan.design.ways import listing
from dcplan.design.ways.listing import on_two_ways
from tests.design import factory
from tests.design.test_circuits import network
from tests.design.test_generation import meshes, posed, task_of

STEP = 1e-3


def relaxed(task, demands):
    loop = start(replace(task, problem=replace(task.problem, demands=tuple(demands))), rounding=False)
    return loop if root(loop) else None


def with_prices_of_traffic(net):
    circuits = {name: each.model_copy(update={"usd_per_gbps": 0.02}) for name, each in net.circuits.items()}
    return replace(net, topology=net.topology.model_copy(update={"circuits": circuits}))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(meshes(mixed=True), st.booleans())
def test_a_price_lies_between_what_less_saves_and_more_costs(case, priced):
    net, demands = case
    task, _ = on_two_ways(task_of(posed(with_prices_of_traffic(net) if priced else net, demands), {}))
    mine = task.problem.demands
    loop = relaxed(task, mine)
    if loop is None:
        return
    for d, price in enumerate(prices(loop)):
        gbps = STEP * max(mine[d].gbps.values())
        slopes = []
        for step in (-STEP, STEP):
            other = replace(mine[d], gbps={state: rate * (1 + step) for state, rate in mine[d].gbps.items()})
            found = relaxed(task, [*mine[:d], other, *mine[d + 1 :]])
            if found is not None:
                slopes.append(abs(found.linear.objective - loop.linear.objective) / USD / gbps)
        assert slopes[0] == pytest.approx(price, rel=1e-4, abs=1e-4) or slopes[0] < price
        assert len(slopes) == 1 or slopes[1] == pytest.approx(price, rel=1e-4, abs=1e-4) or slopes[1] > price


def test_sets_of_sites_are_looked_for_once_however_many_ways_are_generated(monkeypatch):
    """Each round of generation has a master of its own over the same lightpaths."""
    few, many = ({"s": {"gbps": 100, "usd": 5, "most": most}, "dear": {"gbps": 100, "usd": 30}} for most in (3, 99))
    cheap = {"ab": many, "bc": many, "cd": many, "de": many, "ea": many, "ac": few, "bd": few}
    circuits = {two: {"ends": [*two], "latency_ms": 1, "modules": modules} for two, modules in cheap.items()}
    policy = {"scheme": "one-plus-one", "survive": ["any-fiber"]}
    net = network("abcde", circuits, [], policy)
    demands = [
        replace(factory.demand(net, f"d{a}{b}", a, b, 130), scheme="one-plus-one") for a, b in combinations("abcde", 2)
    ]
    looked, said, bonds = [], [], shores.bonds
    monkeypatch.setattr(shores, "bonds", lambda *graph: looked.append(graph) or bonds(*graph))
    monkeypatch.setattr(listing, "MANY_WAYS", 0)
    task, _ = on_two_ways(replace(task_of(posed(net, demands), {}), say=said.append))
    assert sum(line.startswith("ways: ") for line in said) > 1
    once = len(looked)
    start(task)
    assert once == len(looked) - once
