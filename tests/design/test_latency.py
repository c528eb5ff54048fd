"""Latency limits are exact where transponders differ: what rides on which wavelengths, priced, routed and checked."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.catalog.parts import Mode, Transponder
from dcplan.design.cuts import loop as cutting
from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole
from dcplan.design.limits import Limits, Until, now_s
from dcplan.design.problem import problem
from dcplan.design.result import Design, Infeasible
from dcplan.design.solver.solve import solve
from dcplan.design.verify import slowest_ridden, verify
from dcplan.design.ways import chains as ways
from dcplan.design.ways.chains import slowest, ways_of
from dcplan.model.states import promised_states
from tests.design import brute, factory

FEW = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
MANY = settings(max_examples=100, deadline=None, derandomize=True)
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.6}  # two wide channels
FAST = {"fast": factory.MODES["fast"]}
LATE_US = 20.0


def two_kinds(net, only=None):
    """A network with a transponder `late` beside `tx`, three times cheaper and 20 µs slower, and its lightpaths."""
    late = Transponder(
        modes={name: Mode(**about) for name, about in FAST.items()}, power_w=25, price_usd=10_000, latency_us=LATE_US
    )
    parts = replace(net.catalog, transponders={**net.catalog.transponders, "late": late})
    paths = [
        replace(path, budgets=(*path.budgets, *(replace(one, transponder="late") for one in path.budgets)))
        for path in factory.lightpaths(net, only=only)
    ]
    return replace(net, catalog=parts), paths


def solved(net, paths, demands, **options):
    return design(net, factory.lines(net), paths, demands, promised_states(net), Options(**{"gap": 1e-6, **options}))


def in_time_ms(net, km):
    """Just in time for `tx` over so many km, too early for `late`."""
    return net.fiber_latency_ms("n") / net.fibers["n"].total_km * km + LATE_US / 2000


def parallel(policy=None, price=30_000.0):
    fibers = {"n": ("a", "b", 80, 2), "s": ("a", "b", 81, 2)}
    return factory.network(["a", "b"], fibers, policy, modes=FAST, price=price)


def test_more_gear_never_takes_a_plan_away():
    plain = parallel()
    held = [factory.demand(plain, "x", "a", "b", 400, max_latency_ms=in_time_ms(plain, 81))]
    alone = solved(plain, factory.lightpaths(plain), held)
    mixed, paths = two_kinds(plain)
    found = solved(mixed, paths, held)
    assert isinstance(alone, Design)
    assert isinstance(found, Design)
    assert found.cost_usd == pytest.approx(alone.cost_usd)
    assert {lit.transponder for lit in found.wavelengths} == {"tx"}


def test_reason_tells_the_fastest():
    net, paths = two_kinds(parallel())
    limit = net.fiber_latency_ms("s") * 0.999
    found = solved(net, paths, [factory.demand(net, "x", "a", "b", 400, max_latency_ms=limit)])
    assert isinstance(found, Infeasible)
    fastest_ms = net.fiber_latency_ms("s") + net.catalog.transponders["tx"].latency_us / 1000
    assert f"takes {fastest_ms:.4g} ms" in found.reason


def by_tiers(limit_ms):
    """Two sites: what is held to the limit fits the fast wavelengths, and all of it fits all of them."""

    def carries(net, choices, counts, demands, states):
        for state in states:
            lit = [
                (path.latency_ms + net.catalog.transponders[one.transponder].latency_us / 1000, n * one.rate_gbps)
                for n, (path, one, *_) in zip(counts, choices, strict=True)
                if not state.breaks(path.route)
            ]
            rates = [(demand.max_latency_ms is not None, demand.gbps.get(state.name, 0.0)) for demand in demands]
            within = sum(gbps for ms, gbps in lit if ms <= limit_ms * (1 + 1e-9))
            held = sum(gbps for limited, gbps in rates if limited)
            if within < held - 1e-6 or sum(gbps for _, gbps in lit) < sum(gbps for _, gbps in rates) - 1e-6:
                return False
        return True

    return carries


@FEW
@given(
    st.tuples(st.sampled_from([80, 82, 140]), st.sampled_from([80, 84])),
    st.lists(st.tuples(st.booleans(), st.sampled_from([300, 700, 1100])), min_size=1, max_size=3),
    st.sampled_from([80, 84, 140]),
    st.sampled_from(["none", "reroute"]),
)
def test_cost_is_that_of_brute_force(kms, asked, limit_km, scheme):
    fibers = {name: ("a", "b", km, 2) for name, km in zip("ns", kms, strict=True)}
    plain = factory.network(["a", "b"], fibers, {"scheme": scheme}, BAND, modes=FAST, price=30_000.0)
    net, paths = two_kinds(plain)
    limit = in_time_ms(net, limit_km)
    demands = [
        factory.demand(net, f"d{i}", "a", "b", gbps, 0.5, limit if held else None)
        for i, (held, gbps) in enumerate(asked)
    ]
    lines, states = factory.lines(net), promised_states(net)
    best = brute.cheapest(net, lines, paths, demands, states, by_tiers(limit), 4)
    found = solved(net, paths, demands)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    assert isinstance(found, Design)
    assert found.cost_usd == pytest.approx(best, rel=1e-5)
    assert found.proof.status == "optimal"


RING = {"n": ("a", "b", 80, 3), "bc": ("b", "c", 90, 3), "cd": ("c", "d", 70, 3), "ad": ("a", "d", 100, 3)}


@pytest.mark.parametrize("km", [150, 170, 340])
@pytest.mark.parametrize("short_by_us", [0, LATE_US])
@pytest.mark.parametrize("scheme", ["reroute", "one-plus-one"])
def test_chains_of_mixed_wavelengths(km, short_by_us, scheme):
    """Over two and three hops some may be slow and some not; reroute costs what the whole program costs."""
    risks = {"scheme": scheme, "survive": ["any-fiber"] if km > 300 else []}
    net, paths = two_kinds(factory.network([*"abcd"], RING, risks, modes=FAST, price=30_000.0), only=single)
    per_km = net.fiber_latency_ms("n") / 80
    limit = per_km * km + (3 * LATE_US / 2 - short_by_us) / 1000
    demands = [
        factory.demand(net, "x", "a", "c", 900, max_latency_ms=limit),
        factory.demand(net, "y", "a", "c", 500),
        factory.demand(net, "z", "b", "d", 1300, max_latency_ms=limit),
    ]
    found = solved(net, paths, demands)
    if isinstance(found, Infeasible):
        assert found.limit == "latency"
        return
    assert all(f.latency_ms <= limit * (1 + 1e-9) for s in found.routing for f in s.flows if f.demand != "y")
    if scheme == "reroute":
        made = problem(net, factory.lines(net), paths, demands, promised_states(net))
        listed = {d: ways_of(made, one).ways for d, one in enumerate(made.demands) if one.max_latency_ms}
        written_out = solve("highs", whole(made, listed), Limits(60, 1e-6))
        assert found.cost_usd == pytest.approx(written_out.objective / USD, rel=1e-5)


def single(route):
    return len(route.fibers) == 1


def test_check_tells_fast_wavelengths_from_slow_ones():
    """x is held to the fast wavelength of the shared lightpath; more on it than that carries is noticed."""
    net, paths = two_kinds(parallel({"scheme": "none"}))
    demands = [
        factory.demand(net, "x", "a", "b", 700, max_latency_ms=in_time_ms(net, 80)),
        factory.demand(net, "y", "a", "b", 1500),
    ]
    lines, states = factory.lines(net), promised_states(net)
    found = solved(net, paths, demands)
    assert sorted((lit.transponder, lit.count) for lit in found.wavelengths) == [("late", 2), ("tx", 1)]
    assert verify(net, lines, paths, demands, states, found) == ()
    fast = min(lit.latency_ms for lit in found.wavelengths)
    flows = tuple(replace(flow, latency_ms=fast) for flow in found.routing[0].flows)
    said = verify(net, lines, paths, demands, states, replace(found, routing=(replace(found.routing[0], flows=flows),)))
    assert any(f"within {fast:g} ms, 800 are lit" in one for one in said)


tiers = st.lists(
    st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True).map(sorted).map(lambda x: [float(i) for i in x]),
    min_size=1,
    max_size=4,
)


@MANY
@given(tiers, st.integers(1, 20))
def test_slowest_are_those_that_could_not_be_slower(steps, limit):
    inside = {
        ranks
        for ranks in product(*(range(len(one)) for one in steps))
        if sum(one[rank] for one, rank in zip(steps, ranks, strict=True)) <= limit
    }
    largest = {
        ranks
        for ranks in inside
        if not any(other != ranks and all(x <= y for x, y in zip(ranks, other, strict=True)) for other in inside)
    }
    got = list(slowest(steps, float(limit)))
    assert len(got) == len(set(got))
    assert set(got) == largest


@MANY
@given(tiers, st.integers(1, 20))
def test_slowest_ridden_is_enumeration(steps, total):
    sums = [one for one in product(*steps) if sum(one) == total]
    got = slowest_ridden(steps, float(total))
    assert got == ([max(one[at] for one in sums) for at in range(len(steps))] if sums else None)


def test_a_relaxation_that_does_not_carry_everything_foresees_nothing(monkeypatch):
    """With one round of cuts the relaxation falls short; the answer is the same."""
    net, paths = two_kinds(factory.network([*"abcd"], RING, modes=FAST, price=30_000.0), only=single)
    demands = [factory.demand(net, "x", "a", "c", 900, max_latency_ms=9.0), factory.demand(net, "y", "b", "d", 500)]
    whole_rounds = solved(net, paths, demands)
    monkeypatch.setattr(cutting, "ROOT_ROUNDS", 1)
    assert solved(net, paths, demands).cost_usd == pytest.approx(whole_rounds.cost_usd)


def test_more_ways_than_were_listed_are_said(monkeypatch):
    """The cheapest routing of x is late after losing n; with s not looked at beyond the partner of n."""
    monkeypatch.setattr(ways, "MOST_WAYS", 1)
    short = {"n": ("a", "b", 50, 4), "s": ("a", "b", 60, 4)}
    net = factory.network(["a", "b", "c"], short | {"w": ("b", "c", 290, 4), "e": ("a", "c", 290, 4)}, {"routes": 2})
    held = [factory.demand(net, "x", "a", "b", 800, max_latency_ms=0.4), factory.demand(net, "y", "a", "c", 800)]
    found = solved(net, factory.lightpaths(net), held)
    assert isinstance(found, Design)
    assert "x: the 2 shortest ways were considered, there are more" in found.assumptions


def test_a_list_of_ways_that_time_cut_short_says_so():
    """Else a certificate would count on it, and the check, which lists all, find traffic to have other ways."""
    fibers = {"n": ("a", "b", 200, 2), "m": ("a", "c", 40, 2), "o": ("b", "c", 40, 2), "s": ("a", "b", 90, 2)}
    net = factory.network(["a", "b", "c"], fibers, {"survive": []}, modes=FAST)
    demand = factory.demand(net, "d", "a", "b", 100)
    made = problem(net, factory.lines(net), factory.lightpaths(net), [demand], promised_states(net))
    whole, listed = ways_of(made, demand), ways_of(made, demand, Until(now_s() - 1.0))
    assert (whole.complete, whole.chosen, whole.hurried) == (True, False, False)
    assert (listed.complete, listed.chosen, listed.hurried) == (False, False, True)
    assert len(listed.ways) < len(whole.ways)
