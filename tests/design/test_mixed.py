"""Demands on two ways beside demands that are routed anew: what the engine buys is what the whole program buys."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.traffic import fixed_demands
from dcplan.design.ways.chains import ways_of
from dcplan.model.states import promised_states
from tests.design import factory

FEW = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
SCHEMES = ("none", "reroute", "one-plus-one")


@st.composite
def mixed(draw):
    """Four or five sites on a ring with chords; each demand with a scheme, a share and now and then a latency limit."""
    names = ["a", "b", "c", "d", "e"][: draw(st.integers(4, 5))]
    size = len(names)
    ends = [(names[i], names[(i + 1) % size]) for i in range(size)]
    ends += draw(st.lists(st.sampled_from([("a", "c"), ("b", "d"), ("a", "b")]), min_size=1, max_size=2))
    fibers = {
        f"f{i}": (a, b, draw(st.integers(40, 250)), draw(st.integers(2, 4)),
                  {"shared_risk": ["duct"] if i in (1, 4) else []})
        for i, (a, b) in enumerate(ends)
    }  # fmt: skip
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    about = st.fixed_dictionaries(
        {
            "scheme": st.sampled_from(SCHEMES),
            "under_failure_percent": st.sampled_from([40, 100]),
            "max_latency_ms": st.sampled_from([None, None, 4.0]),
            "survive": st.sampled_from([None, ["any-fiber", "any-shared-risk"], ["any-site"]]),
        }
    )
    asked = draw(st.lists(st.tuples(st.sampled_from(pairs), st.integers(100, 2500), about), min_size=2, max_size=4))
    return names, fibers, [(a, b, gbps, more) for (a, b), gbps, more in asked]


def planned(net):
    states = promised_states(net)
    demands, paths, lines = fixed_demands(net, states), factory.lightpaths(net), factory.lines(net)
    return design(net, lines, paths, demands, states, Options(gap=1e-6)), problem(net, lines, paths, demands, states)


@FEW
@given(mixed())
def test_schemes_side_by_side_cost_what_the_whole_program_costs(case):
    names, fibers, demands = case
    net = factory.network(names, fibers, {"routes": 2}, demands=demands)
    found, made = planned(net)
    listed = {
        d: ways_of(made, demand).ways
        for d, demand in enumerate(made.demands)
        if demand.protected or demand.max_latency_ms is not None
    }
    written_out = solve("highs", whole(made, listed), Limits(60, 1e-6))
    if isinstance(found, Infeasible):
        assert written_out.status == "infeasible"
        return
    assert written_out.objective is not None
    assert found.proof.bound_usd is not None
    assert found.proof.bound_usd <= written_out.objective / USD * (1 + 1e-5)
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)


RING = {"ab": ("a", "b", 100, 4), "bc": ("b", "c", 100, 4), "ca": ("c", "a", 100, 4)}


def test_what_is_set_aside_is_nobody_elses():
    """By hand: 800 Gb/s a - b on two ways light ab and the way by c once; 800 more that move need both once more."""
    two = ("a", "b", 800, {"scheme": "one-plus-one"})
    alone, _ = planned(factory.network("abc", RING, {"routes": 1}, price=60_000.0, demands=[two]))
    beside, _ = planned(factory.network("abc", RING, {"routes": 1}, price=60_000.0, demands=[two, ("a", "b", 800)]))
    loose, _ = planned(
        factory.network("abc", RING, {"routes": 1}, price=60_000.0, demands=[two, ("a", "b", 800, {"survive": []})])
    )
    assert isinstance(alone, Design)
    assert isinstance(beside, Design)
    assert isinstance(loose, Design)
    count = {lit.lightpath: lit.count for lit in alone.wavelengths}
    twice = {lit.lightpath: lit.count for lit in beside.wavelengths}
    assert list(count.values()) == [1, 1]
    assert twice == dict.fromkeys(count, 2)
    assert sum(lit.count for lit in loose.wavelengths) == 3
    schemes = {demand.id: demand.scheme for demand in loose.demands}
    assert schemes == {"d0": "one-plus-one", "d1": "none"}


def test_a_whole_promise_is_full_protection():
    """100 % under failure, by a share of 1, is what a demand without a share asks."""
    for scheme in ("reroute", "one-plus-one"):
        costs = {
            planned(factory.network("abc", RING, {"scheme": scheme}, demands=[("a", "b", 1300, more)]))[0].cost_usd
            for more in ({}, {"under_failure_percent": 100})
        }
        assert len(costs) == 1
