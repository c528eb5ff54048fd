"""Demands that may take few routes at a time: the cheapest design, its bound, its routes, against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.result import Design, Infeasible
from dcplan.design.verify import verify
from dcplan.design.ways import chains as ways
from dcplan.errors import SolverError
from dcplan.model.network import Route
from dcplan.model.states import promised_states
from tests.design import brute, factory
from tests.design.test_circuits import network
from tests.design.test_optimum import BAND, ONE, few_sites

FEW = settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])


def solved(net, paths, demands, **options):
    given_ = Options(**{"gap": 1e-6, **options})
    return design(net, factory.lines(net), paths, demands, promised_states(net), given_)


def on_few_routes(net, choices, counts, demands, states):
    """In each state some choice of at most max_paths chains per demand carries everything: every choice is tried."""
    capacity = {}
    for n, (path, budget, *_) in zip(counts, choices, strict=True):
        capacity[path.id] = capacity.get(path.id, 0.0) + n * budget.rate_gbps
    lit = [path for path in {choice[0].id: choice[0] for choice in choices}.values() if capacity[path.id] > 0]
    return all(
        _carried(state, [path for path in lit if not state.breaks(path.route)], capacity, demands) for state in states
    )


def over_links(paths, a, b):
    """All chains that end at no site twice; light may pass one again, as free traffic may."""
    return brute.chains([replace(path, route=Route(path.route.ends, ("",))) for path in paths], a, b)


def _carried(state, lit, capacity, demands):
    asking = [demand for demand in demands if demand.gbps.get(state.name, 0.0) > 0]
    options = []
    for demand in asking:
        listed = brute.chains(lit, *demand.ends) if demand.max_paths else over_links(lit, *demand.ends)
        chains = [[path.id for path in chain] for chain in listed]
        most = min(demand.max_paths or len(chains), len(chains))
        options.append(list(combinations(chains, most)))
    return any(_fits(state, capacity, asking, chosen) for chosen in product(*options))


def _fits(state, capacity, asking, chosen):
    import highspy
    import numpy as np

    if any(not chains for chains in chosen):
        return False
    names = sorted(capacity)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    none = np.array([], np.int32), np.array([])
    for demand in asking:
        solver.addRow(demand.gbps[state.name], demand.gbps[state.name], 0, *none)
    for name in names:
        solver.addRow(-highspy.kHighsInf, capacity[name], 0, *none)
    for d, chains in enumerate(chosen):
        for chain in chains:
            rows = [d, *(len(asking) + names.index(name) for name in chain)]
            solver.addCol(0.0, 0.0, highspy.kHighsInf, len(rows), np.array(rows, np.int32), np.ones(len(rows)))
    solver.run()
    return solver.getModelStatus() == highspy.HighsModelStatus.kOptimal


def same_as_brute(net, paths, demands, most):
    """The design, after it was compared with the cheapest of all purchases; None where both find that there is none."""
    found = solved(net, paths, demands)
    best = brute.cheapest(net, factory.lines(net), paths, demands, promised_states(net), on_few_routes, most)
    if best is None:
        assert isinstance(found, Infeasible)
        return None
    assert isinstance(found, Design), found
    assert found.proof.status == "optimal"
    assert found.proof.bound_usd <= best * (1 + 1e-5)
    assert found.cost_usd == pytest.approx(best, rel=1e-5)
    return found


@settings(FEW, max_examples=4)
@given(
    few_sites(), st.sampled_from([["any-fiber"], []]), st.lists(st.sampled_from([1, 2, None]), min_size=3, max_size=3)
)
def test_as_cheap_as_trying_everything(case, survive, most):
    names, fibers, asked = case
    net = factory.network(names, fibers, {"survive": survive, "routes": 1}, BAND, modes=ONE, price=60_000.0)
    demands = [
        replace(factory.demand(net, f"d{i}", a, b, x), max_paths=k)
        for i, (((a, b), x), k) in enumerate(zip(asked, most, strict=False))
    ]
    same_as_brute(net, factory.lightpaths(net)[:5], demands, 2)


NARROW = {"band_start_thz": 191.3, "band_end_thz": 191.45}  # one wavelength on each pair


def side_by_side(asked, most, survive=()):
    """Four fibers from a to b, one wavelength of 800 Gb/s on each, and one from b to c beside them."""
    fibers = {f"f{i}": ("a", "b", 40 + 20 * i, 1) for i in range(4)} | {"g": ("b", "c", 60, 2)}
    policy = {"survive": list(survive), "max_hops": 1}
    net = factory.network(["a", "b", "c"], fibers, policy, NARROW, modes=ONE, price=60_000.0)
    demands = [
        replace(factory.demand(net, f"d{i}", "a", "b", x, 0.5), max_paths=k)
        for i, (x, k) in enumerate(zip(asked, most, strict=True))
    ]
    return net, factory.lightpaths(net), demands


@FEW
@given(
    st.lists(st.sampled_from([300, 450, 500, 600]), min_size=3, max_size=3),
    st.lists(st.sampled_from([1, 1, 2, None]), min_size=3, max_size=3),
    st.sampled_from([["any-fiber"], []]),
)
@example([500, 500, 500], [1, 1, 1], [])
@example([600, 600, 300], [1, 1, 2], ["any-fiber"])
def test_side_by_side_as_cheap_as_trying_everything(asked, most, survive):
    same_as_brute(*side_by_side(asked, most, survive), 1)


def test_what_one_route_costs_and_two_save():
    costs = {}
    for most in (None, 3, 2, 1):
        net, paths, demands = side_by_side([500, 500, 500], [most] * 3)
        found = solved(net, paths, demands)
        costs[most] = len(found.wavelengths)
        for demand in demands:
            mine = [flow.lightpaths for flow in found.routing[0].flows if flow.demand == demand.id]
            assert len(set(mine)) == len(mine) <= (most or 4)
    assert costs == {None: 2, 3: 2, 2: 2, 1: 3}


def test_too_wide_for_any_route():
    net, paths, demands = side_by_side([900, 300], [1, 1])
    found = solved(net, paths, demands)
    assert isinstance(found, Infeasible)
    assert found.limit == "routes"
    assert "d0 asks 900 Gb/s on at most 1 route at a time, on which 800 Gb/s can go at best" in found.reason
    assert [(short.demand, short.state) for short in found.shortages] == [("d0", "healthy")]
    assert found.shortages[0].short_gbps == pytest.approx(100)
    assert isinstance(solved(net, paths, [replace(one, max_paths=2) for one in demands]), Design)


def test_what_is_short_is_what_no_route_has_room_for():
    net, paths, demands = side_by_side([500, 500, 500, 500, 500], [1] * 5)  # 2,500 on 3,200 Gb/s, in four parts of 800
    found = solved(net, paths, demands)
    assert isinstance(found, Infeasible)
    assert found.limit == "routes"
    assert sum(short.short_gbps for short in found.shortages) == pytest.approx(200)


def test_a_latency_limit_and_one_route():
    fibers = {"n": ("a", "b", 80, 1), "m": ("a", "b", 90, 1), "s": ("a", "b", 200, 1)}
    net = factory.network(["a", "b"], fibers, {"survive": []}, NARROW, modes=ONE)
    limit = net.fiber_latency_ms("m") * 1.01
    demands = [
        replace(factory.demand(net, "fast", "a", "b", 500, max_latency_ms=limit), max_paths=1),
        replace(factory.demand(net, "other", "a", "b", 500, max_latency_ms=limit), max_paths=1),
        replace(factory.demand(net, "any", "a", "b", 500), max_paths=2),
    ]
    found = solved(net, factory.lightpaths(net), demands)
    assert isinstance(found, Design)
    routes = {one.id: [flow.lightpaths for flow in found.routing[0].flows if flow.demand == one.id] for one in demands}
    assert sorted(routes["fast"] + routes["other"]) == [("L1",), ("L2",)]
    assert isinstance(solved(net, factory.lightpaths(net), [replace(one, max_paths=1) for one in demands]), Design)
    late = [replace(one, max_latency_ms=limit) for one in demands]
    assert isinstance(solved(net, factory.lightpaths(net), late), Design)
    assert isinstance(solved(net, factory.lightpaths(net), [replace(one, max_paths=1) for one in late]), Infeasible)


@pytest.mark.parametrize("listed", [1, 3])
def test_where_not_all_routes_are_listed_that_is_said(monkeypatch, listed):
    net, paths, demands = side_by_side([500, 500, 500], [1, 1, 1])
    free = solved(net, paths, [replace(one, max_paths=None) for one in demands])
    monkeypatch.setattr(ways, "MOST_WAYS", listed)
    found = solved(net, paths, demands)
    if listed == 1:
        assert isinstance(found, Infeasible)
        assert "the 1 shortest ways were considered, there are more" in found.reason
    else:
        assert found.proof.bound_usd == pytest.approx(free.proof.bound_usd)
        assert found.cost_usd > free.cost_usd
        assert (found.proof.status, found.proof.reason) == ("feasible", "not all routes were listed")
        assert "d0: the 3 shortest ways were considered, there are more" in found.assumptions


def test_the_same_twice_and_verified_by_counting():
    net, paths, demands = side_by_side([500, 500, 500], [1, 1, 1], ["any-fiber"])
    one, other = solved(net, paths, demands), solved(net, paths, demands)
    assert one == other
    assert verify(net, factory.lines(net), paths, demands, promised_states(net), one) == ()
    strict = [replace(demand, max_paths=1) for demand in demands]
    free = solved(net, paths, [replace(demand, max_paths=None) for demand in demands])
    split = replace(free, demands=tuple(strict))
    faults = verify(net, factory.lines(net), paths, strict, promised_states(net), split)
    assert any("takes 2 routes, it may take 1" in fault for fault in faults)


def circuits(**more):
    sizes = {"small": {"gbps": 100, "usd": 10}, "medium": {"gbps": 200, "usd": 18}, "large": {"gbps": 400, "usd": 30}}
    about = {name: {"ends": ["a", "b"], "length_km": 9, "modules": sizes} | more for name in ("x", "y")}
    return network(["a", "b"], about, [], {"survive": []})


def test_of_a_circuit_of_which_one_module_is_picked_a_larger_one_may_be_needed():
    net = circuits(pick="one")
    demands = [replace(factory.demand(net, f"d{i}", "a", "b", x), max_paths=1) for i, x in enumerate((250, 250, 100))]
    assert solved(net, lightpaths_of(net), demands).cost_usd == pytest.approx(60)
    free = [replace(one, max_paths=None) for one in demands]
    assert solved(net, lightpaths_of(net), free).cost_usd == pytest.approx(48)


def test_one_route_may_cost_more_traffic():
    about = {"x": {"usd_per_gbps": 1.0}, "y": {"usd_per_gbps": 3.0}}
    made = circuits().topology.model_dump(exclude_unset=True)["circuits"]
    sizes = {"only": {"gbps": 400, "usd": 10, "most": 1}}
    net = network(["a", "b"], {k: made[k] | {"modules": sizes} | about[k] for k in about}, [], {"survive": []})
    demands = [replace(factory.demand(net, f"d{i}", "a", "b", 250), max_paths=1) for i in range(2)]
    found = solved(net, lightpaths_of(net), demands)
    assert found.cost_usd == pytest.approx(20 + 250 * 1 + 250 * 3)  # one goes the dear way whole
    assert found.proof.status == "optimal"
    free = [replace(one, max_paths=None) for one in demands]
    assert solved(net, lightpaths_of(net), free).cost_usd == pytest.approx(20 + 400 * 1 + 100 * 3)


def on_one_couple(net, choices, counts, demands, states):
    """Some choice of one couple of chains per demand, or of any number, fits what is lit: every choice is tried."""
    capacity = {}
    for n, (path, budget, *_) in zip(counts, choices, strict=True):
        capacity[path.id] = capacity.get(path.id, 0.0) + n * budget.rate_gbps
    lit = [path for path in {choice[0].id: choice[0] for choice in choices}.values() if capacity[path.id] > 0]
    options = []
    for demand in demands:
        found = []
        for one, other in combinations(brute.chains(lit, *demand.ends), 2):
            apart = all(
                not (breaks(state, one) and breaks(state, other)) for state in states if demand.gbps.get(state.name)
            )
            found += [[path.id for path in (*one, *other)]] if apart else []
        options.append(found)
    for chosen in product(*options):
        load = dict.fromkeys(capacity, 0.0)
        for demand, used in zip(demands, chosen, strict=True):
            for name in used:
                load[name] += max(demand.gbps.values())
        if all(load[name] <= capacity[name] + 1e-6 for name in capacity):
            return True
    return False


def breaks(state, chain):
    return any(state.breaks(path.route) for path in chain)


@settings(FEW, max_examples=3)
@given(few_sites(("a", "b", "c")))
def test_one_couple_as_cheap_as_trying_everything(case):
    names, fibers, asked = case
    net = factory.network(names, fibers, {"scheme": "one-plus-one", "routes": 1}, BAND, modes=ONE, price=60_000.0)
    demands = [replace(factory.demand(net, f"d{i}", a, b, x), max_paths=1) for i, ((a, b), x) in enumerate(asked[:2])]
    paths, lines, states = factory.lightpaths(net)[:5], factory.lines(net), promised_states(net)
    found = solved(net, paths, demands)
    best = brute.cheapest(net, lines, paths, demands, states, on_one_couple, 2)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    assert isinstance(found, Design), found
    assert found.cost_usd == pytest.approx(best, rel=1e-5)
    assert found.proof.status == "optimal"


def side_by_side_twice(most, others=()):
    """Four fibers from a to b, 800 Gb/s on each; three demands on two ways of 500 each, others routed anew."""
    fibers = {f"f{i}": ("a", "b", 40 + 20 * i, 1) for i in range(5)}
    net = factory.network(["a", "b"], fibers, {"scheme": "one-plus-one", "max_hops": 1}, NARROW, modes=ONE)
    demands = [replace(factory.demand(net, f"d{i}", "a", "b", 500), max_paths=most) for i in range(3)]
    free = [replace(factory.demand(net, f"r{i}", "a", "b", x), scheme="reroute") for i, x in enumerate(others)]
    return net, factory.lightpaths(net), [*demands, *free]


def test_one_couple_costs_more_than_many():
    found = {most: solved(*side_by_side_twice(most)) for most in (None, 2)}
    assert [len(one.wavelengths) for one in found.values()] == [4, 4]  # 3,000 on four of 800
    single = solved(*side_by_side_twice(1))
    assert isinstance(single, Infeasible)  # six halves of which no two fit one wavelength, five fibers
    assert single.limit == "routes"
    assert "asks 500 Gb/s on at most 1 route at a time for each of its two ways, on which 300 Gb/s" in single.reason
    net, paths, demands = side_by_side_twice(1)
    two = solved(net, paths, demands[:2])
    assert len(two.wavelengths) == 4
    assert len(solved(net, paths, [replace(one, max_paths=None) for one in demands[:2]]).wavelengths) == 3
    for demand in demands[:2]:
        assert len([flow for flow in two.routing[0].flows if flow.demand == demand.id]) == 2
    assert verify(net, factory.lines(net), paths, demands[:2], promised_states(net), two) == ()
    split = solved(net, paths, [replace(one, max_paths=None) for one in demands[:2]])
    faults = verify(
        net, factory.lines(net), paths, demands[:2], promised_states(net), replace(split, demands=tuple(demands[:2]))
    )
    assert any("routes, it may take 2" in fault for fault in faults)


def test_one_couple_beside_demands_that_are_routed_anew():
    net, paths, demands = side_by_side_twice(1, (250, 250))
    found = solved(
        net, paths, [*demands[:2], *demands[3:]]
    )  # 4 x 500 on four fibers leave 4 x 300, one of which is cut
    assert isinstance(found, Design)
    assert len(found.wavelengths) == 4
    counted = replace(demands[3], max_paths=1)
    with pytest.raises(SolverError, match="give all one scheme"):
        solved(net, paths, [*demands[:2], counted])
