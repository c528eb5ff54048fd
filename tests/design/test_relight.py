"""Scheme relight: its cost is that of brute force and of the whole ILP, and never more than that of reroute."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.problem import problem
from dcplan.design.relight.block import whole
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver import Limits, solve
from dcplan.design.ways import ways_of
from dcplan.model.states import promised_states
from tests.design import brute_relight, factory
from tests.design.test_optimum import BAND, ONE, TWO, few_sites, meshes, two_sites

FEW = settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])


def run(net, paths, demands, gap=1e-6):
    return design(net, factory.lines(net), paths, demands, promised_states(net), Options(gap=gap))


def same_as_brute(net, paths, demands, most):
    lines, states = factory.lines(net), promised_states(net)
    found = run(net, paths, demands)
    best = brute_relight.cheapest(net, lines, paths, demands, states, most)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    if isinstance(found, Infeasible):  # only where whole channels fit by number but not by place
        assert found.limit == "spectrum"
        return
    assert found.proof.bound_usd is not None
    assert found.proof.bound_usd <= best * (1 + 1e-5)
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(best, rel=1e-5)
    else:
        assert found.proof.reason == "spectrum repaired"
        assert found.cost_usd >= best * (1 - 1e-5)


@FEW
@given(two_sites())
def test_parallel_fibers_two_modes(case):
    """Narrow bands and one or two pairs: spectrum and pairs bind."""
    fibers, gbps, share = case
    net = factory.network(["a", "b"], fibers, {"scheme": "relight"}, BAND, modes=TWO)
    demands = [factory.demand(net, f"d{i}", "a", "b", x, share) for i, x in enumerate(gbps)]
    same_as_brute(net, factory.lightpaths(net, {"fast": 300, "slim": 900}), demands, 6)


@FEW
@given(few_sites(("a", "b", "c", "d")), st.sampled_from([["any-fiber"], ["any-fiber", "any-site"]]))
def test_few_sites(case, survive):
    names, fibers, asked = case
    policy = {"scheme": "relight", "survive": survive, "routes": 2}
    net = factory.network(names, fibers, policy, BAND, modes=ONE, price=60_000.0)
    demands = [factory.demand(net, f"d{i}", a, b, x) for i, ((a, b), x) in enumerate(asked)]
    same_as_brute(net, factory.lightpaths(net)[:7], demands, 2)


@settings(FEW, max_examples=4)
@given(meshes())
def test_search_costs_what_the_whole_program_costs(case):
    """Five sites, shared risks, latency limits; and no more than reroute, which costs no more than one-plus-one."""
    names, fibers, asked, survive = case
    net = factory.network(names, fibers, {"survive": survive, "routes": 2, "scheme": "relight"})
    demands = [factory.demand(net, f"d{i}", a, b, x, 0.7, late) for i, ((a, b), x, late) in enumerate(asked)]
    paths = factory.lightpaths(net)
    made = problem(net, factory.lines(net), paths, demands, promised_states(net))
    limited = {d: ways_of(made, demand).ways for d, demand in enumerate(made.demands) if demand.max_latency_ms}
    program, _ = whole(made, [whole_slots(made)] * len(made.states), limited)
    written_out = solve("highs", program, Limits(60, 1e-6))
    found = run(net, paths, demands)
    if isinstance(found, Infeasible):
        assert written_out.status == "infeasible"
        return
    assert isinstance(found, Design)
    assert written_out.objective is not None
    assert found.proof.bound_usd is not None
    assert found.proof.bound_usd <= written_out.objective / USD * (1 + 1e-5)
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
    before = found.cost_usd
    for scheme in ("reroute", "one-plus-one"):
        policy = net.policy.model_copy(update={"scheme": scheme})
        other = replace(net, topology=net.topology.model_copy(update={"policy": policy}))
        dearer = run(other, paths, demands)
        if isinstance(dearer, Infeasible):
            break
        assert before <= dearer.cost_usd * (1 + 1e-5)
        before = dearer.cost_usd
