"""What distance must and must not do to a step, over random layouts, ways to synchronise, collectives and models.

A job in one site has no term of distance; sites that nothing separates are one site; a step never gets slower with rate
and never faster with latency or loss.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.job import ParallelismPlan
from dcplan.model.network import Pair, pair
from dcplan.model.transport import Transport
from dcplan.training.across.patterns import KINDS, Collective
from dcplan.training.engine import cross_site_gb, one_site, step_time
from dcplan.training.plans.space import CHOICES, Space
from dcplan.training.plans.table import candidates
from dcplan.training.step import Layout, Links, Workload

from .records import model, share

SAME = 1e-9
JOBS = {
    "llama3-8b": ("h100-sxm", 16, 128, 8192),
    "llama3-70b": ("h100-sxm", 64, 256, 8192),
    "megatron-22b": ("a100-sxm-80gb", 16, 96, 2048),
    "qwen3-30b-a3b": ("h100-sxm", 32, 256, 4096),
}
"""Model -> accelerator, accelerators in each site, sequences in a step, their tokens."""
OUTER: dict[str, Any] = {
    "local-sgd": {"every_steps": 30},
    "streaming": {"every_steps": 30, "fragments": 3, "overlap_steps": 2, "bits": 4},
}


@cache
def load(name: str, sites: str) -> Workload:
    accelerator, count, batch, tokens = JOBS[name]
    shares = tuple(share(site, accelerator, count) for site in sites)
    return Workload("job", model(name), tokens, batch * len(sites), "bf16", 32, shares)


@cache
def layouts(name: str, sites: str, sync: str) -> tuple[Layout, ...]:
    """Every layout of a job, or those whose sites train by themselves."""
    pin = {"sync": sync, "outer": OUTER[sync], "across": "dp"} if sync in OUTER else {}
    found = candidates(load(name, sites), Space(ParallelismPlan.model_validate(pin)))
    return tuple(plan for plan in found if sync in OUTER or plan.outer is None)


def between(sites: str, of: Callable[[Pair], float]) -> dict[Pair, float]:
    return {ends: of(ends) for ends in itertools.starmap(pair, itertools.combinations(sites, 2))}


@st.composite
def runs(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[Workload, Layout, dict[Pair, float], str]:
    """A job on two or three sites with a layout, latencies between the sites, and the sites."""
    name, sites = draw(st.sampled_from(sorted(JOBS))), draw(st.sampled_from(["ab", "abc"]))
    sync = draw(st.sampled_from(["any", "any", *OUTER]))
    latency_ms = between(sites, lambda _: draw(st.floats(0, 60)))
    collective = Collective(draw(st.sampled_from(kinds)), tuple(sorted(latency_ms.items())))
    plan = draw(st.sampled_from(layouts(name, sites, sync)))
    return replace(load(name, sites), collective=collective), plan, latency_ms, sites


def quiet(examples: int) -> settings:
    return settings(derandomize=True, deadline=None, max_examples=examples)


@pytest.mark.parametrize("name", JOBS)
def test_the_layouts_are_of_all_kinds(name: str) -> None:
    found = layouts(name, "ab", "any")
    assert {plan.across for plan in found} >= {"dp", "pp"}
    assert {plan.sync for plan in found} == set(CHOICES["sync"])
    assert {plan.sharding for plan in found} == set(CHOICES["sharding"])
    assert all(layouts(name, "ab", sync) for sync in OUTER)


def test_together_they_cross_sites_in_every_dimension() -> None:
    assert {plan.across for name in JOBS for plan in layouts(name, "ab", "any")} == set(CHOICES["across"])


@given(st.sampled_from(sorted(JOBS)), st.data())
@quiet(60)
def test_in_one_site_nothing_is_far(name: str, data: st.DataObject) -> None:
    work, plan = load(name, "a"), data.draw(st.sampled_from(layouts(name, "a", "any")))
    assert cross_site_gb(work, plan) == {}
    found = step_time(work, plan, Links({}, {}))
    assert (found.terms.sync_s, found.terms.cross_pipeline_s, found.terms.straggler_s) == (0.0, 0.0, 0.0)
    assert found == one_site(work, plan)


@given(runs(kinds=("direct",)))
@quiet(80)
def test_without_distance_sites_are_one(run: tuple[Workload, Layout, dict[Pair, float], str]) -> None:
    work, plan, _, sites = run
    near = Links(between(sites, lambda _: math.inf), between(sites, lambda _: 0.0))
    assert step_time(work, plan, near).terms == one_site(work, plan).terms


@given(runs(), st.floats(1, 1e6), st.floats(1, 100), st.floats(0, 50))
@quiet(80)
def test_rate_never_slows_and_latency_never_speeds(
    run: tuple[Workload, Layout, dict[Pair, float], str], rate: float, factor: float, more_ms: float
) -> None:
    work, plan, latency_ms, sites = run

    def step_s(gbps: float, extra_ms: float) -> float:
        links = Links(between(sites, lambda _: gbps), {ends: ms + extra_ms for ends, ms in latency_ms.items()})
        return step_time(work, plan, links).step_s

    here = step_s(rate, 0.0)
    assert step_s(rate * factor, 0.0) <= here * (1 + SAME)
    assert step_s(rate, more_ms) >= here * (1 - SAME)
    assert here >= step_s(math.inf, -0.0) * (1 - SAME)


@given(runs(), st.data(), st.floats(1, 1e5))
@quiet(60)
def test_one_better_link_never_slows(
    run: tuple[Workload, Layout, dict[Pair, float], str], data: st.DataObject, rate: float
) -> None:
    """Of several links one alone is made faster, or shorter; the order of a ring stays."""
    work, plan, latency_ms, sites = run
    ends = data.draw(st.sampled_from(sorted(latency_ms)))
    rates = between(sites, lambda _: rate)
    here = step_time(work, plan, Links(rates, latency_ms)).step_s
    assert step_time(work, plan, Links({**rates, ends: 3 * rate}, latency_ms)).step_s <= here * (1 + SAME)
    shorter = Links(rates, {**latency_ms, ends: latency_ms[ends] / 2})
    assert step_time(work, plan, shorter).step_s <= here * (1 + SAME)


@given(
    runs(), st.sampled_from(["roce-gbn", "roce-sr", "tcp", "ec"]), st.floats(0, 1e-3), st.floats(0, 1e-3),
    st.floats(100, 1e5),
)  # fmt: skip
@quiet(60)
def test_loss_never_speeds(
    run: tuple[Workload, Layout, dict[Pair, float], str], protocol: str, loss: float, more: float, rate: float
) -> None:
    work, plan, latency_ms, sites = run
    links = Links(between(sites, lambda _: rate), latency_ms)

    def step_s(packet_loss: float) -> float:
        transport = Transport.model_validate({"protocol": protocol, "packet_loss": packet_loss})
        return step_time(replace(work, transport=transport), plan, links).step_s

    assert step_s(loss + more) >= step_s(loss) * (1 - SAME)
    assert step_s(loss) >= step_time(work, plan, links).step_s * (1 - SAME)
