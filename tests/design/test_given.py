"""A network as it is: fractions, utilisation and latency against other formulations of the same questions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan.design.given.concurrent import Asked, concurrent, quickest
from dcplan.design.given.fixed import as_it_is
from dcplan.design.ways.labels import Arc, near_of, within
from dcplan.errors import UsageError
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_existing import having

SOME = settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
SITES = "abcdef"


class Program:
    """A linear program straight in HiGHS, maximising."""

    def __init__(self):
        import highspy

        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.names = highspy

    def column(self, cost):
        import numpy as np

        self.highs.addCol(-cost, 0.0, self.names.kHighsInf, 0, np.array([], np.int32), np.array([]))
        return self.highs.getNumCol() - 1

    def row(self, terms, lower, upper):
        import numpy as np

        self.highs.addRow(lower, upper, len(terms), np.array(list(terms), np.int32), np.array(list(terms.values())))

    def best(self):
        self.highs.run()
        assert self.highs.getModelStatus() == self.names.HighsModelStatus.kOptimal
        return -self.highs.getInfo().objective_function_value


def by_arcs(arcs, asked, *, cost=None, fraction=None, room=1.0):
    """Node-arc form, a flow per demand over both directions of an arc: largest fraction, or least Σ flow × latency."""
    made = Program()
    inf = made.names.kHighsInf
    level = made.column(1.0 if cost is None else 0.0)
    if fraction is not None:
        made.row({level: 1.0}, fraction, fraction)
    load = {e: {} for e in arcs}
    for one in asked:
        balance = {}
        for e, arc in arcs.items():
            for tail, head in (arc.ends, arc.ends[::-1]):
                flow = made.column(0.0 if cost is None else -cost[e])
                load[e][flow] = 1.0
                balance.setdefault(head, {})[flow] = 1.0
                balance.setdefault(tail, {})[flow] = -1.0
        start, end = one.ends
        for site in {*balance, start, end}:
            terms = dict(balance.get(site, {}))
            if site == end:
                made.row(terms | {level: -one.gbps}, 0.0, 0.0)
            elif site != start:
                made.row(terms, 0.0, 0.0)
    for e, terms in load.items():
        made.row(terms, -inf, arcs[e].gbps * room)
    return made.best()


def simple_ways(arcs, start, end, limit_ms):
    found = []

    def go(site, seen, way, spent):
        if site == end:
            found.append(tuple(way))
            return
        for e, arc in arcs.items():
            if site in arc.ends:
                there = arc.ends[1] if arc.ends[0] == site else arc.ends[0]
                if there not in seen and spent + arc.latency_ms <= limit_ms * (1 + 1e-9):
                    go(there, seen | {there}, [*way, e], spent + arc.latency_ms)

    go(start, {start}, [], 0.0)
    return found


def by_ways(arcs, asked):
    """Every way within its limit is a column."""
    made = Program()
    level = made.column(1.0)
    load = {e: {} for e in arcs}
    for one in asked:
        carried = {level: -one.gbps}
        for way in simple_ways(arcs, *one.ends, one.limit_ms or 1e9):
            flow = made.column(0.0)
            carried[flow] = 1.0
            for e in way:
                load[e][flow] = 1.0
        made.row(carried, 0.0, made.names.kHighsInf)
    for e, terms in load.items():
        made.row(terms, -made.names.kHighsInf, arcs[e].gbps)
    return made.best()


@st.composite
def networks(draw):
    """A ring with chords and parallel arcs, and demands, some with a limit."""
    names = SITES[: draw(st.integers(3, 6))]
    pairs = [(names[i], names[(i + 1) % len(names)]) for i in range(len(names))]
    pairs += draw(st.lists(st.sampled_from(list(combinations(names, 2))), max_size=4))
    rate, latency = st.sampled_from([300.0, 400.0, 800.0]), st.sampled_from([0.2, 0.5, 1.1])
    arcs = {2 * i: Arc(i, tuple(sorted(ends)), draw(rate), draw(latency)) for i, ends in enumerate(pairs)}
    ends = draw(st.lists(st.sampled_from(list(combinations(names, 2))), min_size=1, max_size=5, unique=True))
    limit = st.sampled_from([None, None, 0.6, 1.2, 2.0])
    asked = [Asked(d, pair, draw(st.sampled_from([100.0, 250.0, 900.0])), draw(limit)) for d, pair in enumerate(ends)]
    return arcs, asked


def loads(arcs, flows):
    found = dict.fromkeys(arcs, 0.0)
    for (_, way), gbps in flows:
        for e in way:
            found[e] += gbps
    return found


def carried(asked, flows):
    found = dict.fromkeys(range(len(asked)), 0.0)
    for (d, _), gbps in flows:
        found[d] += gbps
    return found


@SOME
@given(networks())
def test_the_largest_common_fraction_is_that_of_all_ways_and_of_arcs(case):
    arcs, asked = case
    found = concurrent(arcs, asked)
    joined = [one for one in asked if simple_ways(arcs, *one.ends, one.limit_ms or 1e9)]
    assert found.apart == tuple(one.demand for one in asked if one not in joined)
    if not joined:
        assert found.fraction == 0.0
        return
    assert found.fraction == pytest.approx(by_ways(arcs, joined), rel=1e-6)
    free = [Asked(one.demand, one.ends, one.gbps, None) for one in joined]
    assert concurrent(arcs, free).fraction == pytest.approx(by_arcs(arcs, free), rel=1e-6)
    got = carried(joined, found.flows)
    for d, one in enumerate(joined):
        assert got[d] >= found.fraction * one.gbps * (1 - 1e-6)
    assert all(load <= arcs[e].gbps * (1 + 1e-6) for e, load in loads(arcs, found.flows).items())
    for (d, way), _ in found.flows:
        assert sum(arcs[e].latency_ms for e in way) <= (joined[d].limit_ms or 1e9) * (1 + 1e-9)


@SOME
@given(networks())
def test_prices_are_what_more_capacity_adds_to_the_fraction(case):
    arcs, asked = case
    found = concurrent(arcs, asked)
    if not found.prices or found.apart:
        return
    whole = sum(price * arcs[e].gbps for e, price in found.prices.items())
    assert whole == pytest.approx(found.fraction, rel=1e-6)  # fraction = Σ price × capacity
    e = max(found.prices, key=lambda e: (found.prices[e], e))
    for step in (1.0, -1.0):
        moved = arcs | {e: Arc(arcs[e].lightpath, arcs[e].ends, arcs[e].gbps + step, arcs[e].latency_ms)}
        gain = concurrent(moved, asked).fraction - found.fraction
        assert gain <= found.prices[e] * step + 1e-7  # the fraction is concave in capacity, the price its slope


@SOME
@given(networks())
def test_the_quickest_routing_is_that_of_arcs(case):
    arcs, asked = case
    free = [Asked(one.demand, one.ends, one.gbps, None) for one in asked]
    most = concurrent(arcs, free)
    known = [path for path, _ in most.flows]
    cost = {e: arc.latency_ms for e, arc in arcs.items()}
    for fraction, room in ((min(1.0, most.fraction), 1.0), (1.0, 1 / most.fraction)):
        flows = quickest(arcs, free, fraction, room, known)
        total = sum(gbps * sum(arcs[e].latency_ms for e in way) for (_, way), gbps in flows)
        least = -by_arcs(arcs, free, cost=cost, fraction=fraction, room=room * (1 + 1e-9))
        assert total == pytest.approx(least, rel=1e-6)
        got = carried(free, flows)
        assert all(got[d] == pytest.approx(fraction * one.gbps, rel=1e-6) for d, one in enumerate(free))
        assert all(load <= room * arcs[e].gbps * (1 + 1e-6) for e, load in loads(arcs, flows).items())


@SOME
@given(networks(), st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_ways_within_a_limit_are_the_shortest_of_all(case, prices):
    arcs, asked = case
    lengths = [prices[i % 10] for i in range(1 + max(arcs))]
    for one in asked:
        limit = one.limit_ms or 1.4
        all_of_them = [sum(lengths[e] for e in way) for way in simple_ways(arcs, *one.ends, limit)]
        found = within(near_of(arcs), arcs, lengths, one.ends, limit)
        assert (found is None) == (not all_of_them)
        if found is not None:
            assert found[0] == pytest.approx(min(all_of_them))
            assert found[1] in simple_ways(arcs, *one.ends, limit)


def lit_square(policy=None, gbps=700, counts=(1, 1, 1, 1)):
    """Four sites in a ring, fast wavelengths on each fiber; a demand across and one along."""
    fibers = {f"f{i}": (a, b, 80, 2) for i, (a, b) in enumerate([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])}
    net = factory.network(["a", "b", "c", "d"], fibers, policy or {})
    existing = {
        "fibers": {name: {"pairs": 1} for name in fibers},
        "wavelengths": [
            {"route": [name], "transponder": "tx", "mode": "fast", "count": n}
            for name, n in zip(fibers, counts, strict=True)
        ],
    }
    demands = [factory.demand(net, "across", "a", "c", gbps), factory.demand(net, "along", "a", "b", 100)]
    return having(net, existing), demands


def ask(net, demands, objective="fraction"):
    paths = factory.lightpaths(net)
    return as_it_is(net, factory.lines(net), paths, demands, promised_states(net), objective)


def test_a_ring_by_hand():
    net, demands = lit_square()
    found = ask(net, demands)
    by_state = {state.state: state for state in found.routing.states}
    assert by_state["healthy"].fraction == pytest.approx(1600 / 800)  # a sends 800 over two fibers of 800
    assert by_state["fiber f0"].fraction == pytest.approx(800 / 800)
    assert by_state["fiber f1"].fraction == pytest.approx(800 / 700)  # a - d - c is across alone
    assert found.routing.whole
    assert found.design is not None
    assert found.design.cost_usd == found.design.running_usd  # nothing is bought
    limits = [(tight.state, tight.link) for tight in found.limits]
    assert limits == [("fiber f0", ("a", "d")), ("fiber f2", ("a", "b")), ("fiber f3", ("a", "b"))]
    assert found.limits[0].per_gbps == pytest.approx(1 / 800)


def test_what_helps_is_what_it_is_said_to_do():
    net, demands = lit_square(gbps=1100, counts=(2, 2, 1, 1))
    found = ask(net, demands)
    assert found.design is None
    assert found.routing.fraction == pytest.approx(800 / 1200)
    assert found.helps
    for one in found.helps:
        existing = net.topology.existing
        route = next(path.route for path in factory.lightpaths(net) if path.id == one.lightpath)
        lit = [entry.model_dump() for entry in existing.wavelengths]
        more = [*lit, {"route": list(route.fibers), "transponder": "tx", "mode": one.mode, "count": 1}]
        pairs = {name: {"pairs": about.pairs} for name, about in existing.fibers.items()}
        wider = having(net, {"fibers": pairs, "wavelengths": more})
        assert ask(wider, demands).routing.fraction == pytest.approx(one.fraction, rel=1e-6)
        assert one.fraction > found.routing.fraction
    assert ask(*lit_square(gbps=1100)).helps == ()  # three failures limit alike, on different links


def test_objectives_differ_as_they_should():
    net, demands = lit_square(gbps=500)
    healthy = {}
    for objective in ("fraction", "utilisation", "latency"):
        healthy[objective] = ask(net, demands, objective).routing.states[0]
    assert healthy["fraction"].routed_gbps == pytest.approx(600 * 1600 / 600)
    assert healthy["utilisation"].routed_gbps == pytest.approx(600)
    assert healthy["utilisation"].utilisation == pytest.approx(600 / 1600)
    assert healthy["latency"].mean_ms <= healthy["utilisation"].mean_ms + 1e-9
    assert healthy["latency"].utilisation >= healthy["utilisation"].utilisation
    over, more = lit_square(gbps=1100)
    assert ask(over, more, "utilisation").routing.states[1].utilisation == pytest.approx(1200 / 800)


def test_ends_that_nothing_lit_joins_are_named():
    net, demands = lit_square()
    late = factory.demand(net, "late", "b", "d", 10, max_latency_ms=0.5)
    found = ask(net, [*demands, late])
    healthy = found.routing.states[0]
    assert (healthy.fraction, healthy.apart, healthy.rest) == (0.0, ("late",), pytest.approx(2.0))
    assert not found.routing.whole


def test_what_cannot_be_answered_is_refused():
    net, demands = lit_square({"scheme": "one-plus-one"})
    with pytest.raises(UsageError, match="asks for one-plus-one"):
        ask(net, [replace(demand, scheme="one-plus-one") for demand in demands])
    bare = factory.network(["a", "b"], {"f": ("a", "b", 80, 1)})
    with pytest.raises(UsageError, match="nothing is lit"):
        ask(bare, [factory.demand(bare, "d", "a", "b", 1)])
