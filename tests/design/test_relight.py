"""Scheme relight: its cost is that of brute force and of the whole ILP, and never more than that of reroute."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.relight.block import whole
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.verify import verify
from dcplan.design.ways.chains import ways_of
from dcplan.model.existing import Existing, ExistingFiber, ExistingWavelengths
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


@settings(FEW, max_examples=3)
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
@given(few_sites(("a", "b", "c")), st.booleans(), st.integers(0, 2))
def test_what_is_lit_already_is_kept_or_taken_out_and_tuned_in_failures(case, removable, spare):
    names, fibers, asked = case
    policy = {"scheme": "relight", "survive": ["any-fiber"], "routes": 2}
    net = factory.network(names, fibers, policy, BAND, modes=ONE, price=60_000.0)
    first = next(iter(fibers))
    lit = ExistingWavelengths(route=[first], transponder="tx", mode="fast", count=1)
    there = Existing(
        fibers={first: ExistingFiber(pairs=1)},
        wavelengths=[lit],
        transponders={"c": {"tx": spare}} if spare else {},
        removable=removable,
    )
    net = replace(net, topology=net.topology.model_copy(update={"existing": there}))
    demands = [factory.demand(net, f"d{i}", a, b, x) for i, ((a, b), x) in enumerate(asked)]
    same_as_brute(net, factory.lightpaths(net)[:6], demands, 2)


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
        dearer = run(net, paths, factory.under(scheme, demands))
        if isinstance(dearer, Infeasible):
            break
        assert before <= dearer.cost_usd * (1 + 1e-5)
        before = dearer.cost_usd


@st.composite
def mixtures(draw):
    """Triangles with a guard between widths, two types of transponder, and a circuit beside the glass."""
    ends = [("a", "b"), ("b", "c"), ("c", "a"), draw(st.sampled_from([("a", "b"), ("b", "c")]))]
    fibers = {
        f"f{i}": (a, b, draw(st.sampled_from([60, 140, 320])), draw(st.integers(1, 2))) for i, (a, b) in enumerate(ends)
    }
    sizes = {"small": {"gbps": 300, "usd": 90_000}, "large": {"gbps": 700, "usd": 150_000}}
    circuit = {
        "ends": ["a", "c"],
        "modules": sizes,
        "pick": draw(st.sampled_from(["any", "one"])),
        "build_usd": draw(st.sampled_from([0, 20_000])),
        "length_km": 100,
    }
    asked = draw(
        st.lists(st.tuples(st.sampled_from(["ab", "bc", "ac"]), st.integers(100, 1200)), min_size=1, max_size=3)
    )
    guard_ghz = draw(st.sampled_from([0, 12.5]))
    return fibers, circuit, asked, {"scheme": "relight", "routes": 2, "guard_ghz": guard_ghz}


def mixed(case):
    """Fast modes by `tx`, the slow one by `plain` too, at two thirds of the price."""
    fibers, circuit, asked, policy = case
    net = factory.network("abc", fibers, policy, {"band_start_thz": 191.3, "band_end_thz": 191.7}, price=15_000.0)
    modes = net.catalog.transponders["tx"].modes
    plain = net.catalog.transponders["tx"].model_copy(update={"modes": {"slow": modes["slow"]}, "price_usd": 10_000.0})
    kinds = {**net.catalog.transponders, "plain": plain}
    topology = type(net.topology).model_validate(
        net.topology.model_dump(exclude_unset=True) | {"circuits": {"leased": circuit}}
    )
    net = replace(net, catalog=replace(net.catalog, transponders=kinds), topology=topology)
    paths = [
        replace(
            path,
            budgets=(
                *path.budgets,
                *(replace(one, transponder="plain") for one in path.budgets if one.mode == "slow"),
            ),
        )
        for path in factory.lightpaths(net)
    ]
    demands = [factory.demand(net, f"d{i}", *ends, gbps) for i, (ends, gbps) in enumerate(asked)]
    return net, [*paths, *lightpaths_of(net)], demands


@settings(FEW, max_examples=4)
@given(mixtures())
def test_guards_circuits_and_two_types_cost_what_the_whole_program_costs(case):
    net, paths, demands = mixed(case)
    made = problem(net, factory.lines(net), paths, demands, promised_states(net))
    program, _ = whole(made, [whole_slots(made)] * len(made.states), {})
    written_out = solve("highs", program, Limits(60, 1e-6))
    found = run(net, paths, demands)
    if isinstance(found, Infeasible):
        assert written_out.status == "infeasible" or found.limit == "spectrum"
        return
    assert written_out.objective is not None
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
    else:
        assert found.proof.reason == "spectrum repaired"
        assert found.proof.bound_usd == pytest.approx(written_out.objective / USD, rel=1e-5)


RING = {"ab": ("a", "b", 80, 2), "bc": ("b", "c", 90, 2), "ca": ("c", "a", 400, 2)}


def ring(**policy):
    """The long side of a triangle is dark until a short one is cut, and then carries the slow mode."""
    net = factory.network("abc", RING, {"scheme": "relight", "routes": 1, "max_hops": 1, **policy})
    return net, [factory.demand(net, "x", "a", "b", 750), factory.demand(net, "y", "b", "c", 750)]


def ring_design():
    net, demands = ring()
    found = run(net, factory.lightpaths(net), demands)
    assert isinstance(found, Design)
    return net, demands, found


def test_transponders_move_to_the_fiber_that_is_left_in_a_slower_mode():
    """By hand: 800G on each short side. After losing `ab`, a reaches b over c: 2 × 400G on the long side, where 800G
    does not close, and 1.5 Tb/s from c to b, 2 × 800G. After losing `bc` the same with a in the place of c.

    Owned: at b two fast ones, at a and c two fast ones and two slow ones. Reroute has 2 × 2 on each of three sides.
    """
    net, demands, found = ring_design()
    assert {one.site: one.count for one in found.owned} == {"a": 4, "b": 2, "c": 4}
    healthy = {(lit.lightpath, lit.mode): lit.count for lit in found.wavelengths}
    assert healthy == {("L1", "fast"): 1, ("L3", "fast"): 1}
    lost = next(one for one in found.relit if one.state == "fiber ab")
    assert {(lit.lightpath, lit.mode): lit.count for lit in lost.wavelengths} == {("L2", "slow"): 2, ("L3", "fast"): 2}
    assert lost.retuned == 3
    rerouted = run(net, factory.lightpaths(net), factory.under("reroute", demands))
    transponders = [next(item for item in one.bill if item.what == "transponder") for one in (found, rerouted)]
    assert [item.quantity for item in transponders] == [10, 12]


def spoiled(found):
    """One thing of relight changed at a time, with a word of what must be noticed."""
    first, *others = found.owned
    lost, *rest = found.relit

    def owned(**change):
        return {"owned": (replace(first, **change), *others)}

    def relit(**change):
        return {"relit": (replace(lost, **change), *rest)}

    def waves(**change):
        return relit(wavelengths=(replace(lost.wavelengths[0], **change), *lost.wavelengths[1:]))

    def channels(**change):
        return relit(channels=(replace(lost.channels[0], **change), *lost.channels[1:]))

    yield owned(count=first.count - 1), "are in use at a, 3 are owned"
    yield owned(count=first.count + 1), "the bill"
    yield owned(site="z"), "there is no such site"
    yield {"owned": (first, *found.owned)}, "listed twice"
    yield {"relit": tuple(rest)}, "lit anew are the states"
    yield relit(state="fiber zz"), "lit anew are the states"
    yield relit(retuned=lost.retuned + 1), "are said to be retuned"
    yield relit(wavelengths=found.wavelengths), "which is broken"
    yield waves(count=9), "in the spectrum"
    yield waves(mode="fast"), "does not close"
    yield waves(rate_gbps=1.0), "another rate or width"
    yield channels(first_slot=380), "leaves the band"
    beside = lost.channels[1]
    yield channels(first_slot=beside.first_slot, pairs=beside.pairs, n=beside.n), "clashes"
    yield channels(pairs=(9,)), "which is not lit"
    yield (
        {"routing": (found.routing[0], *(replace(one, flows=found.routing[0].flows) for one in found.routing[1:]))},
        "nothing that is lit",
    )


def test_the_check_notices_every_change():
    net, demands, found = ring_design()
    lines, paths, states = factory.lines(net), factory.lightpaths(net), promised_states(net)
    assert verify(net, lines, paths, demands, states, found) == ()
    for change, word in spoiled(found):
        said = verify(net, lines, paths, demands, states, replace(found, **change))
        assert any(word in line for line in said), (change, word, said)
    still = tuple(factory.under("reroute", demands))
    unchanged = replace(found, demands=still)
    said = verify(net, lines, paths, still, states, unchanged)
    assert any("the scheme is relight, asked was reroute" in line for line in said)
    said = verify(net, lines, paths, still, states, replace(unchanged, scheme="reroute", relit=()))
    assert any("owned by site" in line for line in said)


def test_nothing_is_retuned_where_reroute_costs_no_more():
    net = factory.network("ab", {"n": ("a", "b", 80, 2), "s": ("a", "b", 90, 2)}, {"scheme": "relight"})
    found = run(net, factory.lightpaths(net), [factory.demand(net, "x", "a", "b", 700, 0.0)])
    assert isinstance(found, Design)
    assert [one.retuned for one in found.relit] == [0, 0]


def test_why_a_state_cannot_be_lit():
    """Fiber pairs for one failure only: reroute has none either, and the words name the state."""
    fibers = {"n": ("a", "b", 80, 4), "s": ("a", "b", 90, 1)}
    net = factory.network("ab", fibers, {"scheme": "relight"}, BAND, modes=ONE)
    found = run(net, factory.lightpaths(net), [factory.demand(net, "x", "a", "b", 2000)])
    assert isinstance(found, Infeasible)
    assert found.limit == "fiber pairs"
    assert found.reason.startswith("after losing fiber n, sites {b} need 2.00 Tb/s to the rest, 1.60 Tb/s can be lit")
    assert [(short.state, round(short.short_gbps)) for short in found.shortages] == [("fiber n", 400)]


def test_relight_lights_what_reroute_cannot():
    """One pair on each fiber of a triangle, of room for two wavelengths: reroute has no room for standby beside."""
    fibers = {"ab": ("a", "b", 80, 1), "bc": ("b", "c", 90, 1), "ca": ("c", "a", 100, 1)}
    net = factory.network("abc", fibers, {"scheme": "relight", "routes": 2}, BAND, modes=ONE)
    demands = [
        factory.demand(net, name, a, b, 800) for name, a, b in (("x", "a", "b"), ("y", "b", "c"), ("z", "c", "a"))
    ]
    found = run(net, factory.lightpaths(net), demands)
    assert isinstance(found, Design)
    assert found.proof.status == "optimal"
