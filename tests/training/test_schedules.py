"""Bubbles and memory of pipeline schedules, against their orders run one by one and against the papers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.training.pipeline.schedules import (
    Times,
    bubble_s,
    in_flight,
    least_microbatches,
    overlapped,
    refusal,
    too_few,
)

from . import schedule_orders as orders

ALIKE = Times(1.0, 1.0, 1.0)
CONTROLLED = ("v-half", "v-min")
PRIMUS = [
    ("v-half", 2, 6, (1, 1, 1), 18.5, 2),
    ("v-half", 4, 8, (1, 1, 1), 26.5, 3),
    ("v-half", 4, 8, (1, 1.3, 0.8), 29.3, 3),
    ("v-half", 5, 20, (1, 0.9, 1.1), 65.25, 3),
    ("v-half", 8, 32, (1, 1, 1), 104.5, 5),
    ("v-half", 8, 32, (1, 1.5, 1), 139, 5),
    ("v-half", 12, 24, (1, 1.3, 0.8), 100.1, 7),
    ("v-min", 3, 6, (1, 1, 1), 20.5, 2),
    ("v-min", 4, 16, (1, 1.3, 0.8), 67.3, 2),
    ("v-min", 6, 24, (1, 0.9, 1.1), 80.15, 3),
    ("v-min", 8, 32, (1, 1, 1), 109, 4),
    ("v-min", 8, 32, (1, 1.5, 1), 158.5, 4),
    ("v-min", 12, 24, (1, 1.3, 0.8), 114.8, 5),
]
"""Schedule, devices, microbatches, times -> span and microbatches held: orders of AMD Primus @fd1eeabb, zbv_greedy.py,
each piece of work begun when its device is free and what it waits for has ended."""
MAKE = {"1f1b": orders.one_f_one_b, "zb-h1": orders.zb_h1, "zb-h2": orders.zb_h2, "zbv": orders.zbv}


@dataclass(frozen=True)
class Case:
    p: int
    m: int
    times: Times

    @property
    def whole(self) -> float:
        return self.times.forward_s + self.times.inputs_s + self.times.weights_s

    def run(self, schedule: str, both: float = 0.0) -> orders.Run:
        t = orders.Times(self.times.forward_s, self.times.inputs_s, self.times.weights_s, both)
        if schedule == "dualpipe":
            return orders.run(orders.dualpipe(self.p, self.m), self.p, t, 1)
        parts = 2 if schedule in {"zbv", *CONTROLLED} else 1
        if schedule in CONTROLLED:
            return orders.run(orders.controlled(schedule, self.p, self.m), 2 * self.p, t, parts)
        return orders.run(MAKE[schedule](self.p, self.m), parts * self.p, t, parts)


@st.composite
def cases(draw: st.DrawFn, schedule: str = "1f1b") -> Case:
    p = draw(st.integers(2, 7))
    if schedule == "dualpipe":
        p = 2 * draw(st.integers(1, 4))
    m = least_microbatches(schedule, p) + draw(st.integers(0, 9))
    m += m % 2 if schedule == "dualpipe" else 0
    inputs, weights = draw(st.floats(0.8, 2.0)), draw(st.floats(0.4, 1.6))
    return Case(p, m, Times(1.0, inputs, weights))


@given(cases())
def test_1f1b_and_zb_h1_are_exact_for_any_number_of_microbatches(case: Case) -> None:
    for schedule in ("1f1b", "zb-h1"):
        found = case.m * case.whole + bubble_s(schedule, case.p, case.m, case.times)
        assert found == pytest.approx(case.run(schedule).makespan)


@given(cases("zb-h2"))
def test_zb_h2_is_exact_where_stages_do_not_wait_for_each_others_optimizer(case: Case) -> None:
    found = case.m * case.whole + bubble_s("zb-h2", case.p, case.m, case.times)
    assert found == pytest.approx(case.run("zb-h2").longest_span)


@given(cases("zbv"))
def test_zbv_is_exact(case: Case) -> None:
    found = case.m * case.whole + bubble_s("zbv", case.p, case.m, case.times)
    assert found == pytest.approx(case.run("zbv").makespan)


@pytest.mark.parametrize("schedule", CONTROLLED)
@given(case=cases("zbv"), rounds=st.integers(0, 3))
def test_controlled_memory_is_exact_for_any_number_of_microbatches(schedule: str, case: Case, rounds: int) -> None:
    """Far beyond three times the devices, where it is no longer run to the end."""
    case = Case(case.p, case.m + rounds * case.p, case.times)
    found = case.m * case.whole + bubble_s(schedule, case.p, case.m, case.times)
    ran = case.run(schedule)
    assert found == pytest.approx(ran.makespan)
    assert in_flight(schedule, case.p, case.m) == pytest.approx(max(ran.most))


@pytest.mark.parametrize(("schedule", "p", "m", "times", "span", "held"), PRIMUS)
def test_controlled_memory_takes_as_long_as_the_orders_of_primus(
    schedule: str, p: int, m: int, times: tuple[float, float, float], span: float, held: float
) -> None:
    assert m * sum(times) + bubble_s(schedule, p, m, Times(*times)) == pytest.approx(span)
    assert in_flight(schedule, p, m) == held


@pytest.mark.parametrize(("schedule", "part"), [("v-half", 1 / 2), ("v-min", 1 / 3)])
def test_controlled_memory_is_half_and_a_third_of_a_long_pipeline(schedule: str, part: float) -> None:
    for p in (8, 16, 24):
        assert p * part <= in_flight(schedule, p, 4 * p) <= p * part + 2
        assert bubble_s(schedule, p, 4 * p, ALIKE) > bubble_s("zbv", p, 4 * p, ALIKE)


@given(cases("dualpipe"), st.floats(0.85, 1.0))
def test_dualpipe_is_exact_with_its_overlapped_pairs(case: Case, both: float) -> None:
    found = case.m * case.whole + bubble_s("dualpipe", case.p, case.m, case.times)
    found -= overlapped("dualpipe", case.p, 1, case.m, paired=False) * (1 - both) * case.whole
    assert found == pytest.approx(case.run("dualpipe", both * case.whole).makespan, rel=0.01)


@pytest.mark.parametrize("schedule", ["zb-h1", "zb-h2", "zbv", "dualpipe"])
@given(st.sampled_from([4, 6, 8]), st.integers(2, 6), st.floats(0.7, 1.05), st.floats(0.8, 1.3), st.floats(1, 1.5))
def test_where_ends_of_the_model_differ(
    schedule: str, p: int, rounds: int, first: float, last: float, inputs: float
) -> None:
    """An embedding is less than a layer, logits are more: ours is up to 11 % too slow, or 6 % too fast."""
    m, n = rounds * p, 2 * p if schedule == "zbv" else p
    scales = [first, *[1.0] * (n - 2), last]
    stages = [orders.Times(scale, inputs * scale, 0.8 * scale) for scale in scales]
    ran = orders.run({**MAKE, "dualpipe": orders.dualpipe}[schedule](p, m), n, stages, 1)
    pairs = {"zbv": [(r, 2 * p - 1 - r) for r in range(p)], "dualpipe": [(r, p - 1 - r) for r in range(p)]}
    held = pairs.get(schedule, [(r,) for r in range(p)])
    devices = [sum(scales[i] for i in on) / (2 if schedule == "dualpipe" else 1) for on in held]
    others = (sum(devices) - max(devices)) / (p - 1)
    times = Times(others, inputs * others, 0.8 * others)
    found = m * max(devices) * (1 + inputs + 0.8) + bubble_s(schedule, p, m, times)
    real = ran.longest_span if schedule == "zb-h2" else ran.makespan
    assert -0.06 < found / real - 1 < 0.11


@given(
    p=st.integers(1, 6), v=st.integers(1, 4), rounds=st.integers(2, 5), inputs=st.floats(1, 2), both=st.floats(0.7, 1)
)
def test_paired_passes_of_an_interleaved_schedule(p: int, v: int, rounds: int, inputs: float, both: float) -> None:
    v = 1 if p == 1 else v
    m, whole = rounds * p, 1 + inputs
    ran = orders.run(orders.interleaved(p, v, m, paired=True), p * v, orders.Times(1, inputs, 0, both * whole / v), v)
    found = (m + (p - 1) / v) * whole - overlapped("1f1b", p, v, m, paired=True) * (1 - both) * whole
    assert found == pytest.approx(ran.makespan, rel=0.02)
    apart = orders.run(orders.interleaved(p, v, m), p * v, orders.Times(1, inputs, 0), v)
    assert apart.makespan == pytest.approx((m + (p - 1) / v) * whole)
    assert max(ran.most) <= max(apart.most) + 1 / v + 1e-9


@pytest.mark.parametrize("schedule", ["zb-h1", "zb-h2", "zbv", "dualpipe"])
@given(data=st.data())
def test_memory_is_what_the_order_holds(schedule: str, data: st.DataObject) -> None:
    case = data.draw(cases(schedule))
    held = max(case.run(schedule, case.whole).most)
    assert in_flight(schedule, case.p, case.m) == pytest.approx(held)


@pytest.mark.parametrize("p", [2, 4, 8, 16])
def test_bubbles_of_the_papers_where_all_times_are_alike(p: int) -> None:
    m = 4 * p
    assert bubble_s("1f1b", p, m, ALIKE) == 3 * (p - 1)  # (p-1)(F+B)
    assert bubble_s("zb-h1", p, m, ALIKE) == p - 1  # (p-1)(F+B-2W), B whole
    assert bubble_s("zb-h2", p, m, ALIKE) == 0  # (p-1)(F+B-3W)
    assert bubble_s("zbv", p, m, ALIKE) == (p - 1) / 2  # a sixth of the device's time for a microbatch, times p-1
    assert bubble_s("dualpipe", p, m, ALIKE) == 2 * (p / 2 - 1)  # (p/2-1)(F&B+B-3W)


@given(cases("dualpipe"))
def test_splitting_the_backward_pass_never_waits_longer(case: Case) -> None:
    plain = bubble_s("1f1b", case.p, case.m, case.times)
    for schedule in ("zb-h1", "zb-h2", "dualpipe"):
        assert bubble_s(schedule, case.p, case.m, case.times) <= plain + 1e-9


def test_what_cannot_run_is_said() -> None:
    assert refusal("1f1b", 1, 1) is None
    assert "needs a pipeline" in (refusal("zb-h1", 1, 1) or "")
    assert "interleaved" in (refusal("zb-h1", 4, 2) or "")
    assert "even pp" in (refusal("dualpipe", 5, 1) or "")
    assert refusal("dualpipe", 4, 1) is None
    assert too_few("1f1b", 8, 1) is None
    assert too_few("zbv", 8, 15) is None
    assert too_few("zbv", 8, 14) == "schedule zbv needs 15 microbatches on pp 8, a rank has 14"
    assert too_few("v-min", 8, 15) is None
    assert too_few("v-half", 8, 14) == "schedule v-half needs 15 microbatches on pp 8, a rank has 14"
    assert too_few("zb-h2", 4, 6) == "schedule zb-h2 needs 7 microbatches on pp 4, a rank has 6"
    assert "even number of microbatches" in (too_few("dualpipe", 4, 9) or "")
    assert too_few("dualpipe", 4, 8) is None
