"""Collectives across sites: bytes by counting every message, trips by walking them, orders and roots by trying all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.network import pair
from dcplan.training.across.patterns import KINDS, Collective, flat_ring, pattern, shortest_ring
from dcplan.training.engine import cross_site_gb, needed_rates, one_site, step_time, without_sites
from dcplan.training.step import Links
from tests.training.test_sync import SIZE_GB, job

quiet = settings(derandomize=True, deadline=None, max_examples=60)
SITES = "abcdef"


def far(values):
    """Latencies between all pairs of sites."""
    return tuple(zip([pair(a, b) for a, b in combinations(SITES, 2)], values, strict=False))


LATENCIES = st.lists(st.floats(0.1, 50), min_size=15, max_size=15).map(far)


def ring_messages(order, size):
    """Reduce-scatter and all-gather of parts of S/n round a ring, half of the gradients each way: (from, to) -> GB."""
    n, sent = len(order), Counter()
    for way in (order, order[::-1]):
        for part in range(n):
            for hop in range(2 * (n - 1)):  # summed over n−1 hops, then handed on over n−1 more
                here = (part + hop) % n
                sent[way[here], way[(here + 1) % n]] += size / 2 / n
    return sent


def up_and_down(parent, size):
    """Every site sends the sum of what is below it to its parent, and gets the result from there."""
    sent = Counter()
    for site, above in parent.items():
        sent[site, above] += size
        sent[above, site] += size
    return sent


@quiet
@given(st.integers(2, 6), LATENCIES)
def test_bytes_are_what_a_count_of_messages_says(n, latency_ms):
    sites = tuple(SITES[:n])
    for kind in KINDS:
        found = pattern(Collective(kind, latency_ms), sites)
        if kind == "ring":
            sent = ring_messages(found.sites, SIZE_GB)
        elif kind == "direct":
            sent = Counter({(a, b): 2 * SIZE_GB / n for a in sites for b in sites if a != b})
        else:
            sent = up_and_down(parents(found), SIZE_GB)
        assert {pair(*ends) for ends in sent} == set(found.share)
        for ends, gb in sent.items():
            assert found.share[pair(*ends)] * SIZE_GB == pytest.approx(gb)
        for site in sites:
            assert found.sends(site) * SIZE_GB == pytest.approx(sum(gb for (a, _), gb in sent.items() if a == site))


def parents(found):
    """The tree of a pattern as parents, from its root."""
    parent, inside = {}, [found.sites[0]]
    for here in inside:
        for ends in found.share:
            if here in ends:
                there = next(site for site in ends if site != here)
                if there not in inside:
                    parent[there] = here
                    inside.append(there)
    assert sorted(inside) == sorted(found.sites)
    return parent


@pytest.mark.parametrize("n", range(2, 7))
def test_a_site_sends_no_less_than_twice_its_part_and_direct_and_ring_no_more(n):
    sites = tuple(SITES[:n])
    least = 2 * (n - 1) / n
    for kind in ("direct", "ring"):
        assert all(pattern(Collective(kind), sites).sends(site) == pytest.approx(least) for site in sites)
    for kind in ("tree", "hub"):
        found = pattern(Collective(kind), sites)
        assert sum(found.share.values()) == n - 1
        assert max(found.sends(site) for site in sites) >= least
    hub = pattern(Collective("hub"), sites)
    assert hub.sends(hub.sites[0]) == n - 1
    assert all(hub.sends(site) == 1 for site in hub.sites[1:])


def test_between_two_sites_all_are_the_same():
    found = [pattern(Collective(kind, far([7.0])), ("a", "b")) for kind in KINDS]
    assert all(one.share == {("a", "b"): 1.0} for one in found)
    assert all(one.waits_s({("a", "b"): 7.0}) == pytest.approx(0.014) for one in found)


@quiet
@given(st.integers(3, 6), LATENCIES)
def test_best_order_and_roots(n, latency_ms):
    sites, ms = tuple(SITES[:n]), dict(latency_ms)

    def around(order):
        return sum(ms[pair(a, b)] for a, b in zip(order, (*order[1:], order[0]), strict=True))

    ring = pattern(Collective("ring", latency_ms), sites)
    assert around(ring.sites) == pytest.approx(min(around(order) for order in permutations(sites)))
    hub = pattern(Collective("hub", latency_ms), sites)
    spokes = {site: sum(ms[pair(site, other)] for other in sites if other != site) for site in sites}
    assert spokes[hub.sites[0]] == pytest.approx(min(spokes.values()))
    tree = pattern(Collective("tree", latency_ms), sites)
    lengths = [
        sum(ms[ends] for ends in edges)
        for edges in combinations([pair(a, b) for a, b in combinations(sites, 2)], n - 1)
        if joins(edges, sites)
    ]
    assert sum(ms[ends] for ends in tree.share) == pytest.approx(min(lengths))
    rooted = {site: replace(tree, sites=(site, *(one for one in sites if one != site))) for site in sites}
    deepest = {site: max(depths(parents(one), ms)) for site, one in rooted.items()}
    assert deepest[tree.sites[0]] == pytest.approx(min(deepest.values()))
    assert tree.waits_s(ms) == pytest.approx(2 * min(deepest.values()) / 1e3)


def joins(edges, sites):
    seen = {sites[0]}
    for _ in sites:
        seen |= {site for ends in edges if seen & set(ends) for site in ends}
    return seen == set(sites)


def depths(parent, ms):
    found = {}
    for site in parent:
        here, found[site] = site, 0.0
        while here in parent:
            found[site] += ms[pair(here, parent[here])]
            here = parent[here]
    return found.values()


@quiet
@given(st.integers(3, 6), LATENCIES)
def test_the_last_part_waits_as_long_as_its_walk(n, latency_ms):
    sites, ms = tuple(SITES[:n]), dict(latency_ms)
    ring = pattern(Collective("ring", latency_ms), sites)
    walks = []
    for way in (ring.sites, ring.sites[::-1]):
        for part in range(n):
            stops = [way[(part + hop) % n] for hop in range(2 * (n - 1) + 1)]
            walks.append(sum(ms[pair(a, b)] for a, b in pairwise(stops)))
    assert ring.waits_s(ms) == pytest.approx(max(walks) / 1e3)
    direct = pattern(Collective("direct", latency_ms), sites)
    assert direct.waits_s(ms) == pytest.approx(2 * max(ms[pair(a, b)] for a, b in combinations(sites, 2)) / 1e3)
    hub = pattern(Collective("hub", latency_ms), sites)
    root = hub.sites[0]
    assert hub.waits_s(ms) == pytest.approx(2 * max(ms[pair(root, site)] for site in sites if site != root) / 1e3)
    assert math.isinf(hub.waits_s({}))


def test_a_long_ring_is_put_together_site_by_site():
    places = {f"s{i}": complex(math.cos(i), math.sin(i)) for i in range(12)}  # on a circle, in no order
    ms = {pair(a, b): abs(places[a] - places[b]) for a, b in combinations(places, 2)}
    found = shortest_ring(tuple(places), ms)
    turn = sorted(places, key=lambda site: math.atan2(places[site].imag, places[site].real))
    around = [{pair(a, b) for a, b in zip(way, [*way[1:], way[0]], strict=True)} for way in (turn, found)]
    assert around[0] == around[1]


def test_a_flat_ring_goes_round_whole_laps():
    found = flat_ring(("a", "b", "c"), 12)
    assert found.share == {("a", "b"): 11 / 12, ("b", "c"): 11 / 12, ("a", "c"): 11 / 12}
    assert found.waits_s({("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 4}) == pytest.approx(0.014)


def test_steps_rates_and_lost_sites():
    load, plan = job({"a": 4, "b": 4, "c": 4, "d": 4})
    ms = dict(zip([pair(a, b) for a, b in combinations("abcd", 2)], [1, 9, 9, 1, 9, 1], strict=True))  # a chain
    tree, hub, ring = (
        replace(load, collective=Collective(kind, tuple(ms.items()))) for kind in ("tree", "hub", "ring")
    )
    assert set(cross_site_gb(tree, plan)) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert cross_site_gb(ring, plan)["a", "b"] == pytest.approx(3 / 4 * SIZE_GB, rel=1e-4)
    alone = one_site(load, plan)
    assert all(one_site(each, plan) == alone for each in (tree, hub, ring))  # in one site there is no hub
    fast = Links(dict.fromkeys(ms, math.inf), dict.fromkeys(ms, 0.0))
    assert step_time(hub, plan, fast).step_s > step_time(load, plan, fast).step_s  # its NICs send three times S
    rates = needed_rates(tree, plan, ms, 20.0)
    assert set(rates) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert step_time(tree, plan, Links(rates, ms)).step_s <= alone.step_s * 1.2 * (1 + 1e-9)
    smaller, without_b = without_sites(tree, plan, frozenset("b"))
    assert set(cross_site_gb(smaller, without_b)) == {("a", "c"), ("c", "d")}
