"""One couple of ways per demand by ruin and recreate: what loads cost by brute force, designs against every choice."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.few import sizing as few_sizing
from dcplan.design.limits import Until
from dcplan.design.problem import problem, whole_rate
from dcplan.design.result import Design, Infeasible
from dcplan.design.verify import verify
from dcplan.design.ways import listing
from dcplan.design.ways.chains import ways_of
from dcplan.design.ways.loads import Loads, Steps, steps
from dcplan.design.ways.mesh import mesh
from dcplan.design.ways.protection import risk
from dcplan.design.ways.ruin import couples_for_whole
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_circuits import network
from tests.design.test_generation import apart, meshes, posed


def optical():
    fibers = {"n": ("a", "b", 80, 2, {"build_usd_per_km": 900}), "m": ("b", "c", 120, 1), "s": ("a", "c", 350, 2)}
    band = {"band_start_thz": 191.3, "band_end_thz": 191.7}
    net = factory.network("abc", fibers, {"scheme": "one-plus-one", "routes": 2}, band)
    demands = [factory.demand(net, "x", "a", "b", 2500)]
    return problem(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net))


def test_a_lightpath_costs_what_its_cheapest_mix_does():
    made = optical()
    for i, offered in enumerate(made.offered):
        choices, mixes = [made.choices[j] for j in offered], steps(made, i, 5000)
        for load in range(0, 5000, 130):
            each = product(*(range(min(one.most, 13) + 1) for one in choices))
            sums = [
                (sum(n * one.gbps for n, one in zip(mix, choices, strict=True)),
                 sum(n * one.usd for n, one in zip(mix, choices, strict=True)))
                for mix in each
            ]  # fmt: skip
            best = min((usd for gbps, usd in sums if gbps >= load), default=inf)
            if best < inf:
                assert mixes.at(load)[0] == pytest.approx(best)
            else:
                assert mixes.at(load)[0] > max(usd for _, usd in sums)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([90.0, 400.0, 1300.5])), max_size=8))
def test_what_is_put_there_and_taken_off_again_costs_nothing(puts):
    """And each costs what was foreseen; pairs of a fiber are whole, and it is built once."""
    made = optical()
    loads = Loads(made)
    assert loads.usd == 0
    for at, gbps in puts:
        i = at % len(made.lightpaths)
        before, more = loads.usd, loads.more_usd(i, gbps, 0.0)
        loads.put(i, gbps)
        if len(made.glass(i)) == 1 or not more:
            assert loads.usd - before == pytest.approx(more)
    lit = dict.fromkeys(made.fibers, 0)
    for i, gbps in enumerate(loads.gbps):
        for f in made.glass(i):
            lit[f] += steps(made, i, 5000).at(gbps)[1]
    waves = sum(steps(made, i, 5000).at(gbps)[0] for i, gbps in enumerate(loads.gbps))
    if all(lit[f] <= made.slots * made.network.fibers[f].pairs for f in lit):
        pairs = sum(-(-slots // made.slots) * made.pair_usd[f] for f, slots in lit.items())
        assert loads.usd == pytest.approx(waves + pairs + (made.build_usd["n"] if lit["n"] else 0))
    for at, gbps in puts:
        loads.put(at % len(made.lightpaths), -gbps)
    assert loads.usd == 0


def cheapest_single(made):
    """Of every choice of a couple for each demand, the least that its loads cost; infinite where there is none."""
    options = []
    for demand in made.demands:
        ways = ways_of(made, demand).ways
        couples = [(a, b) for a, b in combinations(ways, 2) if apart(made, demand, a, b)]
        options.append([[i for way in couple for i in way.lightpaths] for couple in couples])
    best = inf
    for chosen in product(*options):
        loads = Loads(made)
        for demand, used in zip(made.demands, chosen, strict=True):
            for i in used:
                loads.put(i, whole_rate(demand, made.states))
        if all(gbps <= sum(made.choices[j].gbps * made.choices[j].most for j in made.offered[i])
               for i, gbps in enumerate(loads.gbps)):  # fmt: skip
            best = min(best, loads.usd)
    return best


@settings(max_examples=12, deadline=None)
@given(meshes(limited=True), st.booleans())
def test_one_couple_each_is_as_cheap_as_any_choice(case, alone):
    """By the master, and by chance alone: then no cheaper, and the bound holds."""
    net, demands = case
    demands = [replace(demand, max_paths=1) for demand in demands]
    paths, states, made = lightpaths_of(net), promised_states(net), posed(net, demands)
    best = cheapest_single(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_sizing, "COUNTABLE", 0 if alone else 400)
        patch.setattr(listing, "MANY_WAYS", 0 if alone else 4000)
        found = design(net, (), paths, demands, states, Options(gap=0.0))
    if not isinstance(found, Design):
        assert isinstance(found, Infeasible)
        assert best == inf
        return
    assert verify(net, (), paths, demands, states, found) == ()
    assert found.proof.bound_usd <= best * (1 + 1e-9)
    assert found.cost_usd >= best * (1 - 1e-9)
    assert found.cost_usd == pytest.approx(best)
    if not alone:
        assert found.proof.status == "optimal"
    for demand in demands:
        assert len([flow for flow in found.routing[0].flows if flow.demand == demand.id]) == 2


def test_demands_share_what_is_bought_whole():
    """By price per Gb/s each would take its own ring; together they fill modules on one. The same in every run."""
    ring = {"ab": 10, "bc": 10, "cd": 10, "da": 10, "ac": 11, "bd": 11}
    circuits = {
        name: {"ends": list(name), "latency_ms": 1, "modules": {"s": {"gbps": 100, "usd": usd}}}
        for name, usd in ring.items()
    }
    net = network("abcd", circuits, [], {"scheme": "one-plus-one"})
    demands = [factory.demand(net, f"d{i}", *ends, 40) for i, ends in enumerate(["ab", "ac", "bc", "cd"])]
    made, prices = posed(net, demands), [[0.1] for _ in ring]
    said = []
    one, other = (couples_for_whole(mesh(made), prices, Until(), said.append) for _ in range(2))
    assert one == other
    for d, demand in enumerate(made.demands):
        a, b = one[d].ways
        assert set(risk(made, demand, a)).isdisjoint(risk(made, demand, b))
    loads = Loads(made)
    for couple in one.values():
        for way in couple.ways:
            for i in way.lightpaths:
                loads.put(i, 40)
    assert loads.usd == pytest.approx(cheapest_single(made))
    assert said[-1].endswith(f"US$ {loads.usd:,.0f}")


def test_steps_that_seem_to_rise_by_degrees():
    """From the price of one mix to that of the next; at power 0 at once, as they do; at power 1 evenly."""
    mixes = Steps((0.0, 100.0, 300.0), ((0.0, 0.0, 0), (100.0, 8.0, 1), (300.0, 20.0, 2)), 5.0)
    assert [mixes.at(load) for load in (0, 1, 100, 101, 300, 310)] == [
        (0, 0), (8, 1), (8, 1), (20, 2), (20, 2), (70, 2)
    ]  # fmt: skip
    for load in (0, 1, 100, 180, 300, 310):
        assert mixes.bent(load, 0.0) == mixes.at(load)[0]
    assert [mixes.bent(load, 1.0) for load in (0, 25, 100, 200, 300)] == pytest.approx([0, 2, 8, 14, 20])
    assert mixes.bent(25, 0.5) == pytest.approx(4)
    assert [mixes.below(load) for load in (0, 50, 100, 150)] == [0, 0, 0, 100]


def test_nothing_is_found_where_a_demand_has_no_couple():
    only = {"ends": ["a", "b"], "latency_ms": 1, "modules": {"s": {"gbps": 100, "usd": 1}}}
    net = network("ab", {"x": only}, [], {"scheme": "one-plus-one"})
    made = posed(net, [factory.demand(net, "d", "a", "b", 40)])
    assert couples_for_whole(mesh(made), [[0.1]], Until(), print) is None
