"""Routes agree with plain enumeration; parallel fibers stay apart; spare routes cover every promised state."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design import candidates
from dcplan.design.candidates import in_order, routes, shortest_few, state_latency_ms
from dcplan.model.states import HEALTHY, State, promised_states
from dcplan.units import LIGHT_M_PER_S
from tests.design import factory

MANY = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def multigraphs(draw):
    names = [f"s{i}" for i in range(draw(st.integers(2, 5)))]
    pairs = list(combinations(names, 2))
    ends = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=9))
    fibers = {f"f{i}": (*two, draw(st.integers(1, 500)), 1) for i, two in enumerate(ends)}
    sites = {name: {"express": draw(st.booleans())} for name in names}
    return factory.network(sites, fibers, {"max_hops": draw(st.integers(1, 4)), "routes": draw(st.integers(1, 5))})


def length_graph(net):
    """The fibers with their lengths [km], as `Graph`."""
    return {site: tuple((net.fibers[f].total_km, f, other) for f, other in net.neighbours(site)) for site in net.sites}


def all_routes(net, a, b, passing, most):
    """Every route without a site twice, by depth-first search."""
    found = []

    def go(sites, fibers):
        if sites[-1] == b:
            found.append((sum(net.fibers[f].total_km for f in fibers), tuple(fibers)))
            return
        if len(fibers) == most or (sites[-1] != a and sites[-1] not in passing):
            return
        for fiber, other in net.neighbours(sites[-1]):
            if other not in sites:
                go([*sites, other], [*fibers, fiber])

    go([a], [])
    return sorted(found)


@MANY
@given(multigraphs())
def test_in_order_is_enumeration(net):
    graph = length_graph(net)
    passing = frozenset(site for site in net.sites if net.sites[site].express)
    for a, b in combinations(sorted(net.sites), 2):
        most = net.policy.max_hops
        got = [(sum(net.fibers[f].total_km for f in r.fibers), r.fibers) for r in in_order(graph, a, b, passing, most)]
        assert [length for length, _ in got] == sorted(length for length, _ in got)
        assert sorted(got) == all_routes(net, a, b, passing, most)


@MANY
@given(multigraphs(), st.sampled_from([0, 200]))
def test_going_through_all_walks_gives_the_routes_of_yen(net, walks_per_route):
    """Whichever way is taken: the few shortest by enumeration, in order, ties by hops and fiber names."""
    graph, most, count = length_graph(net), net.policy.max_hops, net.policy.routes
    passing = frozenset(site for site in net.sites if net.sites[site].express)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "WALKS_PER_ROUTE", walks_per_route)
        for a in net.sites:
            few = shortest_few(graph, a, passing, most, count)
            assert set(few) == {b for b in net.sites if b > a}
            for b, mine in few.items():
                best = sorted(all_routes(net, a, b, passing, most), key=lambda one: (one[0], len(one[1]), one[1]))
                assert [route.fibers for route in mine] == [fibers for _, fibers in best[:count]]
                assert all(route.sites[0] == a and route.sites[-1] == b for route in mine)


@MANY
@given(multigraphs())
def test_routes_hold_every_fiber_and_the_shortest(net):
    found = routes(net)
    assert len({route.fibers for route in found}) == len(found)
    assert {route.fibers for route in found if len(route.fibers) == 1} == {(name,) for name in net.fibers}
    for a, b in combinations(sorted(net.sites), 2):
        mine = sorted(sum(net.fibers[f].total_km for f in r.fibers) for r in found if r.ends == (a, b))
        passing = frozenset(site for site in net.sites if net.sites[site].express)
        best = [length for length, _ in all_routes(net, a, b, passing, net.policy.max_hops)][: net.policy.routes]
        assert mine[: len(best)] == pytest.approx(best)
    for route in found:
        assert len(set(route.sites)) == len(route.sites)
        assert all(net.sites[site].express for site in route.through)


def test_spare_route_for_each_promised_state():
    ring = {f"f{i}": (f"s{i}", f"s{(i + 1) % 5}", 100, 1) for i in range(5)}
    net = factory.network([f"s{i}" for i in range(5)], ring, {"routes": 1}, demands=[("s0", "s1", 100)])
    mine = [route for route in routes(net) if route.ends == ("s0", "s1")]
    assert [len(route.fibers) for route in mine] == [1, 4]
    for state in promised_states(net):
        assert any(not state.breaks(route) for route in mine)
    others = [route for route in routes(net) if route.ends == ("s0", "s2")]
    assert [len(route.fibers) for route in others] == [2]


def test_state_latency():
    net = factory.network(["a", "b", "c"], {"n": ("a", "b", 100, 1), "m": ("b", "c", 50, 1), "x": ("a", "c", 400, 1)})
    per_km = 1.468 / LIGHT_M_PER_S * 1e6
    assert state_latency_ms(net, HEALTHY, "a", "c") == pytest.approx(150 * per_km)
    assert state_latency_ms(net, State("x", frozenset(["m"])), "c", "a") == pytest.approx(400 * per_km)
    assert state_latency_ms(net, State("x", frozenset(["m", "x"])), "a", "c") is None
    assert state_latency_ms(net, State("x", frozenset(["n", "m"]), frozenset(["b"])), "a", "b") is None
