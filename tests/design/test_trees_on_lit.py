"""Trees on a network as it stands: against the bound of partitions, a brute-force program, and other collectives."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.api.standing import as_it_is
from dcplan.cli.app import run
from dcplan.design.collective.trees_on_lit import trees_on
from dcplan.design.given.concurrent import Asked, concurrent
from dcplan.design.ways.labels import Arc
from dcplan.model.network import pair
from dcplan.training.across.packing import faults, shares
from dcplan.training.across.patterns import KINDS, Collective, pattern

from .test_collective import CHAIN, network
from .test_optimal_collective import bound

if TYPE_CHECKING:
    from pathlib import Path

    from dcplan.model.network import Pair

quiet = settings(derandomize=True, deadline=None, max_examples=40)
FREE = {pair(a, b): 1e6 for a, b in combinations("abcdefg", 2)}


@st.composite
def lit(draw: st.DrawFn, most: int = 5, between: int = 0) -> tuple[tuple[str, ...], dict[int, Arc]]:
    """Sites of a job, and arcs that join them and so many others in between."""
    sites = tuple("abcde"[: draw(st.integers(2, most))])
    places = (*sites, *"fg"[:between])
    pairs = list(combinations(places, 2))
    gbps = draw(
        st.lists(
            st.sampled_from((0.0, 0.0, 100.0, 400.0)) | st.floats(10, 900), min_size=len(pairs), max_size=len(pairs)
        )
    )
    ms = draw(st.lists(st.floats(0.1, 5), min_size=len(pairs), max_size=len(pairs)))
    return sites, {
        i: Arc(i, ends, rate, far) for i, (ends, rate, far) in enumerate(zip(pairs, gbps, ms, strict=True)) if rate
    }


@given(lit())
@quiet
def test_where_all_sites_sum_the_bound_of_partitions_is_reached(net: tuple[tuple[str, ...], dict[int, Arc]]) -> None:
    """Ways over other sites of the job are no better than sums there, and no worse: the bound stays."""
    sites, arcs = net
    rates = dict.fromkeys(combinations(sites, 2), 0.0) | {arc.ends: arc.gbps for arc in arcs.values()}
    least, found = bound("".join(sites), rates), trees_on(arcs, sites, FREE)
    if math.isinf(least):
        assert found is None
        return
    assert found is not None
    assert found[0] == pytest.approx(1 / least, rel=1e-5)
    assert faults(found[1], sites) == ""


@given(lit(4, between=2))
@quiet
def test_no_collective_gets_more_through_sites_that_only_switch(net: tuple[tuple[str, ...], dict[int, Arc]]) -> None:
    sites, arcs = net
    found = trees_on(arcs, sites, FREE)
    assume(found is not None)
    gbps, packing = found

    def through(share: dict[Pair, float]) -> float:
        answer = concurrent(arcs, [Asked(i, ends, size, None) for i, (ends, size) in enumerate(share.items())])
        return 0.0 if answer.apart else answer.fraction

    assert through(shares(packing)) == pytest.approx(gbps, rel=1e-5)
    for kind in KINDS:
        assert through(dict(pattern(Collective(kind), sites).share)) <= gbps * (1 + 1e-5)


def test_ways_that_take_too_long_are_not_used() -> None:
    arcs = {0: Arc(0, ("a", "b"), 100.0, 1.0), 1: Arc(1, ("b", "c"), 100.0, 1.0), 2: Arc(2, ("a", "c"), 100.0, 9.0)}
    free, tight = (trees_on(arcs, "abc", dict.fromkeys(combinations("abc", 2), ms)) for ms in (20.0, 5.0))
    assert free[0] == pytest.approx(150)
    assert tight[0] == pytest.approx(100)
    assert shares(tight[1]) == {("a", "b"): 1.0, ("b", "c"): 1.0}
    assert trees_on(arcs, "abc", dict.fromkeys(combinations("abc", 2), 0.5)) is None
    assert trees_on({}, "abc", dict.fromkeys(combinations("abc", 2), 0.5)) is None


def test_on_a_network_as_it_is_an_open_collective_is_the_fastest_on_what_is_lit(tmp_path: Path) -> None:
    from dcplan import api

    built = api.plan(network(tmp_path, "direct"))
    carried = {}
    for kind in (*KINDS, "optimal", "auto"):
        found = as_it_is(network(tmp_path, kind), existing=built)
        carried[kind] = found.given.routing.fraction
    assert carried["optimal"] >= max(carried[kind] for kind in KINDS) * (1 - 1e-3)
    assert carried["auto"] == pytest.approx(carried["direct"])  # what the plan was built for
    assert carried["optimal"] > 1.5 * carried["tree"]  # its light goes past the sites in between
    unsaid = replace(built, collectives=())
    found = as_it_is(network(tmp_path, "auto"), existing=unsaid)
    assert found.given.routing.fraction == pytest.approx(carried["optimal"], rel=1e-3)
    assert found.plan is not None
    (one,) = found.plan.collectives
    assert one.kind in {"direct", "optimal"}


def test_where_nothing_is_lit_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    network(tmp_path, "optimal", CHAIN)
    monkeypatch.chdir(tmp_path)
    assert run(["plan", "chain.yaml", "--fixed"]) == 2
    assert "nothing is lit" in capsys.readouterr().err
