"""The engine's cost is that of brute force, and of the whole ILP written out state by state."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.ways import listing
from dcplan.design.ways.chains import ways_of
from dcplan.model.states import promised_states
from tests.design import brute, factory

FEW = settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
"""Without shrinking: every example is an optimisation."""
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.3}  # 24 slots: two wide channels, or one wide and two slim
ONE = {"fast": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24}}
TWO = ONE | {"slim": {"rate_gbps": 300, "baud_gbd": 70, "width_ghz": 87.5, "required_osnr_db": 20}}


def solved(net, paths, demands):
    return design(net, factory.lines(net), paths, demands, promised_states(net), Options(gap=1e-6))


def same_as_brute(net, paths, demands, carries, most, reason="spectrum repaired"):
    lines, states = factory.lines(net), promised_states(net)
    found = solved(net, paths, demands)
    best = brute.cheapest(net, lines, paths, demands, states, carries, most)
    if best is None:
        assert isinstance(found, Infeasible)
        return found
    if isinstance(found, Infeasible):  # only where whole channels fit by number but not by place
        assert found.limit == "spectrum"
        return found
    assert found.proof.bound_usd is not None
    assert found.proof.bound_usd <= best * (1 + 1e-5)
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(best, rel=1e-5)
    else:
        assert found.proof.reason == reason
        assert found.cost_usd >= best * (1 - 1e-5)
    return found


@st.composite
def two_sites(draw):
    """Two parallel fibers, few pairs, a narrow band; at most 1,600 Gb/s, so that six slim wavelengths are enough."""
    fibers = {
        f"f{i}": ("a", "b", draw(st.sampled_from([40, 82, 150, 400])), draw(st.integers(1, 2)),
                  {"build_usd_per_km": draw(st.sampled_from([None, 900.0]))})
        for i in range(2)
    }  # fmt: skip
    gbps = draw(st.lists(st.sampled_from([250, 500, 800]), min_size=1, max_size=2))
    share = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return fibers, gbps, share


@FEW
@given(two_sites(), st.sampled_from(["none", "reroute"]))
def test_parallel_fibers_two_modes(case, scheme):
    fibers, gbps, share = case
    net = factory.network(["a", "b"], fibers, {"scheme": scheme}, BAND, modes=TWO)
    demands = [factory.demand(net, f"d{i}", "a", "b", x, share) for i, x in enumerate(gbps)]
    paths = factory.lightpaths(net, {"fast": 300, "slim": 900})
    same_as_brute(net, paths, demands, brute.by_cuts, 6)


@st.composite
def few_sites(draw, sites=("a", "b", "c", "d")):
    """A ring with a chord or a fiber twice; one mode; at most 1,500 Gb/s, so that two wavelengths are enough."""
    names = sites[: draw(st.integers(3, len(sites)))]
    ends = [(names[i], names[(i + 1) % len(names)]) for i in range(len(names))]
    ends.append(draw(st.sampled_from([ends[0], (names[0], names[2])])))
    fibers = {
        f"f{i}": (a, b, draw(st.sampled_from([50, 90, 140])), draw(st.integers(1, 2))) for i, (a, b) in enumerate(ends)
    }
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    asked = draw(st.lists(st.tuples(st.sampled_from(pairs), st.sampled_from([250, 500])), min_size=1, max_size=3))
    return names, fibers, asked


@FEW
@given(few_sites(), st.sampled_from([["any-fiber"], ["any-site"], []]))
def test_few_sites_reroute(case, survive):
    names, fibers, asked = case
    policy = {"survive": survive, "routes": 1}
    net = factory.network(names, fibers, policy, BAND, modes=ONE, price=60_000.0)
    demands = [factory.demand(net, f"d{i}", a, b, x) for i, ((a, b), x) in enumerate(asked)]
    paths = factory.lightpaths(net)[:7]
    same_as_brute(net, paths, demands, brute.by_cuts, 2)


@FEW
@given(few_sites(("a", "b", "c")))
def test_few_sites_one_plus_one(case):
    names, fibers, asked = case
    policy = {"scheme": "one-plus-one", "routes": 1}
    net = factory.network(names, fibers, policy, BAND, modes=ONE, price=60_000.0)
    demands = [factory.demand(net, f"d{i}", a, b, x) for i, ((a, b), x) in enumerate(asked[:2])]
    paths = factory.lightpaths(net)[:5]
    same_as_brute(net, paths, demands, brute.by_couples, 2)


@FEW
@given(few_sites(("a", "b", "c")), st.sampled_from([0.6, 1.1, 1.9]), st.booleans())
def test_few_sites_one_plus_one_in_time(case, limit_ms, generate):
    """Some limits leave one couple, some none; ways listed, and ways generated."""
    names, fibers, asked = case
    policy = {"scheme": "one-plus-one", "routes": 1, "survive": ["any-fiber", "any-site"]}
    net = factory.network(names, fibers, policy, BAND, modes=ONE, price=60_000.0)
    demands = [
        factory.demand(net, f"d{i}", a, b, x, max_latency_ms=None if i else limit_ms)
        for i, ((a, b), x) in enumerate(asked[:2])
    ]
    paths = factory.lightpaths(net)[:5]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "MANY_WAYS", 0 if generate else 4000)
        same_as_brute(net, paths, demands, brute.by_couples, 2, "not all ways were considered")


@st.composite
def meshes(draw):
    """Five sites on a ring with chords, shared risks, and a latency limit on some demands."""
    names = ["a", "b", "c", "d", "e"]
    ends = [(names[i], names[(i + 1) % 5]) for i in range(5)]
    ends += draw(st.lists(st.sampled_from([("a", "c"), ("b", "d"), ("c", "e"), ("a", "b")]), min_size=1, max_size=2))
    fibers = {
        f"f{i}": (
            a,
            b,
            draw(st.integers(40, 250)),
            draw(st.integers(2, 4)),
            {"shared_risk": ["duct"] if i in (1, 5) else []},
        )
        for i, (a, b) in enumerate(ends)
    }
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    asked = draw(
        st.lists(
            st.tuples(st.sampled_from(pairs), st.integers(100, 3000), st.sampled_from([None, 2.0, 3.5])),
            min_size=1,
            max_size=4,
        )
    )
    return names, fibers, asked, draw(st.sampled_from([["any-fiber"], ["any-fiber", "any-shared-risk", "any-site"]]))


@settings(FEW, max_examples=3)
@given(meshes())
def test_projection_costs_what_the_whole_program_costs(case):
    names, fibers, asked, survive = case
    net = factory.network(names, fibers, {"survive": survive, "routes": 2})
    demands = [factory.demand(net, f"d{i}", a, b, x, 0.7, late) for i, ((a, b), x, late) in enumerate(asked)]
    paths = factory.lightpaths(net)
    states = promised_states(net)
    made = problem(net, factory.lines(net), paths, demands, states)
    limited = {d: ways_of(made, demand).ways for d, demand in enumerate(made.demands) if demand.max_latency_ms}
    written_out = solve("highs", whole(made, limited), Limits(60, 1e-6))
    found = solved(net, paths, demands)
    if isinstance(found, Infeasible):
        assert written_out.status == "infeasible"
        return
    assert written_out.objective is not None
    assert isinstance(found, Design)
    assert found.proof.bound_usd is not None
    assert found.proof.bound_usd <= written_out.objective / USD * (1 + 1e-5)
    if found.proof.status == "optimal":
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)
