"""Bonds are all there are; roundings are valid; shore cuts, metrics and checks say what is so."""

from __future__ import annotations

from itertools import combinations

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.arrays import arrays
from dcplan.design.cuts.bonds import bonds, members, neighbours, parts, small
from dcplan.design.cuts.inequality import terms_of
from dcplan.design.cuts.loop import Task, root, start
from dcplan.design.cuts.rounding import derived, roundings, summed
from dcplan.design.distances import between_all, direct, walks
from dcplan.design.formulation import TBPS, route, whole_slots
from dcplan.design.limits import Until
from dcplan.design.problem import rate
from dcplan.design.routing.check import StateCheck
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.design.ways.chains import ways_of
from tests.design import instances

MANY = settings(max_examples=150, deadline=None, derandomize=True)
SOME = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def graphs(draw, most=7):
    size = draw(st.integers(2, most))
    pairs = list(combinations(range(size), 2))
    return size, draw(st.lists(st.sampled_from(pairs), unique=True))


def splits(size):
    return range(1, 1 << (size - 1))


@MANY
@given(graphs())
def test_bonds_are_all_cuts_with_both_shores_connected(case):
    size, edges = case
    near = neighbours(size, edges)
    full = (1 << size) - 1
    expected = set()
    for part in parts(near, full):
        for inside in range(1, full):
            if inside & ~part or inside == part or not inside & part & -part:
                continue
            if len(parts(near, inside)) == 1 and len(parts(near, part & ~inside)) == 1:
                expected.add(inside)
    found, complete = bonds(size, edges, 1000)
    assert complete
    assert sorted(found) == sorted(expected)
    assert len(found) == len(set(found))
    few, complete = bonds(size, edges, 1)
    assert complete is (len(expected) <= 1)
    assert set(few) <= expected
    for one in small(near, 1000):
        part = next(part for part in parts(near, full) if part & one)
        assert (one if one & part & -part else part & ~one) in expected


terms = st.dictionaries(st.integers(0, 3), st.sampled_from([0.1, 0.3, 0.4, 0.8, 1.6]), min_size=1)
points = st.lists(st.integers(0, 20), min_size=4, max_size=4)
floors = st.lists(st.integers(0, 3), min_size=4, max_size=4)


def value_of(row, point):
    return sum(value * point[i] for i, value in row.items())


def follows(rows, made, point, least):
    """Every inequality that was made holds at a whole point that holds the rows, and is what its divisors say."""
    for m, divisors in enumerate(made.divisors):
        assert float(made.left[m] @ point[made.columns]) >= made.need[m] - 1e-6
        again, need = derived(rows, divisors, least)
        assert need == pytest.approx(made.need[m])
        assert value_of(again, point) == pytest.approx(float(made.left[m] @ point[made.columns]))


@MANY
@given(terms, st.floats(0.05, 6.0), points, floors)
def test_rounding_cuts_off_no_whole_point(row, need, point, floor):
    point, least = np.array(point, float) + floor, np.array(floor, float)
    if value_of(row, point) >= need:
        follows([(row, need)], roundings((row, need), least), point, least)


@MANY
@given(st.lists(st.tuples(terms, st.floats(0.05, 6.0)), min_size=2, max_size=3), points, floors)
def test_sums_of_rounded_cuts_cut_off_no_whole_point(rows, point, floor):
    point, least = np.array(point, float) + floor, np.array(floor, float)
    if all(value_of(row, point) >= need for row, need in rows):
        follows(rows, summed(rows, least), point, least)


def test_two_of_three_fibers():
    """Any one of three equal fibers may fail and one must be left: the sum says two, each state alone 1.5."""
    rows = [({i: 25.6 for i in range(3) if i != lost}, 10.0) for lost in range(3)]
    made = summed(rows, np.zeros(3))
    asked = [made.need[m] / made.left[m].min() for m in range(len(made.divisors)) if len(set(made.left[m])) == 1]
    assert max(asked) >= 2 - 1e-9


def test_what_is_there_is_taken_off_before_rounding():
    """7 of 10 stand there: one more module of 4 is needed, whatever it is divided by without them."""
    made = roundings(({0: 4.0, 1: 7.0}, 10.0), np.array([0.0, 1.0]))
    assert any(row[0] == pytest.approx(need - row[1]) for row, need in zip(made.left, made.need, strict=True))


@MANY
@given(graphs(), st.data())
def test_distances_and_walks(case, data):
    size, edges = case
    lengths = data.draw(st.lists(st.floats(0.1, 5.0), min_size=len(edges), max_size=len(edges)))
    links = np.array(edges, dtype=int).reshape(-1, 2)
    apart = between_all(size, links, np.array(lengths))
    for a, b in combinations(range(size), 2):
        best = {a: 0.0}
        for _ in range(size):
            for (x, y), length in zip(edges, lengths, strict=True):
                for one, other in ((x, y), (y, x)):
                    if one in best:
                        best[other] = min(best.get(other, np.inf), best[one] + length)
        assert apart[a, b] == pytest.approx(best.get(b, np.inf))
    number = np.full((size, size), -1)
    for e, (a, b) in enumerate(edges):
        number[a, b] = number[b, a] = e
    joined = [(a, b) for a, b in combinations(range(size), 2) if np.isfinite(apart[a, b])]
    starts, ends = np.array([a for a, _ in joined], int), np.array([b for _, b in joined], int)
    walked = walks(direct(size, links, np.array(lengths)), apart, starts, ends, number)
    for (a, b), way in zip(joined, walked, strict=True):
        assert sum(lengths[e] for e in way) == pytest.approx(apart[a, b])


@st.composite
def problems(draw, *, failing=True):
    """Three to five sites with circuits, demands, single failures and one double one, and counts of modules."""
    names = "abcde"[: draw(st.integers(3, 5))]
    pairs = list(combinations(names, 2))
    picked = draw(st.lists(st.sampled_from(pairs), min_size=len(names), unique=True))
    links = {
        f"{a}{b}": (a, b, [(400, 10 + i), (800, 17 + i)], "any", 100.0 * (i == 0), 0.0)
        for i, (a, b) in enumerate(picked)
    }
    asked = draw(st.lists(st.tuples(st.sampled_from(pairs), st.integers(50, 900)), min_size=1, max_size=4))
    demands = [(f"d{i}", a, b, float(gbps)) for i, ((a, b), gbps) in enumerate(asked)]
    lost = [*((name,) for name in links), tuple(links)[:2]] if failing else []
    made = instances.problem_of(links, demands, [(), *lost])
    counts = draw(st.lists(st.integers(0, 2), min_size=len(made.choices), max_size=len(made.choices)))
    return made, [1 if choice.least else count for choice, count in zip(made.choices, counts, strict=True)]


def shortage(made, ways, state, counts):
    """The least total shortage by the node-arc program of the formulation [Tb/s]."""
    program, demands = Program(), dict(enumerate(made.demands))
    short = {d: program.column(f"u{d}", 1.0) for d in demands}
    rates = {d: rate(demand, made.states[state]) for d, demand in demands.items()}
    links = made.links(made.alive(made.states[state]))
    listed = {d: [way for way in mine if state not in way.broken] for d, mine in ways.items()}
    loads = route(program, "", links, demands, rates, listed, short)
    for ends, paths in links.items():
        most = sum(made.choices[j].gbps * counts[j] for i in paths for j in made.offered[i])
        program.row(f"l{len(program.rows)}", loads.links[ends], upper=most * TBPS)
    for hop, row in loads.lightpaths.items():
        most = sum(made.choices[j].gbps * counts[j] for j in made.within(hop))
        program.row(f"h{len(program.rows)}", row, upper=most * TBPS)
    linear = Linear(program)
    assert linear.solve() == "optimal"
    return linear.objective


@SOME
@given(problems(), st.booleans())
def test_a_state_is_broken_exactly_where_traffic_is_short(case, held):
    made, counts = case
    ways = {d: ways_of(made, made.demands[d]).ways for d in range(0, len(made.demands), 2)} if held else {}
    check = StateCheck(made, ways)
    states = range(len(made.states))
    broken = {one.state: one for one in check.broken(counts, states, 99, {})}
    for k in states:
        least = shortage(made, ways, k, counts)
        assert (k in broken) is (least > 1e-6)
        if k in broken:
            cut = broken[k].cut
            have = sum(value * counts[column] for column, value in terms_of(cut, made, every(made), {}).items())
            assert have < cut.need_gbps(made) * TBPS * (1 - 1e-9)
            rates = {d: rate(demand, made.states[k]) for d, demand in enumerate(made.demands)}
            found = check.least_short(k, counts, rates, {})
            assert sum(found.by_demand.values()) * TBPS == pytest.approx(least, rel=1e-5)
    assert [one.state for one in check.broken(counts, states, 99, {})] == sorted(broken)


def every(made):
    """Columns of choices as if they were all of a master."""
    from dcplan.design.formulation import Bought

    return Bought(tuple(range(len(made.choices))), {}, {})


@SOME
@given(problems())
def test_shore_cuts_are_compared_as_they_are_written(case):
    """The cuts that the arrays call broken are broken by that share as rows, and no other is broken by more."""
    made, counts = case
    table = arrays(made)
    task = Task(made, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None)
    loop = start(task)
    point = np.zeros(len(loop.program.columns))
    point[list(loop.bought.wavelengths)] = np.array(counts) * 0.75
    point = np.maximum(point, loop.least)
    sight = loop.shore_cuts.sight(point, every=True)
    plain = loop.shore_cuts.broken(point, sight, 1e-9, 10_000, rounding=False)
    found = [*plain, *loop.shore_cuts.broken(point, sight, 1e-9, 10_000)]
    for one in found:
        cut = loop.shore_cuts.cut(one.shore, one.state, over_paths=one.over_paths)
        row, need = plain_of(made, loop, cut)
        row, need = derived([(row, need)], (one.divisor, None), loop.least)
        assert 1 - value_of(row, point) / need == pytest.approx(one.by, abs=1e-6)
    best = 0.0
    for shore in range(len(loop.shore_cuts.shores)):
        for k in range(len(made.states)):
            cut = loop.shore_cuts.cut(shore, k, over_paths=True)
            row, need = plain_of(made, loop, cut)
            best = max(best, 1 - value_of(row, point) / need if need > 0 else 0.0)
    assert max((one.by for one in plain), default=0.0) == pytest.approx(best, abs=1e-6)
    assert len(table.sites) == len(made.network.sites)


def plain_of(made, loop, cut):
    return terms_of(cut, made, loop.bought, loop.shore_cuts.pair_gbps), cut.need_gbps(made) * TBPS


def test_the_relaxation_never_passes_a_known_optimum():
    made = instances.dci(instances.DATA / "dci_6_1.json")
    task = Task(made, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None)
    loop = start(task)
    assert loop.shore_cuts.complete
    assert root(loop)
    assert 0.95 * 1148.08 < loop.linear.objective <= 1148.08 + 1e-6
    assert all(shore and list(members(shore)) for shore in loop.shore_cuts.shores)
