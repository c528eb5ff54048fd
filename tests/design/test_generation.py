"""Ways of demands on two at once that are generated: couples by brute force, the bound over all ways."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.circuits import lightpaths_of
from dcplan.design.cuts.loop import Task, root, start
from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Until
from dcplan.design.problem import problem
from dcplan.design.result import Infeasible
from dcplan.design.verify import verify
from dcplan.design.ways import chains as ways
from dcplan.design.ways import listing
from dcplan.design.ways.chains import ways_of
from dcplan.design.ways.disjoint import cheapest_couple
from dcplan.design.ways.generation import generated
from dcplan.design.ways.mesh import mesh
from dcplan.design.ways.protection import risk
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_circuits import network

PROMISES = ["any-fiber", "any-shared-risk", "any-site", "any-two-fibers"]


@st.composite
def meshes(draw, *, limited=False, mixed=False):
    """Four to six sites, a ring and chords as circuits, some in one duct, capacity short in some."""
    sites = "abcdef"[: draw(st.integers(4, 6))]
    pairs = [*zip(sites, sites[1:] + sites[:1], strict=True)]
    pairs += draw(st.lists(st.sampled_from(list(combinations(sites, 2))), max_size=4))
    circuits = {}
    for i, ends in enumerate(pairs):
        small = {"gbps": 100, "usd": draw(st.integers(1, 9)), "most": draw(st.sampled_from([2, 9]))}
        duct = draw(st.sampled_from([[], [], ["duct"]]))
        circuits[f"c{i}"] = {
            "ends": list(ends), "latency_ms": draw(st.integers(1, 3)),
            "modules": {"s": small, "l": {"gbps": 400, "usd": 20}},
            **({"shared_risk": duct} if duct else {}),
        }  # fmt: skip
    survive = draw(st.lists(st.sampled_from(PROMISES), min_size=1, max_size=2, unique=True))
    asked = draw(st.lists(st.sampled_from(list(combinations(sites, 2))), min_size=1, max_size=3, unique=True))
    net = network(sites, circuits, [], {"scheme": "one-plus-one", "survive": survive, "parted": "excuse"})
    limit = st.sampled_from([None, 3.0, 5.0, 7.0]) if limited else st.none()
    demands = [
        factory.demand(net, f"d{i}", a, b, draw(st.integers(20, 150)), max_latency_ms=draw(limit))
        for i, (a, b) in enumerate(asked)
    ]
    schemes = st.sampled_from(["one-plus-one", "one-plus-one", "reroute", "none"] if mixed else ["one-plus-one"])
    others = [promised(net, demand, draw(schemes)) for demand in demands[1:]]
    return net, [promised(net, demands[0], "one-plus-one"), *others]


def promised(net, demand, scheme):
    if scheme == "none":
        return replace(demand, scheme=scheme, gbps={"healthy": demand.gbps["healthy"]})
    return replace(demand, scheme=scheme)


def posed(net, demands):
    return problem(net, (), lightpaths_of(net), demands, promised_states(net))


def task_of(made, ways):
    return Task(made, whole_slots(made), ways, "highs", 1e-6, Until(), lambda _: None)


def apart(made, demand, one, other):
    return one.lightpaths != other.lightpaths and set(risk(made, demand, one)).isdisjoint(risk(made, demand, other))


@settings(max_examples=60, deadline=None)
@given(meshes(limited=True), st.data())
def test_cheapest_couple_is_that_of_all(case, data):
    made = posed(*case)
    each = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
    prices = [data.draw(each) for _ in made.lightpaths]
    for demand in made.demands:
        ways = ways_of(made, demand).ways
        cost = {way.hops: sum(prices[i] for i in way.lightpaths) for way in ways}
        best = min(
            (cost[a.hops] + cost[b.hops] for a, b in combinations(ways, 2) if apart(made, demand, a, b)), default=inf
        )
        found = cheapest_couple(mesh(made), demand, [[price] for price in prices])
        assert found.price == pytest.approx(best)
        assert found.least <= found.price
        if found.ways:
            assert apart(made, demand, *found.ways)
            assert sum(cost[way.hops] for way in found.ways) == pytest.approx(found.price)


@settings(max_examples=40, deadline=None)
@given(meshes(limited=True, mixed=True))
def test_bound_is_no_less_than_the_relaxation_over_all_ways(case):
    """And no more than the optimum, see below: the relaxation with inequalities rounded lies between the two."""
    made = posed(*case)
    listed = {d: ways_of(made, made.demands[d]).ways for d in made.protected}
    every = start(task_of(made, listed), rounding=False)
    found = generated(task_of(made, {}), sorted(made.protected))
    assert (found.floor_usd is not None) == root(every)
    if found.floor_usd is not None:
        assert found.floor_usd * USD >= every.linear.objective * (1 - 1e-5)


@settings(max_examples=25, deadline=None)
@given(meshes(limited=True, mixed=True))
def test_designs_over_generated_ways(case):
    net, demands = case
    paths, states = lightpaths_of(net), promised_states(net)
    whole = design(net, (), paths, demands, states, Options(gap=0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "MANY_WAYS", 0)
        found = design(net, (), paths, demands, states, Options(gap=0.0))
    assert isinstance(found, Infeasible) == isinstance(whole, Infeasible)
    if isinstance(found, Infeasible) or isinstance(whole, Infeasible):
        return
    assert verify(net, (), paths, demands, states, found) == ()
    assert found.certificate.bound_usd <= found.proof.bound_usd * (1 + 1e-9) <= whole.cost_usd * (1 + 2e-9)
    assert found.cost_usd >= whole.cost_usd * (1 - 1e-9)
    assert (found.proof.status == "optimal") == (found.proof.gap <= 1e-9)


def test_ways_of_demands_on_two_at_once_are_all_listed_where_they_are_not_many(monkeypatch):
    """More than of other demands; of more than that, such as a relaxation takes, and the plan says so."""
    sites = "abcde"
    circuits = {
        f"{a}{b}": {"ends": [a, b], "latency_ms": 1, "modules": {"s": {"gbps": 100, "usd": 5}}}
        for a, b in combinations(sites, 2)
    }
    net = network(sites, circuits, [], {"scheme": "one-plus-one"})
    made = posed(net, [factory.demand(net, "x", "a", "b", 40)])
    monkeypatch.setattr(ways, "MOST_WAYS", 2)
    task, listed = listing.on_two_ways(task_of(made, {}))
    assert (len(listed[0].ways), listed[0].complete, task.floor_usd) == (16, True, None)  # 1 + 3 + 6 + 6
    monkeypatch.setattr(listing, "MOST_OF_TWO", 2)
    task, listed = listing.on_two_ways(task_of(made, {}))
    assert listed[0].chosen
    assert not listed[0].complete
    assert task.floor_usd == pytest.approx(15)  # the direct way and one over a third site, a module on each link
    number = f"{len(listed[0].ways)} ways that a relaxation would take were considered for 1 demands"
    assert listing.capped(task, listed) == (f"two ways at once: {number}, there are more; the bound is over all",)
