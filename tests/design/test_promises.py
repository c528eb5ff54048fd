"""Promises of two of a kind, own failures, lists of one's own: the engine's cost is that of brute force over them."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.engine import Options, design
from dcplan.design.promised import excuses
from dcplan.design.result import Design, Infeasible
from dcplan.design.traffic import fixed_demands
from dcplan.model.states import promised_states
from tests.design import brute, factory

FEW = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.3}
ONE = {"fast": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24}}
LISTS = (["any-fiber"], ["any-two-fibers"], ["any-site"], ["any-two-sites"], ["storm"], ["storm", "any-fiber"], [])
STORM = {"storm": {"fibers": ["f0"], "shared_risk": ["duct"]}}


def planned(net, paths=None):
    states = promised_states(net)
    demands = fixed_demands(net, states)
    lit = factory.lightpaths(net) if paths is None else paths
    return design(net, factory.lines(net), lit, demands, states, Options(gap=1e-6)), demands, states


@st.composite
def promising(draw):
    """Three or four sites, parallel fibers, and each demand with promises of its own or those of the policy."""
    names = ("a", "b", "c", "d")[: draw(st.integers(3, 4))]
    ends = [(names[i], names[(i + 1) % len(names)]) for i in range(len(names))]
    ends.append(draw(st.sampled_from([ends[0], (names[0], names[2])])))
    fibers = {
        f"f{i}": (a, b, draw(st.sampled_from([50, 90, 140])), draw(st.integers(1, 2)),
                  {"shared_risk": ["duct"] if i == len(names) - 1 else []})
        for i, (a, b) in enumerate(ends)
    }  # fmt: skip
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    asked = draw(st.lists(st.tuples(st.sampled_from(pairs), st.sampled_from([250, 500])), min_size=1, max_size=3))
    own = [
        {"survive": draw(st.sampled_from([None, *LISTS])), "under_failure_percent": draw(st.sampled_from([50, 100]))}
        for _ in asked
    ]
    return names, fibers, asked, own, draw(st.sampled_from(LISTS))


@FEW
@given(promising(), st.sampled_from(["refuse", "excuse"]))
def test_own_promises_cost_what_brute_force_says(case, parted):
    names, fibers, asked, own, survive = case
    demands = [(a, b, gbps, mine) for ((a, b), gbps), mine in zip(asked, own, strict=True)]
    policy = {"survive": survive, "routes": 1, "parted": parted}
    net = factory.network(names, fibers, policy, BAND, demands, modes=ONE, price=60_000.0, failures=STORM)
    paths = factory.lightpaths(net)[:7]
    found, wanted, states = planned(net, paths)
    best = brute.cheapest(net, factory.lines(net), paths, wanted, states, brute.by_cuts, 2)
    if best is None:
        assert isinstance(found, Infeasible)
    elif isinstance(found, Infeasible):
        assert found.limit == "spectrum"
    elif found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(best, rel=1e-5)
    else:
        assert found.proof.reason == "spectrum repaired"
        assert found.cost_usd >= best * (1 - 1e-5)


RING = {"ab": ("a", "b", 50, 2), "bc": ("b", "c", 50, 2), "ca": ("c", "a", 50, 2)}


def test_a_pair_that_parts_says_which():
    net = factory.network("abc", RING, {"survive": ["any-two-fibers"]}, demands=[("a", "b", 100)])
    found, *_ = planned(net)
    assert isinstance(found, Infeasible)
    assert found.limit == "bridge"
    assert "after losing fibers ab + bc" in found.reason


def test_a_pair_that_parts_may_be_excused():
    policy = {"survive": ["any-two-fibers"], "parted": "excuse"}
    net = factory.network("abc", RING, policy, demands=[("a", "b", 100)])
    found, demands, states = planned(net)
    assert isinstance(found, Design)
    apart = {"fibers ab + bc", "fibers ab + ca"}
    assert {state.name for state in states} - demands[0].gbps.keys() == apart
    assert [(who, {state.name for state in lost}) for who, lost in excuses(net, states)] == [("demand d0", apart)]
    single = factory.network("abc", RING, {"survive": ["any-fiber"]}, demands=[("a", "b", 100)])
    assert found.cost_usd == pytest.approx(planned(single)[0].cost_usd)


def test_whoever_promises_less_pays_no_more():
    """A demand that survives nothing rides on what others must have anyway."""
    costs = []
    for mine in ({}, {"survive": []}):
        net = factory.network("abc", RING, demands=[("a", "b", 800), ("a", "c", 800, mine)])
        costs.append(planned(net)[0].cost_usd)
    assert costs[1] < costs[0]
