"""Demands of other schemes beside relight: the cost of brute force and of the whole ILP, and what is never retuned."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.assess.view import NetworkView
from dcplan.design import engine
from dcplan.design.certificate import book as certificate
from dcplan.design.certificate.reckon import reckon
from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Limits
from dcplan.design.mixed import search
from dcplan.design.problem import problem
from dcplan.design.reasons.words import words_of
from dcplan.design.relight.block import whole
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import Solved, solve
from dcplan.design.traffic import fixed_demands
from dcplan.design.verify import verify
from dcplan.design.ways.chains import ways_of
from dcplan.errors import SolverError
from dcplan.model.states import promised_states
from tests.design import brute_relight, factory
from tests.design.test_optimum import BAND, ONE

FEW = settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
OTHERS = ("reroute", "one-plus-one")


def parts(net):
    """Lines, lightpaths, demands and states, as the engine takes them."""
    states = promised_states(net)
    return factory.lines(net), factory.lightpaths(net), fixed_demands(net, states), states


def planned(net):
    return design(net, *parts(net), Options(gap=1e-6))


def under(scheme, more=(), policy="relight"):
    """What a demand of the file says of a scheme, where the policy's is another."""
    return dict(more) | ({} if scheme == policy else {"scheme": scheme})


@st.composite
def triangles(draw):
    """A fiber on each side; two or three demands, 1,500 Gb/s at most, so that two wavelengths are enough.

    Whichever scheme the policy has, each of them is under its own.
    """
    fibers = {
        a + b: (a, b, draw(st.sampled_from([60, 90, 140])), draw(st.integers(1, 2))) for a, b in ("ab", "bc", "ca")
    }
    schemes = st.sampled_from(("relight", "relight", *OTHERS))
    asked = draw(
        st.lists(st.tuples(st.sampled_from(["ab", "bc", "ca"]), st.integers(2, 5), schemes), min_size=2, max_size=3)
    )
    policy = draw(st.sampled_from(("relight", "none", *OTHERS)))
    return fibers, policy, [(*ends, 100 * hundreds, under(scheme, (), policy)) for ends, hundreds, scheme in asked]


@FEW
@given(triangles())
def test_brute_force(case):
    fibers, scheme, demands = case
    policy = {"scheme": scheme, "routes": 1, "max_hops": 1}
    net = factory.network("abc", fibers, policy, BAND, modes=ONE, price=60_000.0, demands=demands)
    found, (lines, paths, asked, states) = planned(net), parts(net)
    best = brute_relight.cheapest_beside(net, lines, paths, asked, states, 2)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    assert isinstance(found, Design)
    assert found.proof.status == "optimal"
    assert found.cost_usd == pytest.approx(best, rel=1e-5)


def cost_of(found):
    return float("inf") if isinstance(found, Infeasible) else found.cost_usd


@st.composite
def squares(draw):
    """Four sites on a ring with a chord, two demands, now and then late ones or such as survive a site."""
    ends = [*("ab", "bc", "cd", "da"), draw(st.sampled_from(["ac", "ab"]))]
    fibers = {f"f{i}": (a, b, draw(st.integers(40, 320)), draw(st.integers(2, 3))) for i, (a, b) in enumerate(ends)}
    more = st.fixed_dictionaries(
        {
            "under_failure_percent": st.sampled_from([50, 100]),
            "max_latency_ms": st.sampled_from([None, None, 4.0]),
            "survive": st.sampled_from([None, None, ["any-site"]]),
        }
    )
    pairs = st.sampled_from(["ab", "ac", "bd", "cd"])
    schemes = st.sampled_from([("relight", "reroute"), ("one-plus-one", "relight")])
    asked = st.tuples(pairs, st.integers(300, 1500), more)
    return fibers, [draw(asked), draw(asked)], draw(schemes)


def keeps_every_term(made, listed, said, program, values):
    """What the whole program buys and lights keeps each inequality of a certificate, which lies below its cost."""
    held = [d for d, demand in enumerate(made.demands) if demand.id in said.held]
    book = certificate.book(made, {d: listed[d] for d in held})
    amount = {column.name: value for column, value in zip(program.columns, values, strict=True)}
    for term in said.terms:
        left, right = certificate.row_of(book, term)
        have = sum(value * amount[book.program.columns[i].name] for i, value in left.items())
        assert have >= right * (1 - 1e-6) - 1e-6, term
    whole_usd = sum(column.cost * amount[column.name] for column in program.columns) / USD
    assert 0.5 * whole_usd < reckon(book, said).bound_usd <= whole_usd * (1 + 1e-6)


@settings(FEW, max_examples=3)
@given(squares())
def test_costs_what_the_whole_program_costs_and_lies_between(case):
    """No less than all under relight, no more than with reroute in its place."""
    fibers, demands, schemes = case

    def net(of):
        asked = [
            (a, b, gbps, under(of(scheme), more)) for ((a, b), gbps, more), scheme in zip(demands, schemes, strict=True)
        ]
        return factory.network("abcd", fibers, {"routes": 2, "scheme": "relight"}, demands=asked)

    beside = net(lambda scheme: scheme)
    found, (lines, paths, asked, states) = planned(beside), parts(beside)
    made = problem(beside, lines, paths, asked, states)
    listed = {
        d: ways_of(made, demand).ways
        for d, demand in enumerate(made.demands)
        if demand.protected or demand.max_latency_ms is not None
    }
    program, _ = whole(made, [whole_slots(made)] * len(made.states), listed)
    assert not [line for line in words_of(program, made, listed) if line.endswith(": auxiliary")]
    written_out = solve("highs", program, Limits(60, 1e-6))
    if isinstance(found, Infeasible):
        assert written_out.status == "infeasible"
    else:
        assert found.proof.status == "optimal"
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
        keeps_every_term(made, listed, found.certificate, program, written_out.values)
    free, still = planned(net(lambda _: "relight")), planned(net(lambda scheme: scheme.replace("relight", "reroute")))
    assert cost_of(free) <= cost_of(found) * (1 + 1e-5) <= cost_of(still) * (1 + 2e-5)


SIDES = {"ab": ("a", "b", 80, 2), "bc": ("b", "c", 90, 2), "ca": ("c", "a", 400, 2)}


def ring(*schemes):
    """The long side carries the slow mode only; x from a to b, y from b to c, 750 Gb/s each."""
    demands = [(a, b, 750, under(scheme)) for (a, b), scheme in zip(("ab", "bc"), schemes, strict=True)]
    return factory.network("abc", SIDES, {"scheme": "relight", "routes": 1, "max_hops": 1}, demands=demands)


def test_a_rerouted_demand_has_its_standby_lit_and_no_failure_touches_it():
    """By hand: y goes by a when bc is lost, so that 800G on ab and 2 × 400G on ca stay lit beside 800G on bc.

    x has 800G on ab; when ab is lost it waits until its transponders, and those of y's standby there, are elsewhere.
    """
    net = ring("relight", "reroute")
    found = planned(net)
    assert isinstance(found, Design)
    routes = {path.id: path.route.fibers[0] for path in factory.lightpaths(net)}
    never = [routes[channel.lightpath] for channel in found.anchored]
    assert sorted(never) == ["ab", "bc", "ca", "ca"]
    for relit in found.relit:
        lost = relit.state.removeprefix("fiber ")
        assert {one for one in found.anchored if routes[one.lightpath] != lost} <= set(relit.channels)
    costs = [
        planned(ring(*schemes)).cost_usd for schemes in (("relight",) * 2, ("reroute",) * 2, ("one-plus-one",) * 2)
    ]
    assert costs[0] <= found.cost_usd < costs[1] < costs[2]


def spoiled(found):
    """One thing changed at a time, with a word of what must be noticed."""
    yield {"anchored": found.anchored[1:]}, "are retuned in no failure"
    yield {"anchored": (*found.anchored, found.anchored[0])}, "listed twice"
    yield {"anchored": (*found.anchored, replace(found.anchored[0], first_slot=99))}, "is retuned that never should be"
    moved = [replace(one, first_slot=one.first_slot + 200) for one in found.relit[0].channels]
    yield (
        {"relit": (replace(found.relit[0], channels=tuple(moved)), *found.relit[1:])},
        "is retuned that never should be",
    )
    waiting = tuple(replace(demand, scheme="relight") for demand in found.demands)
    yield {"demands": waiting}, "is not the one that was asked"
    yield {"demands": waiting}, "for nobody"


def test_the_check_notices_every_change():
    net = ring("relight", "one-plus-one")
    found, given_ = planned(net), parts(net)
    assert isinstance(found, Design)
    assert verify(net, *given_, found) == ()
    for change, word in spoiled(found):
        said = verify(net, *given_, replace(found, **change))
        assert any(word in line for line in said), (change, word, said)


def test_what_nobody_may_count_or_carry_is_refused():
    counted = [("a", "b", 100, {"scheme": "reroute", "max_paths": 1}), ("b", "c", 100, {})]
    net = factory.network("abc", SIDES, {"scheme": "relight"}, demands=counted)
    with pytest.raises(SolverError, match="max_paths of d0 does not go with scheme relight beside others"):
        planned(net)
    thin = {name: (a, b, km, 1) for name, (a, b, km, _) in SIDES.items()} | {"ca": ("c", "a", 100, 1)}
    both = [(a, b, 800, under("one-plus-one")) for a, b in ("ab", "bc")]
    for scheme, word in (
        ("relight", "none in which d0, d1 ride on wavelengths only"),
        ("reroute", "healthy, d0 takes 0.5"),
    ):
        asked = [*both, ("c", "a", 800, under(scheme))]
        found = planned(
            factory.network("abc", thin, {"scheme": "relight", "routes": 2}, BAND, modes=ONE, demands=asked)
        )
        assert isinstance(found, Infeasible)
        assert word in found.reason


def test_what_does_not_wait_gets_no_more_than_its_routes_where_some_is_retuned():
    """As jobs: healthy both may have more than they ask; when bc is lost, only the one under relight."""
    net = ring("relight", "reroute")
    found, (_, paths, _, states) = planned(net), parts(net)
    assert isinstance(found, Design)
    jobs = tuple(replace(demand, job="training") for demand in found.demands)
    view = NetworkView(paths, replace(found, demands=jobs))
    by_state = {state.name: view.fractions(state, jobs) for state in states}
    assert min(by_state["healthy"].values()) > 1
    assert by_state["fiber bc"]["d1"] == pytest.approx(1)
    assert by_state["fiber bc"]["d0"] >= 1


def test_when_time_is_up_without_an_answer_one_is_made(monkeypatch):
    """Even where reroute found none: what the healthy network asks for, enlarged state by state."""
    monkeypatch.setattr(engine, "_without_retuning", lambda *_: None)
    for scheme in OTHERS:
        net = ring("relight", scheme)
        found = design(net, *parts(net), Options(time_limit_s=1e-3))
        assert isinstance(found, Design)
        assert (found.proof.status, found.proof.reason) == ("feasible", "time limit")
        assert found.cost_usd >= planned(net).cost_usd


def test_a_first_purchase_stands_although_the_program_of_several_states_has_no_answer_in_time(monkeypatch):
    """Else the answer would be what reroute buys."""
    rerouted, best = planned(ring("reroute", "reroute")), planned(ring("relight", "reroute"))
    solve_again = search.solve_again

    def healthy_only(name, program, *rest):
        several = any(column.name.endswith("k1") for column in program.columns)
        return Solved("failed", "time limit", None, None, None, ()) if several else solve_again(name, program, *rest)

    monkeypatch.setattr(search, "solve_again", healthy_only)
    found = planned(ring("relight", "reroute"))
    assert isinstance(found, Design)
    assert best.cost_usd * (1 - 1e-6) <= found.cost_usd < rerouted.cost_usd
