"""Order statistics: how long n workers take together, of whom each takes a random time.

All times are relative: a worker's mean time is 1, `sigma` its standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

TAILS = ("normal", "lognormal", "exponential")
"""Shapes of a worker's time: normal; lognormal; a fixed part and an exponential tail."""
_STANDARD = NormalDist()
_POINTS = 2_000
_REACH = 45.0
"""Integrals over the upper tail probability v go from e^-45 up, in ln v."""


@cache
def expected(tail: str, sigma: float, groups: int, dropped: int = 0, each: int = 1) -> float:
    """Mean time until all but the `dropped` slowest groups are done; a group is `each` workers, and needs them all.

    E[X_(r:n)] = ∫ Q(v) n!/((r−1)!(n−r)!) (1−v)^(r−1) v^(n−r) dv, n groups, r = n − dropped, Q the quantile of a group
    at upper tail probability v, that of a worker at 1 − (1−v)^(1/each); by the trapezoidal rule in ln(v/(1−v)).
    For an exponential tail of single workers exactly 1 − σ + σ (H_n − H_(n−r)). Relative to the mean of one worker.
    ValueError for an unknown tail, or no group left. Source: David and Nagaraja, Order Statistics, 3rd ed., 2.1.
    """
    if each < 1 or not 0 <= dropped < groups:
        raise ValueError(f"{dropped} of {groups} groups of {each} cannot be dropped")
    if not dropped:
        groups, each = groups * each, 1
    if tail == "exponential":
        if each == 1:
            return 1 - sigma + sigma * (harmonic(groups) - harmonic(dropped))
        return 1 - sigma - sigma * _mean(math.log, groups, dropped, each)
    if tail == "normal":
        return 1 + sigma * _standard(groups, dropped, each)
    if tail == "lognormal":
        spread = math.sqrt(math.log1p(sigma * sigma))
        return _mean(lambda v: math.exp(spread * _normal(v) - spread * spread / 2), groups, dropped, each)
    raise ValueError(f"there is no tail `{tail}`: choose {', '.join(TAILS)}")


def harmonic(n: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n; by its asymptotic series from 64 on, which is exact to 10⁻¹⁵."""
    if n < 64:
        return math.fsum(1 / i for i in range(1, n + 1))
    return math.log(n) + 0.577_215_664_901_532_9 + 1 / (2 * n) - 1 / (12 * n**2) + 1 / (120 * n**4)


@cache
def _standard(groups: int, dropped: int, each: int) -> float:
    """Of standard normal times."""
    return _mean(_normal, groups, dropped, each)


def _normal(v: float) -> float:
    """Standard normal quantile at upper tail probability v."""
    return -_STANDARD.inv_cdf(v)


def _mean(value: Callable[[float], float], groups: int, dropped: int, each: int) -> float:
    """∫ value(v of one worker) beta(v of its group) dv; the weights are normalised by their own sum."""
    width = 2 * _REACH / _POINTS
    found = []
    for i in range(_POINTS + 1):
        x = i * width - _REACH  # ln(v / (1 − v)); dv = v (1 − v) dx
        log_v, log_rest = -_log_1_plus_exp(-x), -_log_1_plus_exp(x)
        found.append(((dropped + 1) * log_v + (groups - dropped) * log_rest, log_rest / each))
    top = max(weight for weight, _ in found)
    total = mean = 0.0
    for weight, log_rest in found:
        v = -math.expm1(log_rest)
        if weight > top - 60 and 0 < v < 1:
            total += (share := math.exp(weight - top))
            mean += share * value(v)
    return mean / total


def _log_1_plus_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
