"""Spectrum, shares, couples and cost, each on its own."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design import cost
from dcplan.design.problem import problem
from dcplan.design.result import Wavelengths
from dcplan.design.routing.fair import max_min
from dcplan.design.spectrum.place import Misfit, assign, used_slots, widened
from dcplan.design.ways.couples import _couples
from dcplan.model.states import HEALTHY, State, promised_states
from tests.design import factory

MANY = settings(max_examples=60, deadline=None, derandomize=True)
LINE = {"f0": ("a", "b", 60, 2), "f1": ("b", "c", 60, 2), "f2": ("c", "d", 60, 2)}


@MANY
@given(st.data())
def test_on_a_line_of_equal_widths_first_fit_meets_the_load(data):
    """Intervals of equal width on a line always fit when no point is overloaded; so must the channels."""
    modes = {"fast": factory.MODES["fast"]}
    net = factory.network(["a", "b", "c", "d"], LINE, {"routes": 1}, modes=modes)
    made = problem(net, factory.lines(net), factory.lightpaths(net), [], promised_states(net))
    counts = [data.draw(st.integers(0, 25)) for _ in made.choices]
    used = used_slots(made, counts)
    pairs = {fiber: -(-slots // made.slots) for fiber, slots in used.items()}
    channels = assign(made, counts, pairs)
    assert not isinstance(channels, Misfit)
    assert len(channels) == sum(counts)
    taken = set()
    routes = {path.id: path.route.fibers for path in made.lightpaths}
    for channel in channels:
        assert 0 <= channel.first_slot <= made.slots - channel.slots
        for fiber, pair in zip(routes[channel.lightpath], channel.pairs, strict=True):
            assert pair < pairs[fiber]
            for slot in range(channel.first_slot, channel.first_slot + channel.slots):
                assert (fiber, pair, slot) not in taken
                taken.add((fiber, pair, slot))


def test_what_does_not_fit_is_named():
    net = factory.network(["a", "b"], {"n": ("a", "b", 60, 2)})
    made = problem(net, factory.lines(net), factory.lightpaths(net), [], promised_states(net))
    assert assign(made, [33, 0], {"n": 1}) == Misfit("n")
    channels, pairs = widened(made, [33, 0], {"n": 1})
    assert pairs == {"n": 2}
    assert len(channels) == 33
    assert widened(made, [65, 0], {"n": 1}) is None


def waves(*lit):
    return [Wavelengths(path, "tx", "fast", count, 100.0, 150.0, 1.0) for path, count in lit]


@pytest.fixture
def triangle():
    net = factory.network(["a", "b", "c"], {"ab": ("a", "b", 60, 1), "bc": ("b", "c", 60, 1), "ac": ("a", "c", 60, 1)})
    paths = factory.lightpaths(net, only=lambda route: len(route.fibers) == 1)
    return {path.route.fibers[0]: path.id for path in paths}, paths


def test_max_min_by_hand(triangle):
    ids, paths = triangle
    lit = waves((ids["ab"], 1), (ids["bc"], 2))
    asked = [("x", ("a", "b"), 100.0), ("y", ("a", "c"), 100.0), ("z", ("b", "c"), 100.0)]
    assert max_min(paths, lit, HEALTHY, asked) == pytest.approx({"x": 0.5, "y": 0.5, "z": 1.5})
    assert max_min(paths, lit, HEALTHY, asked, most=1.0) == pytest.approx({"x": 0.5, "y": 0.5, "z": 1.0})
    assert max_min(paths, lit, HEALTHY, asked, frozenset(["y"])) == pytest.approx({"x": 0.0, "y": 1.0, "z": 1.0})
    broken = State("fiber ab", frozenset(["ab"]))
    assert max_min(paths, lit, broken, asked) == pytest.approx({"x": 0.0, "y": 0.0, "z": 2.0})


@MANY
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3), st.lists(st.integers(1, 500), min_size=3, max_size=3))
def test_max_min_nobody_can_rise_without_hurting_one_who_has_less(counts, rates):
    """In a triangle: raising any demand alone breaks a full cut in which nobody has more than it has."""
    net = factory.network(["a", "b", "c"], {"ab": ("a", "b", 60, 1), "bc": ("b", "c", 60, 1), "ac": ("a", "c", 60, 1)})
    paths = factory.lightpaths(net, only=lambda route: len(route.fibers) == 1)
    capacity = {path.route.ends: 100.0 * n for path, n in zip(paths, counts, strict=True)}
    asked = [(f"d{i}", ends, float(rate)) for i, (ends, rate) in enumerate(zip(capacity, rates, strict=True))]
    share = max_min(paths, waves(*((path.id, n) for path, n in zip(paths, counts, strict=True) if n)), HEALTHY, asked)
    for site in "abc":
        have = sum(gbps for ends, gbps in capacity.items() if site in ends)
        need = sum(share[name] * gbps for name, ends, gbps in asked if site in ends)
        assert need <= have + 1e-4
    for name, ends, _ in asked:
        tight = [
            site
            for site in "abc"
            if site in ends
            and sum(share[n] * g for n, e, g in asked if site in e)
            >= sum(g for e, g in capacity.items() if site in e) - 1e-3
        ]
        assert any(all(share[n] <= share[name] + 1e-4 for n, e, _ in asked if site in e) for site in tight)


pieces = st.dictionaries(st.integers(0, 6), st.integers(1, 50), min_size=2, max_size=6)


@MANY
@given(pieces, st.dictionaries(st.integers(10, 16), st.integers(1, 50), min_size=1, max_size=5))
def test_couples_use_every_piece_and_never_twice_the_same_way(free, risky):
    """Ways that nothing breaks pair with risky ones, and among each other, as long as none is longer than allowed."""
    mixed = float(sum(risky.values()))
    alone = (sum(free.values()) - mixed) / 2
    if alone <= 0 or max(free.values()) > alone + mixed:
        return
    risks = {(): [(w, float(x)) for w, x in free.items()], (3,): [(w, float(x)) for w, x in risky.items()]}
    couples = _couples({((), (3,)): mixed, ((), ()): alone}, risks)
    assert sum(gbps for _, gbps in couples) == pytest.approx(mixed + alone)
    for (one, other), _ in couples:
        assert one != other
    for way, gbps in {**free, **risky}.items():
        assert sum(x for couple, x in couples if way in couple) == pytest.approx(gbps)


def test_cost_of_a_line_by_hand():
    net = factory.network({"a": {"pue": 1.2}, "b": {}}, {"n": ("a", "b", 150, 4)}, {"years": 2})
    (line,) = factory.lines(net)
    assert len(line.spans) == 2
    items = cost.pair_items(net, line, 3)
    by_what = {}
    for item in items:
        by_what[item.what] = by_what.get(item.what, 0.0) + item.quantity
    assert by_what["amplifier"] == 3 * (2 + 4)  # a booster and two amplifiers in each direction
    assert by_what["terminal gear"] == 3 * 2
    hours = 8760 * 2 / 1e6
    # per direction: booster and the last amplifier at the sites, one amplifier in the hut
    sites = 50 * (1.2 + 1.25) * 2
    assert by_what["energy of amplifiers [MWh]"] == pytest.approx(3 * hours * (sites + 2 * 50 * cost.HUT_PUE))
    lease = next(item for item in items if item.part == "n")
    assert lease.total_usd == pytest.approx(3 * 300 * 150 * 2)


def test_own_price_wins_and_an_unknown_one_is_said():
    gear = {"prices_usd": {"tx": 1.0}}
    net = factory.network(["a", "b"], {"n": ("a", "b", 60, 4)}, gear=gear)
    (path,) = factory.lightpaths(net)
    item = cost.wavelength_items(net, path, "tx", 5)[0]
    assert (item.quantity, item.unit_usd, item.source) == (10, 1.0, "topology file")
    free = factory.network(["a", "b"], {"n": ("a", "b", 60, 4)}, price=None)
    bill = cost.bill(free, {line.fiber: line for line in factory.lines(free)}, {"L1": path}, waves(("L1", 1)), {"n": 1})
    assert "tx (transponder): no price known, counted as 0" in cost.assumptions(free, bill)
    assert [item.total_usd for item in bill] == sorted((item.total_usd for item in bill), reverse=True)
    assert all(one != other for one, other in pairwise(bill))
