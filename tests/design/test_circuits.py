"""Capacity leased from a carrier: modules in place of wavelengths, no optics, fails as a fiber."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.api import plan, verify
from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.formulation import whole
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.traffic import fixed_demands
from dcplan.model.network import Network
from dcplan.model.schema import Topology
from dcplan.model.source import Document
from dcplan.model.states import promised_states
from tests.design import factory


def network(sites, circuits, demands, policy=None, fibers=None):
    """A network of circuits; `circuits`: name -> what the file says of it."""
    made = factory.network(sites, fibers or {}, policy, demands=demands)
    about = made.topology.model_dump(exclude_unset=True)
    return Network(Topology.model_validate(about | {"circuits": circuits}), made.catalog, Document(None))


def ring(**more):
    sizes = {"small": {"gbps": 100, "usd": 10}, "large": {"gbps": 400, "usd": 25}}
    return {name: {"ends": list(name), "length_km": 100, "modules": sizes} | more for name in ("ab", "bc", "ac")}


def designed(net, states=None):
    states = states or promised_states(net)
    paths = (*factory.lightpaths(net), *lightpaths_of(net))
    return design(net, factory.lines(net), paths, fixed_demands(net, states), states, Options(time_limit_s=30))


def leased(found):
    return {(lit.transponder, lit.mode): lit.count for lit in found.wavelengths}


def test_modules_are_bought_for_the_worst_failure():
    found = designed(network("abc", ring(), [("a", "b", 300)]))
    assert isinstance(found, Design)
    assert found.proof.status == "optimal"
    # three modules of 100 or one of 400 on each circuit: 25 is cheaper than 30
    assert leased(found) == {("ab", "large"): 1, ("bc", "large"): 1, ("ac", "large"): 1}
    assert found.cost_usd == 75
    assert found.lit == found.channels == ()


def test_at_most_one_module_where_one_may_be_picked():
    one = network("ab", {"ab": ring()["ab"] | {"pick": "one"}}, [("a", "b", 500)], {"scheme": "none"})
    found = designed(one)
    assert isinstance(found, Infeasible)
    assert found.limit == "circuits"
    assert "sites {b} need 500 Gb/s to the rest, 400 Gb/s can be leased on circuit ab" in found.reason
    many = designed(network("ab", {"ab": ring()["ab"]}, [("a", "b", 500)], {"scheme": "none"}))
    assert leased(many) == {("ab", "small"): 1, ("ab", "large"): 1}


def test_a_circuit_to_where_nothing_ends_joins_nothing():
    fibers = {"f": ("a", "b", 90, 4), "g": ("c", "b", 90, 4)}
    dead = {"dead": {"ends": ["a", "c"], "length_km": 100, "modules": {"one": {"gbps": 800, "usd": 1}}}}
    sites = {"a": {}, "b": {}, "c": {"regenerate": False}}
    found = designed(network(sites, dead, [("a", "b", 100)], {"parted": "refuse"}, fibers))
    assert isinstance(found, Infeasible)
    assert "after losing fiber f, nothing joins {a} and {b, c}: f is a bridge" in found.reason
    assert isinstance(designed(network(sites, dead, [("a", "b", 100)], {"parted": "excuse"}, fibers)), Design)


def test_set_up_is_paid_once_and_only_where_modules_are_leased():
    found = designed(network("abc", ring(build_usd=1000), [("a", "b", 500)], {"scheme": "none"}))
    assert leased(found) == {("ab", "small"): 1, ("ab", "large"): 1}
    assert found.cost_usd == 1035


def test_what_is_there_is_free_and_kept():
    there = ring(existing_gbps=250)
    found = designed(network("abc", there, [("a", "b", 300)], {"scheme": "none"}))
    assert found.cost_usd == 0
    assert leased(found) == {(name, "existing"): 1 for name in there}


def test_a_circuit_and_a_fiber_protect_each_other():
    """Fiber one way, circuit the other: both carry all, the fiber by light, the circuit by modules."""
    net = network(
        "ab", {"lease": ring()["ab"] | {"ends": ["a", "b"]}}, [("a", "b", 400)], fibers={"own": ("a", "b", 80, 2)}
    )
    found = designed(net)
    assert isinstance(found, Design)
    assert leased(found) == {("lease", "large"): 1, ("tx", "slow"): 1}
    assert [lit.fiber for lit in found.lit] == ["own"]
    assert [routing.state for routing in found.routing] == ["healthy", "fiber own", "circuit lease"]


def test_shared_risks_and_sites_take_circuits():
    net = network("abc", ring(shared_risk=["duct"]), [("a", "b", 300)], {"survive": ["any-shared-risk", "any-site"]})
    states = {state.name: state for state in promised_states(net)}
    assert states["shared risk duct"].fibers == {"ab", "bc", "ac"}
    assert states["site c"].fibers == {"bc", "ac"}
    assert isinstance(designed(net), Infeasible)


def test_a_site_that_ends_no_traffic_ends_no_circuit():
    net = network({"a": {}, "b": {}, "c": {"regenerate": False}}, ring(), [("a", "b", 300)], {"scheme": "none"})
    assert [path.route.fibers for path in lightpaths_of(net)] == [("ab",)]


@pytest.mark.parametrize("pick", ["any", "one"])
@pytest.mark.parametrize("build_usd", [0, 7])
def test_equal_to_brute_force(pick, build_usd):
    """All numbers of modules on a triangle, every state checked by the two ways there are."""
    circuits = {
        "ab": {"ends": ["a", "b"], "modules": {"s": {"gbps": 100, "usd": 10}, "l": {"gbps": 300, "usd": 22}}},
        "bc": {"ends": ["b", "c"], "modules": {"s": {"gbps": 180, "usd": 12}}, "existing_gbps": 50},
        "ac": {"ends": ["a", "c"], "modules": {"s": {"gbps": 120, "usd": 9}, "l": {"gbps": 400, "usd": 31}}},
    }
    circuits = {
        name: about | {"latency_ms": 1, "pick": pick, "build_usd": build_usd} for name, about in circuits.items()
    }
    net = network("abc", circuits, [("a", "b", 130), ("b", "c", 90)])
    found = designed(net)
    assert found.proof.cost_usd == pytest.approx(_cheapest(circuits, pick))


def _cheapest(circuits, pick):
    """Cheapest numbers of modules under which a triangle carries 130 between a and b and 90 between b and c."""
    options = []
    for about in circuits.values():
        sizes = list(about["modules"].values())
        mine = []
        for counts in product(range(4), repeat=len(sizes)):
            if pick == "one" and sum(counts) > 1:
                continue
            usd = sum(n * m["usd"] for n, m in zip(counts, sizes, strict=True)) + about["build_usd"] * any(counts)
            gbps = sum(n * m["gbps"] for n, m in zip(counts, sizes, strict=True))
            mine.append((usd, gbps + about.get("existing_gbps", 0)))
        options.append(mine)
    best = float("inf")
    for (p, ab), (q, bc), (r, ac) in product(*options):
        broken = (0, bc, ac), (ab, 0, ac), (ab, bc, 0)
        if all(_carries(*state) for state in ((ab, bc, ac), *broken)):
            best = min(best, p + q + r)
    return best


def _carries(ab, bc, ac):
    """Each site gets what it asks out: on three sites these cuts suffice."""
    return ab + ac >= 130 and bc + ac >= 90 and ab + bc >= 220


@pytest.mark.parametrize("pick", ["any", "one"])
def test_relight_of_circuits_alone_costs_what_reroute_does(pick):
    costs = [
        designed(network("abc", ring(pick=pick, build_usd=3, existing_gbps=50), [("a", "b", 300)], {"scheme": scheme}))
        for scheme in ("reroute", "relight")
    ]
    assert costs[0].cost_usd == costs[1].cost_usd


CIRCUIT = st.fixed_dictionaries(
    {
        "pick": st.sampled_from(["any", "one"]),
        "existing_gbps": st.sampled_from([0, 0, 40, 130]),
        "build_usd": st.sampled_from([0, 0, 11]),
        "modules": st.dictionaries(
            st.sampled_from("smlx"),
            st.fixed_dictionaries({"gbps": st.integers(50, 600), "usd": st.integers(5, 40)}),
            min_size=1,
        ),
    }
)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(
    st.lists(CIRCUIT, min_size=5, max_size=5),
    st.lists(st.integers(20, 500), min_size=3, max_size=3),
    st.sampled_from(["none", "reroute"]),
)
def test_the_cut_loop_and_the_ilp_of_all_states_agree(circuits, gbps, scheme):
    """A square with a diagonal; whole ILP by HiGHS without cuts of ours."""
    ends = ["ab", "bc", "cd", "ad", "ac"]
    about = {name: {"ends": list(name), "latency_ms": 1} | one for name, one in zip(ends, circuits, strict=True)}
    demands = [(a, b, rate) for (a, b), rate in zip(["ac", "bd", "ab"], gbps, strict=True)]
    net = network("abcd", about, demands, {"scheme": scheme})
    states = promised_states(net)
    made = problem(net, (), lightpaths_of(net), fixed_demands(net, states), states)
    solved = solve("highs", whole(made), Limits(60, 0.0))
    found = designed(net)
    if solved.status == "infeasible":
        assert isinstance(found, Infeasible)
    else:
        assert found.proof.cost_usd == pytest.approx(1000 * solved.objective, rel=1e-4)


def test_twin_circuits_are_taken_in_file_order():
    sizes = {"s": {"gbps": 100, "usd": 10}}
    twins = {name: {"ends": ["a", "b"], "latency_ms": 1, "modules": sizes} for name in ("x", "y", "z")}
    found = designed(network("ab", twins, [("a", "b", 150)], {"scheme": "none"}))
    assert leased(found) == {("x", "s"): 2}


@pytest.fixture
def planned(tmp_path):
    from dcplan.api import load

    file = tmp_path / "ring.yaml"
    file.write_text(
        "dcplan: 1\nname: ring\nsites: {a: {lat: 40, lon: -90}, b: {lat: 41, lon: -90}, c: {lat: 40, lon: -91}}\n"
        "circuits:\n"
        + "".join(
            f"  {a}{b}: {{ends: [{a}, {b}], length_km: 150, modules: {{s: {{gbps: 155, usd: 9}}}}}}\n"
            for a, b in ("ab", "bc", "ac")
        )
        + "demands: {d: {between: [a, b], gbps: 300}}\n"
    )
    net = load(file)
    return net, plan(net)


def test_a_topology_of_circuits_needs_no_optics(planned):
    net, made = planned
    assert made.design.cost_usd == 54
    assert verify(net, made) == ()


MIXED = """\
dcplan: 1
name: mixed
sites: {a: {lat: 40, lon: -90}, b: {lat: 40.5, lon: -90}, c: {lat: 40, lon: -90.5}}
fibers:
  own: {ends: [a, b], length_km: 80, type: g652d, pairs: 2, lease_usd_per_km_year: 400}
circuits:
  lease: {ends: [a, b], latency_ms: 0.6, build_usd: 500, modules: {wave: {gbps: 400, usd: 200000}}}
  spur: {ends: [b, c], latency_ms: 0.6, existing_gbps: 100, modules: {wave: {gbps: 400, usd: 300000}}}
  back: {ends: [a, c], length_km: 60, pick: one, modules: {slow: {gbps: 100, usd: 90000}, wave: {gbps: 400, usd: 3e5}}}
demands:
  d: {between: [a, b], gbps: 300}
  e: {between: [a, c], gbps: 80}
"""


def test_a_plan_of_fibers_and_circuits_verifies_and_shows_both(tmp_path):
    """Every table names what it counts: wavelengths on pairs, modules on circuits, a cut between both."""
    from dcplan.api import load
    from dcplan.planfile import dumps, loads
    from dcplan.report.diff import diff
    from dcplan.report.render import render

    file = tmp_path / "mixed.yaml"
    file.write_text(MIXED)
    net = load(file)
    made = plan(net)
    assert verify(net, made) == ()
    read = loads(dumps(made), "plan")
    shown = render(read, "text", 160)
    assert "on 1 fiber pair, 2 modules on 3 circuits" in shown
    assert "existing" in shown
    assert "set-up of the circuit" in shown
    assert "a circuit ends here" in shown
    changed = diff(read, plan(_without_e(net)))
    assert {"modules", "bill"} <= {change.area for change in changed.changes}


def _without_e(net):
    from dataclasses import replace

    demands = {name: demand for name, demand in net.topology.demands.items() if name != "e"}
    return replace(net, topology=net.topology.model_copy(update={"demands": demands}))


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("mode", "gold", "there is no module lease gold"),
        ("rate_gbps", 800.0, "another rate"),
        ("latency_ms", 0.1, "it takes 0.6 ms"),
        ("count", 0, "0 × wave are leased"),
    ],
)
def test_verify_finds_what_does_not_hold_of_modules(tmp_path, field, value, fault):
    from dataclasses import replace

    from dcplan.api import load

    file = tmp_path / "mixed.yaml"
    file.write_text(MIXED)
    net = load(file)
    made = plan(net)
    waves = tuple(
        replace(lit, **{field: value}) if lit.transponder == "lease" else lit for lit in made.design.wavelengths
    )
    changed = replace(made, design=replace(made.design, wavelengths=waves))
    assert any(fault in found for found in verify(net, changed))


def test_the_price_of_traffic_weighs_against_that_of_modules():
    # 300 Gb/s: the dear module with free traffic costs 400, the cheap one with traffic at 2 costs 10 + 600
    ways = {
        "free": {"ends": ["a", "b"], "length_km": 100, "modules": {"m": {"gbps": 400, "usd": 400}}},
        "paid": {"ends": ["a", "b"], "length_km": 90, "modules": {"m": {"gbps": 400, "usd": 10}}, "usd_per_gbps": 2},
    }
    healthy = designed(network("ab", ways, [("a", "b", 300)], {"scheme": "none"}))
    assert leased(healthy) == {("free", "m"): 1}
    assert healthy.cost_usd == 400
    # surviving each needs both; healthy traffic then takes the free one, although the paid one is shorter
    both = designed(network("ab", ways, [("a", "b", 300)]))
    assert both.proof.status == "optimal"
    assert both.cost_usd == 410
    assert [(flow.lightpaths, flow.gbps) for flow in both.routing[0].flows] == [(("C1",), 300)]
    # what the free one cannot hold is paid for: 100 Gb/s at 2
    more = designed(network("ab", ways, [("a", "b", 500)], {"scheme": "none"}))
    assert more.cost_usd == pytest.approx(400 + 10 + 2 * 100)


def test_the_proof_of_one_state_is_that_of_the_whole_ilp():
    net = network("abc", ring(usd_per_gbps=0.5), [("a", "b", 330), ("b", "c", 120), ("a", "c", 90)], {"scheme": "none"})
    found = designed(net)
    assert found.proof.status == "optimal"
    best = min(
        sum(10 * small + 25 * large for small, large in bought) + 0.5 * traffic
        for bought in product(product(range(3), range(3)), repeat=3)
        if (traffic := _least_traffic([100 * small + 400 * large for small, large in bought])) is not None
    )
    assert found.cost_usd == pytest.approx(best)


def _least_traffic(capacity):
    """All links together [Gb/s] of three demands on a triangle, in steps of 10; none where it does not fit."""
    ab, bc, ac = capacity
    around = range(0, 331, 10)
    fits = [
        330 + 120 + 90 + x + y + z
        for x in around
        for y in range(0, 121, 10)
        for z in range(0, 91, 10)
        if 330 - x + y + z <= ab and 120 - y + x + z <= bc and 90 - z + x + y <= ac
    ]
    return min(fits, default=None)
