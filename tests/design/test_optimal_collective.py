"""Packed trees against every partition of the sites, and against ring, tree, direct exchange and hub."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.design.collective.optimal import EVERY_TREE, MOST_PACKINGS, packings
from dcplan.model.network import pair
from dcplan.planfile import rounded
from dcplan.training.across.packing import Packing, Tree, among, as_written, faults, rooted, shares, trips
from dcplan.training.across.patterns import KINDS, Collective, as_trees, pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.model.network import Pair

quiet = settings(derandomize=True, deadline=None, max_examples=60)
SITES = "abcdefghi"
RATE = st.sampled_from((0.0, 0.0, 100.0, 400.0, 1600.0)) | st.floats(1, 2000)


def partitions(sites: list[str]) -> Iterator[list[list[str]]]:
    if not sites:
        yield []
        return
    first, *rest = sites
    for parts in partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]


def bound(sites: str, rates: Mapping[Pair, float]) -> float:
    """Over all partitions into k parts, the largest (k−1) / rates between parts: no sum is faster."""
    most = 0.0
    for parts in partitions(list(sites)):
        part = {site: i for i, members in enumerate(parts) for site in members}
        between = sum(rate for (a, b), rate in rates.items() if part[a] != part[b])
        if len(parts) > 1:
            most = max(most, (len(parts) - 1) / between if between else math.inf)
    return most


def takes(share: Mapping[Pair, float], rates: Mapping[Pair, float]) -> float:
    return max(size / rates[ends] if rates[ends] else math.inf for ends, size in share.items())


@st.composite
def networks(draw: st.DrawFn, least: int = 2, most: int = 6) -> tuple[str, dict[Pair, float], dict[Pair, float]]:
    sites = SITES[: draw(st.integers(least, most))]
    pairs = list(combinations(sites, 2))
    rates = dict(zip(pairs, draw(st.lists(RATE, min_size=len(pairs), max_size=len(pairs))), strict=True))
    latency = dict(
        zip(pairs, draw(st.lists(st.floats(0.1, 30), min_size=len(pairs), max_size=len(pairs))), strict=True)
    )
    return sites, rates, latency


@given(networks())
@quiet
def test_equals_the_bound_of_every_partition(net: tuple[str, dict[Pair, float], dict[Pair, float]]) -> None:
    sites, rates, latency = net
    least, found = bound(sites, rates), packings(sites, rates, latency)
    if math.isinf(least):
        assert found == ()
        return
    assert takes(shares(found[-1]), rates) == pytest.approx(least, rel=1e-6)
    for packing in found:
        assert faults(packing, sites) == ""
        assert takes(shares(packing), rates) >= least * (1 - 1e-9)
    times = [takes(shares(packing), rates) for packing in found]
    waits = [waits_ms(packing, latency) for packing in found]
    assert times == sorted(times, reverse=True)
    assert waits == sorted(waits)


@given(networks(EVERY_TREE + 1, 8))
@settings(derandomize=True, deadline=None, max_examples=12)
def test_more_sites_than_every_tree_is_tried_for(net: tuple[str, dict[Pair, float], dict[Pair, float]]) -> None:
    sites, rates, latency = net
    least, found = bound(sites, rates), packings(sites, rates, latency)
    if math.isinf(least):
        assert found == ()
    else:
        assert takes(shares(found[-1]), rates) == pytest.approx(least, rel=1e-6)


def waits_ms(packing: Packing, latency: Mapping[Pair, float]) -> float:
    return max(sum(latency[ends] for ends in trip) for trip in trips(packing))


@given(networks(2, 5))
@quiet
def test_no_other_collective_is_faster_or_waits_less_at_its_speed(
    net: tuple[str, dict[Pair, float], dict[Pair, float]],
) -> None:
    sites, rates, latency = net
    found = packings(sites, rates, latency)
    assume(found)
    front = [(takes(shares(packing), rates), waits_ms(packing, latency)) for packing in found]
    for kind in KINDS:
        other = pattern(Collective(kind, tuple(latency.items())), tuple(sites))
        time, wait = takes(other.share, rates), 1e3 * other.waits_s(latency)
        assert front[-1][0] <= time * (1 + 1e-6)
        if math.isfinite(time) and len(found) < MOST_PACKINGS:  # the whole front
            assert any(mine <= time * (1 + 1e-6) and waited <= wait * (1 + 1e-6) for mine, waited in front)


def test_known_networks() -> None:
    even = dict.fromkeys(combinations("abcd", 2), 100.0)
    assert takes(shares(packings("abcd", even, dict.fromkeys(even, 1.0))[-1]), even) == pytest.approx(2 / 4 / 100)
    ring = {("a", "b"): 100.0, ("b", "c"): 100.0, ("c", "d"): 100.0, ("a", "d"): 100.0}
    assert takes(shares(packings("abcd", ring, dict.fromkeys(ring, 1.0))[-1]), ring) == pytest.approx(3 / 4 / 100)
    chain = {("a", "b"): 100.0, ("b", "c"): 50.0}
    (only,) = packings("abc", chain, dict.fromkeys(chain, 1.0))
    assert shares(only) == {("a", "b"): 1.0, ("b", "c"): 1.0}
    assert only[0].root == "b"
    free = dict.fromkeys(combinations("abc", 2), math.inf)
    best = packings("abc", free, ms := {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 9.0})[0]
    assert waits_ms(best, ms) == 2.0
    assert packings("a", {}, {}) == ()


@given(networks(3, 5), st.data())
@quiet
def test_what_is_left_of_a_packing_sums_among_the_sites_that_are_left(
    net: tuple[str, dict[Pair, float], dict[Pair, float]], data: st.DataObject
) -> None:
    sites, rates, latency = net
    left = tuple(sorted(data.draw(st.sets(st.sampled_from(sites), min_size=2))))
    for packing in packings(sites, rates, latency):
        fewer = among(packing, left)
        assert faults(fewer, left) == ""
        assert sum(shares(fewer).values()) == pytest.approx(len(left) - 1)


@pytest.mark.parametrize("n", range(3, 7))
def test_direct_exchange_stays_direct_exchange_where_sites_are_lost(n: int) -> None:
    ms = tuple((ends, 1.0) for ends in combinations(SITES[:n], 2))
    stars = as_trees(pattern(Collective("direct", ms), tuple(SITES[:n])), dict(ms))
    for lost in range(n - 1):
        left = tuple(SITES[lost:n])
        expected = pattern(Collective("direct", ms), left).share
        assert shares(among(stars, left)) == pytest.approx(dict(expected))


@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 1), (4, 1, 1), (7, 5, 1), (1e9, 1, 0.1)])
def test_shares_are_those_that_a_plan_file_keeps(parts: tuple[float, ...]) -> None:
    """Else rates that follow from a plan that was read are others, and its certificate may not add up any more."""
    tree = Tree(1.0, "a", (("b", "a"), ("c", "a")))
    shares = [one.share for one in as_written([replace(tree, share=part / sum(parts)) for part in parts])]
    assert shares == [one for one in rounded(shares) if one > 0]
    assert sum(round(share * 10**9) for share in shares) == 10**9
    assert shares == pytest.approx([part / sum(parts) for part in parts][: len(shares)], abs=2e-9)


def test_trees_are_told_from_what_is_none() -> None:
    ms = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 1.0}
    tree = rooted([("a", "b"), ("b", "c")], ms)
    assert (tree.root, pair("c", "b")) == ("b", ("b", "c"))
    with pytest.raises(ValueError, match="do not make a tree"):
        rooted([("a", "b"), ("b", "c"), ("a", "c")], ms)
    with pytest.raises(ValueError, match="do not join"):
        rooted([("a", "b"), ("a", "b"), ("c", "d")], ms)
    assert "carry all" in faults((tree, tree), "abc")
    assert "does not join" in faults((tree,), "abcd")
