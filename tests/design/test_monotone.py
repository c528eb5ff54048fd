"""More freedom never costs more and more demand never costs less, on whatever candidates there are."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.result import Design, Infeasible
from tests.design import factory
from tests.design.test_optimum import BAND, ONE, few_sites, meshes, solved

SOME = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
"""Without shrinking: every example is two optimisations."""


def posed(case):
    names, fibers, asked = case
    net = factory.network(names, fibers, {"routes": 3}, BAND, modes=ONE, price=60_000.0)
    demands = [factory.demand(net, f"d{i}", a, b, gbps) for i, ((a, b), gbps) in enumerate(asked)]
    return net, factory.lightpaths(net), demands


def no_dearer(free: Design | Infeasible, bound: Design | Infeasible) -> None:
    """Who is bound less has an answer wherever the other has one, for no more; both are known to their bounds."""
    if isinstance(bound, Infeasible):
        return
    assert isinstance(free, Design)
    if {free.proof.status, bound.proof.status} == {"optimal"}:
        assert free.cost_usd <= bound.cost_usd * (1 + 1e-5)
    else:
        assert free.proof.bound_usd <= bound.cost_usd * (1 + 1e-5)


@SOME
@given(few_sites(), st.data())
def test_more_lightpaths_never_cost_more(case, data):
    net, paths, demands = posed(case)
    kept = data.draw(st.sets(st.integers(0, len(paths) - 1), min_size=1))
    no_dearer(solved(net, paths, demands), solved(net, [paths[i] for i in sorted(kept)], demands))


@SOME
@given(few_sites(), st.data())
def test_more_demand_never_costs_less(case, data):
    net, paths, demands = posed(case)
    d = data.draw(st.integers(0, len(demands) - 1))
    times = data.draw(st.sampled_from([1.2, 2.0, 3.0]))
    grown = replace(demands[d], gbps={state: gbps * times for state, gbps in demands[d].gbps.items()})
    no_dearer(solved(net, paths, demands), solved(net, paths, [*demands[:d], grown, *demands[d + 1 :]]))


@settings(SOME, max_examples=6)
@given(meshes())
def test_two_ways_at_once_never_cost_less_than_routing_anew(case):
    names, fibers, asked, survive = case

    def found(scheme):
        net = factory.network(names, fibers, {"scheme": scheme, "survive": survive, "routes": 2})
        demands = [factory.demand(net, f"d{i}", a, b, gbps) for i, ((a, b), gbps, _) in enumerate(asked)]
        return solved(net, factory.lightpaths(net), demands)

    no_dearer(found("reroute"), found("one-plus-one"))
