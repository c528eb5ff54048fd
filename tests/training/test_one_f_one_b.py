"""1F1B with unlike stages and slow boundaries: the recurrence against discrete-event simulation."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.training.engine import step_time
from dcplan.training.memory import held_microbatches
from dcplan.training.pipeline.in_flight import hidden
from dcplan.training.pipeline.line import room
from dcplan.training.pipeline.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline.schedules import Times, bubble_s
from dcplan.training.pipeline.stages import stages, to_hide
from dcplan.training.site.machine import machines
from dcplan.training.step import Links, StepTime, Workload

from .one_f_one_b import Edge, simulate
from .records import DATA, layout, model, share

quiet = settings(derandomize=True, deadline=None, max_examples=150)
PASS = st.sampled_from((0.5, 0.8, 1.0, 1.3)) | st.floats(0.2, 3.0)
Case = tuple[int, tuple[float, ...], tuple[float, ...], tuple[Edge, ...]]
EDGE = st.tuples(st.floats(0, 12), st.sampled_from((0.0, 0.1, 0.9, 2.0, 4.0)), st.sampled_from((0, 0, 1, 2, 5, 13)))


def boundaries(edges: tuple[Edge, ...]) -> tuple[Boundary, ...]:
    return tuple(Boundary(edge.upstream, edge.latency + edge.transfer, edge.transfer, edge.extra) for edge in edges)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    p, m = draw(st.integers(1, 9)), draw(st.integers(1, 40) | st.integers(60, 160))
    alike = draw(st.booleans())
    forward = (draw(PASS),) * p if alike else tuple(draw(st.lists(PASS, min_size=p, max_size=p)))
    backward = (draw(PASS),) * p if alike else tuple(draw(st.lists(PASS, min_size=p, max_size=p)))
    places = sorted(draw(st.sets(st.integers(1, p - 1), max_size=3))) if p > 1 else []
    return m, forward, backward, tuple(Edge(at, *draw(EDGE)) for at in places)


@given(cases())
@quiet
def test_the_recurrence_is_the_simulation(case: Case) -> None:
    m, forward, backward, edges = case
    expected = simulate(len(forward), m, forward, backward, edges)
    assert span_s(forward, backward, boundaries(edges), m) == pytest.approx(expected, rel=1e-9)


@given(cases(), st.lists(st.floats(0.05, 0.95), min_size=9, max_size=9))
@quiet
def test_the_recurrence_is_the_simulation_of_zb_h1(case: Case, parts: list[float]) -> None:
    m, forward, backward, edges = case
    weights = tuple(part * b for part, b in zip(parts, backward, strict=False))
    expected = simulate(len(forward), m, forward, backward, edges, weights)
    assert span_s(forward, backward, boundaries(edges), m, weights) == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 9), st.integers(1, 60), st.floats(0.2, 3), st.floats(0.2, 3), st.floats(0.2, 3))
@quiet
def test_zb_h1_in_one_site_is_that_of_the_formula(p: int, m: int, f: float, b: float, w: float) -> None:
    found = span_s((f,) * p, (b + w,) * p, (), m, (w,) * p)
    assert found == pytest.approx(m * (f + b + w) + bubble_s("zb-h1", p, m, Times(f, b, w)), rel=1e-9)


@pytest.mark.parametrize("case", tomllib.loads((DATA / "pipeline.toml").read_text())["case"])
def test_the_oracle_exactly(case: dict[str, float]) -> None:
    p, edge = int(case["p"]), Edge(int(case["cross"]) + 1, case["one_way"], 0.0, int(case["extra"]))
    assert span_s((1.0,) * p, (2.0,) * p, boundaries((edge,)), int(case["m"])) == pytest.approx(case["steps"])


@given(
    p=st.integers(2, 10), m=st.integers(1, 60), data=st.data(),
    delays=st.lists(st.floats(0, 20), min_size=1, max_size=3), transfer=st.floats(0, 1),
)  # fmt: skip
@quiet
def test_hidden_boundaries_cost_their_way_once_forth_and_back(
    p: int, m: int, data: st.DataObject, delays: list[float], transfer: float
) -> None:
    assume(len(delays) < p)
    places = sorted(data.draw(st.permutations(range(1, p)))[: len(delays)])
    edges = tuple(
        Edge(at, delay, transfer, to_hide(delay + transfer, 3.0)) for at, delay in zip(places, delays, strict=True)
    )
    found = span_s((1.0,) * p, (2.0,) * p, boundaries(edges), m)
    assert found == pytest.approx((m + p - 1) * 3.0 + 2 * sum(delays) + 2 * transfer * len(delays))
    assert found == pytest.approx(simulate(p, m, 1.0, 2.0, edges))


@given(cases(), st.integers(0, 8), st.floats(0, 10))
@quiet
def test_later_messages_never_end_a_step_sooner(case: Case, extra: int, later: float) -> None:
    m, forward, backward, edges = case
    here = span_s(forward, backward, boundaries(edges), m)
    assert here >= max(f + b for f, b in zip(forward, backward, strict=True)) * m * (1 - 1e-12)
    if edges:
        slower = (*edges[:-1], Edge(edges[-1].upstream, edges[-1].latency + later, edges[-1].transfer, edges[-1].extra))
        assert span_s(forward, backward, boundaries(slower), m) >= here * (1 - 1e-12)
        hidden = tuple(Edge(edge.upstream, edge.latency, edge.transfer, edge.extra + extra) for edge in edges)
        assert span_s(forward, backward, boundaries(hidden), m) == pytest.approx(
            simulate(len(forward), m, forward, backward, hidden), rel=1e-9
        )


def test_many_microbatches_cost_no_more_than_a_few_periods() -> None:
    """Whole periods are skipped: a million microbatches are as good as 500, and the pace is that of the cycle."""
    edge = (Boundary(8, 5.0, 0.1, 1),)
    few, many = (span_s((1.0,) * 16, (2.0,) * 16, edge, m) for m in (3 * 400, 3 * 400_000))
    assert many - few == pytest.approx(3 * (400_000 - 400) * 2 * (3.0 + 5.0) / 3)


def test_no_path_never_ends() -> None:
    assert math.isinf(span_s((1.0,) * 4, (2.0,) * 4, (Boundary(2, math.inf, 0.0, 3),), 8))


def far(schedule: str, gbps: float, ms: float, extra: int | None = None) -> StepTime:
    """Eight stages of Llama 3 70B in two sites."""
    shares = tuple(share(site, "h100-sxm", 32) for site in "ab")
    load = Workload("job", model("llama3-70b"), 8192, 64, "bf16", 32, shares)
    given = {"tp": 8, "pp": 8, "dp": 1, "across": "pp", "schedule": schedule, "recompute": "full"}
    plan = layout(64, **given, extra_in_flight=extra)
    return step_time(load, plan, Links({("a", "b"): gbps}, {("a", "b"): ms}))


def test_zero_bubble_over_two_sites() -> None:
    """What it saves in one site it saves over two, as far as more microbatches in flight hide the way."""
    plain, split = (far(schedule, math.inf, 0.0) for schedule in ("1f1b", "zb-h1"))
    assert split.terms.bubble_s < 0.7 * plain.terms.bubble_s
    assert split.terms.compute_s == plain.terms.compute_s
    assert max(split.terms.cross_pipeline_s, plain.terms.cross_pipeline_s) < 1e-3  # two transfers through the NICs
    none, hidden = far("zb-h1", 100, 20.0, 0), far("zb-h1", 100, 20.0)
    alone = far("1f1b", 100, 20.0, 0).terms.cross_pipeline_s
    assert hidden.terms.cross_pipeline_s < 0.2 * none.terms.cross_pipeline_s
    assert none.terms.cross_pipeline_s < 0.5 * alone  # gradients of weights stand where 1F1B waits
    assert hidden.step_s < far("1f1b", 100, 20.0).step_s
    for slower in (far("zb-h1", 50, 20.0), far("zb-h1", 100, 40.0)):
        assert slower.step_s >= hidden.step_s * (1 - 1e-9)


def test_more_in_flight_are_held_upstream_until_their_gradients_of_weights_are_made() -> None:
    plan = layout(64, tp=8, pp=8, dp=1, across="pp", schedule="zb-h1")
    assert held_microbatches(plan, 3) == (11, 11, 8)
    assert held_microbatches(replace(plan, schedule="1f1b"), 3) == (11, 10, 1)


@pytest.mark.parametrize("extra", [0, 1, None])
@pytest.mark.parametrize(("pp", "counts"), [(8, (2, 3, 3)), (16, (6, 4, 6))])
def test_a_step_over_three_sites_is_what_the_simulation_says(
    pp: int, counts: tuple[int, ...], extra: int | None
) -> None:
    """Microbatches, bubble, waiting and boundaries add up to the simulated schedule of stages that differ."""
    kinds = ("h100-sxm", "a100-sxm-80gb", "h100-sxm")
    shares = tuple(share(site, kind, 8 * count) for site, kind, count in zip("abc", kinds, counts, strict=True))
    load = Workload("job", model("llama3-70b"), 8192, 96, "bf16", 32, shares)
    plan = layout(96, tp=8, pp=pp, dp=1, across="pp", extra_in_flight=extra, recompute="full")
    ms = {("a", "b"): 40.0, ("b", "c"): 15.0, ("a", "c"): 60.0}
    rate = 50.0
    found = step_time(load, plan, Links(dict.fromkeys(ms, rate), ms)).terms
    per = [stages(load, plan, box) for box in machines(load)]
    line = [per[i][1] for i, count in enumerate(counts) for _ in range(count)]
    line[0], line[-1] = per[0][0], per[-1][-1]
    size = 2 * 8192 * load.model.hidden / 1e9
    ways = [
        (upstream, ms[ends] / 1e3 + size * 8 / rate, size * 8 / rate)
        for upstream, ends in ((counts[0], ("a", "b")), (counts[0] + counts[1], ("b", "c")))
    ]
    times = tuple(stage.forward.total_s for stage in line), tuple(stage.backward.total_s for stage in line)
    taken = (
        hidden(*times, ways, 96, most=room(load, plan, 2) // 2)
        if extra is None
        else [Boundary(*way, extra) for way in ways]
    )
    edges = tuple(Edge(one.upstream, one.delay_s - one.transfer_s, one.transfer_s, one.extra) for one in taken)
    expected = simulate(pp, 96, *times, edges)
    own = found.compute_s + found.tp_s + found.cp_s + found.ep_s
    assert found.cross_pipeline_s > 0
    assert own + found.straggler_s + found.bubble_s + found.cross_pipeline_s == pytest.approx(expected, rel=1e-9)


@given(cases(), st.integers(0, 12))
@quiet
def test_no_number_in_flight_is_faster_and_none_that_is_as_fast_is_smaller(case: Case, most: int) -> None:
    m, forward, backward, edges = case
    assume(edges)
    ways = [(edge.upstream, edge.latency + edge.transfer, edge.transfer) for edge in edges]
    taken = hidden(forward, backward, ways, m, most)
    here = span_s(forward, backward, taken, m)
    assert all(0 <= one.extra <= most for one in taken)
    tried = {0, most, *(2**k for k in range(4) if 2**k < most)}
    for extra in tried:
        same = tuple(Boundary(*way, extra) for way in ways)
        assert here <= span_s(forward, backward, same, m) * (1 + 1e-9)
    if len(set(forward)) == len(set(backward)) == 1 and edges[-1].transfer <= min(forward[0], backward[0]):
        for extra in range(most + 1):  # where stages are alike no number between is faster either
            same = tuple(Boundary(*way, extra) for way in ways)
            assert here <= span_s(forward, backward, same, m) * (1 + 1e-9)


def test_rounding_does_not_choose_the_number_in_flight() -> None:
    """Where more in flight is as fast but for the last digit, the fewest are taken: here a slow transfer binds."""
    forward, backward, ways = (0.1,) * 4, (0.2,) * 4, [(2, 2.53, 2.53)]
    took_s = [span_s(forward, backward, (Boundary(2, 2.53, 2.53, extra),), 32) for extra in range(6)]
    assert took_s[0] > took_s[1] == pytest.approx(min(took_s), rel=1e-12)
    assert [one.extra for one in hidden(forward, backward, ways, 32, 5)] == [1]
