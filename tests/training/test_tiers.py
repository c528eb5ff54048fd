"""Parameter servers against a simulation of every push, and what unequal sites gain from not waiting."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.across.place import places
from dcplan.training.engine import cross_site_gb, one_site, step_time, without_sites
from dcplan.training.outer.exchange import Outer, Tier
from dcplan.training.outer.loose import batches
from dcplan.training.outer.tiers import mean_step_s, pair_gb, pushes, slowed_s, staleness
from dcplan.training.replica import replicas_of, workers_of
from dcplan.training.site.machine import machines
from dcplan.training.step import Links, Misfit

from .test_outer import job, links

quiet = settings(derandomize=True, deadline=None, max_examples=40)
NEAR = Links({}, {})


def one_tier(every: int, sites: str, bits: int = 16) -> Outer:
    return Outer(every, bits, tiers=(Tier(every, ((sites[0], tuple(sites)),)),))


def by_pushes(steps_s: dict[str, float], every: int, until: int) -> tuple[float, float]:
    """Own steps of all sites per second, and mean age of updates, when each site pushes and pulls at once."""
    waiting = [(every * step_s, site) for site, step_s in steps_s.items()]
    heapq.heapify(waiting)
    has, ages, now = dict.fromkeys(steps_s, 0), 0.0, 0.0
    for version in range(until):
        now, site = heapq.heappop(waiting)
        ages += version - has[site]
        has[site] = version + 1
        heapq.heappush(waiting, (now + every * steps_s[site], site))
    return until * every / now, ages / until


@given(st.lists(st.floats(1, 4), min_size=2, max_size=5), st.integers(1, 20))
@quiet
def test_rates_add_up_and_updates_are_one_less_than_sites_old(steps: list[float], every: int) -> None:
    steps_s = dict(zip("abcde", steps, strict=False))
    rate, age = by_pushes(steps_s, every, 20_000)
    assert mean_step_s(steps_s, dict.fromkeys(steps_s, 1.0)) == pytest.approx(len(steps) / rate, rel=0.01)
    pairs = [("a", site) for site in steps_s]
    at_once = Links(dict.fromkeys(pairs, 1.0), dict.fromkeys(pairs, 0.0))
    mean, worst = staleness(one_tier(every, "".join(steps_s)), steps_s, 0.0, at_once)
    assert mean == pytest.approx(age, abs=0.02)
    assert mean == pytest.approx(len(steps) - 1)
    assert worst >= mean - 1e-9


def test_periods_multiply_over_tiers_and_rounds_are_harmonic() -> None:
    outer = Outer(4, 16, tiers=(Tier(4, (("a", ("a", "b")), ("c", ("c",)))), Tier(3, (("a", ("a", "c")),))))
    found = {(push.tier, push.child): push.period_s for push in pushes(outer, {"a": 1.0, "b": 3.0, "c": 2.0})}
    assert found[0, "a"] == 4
    assert found[0, "b"] == 12
    assert found[1, "a"] == pytest.approx(3 * 2 / (1 / 4 + 1 / 12))
    assert found[1, "c"] == pytest.approx(3 * 8)


def test_bytes_between_sites_are_pushes_in_the_time_of_a_step() -> None:
    steps_s = {"a": 1.0, "b": 3.0}
    sent = pair_gb(one_tier(6, "ab"), steps_s, {"a": 1.0, "b": 1.0}, 100.0)
    step_s = 2 / (1 / 1.0 + 1 / 3.0)
    assert sent == {("a", "b"): pytest.approx(100 * step_s / (6 * 3))}


def test_links_and_servers_slow_the_sites_that_push_over_them() -> None:
    steps_s = {"a": 1.0, "b": 1.0, "c": 1.0}
    outer = one_tier(10, "abc")
    rates = {("a", "b"): 80.0, ("a", "c"): 40.0}  # each push is 800 Gb in 10 s
    view = Links(rates, dict.fromkeys(rates, 1.0))
    assert slowed_s(outer, steps_s, 100.0, view) == {"a": 1.0, "b": 1.0, "c": 2.0}
    narrow = replace(outer, tiers=(replace(outer.tiers[0], ingress_gbps=120.0),))
    assert slowed_s(narrow, steps_s, 100.0, view) == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert slowed_s(outer, steps_s, 100.0, NEAR)["b"] == math.inf


def test_unequal_sites_gain_by_not_waiting() -> None:
    kinds = {"b": "a100-sxm-80gb"}
    load, plan = job({"a": 4, "b": 4}, one_tier(16, "ab"), "parameter-server", kinds)
    waiting = replace(plan, sync="hierarchical", outer=None)
    mine, theirs = one_site(load, plan), one_site(load, waiting)
    assert theirs.terms.straggler_s > 1.5 * mine.terms.straggler_s > 0
    slow = theirs.step_s
    fast = slow - theirs.terms.straggler_s
    assert mine.step_s == pytest.approx(2 / (1 / slow + 1 / fast), rel=0.02)


def test_a_link_of_what_is_pushed_costs_nothing_and_half_of_it_halves_the_far_site() -> None:
    load, plan = job({"a": 4, "b": 4}, one_tier(16, "ab"), "parameter-server")
    alone = one_site(load, plan).step_s
    enough = 8 * cross_site_gb(load, plan)["a", "b"] / alone
    assert step_time(load, plan, links(load, enough * 1.000001, 50)).step_s == alone
    assert step_time(load, plan, links(load, enough / 2, 50)).step_s == pytest.approx(2 * alone / (1 + 1 / 2))


def test_latency_makes_updates_older_but_no_step_longer() -> None:
    load, plan = job({"a": 4, "b": 4}, one_tier(1, "ab"), "parameter-server")
    near, far = (step_time(load, plan, links(load, 1e6, ms)) for ms in (0.0, 1000.0))
    assert near.step_s == far.step_s
    assert near.quality is not None
    assert far.quality is not None
    assert (near.quality.staleness or 0) < (far.quality.staleness or 0)
    assert near.quality.loss_percent is None
    assert near.quality.server_gb == pytest.approx(12 * 341, rel=0.01)


def test_a_discount_is_only_by_the_kappa_of_the_user() -> None:
    load, plan = job({"a": 4, "b": 4}, one_tier(16, "ab"), "parameter-server")
    view = links(load, 1e9, 0)
    silent = step_time(load, plan, view).quality
    told = step_time(load, replace(plan, outer=replace(one_tier(16, "ab"), staleness_kappa=0.5)), view).quality
    assert silent is not None
    assert told is not None
    assert silent.progress is None
    assert told.progress == pytest.approx(1 / 1.5, rel=1e-3)
    assert step_time(load, plan, view).step_s > 0


def test_a_job_stops_with_the_site_of_a_server_and_goes_on_without_another() -> None:
    load, plan = job({"a": 4, "b": 4, "c": 4}, one_tier(16, "abc"), "parameter-server")
    assert isinstance(without_sites(load, plan, frozenset("a")), Misfit)
    left = without_sites(load, plan, frozenset("c"))
    assert not isinstance(left, Misfit)
    assert left[1].outer == one_tier(16, "ab")
    assert set(cross_site_gb(*left)) == {("a", "b")}


def test_sites_that_get_their_part_by_speed_add_up_to_the_batch() -> None:
    kinds = {"b": "a100-sxm-80gb"}
    load, plan = job({"a": 4, "b": 4}, one_tier(16, "ab"), "parameter-server", kinds)
    load = replace(load, split="by-speed")
    where = places(load, plan)
    own = batches(plan, workers_of(replicas_of(load, plan, where, machines(load)), where))
    assert own["a"] > 1.5 * own["b"] > 0
    assert load.batch <= sum(own.values()) < load.batch + plan.dp
