"""Order statistics against sampling, exact values and each other; stragglers of published runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training.goodput.order import TAILS, expected, harmonic
from dcplan.training.goodput.stragglers import Apart, Stragglers, waiting

quiet = settings(derandomize=True, deadline=None, max_examples=25)


def sampled(tail: str, sigma: float, groups: int, dropped: int, each: int) -> float:
    import numpy as np

    source = np.random.default_rng(7)
    size = (4000, groups, each)
    if tail == "normal":
        times = source.normal(1, sigma, size)
    elif tail == "lognormal":
        spread = math.sqrt(math.log1p(sigma**2))
        times = source.lognormal(-(spread**2) / 2, spread, size)
    else:
        times = 1 - sigma + source.exponential(sigma, size)
    done = np.sort(times.max(axis=2), axis=1)[:, groups - dropped - 1]
    return float(done.mean())


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize(
    ("groups", "dropped", "each"), [(1, 0, 1), (2, 0, 1), (16, 0, 4), (40, 3, 1), (24, 2, 5), (9, 8, 3)]
)
def test_sampling_agrees(tail: str, groups: int, dropped: int, each: int) -> None:
    want = sampled(tail, 0.2, groups, dropped, each)
    assert expected(tail, 0.2, groups, dropped, each) == pytest.approx(want, abs=0.012)


def test_exact_values() -> None:
    """E[max] of 2, 3 and 5 standard normal values: 1/√π, 1.5/√π, 1.16296 (David and Nagaraja, table)."""
    assert expected("normal", 1.0, 2) == pytest.approx(1 + 1 / math.sqrt(math.pi), rel=1e-9)
    assert expected("normal", 1.0, 3) == pytest.approx(1 + 1.5 / math.sqrt(math.pi), rel=1e-9)
    assert expected("normal", 1.0, 5) == pytest.approx(2.16296447, rel=1e-8)
    assert expected("normal", 1.0, 5, 4) == pytest.approx(1 - 1.16296447, rel=1e-7)
    assert expected("normal", 1.0, 5, 2) == pytest.approx(1.0, abs=1e-9)
    assert expected("exponential", 0.5, 4) == pytest.approx(0.5 + 0.5 * (1 + 1 / 2 + 1 / 3 + 1 / 4))
    assert harmonic(64) == pytest.approx(math.fsum(1 / i for i in range(1, 65)), rel=1e-14)


def by_hand(tail: str, sigma: float, workers: int) -> float:
    """Mean of the largest of many, by its limit: 1 + σ z, z = b + γ/√(2 ln n), b = √(2 ln n) − (ln ln n + ln 4π)/
    (2 √(2 ln n)), γ = 0.5772 (Cramér, Mathematical Methods of Statistics, 28.6)."""
    root = math.sqrt(2 * math.log(workers))
    z = root - (math.log(math.log(workers)) + math.log(4 * math.pi)) / (2 * root) + 0.5772 / root
    if tail == "exponential":
        return 1 - sigma + sigma * (math.log(workers) + 0.5772)
    spread = math.sqrt(math.log1p(sigma * sigma))
    return 1 + sigma * z if tail == "normal" else math.exp(spread * z - spread * spread / 2)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("workers", [128, 2048, 131_072])
def test_the_form_by_hand_is_near(tail: str, workers: int) -> None:
    assert by_hand(tail, 0.05, workers) == pytest.approx(expected(tail, 0.05, workers), abs=0.003)


def test_dropping_one_of_two_together_gains_more() -> None:
    one, two = expected("exponential", 0.3, 1000, 1), expected("exponential", 0.3, 500, 1, 2)
    assert two < one < expected("exponential", 0.3, 1000) == pytest.approx(0.7 + 0.3 * harmonic(1000))


@pytest.mark.parametrize("bad", [(0, 0, 1), (4, 4, 1), (4, -1, 1), (4, 0, 0)])
def test_nobody_left(bad: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be dropped"):
        expected("normal", 0.1, *bad)


def test_unknown_tail() -> None:
    with pytest.raises(ValueError, match="choose normal"):
        expected("pareto", 0.1, 4)


@given(st.sampled_from(TAILS), st.floats(0.001, 0.3), st.integers(2, 5000), st.integers(1, 4), st.integers(1, 8))
@quiet
def test_more_workers_wait_longer_and_dropping_helps(
    tail: str, sigma: float, ranks: int, more: int, hosts: int
) -> None:
    def longer(ranks: int, dropped: int = 0, apart: Apart | None = None) -> float:
        return waiting(Stragglers(tail, sigma, dropped=dropped), ranks, hosts, apart).longer

    assert longer(ranks + more) >= longer(ranks) - 1e-9
    assert longer(ranks, 1) <= longer(ranks) + 1e-9
    assert longer(ranks, apart=Apart(2, 16)) <= longer(ranks) + 1e-9


def test_sites_that_wait_rarely_wait_for_their_own_noise_and_for_slow_hosts_of_all() -> None:
    """Against the site alone the rest falls with the root of the steps between waits; a slow host costs the same."""
    noisy, slow = Stragglers("normal", 0.1), Stragglers(slow=0.1)
    own = waiting(noisy, 32, 16).longer
    each, sixteen, never = (waiting(noisy, 64, 16, Apart(2, every)).longer - own for every in (1, 16, math.inf))
    assert each == pytest.approx(waiting(noisy, 64, 16).longer - own)
    assert (each / sixteen, never) == (pytest.approx(4), 0)
    assert waiting(slow, 64, 16, Apart(2, 16)).longer == waiting(slow, 64, 16).longer == pytest.approx(1.1)
    assert 1 / waiting(slow, 64, 16, Apart(4, math.inf)).longer == pytest.approx((3 + 1 / 1.1) / 4)


def test_sampled_sites_that_wait_every_few_steps() -> None:
    """Two sites of 40 hosts, a step as long as the slowest of its own, both at the same step every 25."""
    import numpy as np

    times = np.random.default_rng(1).normal(1, 0.1, (800, 2, 25, 40)).max(axis=3).mean(axis=2).max(axis=1)
    found = waiting(Stragglers("normal", 0.1), 80, 1, Apart(2, 25)).longer
    assert found == pytest.approx(float(times.mean()), abs=0.005)


def test_a_slow_host_goes_with_the_rank_that_is_dropped() -> None:
    """And its share of the batch with it."""
    kept = waiting(Stragglers(slow=0.1, slow_hosts=2, dropped=1), 64, 16)
    gone = waiting(Stragglers(slow=0.1, slow_hosts=2, dropped=2), 64, 16)
    assert (kept.longer, gone.longer) == (pytest.approx(1.1), 1.0)
    assert gone.used == 62 / 64
    shared = waiting(Stragglers(slow=0.1, dropped=7), 64, 1 / 8)  # eight ranks on a host: dropping 7 frees none
    assert shared.longer == pytest.approx(1.1)
    with pytest.raises(ValueError, match="data parallel ranks"):
        waiting(Stragglers(dropped=4), 4, 1)


def test_bytedances_jobs_have_an_exponential_tail() -> None:
    """OSDI'25 (arXiv 2505.05713): 42.5 % of 3,079 jobs at least 10 % slower, 10.4 % of GPU-hours wasted.

    An exponential tail that is set by the first figure alone predicts the second: the waste of a job S times slower is
    1 − 1/S. Of the worst in a hundred jobs it predicts 35 %, the paper 45 %: the real tail is longer still.
    """
    import numpy as np

    mean = 0.1 / -math.log(0.425)
    slowdown = 1 - np.log1p(-(np.arange(100_000) + 0.5) / 100_000) * mean
    assert 100 * float(np.mean(1 - 1 / slowdown)) == pytest.approx(10.4, abs=1.0)
    assert 100 * float(np.quantile(1 - 1 / slowdown, 0.99)) == pytest.approx(35, abs=1)


def test_megascales_slow_hosts() -> None:
    """MegaScale (NSDI'24): hosts 10 % slow; a synchronous job is as slow as they are, and sound without them."""
    with_them = waiting(Stragglers(slow=0.1), 96, 16).longer
    assert (with_them, waiting(Stragglers(), 96, 16).longer) == (pytest.approx(1.1), 1.0)
