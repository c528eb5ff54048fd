"""Checkpoints and failures: closed forms against a simulation that knows nothing of them, and against each other."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.goodput.corruption import Corruption, best_every_s, kept, waited_s
from dcplan.training.goodput.renewal import Cycle, by_hand, daly_s, efficiency, young_s

quiet = settings(derandomize=True, deadline=None, max_examples=60)
MONTH_S = 30 * 86_400.0


class Simulation:
    """One run, event by event: work in segments, checkpoints, failures that strike at any moment."""

    def __init__(self, cycle: Cycle, seed: int) -> None:
        self.cycle, self.random = cycle, random.Random(seed)
        self.clock_s = 0.0

    def _next_s(self, rate: float) -> float:
        return self.random.expovariate(rate) if rate > 0 else math.inf

    def _recover(self, *, far: bool) -> bool:
        """Detection, then restarts until one is not struck; true when a far failure came in it, or began it."""
        cycle = self.cycle
        while True:
            struck_s = math.inf if far else self._next_s(cycle.far_rate_per_s)
            if struck_s < cycle.detection_s:
                self.clock_s += struck_s
                far = True
                continue
            self.clock_s += cycle.detection_s
            near_s, far_s = self._next_s(cycle.rate_per_s), self._next_s(cycle.far_rate_per_s)
            if min(near_s, far_s) >= cycle.restart_s:
                self.clock_s += cycle.restart_s
                return far
            self.clock_s += min(near_s, far_s)
            far = far or far_s < near_s

    def work_share(self, rounds: int) -> float:
        cycle, done, segment, taken_s = self.cycle, 0, 0, -math.inf
        while done < rounds:
            length_s = cycle.interval_s + cycle.stall_s
            length_s += cycle.far_stall_s if segment == cycle.far_every - 1 else 0.0
            near_s, far_s = self._next_s(cycle.rate_per_s), self._next_s(cycle.far_rate_per_s)
            if min(near_s, far_s) >= length_s:
                self.clock_s += length_s
                segment += 1
                if segment == cycle.far_every:
                    done, segment, taken_s = done + 1, 0, self.clock_s
                continue
            self.clock_s += min(near_s, far_s)
            at_s = self.clock_s
            if self._recover(far=far_s < near_s):
                segment = 0
                if at_s - taken_s < cycle.far_lag_s and done:  # what was taken last was not there yet
                    done, taken_s = done - 1, -math.inf
        return done * cycle.far_every * cycle.interval_s / self.clock_s


ONE_KIND = Cycle(1800, 60, 1 / 7200, 30, 300)
CASES = {
    "one kind": (ONE_KIND, 20_000),
    "often": (Cycle(3600, 0, 1 / 3000, 0, 900), 20_000),
    "nothing but writing": (Cycle(600, 30, 0.0, 0, 0), 10),
    "near and far": (Cycle(300, 10, 1 / 5000, 20, 200, 6, 40, 1 / 20_000), 8_000),
    "near and far, often": (Cycle(200, 20, 1 / 900, 60, 120, 5, 0, 1 / 4000), 8_000),
    "far only": (Cycle(200, 20, 0.0, 60, 120, 5, 0, 1 / 4000), 8_000),
}


@pytest.mark.parametrize("name", CASES)
def test_the_closed_form_is_what_a_simulation_finds(name: str) -> None:
    cycle, rounds = CASES[name]
    assert efficiency(cycle) == pytest.approx(Simulation(cycle, 1).work_share(rounds), rel=0.02)


def test_a_far_checkpoint_that_is_late_costs_its_lag() -> None:
    cycle = Cycle(300, 10, 1 / 5000, 20, 200, 6, 0, 1 / 20_000, 900)
    assert efficiency(cycle) == pytest.approx(Simulation(cycle, 2).work_share(10_000), rel=0.02)
    assert efficiency(cycle) < efficiency(replace(cycle, far_lag_s=0))


def test_one_kind_is_dalys_complete_model() -> None:
    rate, tau, delta, down, restart = 1 / 7200, 1800, 60, 30, 300
    wall = math.exp(rate * restart) * (1 / rate + down) * math.expm1(rate * (tau + delta))
    assert efficiency(ONE_KIND) == pytest.approx(tau / wall)
    tiny = replace(ONE_KIND, far_rate_per_s=1e-11, far_every=1)
    assert efficiency(tiny) == pytest.approx(efficiency(ONE_KIND), rel=1e-6)


def test_the_form_by_hand_is_metas() -> None:
    rate, restart, tau, write = 2000 * 6.5e-3 / 86_400, 300, 3600, 20
    assert by_hand(Cycle(tau, write, rate, 0, restart)) == pytest.approx(
        (1 - rate * (restart + tau / 2)) / (1 + write / tau)
    )


@given(st.floats(60, 7200), st.floats(0, 60), st.floats(0.001, 0.2), st.floats(0, 300), st.floats(0, 600))
@quiet
def test_by_hand_agrees_while_little_is_lost(
    tau: float, delta: float, lost: float, detection: float, restart: float
) -> None:
    """Within 3 points while N r_f (u0 + τ/2) is below 0.2: the second order is half its square and less."""
    rate = lost / (detection + restart + tau / 2)
    cycle = Cycle(tau, delta, rate, detection, restart)
    assert by_hand(cycle) == pytest.approx(efficiency(cycle), abs=0.03)


def test_by_hand_is_wrong_where_much_is_lost() -> None:
    """And may not be used there: at 0.5 lost it is far from what happens."""
    cycle = Cycle(3600, 0, 0.5 / 2100, 0, 300)
    truth = Simulation(cycle, 3).work_share(20_000)
    assert abs(by_hand(cycle) - truth) > 0.05 > 10 * abs(efficiency(cycle) - truth)


@given(st.floats(1, 600), st.floats(1.2, 3e5))
@quiet
def test_daly_is_near_the_numerical_optimum_and_young_further(delta: float, ratio: float) -> None:
    mtbf = delta * ratio

    def at(tau: float) -> float:
        return efficiency(Cycle(tau, delta, 1 / mtbf, 0, 0))

    low, high = math.log(delta / 100), math.log(100 * mtbf)
    for _ in range(120):
        a, b = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, b) if at(math.exp(a)) >= at(math.exp(b)) else (a, high)
    best = at(math.exp(low)) * (1 + 1e-12)
    assert best >= at(daly_s(delta, mtbf)) >= best * 0.995
    assert best >= at(young_s(delta, mtbf)) >= best * 0.8
    if ratio < 100:
        assert at(daly_s(delta, mtbf)) >= at(young_s(delta, mtbf)) * (1 - 1e-12)


def test_a_checkpoint_longer_than_twice_the_mtbf_is_made_every_mtbf() -> None:
    assert daly_s(300, 100) == 100
    assert daly_s(199.999, 100) == pytest.approx(100 * 2 * (1 + 1 / 3 + 1 / 9) - 200, rel=1e-4)


cycles = st.builds(
    Cycle,
    st.floats(10, 7200),
    st.floats(0, 300),
    st.floats(1e-7, 1e-4),
    st.floats(0, 600),
    st.floats(0, 1800),
    st.integers(1, 10),
    st.floats(0, 300),
    st.floats(0, 1e-5),
    st.floats(0, 600),
)
MORE = ("stall_s", "rate_per_s", "detection_s", "restart_s", "far_stall_s", "far_rate_per_s", "far_lag_s")


@given(cycles, st.sampled_from(MORE), st.floats(1.01, 5))
@quiet
def test_more_of_any_evil_never_helps(cycle: Cycle, key: str, factor: float) -> None:
    worse = replace(cycle, **{key: getattr(cycle, key) * factor + 1e-9})
    assert 0 <= efficiency(worse) <= efficiency(cycle) * (1 + 1e-9) <= 1 + 1e-9


def test_a_run_that_never_gets_on() -> None:
    assert efficiency(Cycle(1e6, 0, 1.0, 0, 0)) == 0.0
    assert efficiency(Cycle(math.inf, 10, 1e-5, 0, 0)) == 0.0
    assert efficiency(Cycle(math.inf, 10, 0.0, 0, 0)) == 1.0


@pytest.mark.parametrize(
    "about",
    [
        Corruption(1 / 50_000, 6000),
        Corruption(1 / 20_000, 0, 30, 2000),
        Corruption(1 / 20_000, 15_000, 30, 4000, 0.7),
    ],
)
def test_silent_corruption_is_what_a_simulation_finds(about: Corruption) -> None:
    """Clean work, a corruption, the wait until it is seen, a restart from the last checkpoint before it."""
    source, interval, restart = random.Random(5), 900.0, 400.0
    worked = clock = 0.0
    for _ in range(40_000):
        clean = source.expovariate(about.rate_per_s)
        if about.every_s and source.random() < about.caught:
            wait = about.every_s - math.fmod(clean, about.every_s)
        else:
            wait = about.latency_s
        worked += interval * math.floor(clean / interval)
        slower = 1 + (about.check_s / about.every_s if about.every_s else 0.0)
        clock += (clean + wait + restart) * slower
    assert kept(about, interval, restart) == pytest.approx(worked / clock, rel=0.01)


def test_the_best_period_of_checks_is_near_the_numerical_one() -> None:
    rate, cost = 1 / 86_400, 20.0

    def at(every: float) -> float:
        return kept(Corruption(rate, 0, cost, every), 600, 300)

    best = max(at(every) for every in range(200, 20_000, 20))
    assert at(best_every_s(cost, rate)) == pytest.approx(best, abs=2e-4)


def test_waiting_for_a_check_is_half_its_period() -> None:
    assert waited_s(Corruption(1e-9, 0, 1, 1000)) == pytest.approx(500, rel=1e-3)
    assert waited_s(Corruption(1e-4, 0, 1, 1000)) == pytest.approx(508.3, rel=1e-3)
    assert kept(Corruption(0.0, 0, 10, 100), 600, 300) == pytest.approx(1 / 1.1)
