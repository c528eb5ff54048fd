"""Silent corruption: state that is wrong before anybody sees it, and what it costs to look and to go back."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Corruption:
    """How often state is silently corrupted, and how it is found."""

    rate_per_s: float
    """λ [1/s]."""
    latency_s: float
    """From a corruption that no check catches until it is noticed [s]."""
    check_s: float = 0.0
    """Time of one check, c [s]; 0 with `every_s` 0: none is made."""
    every_s: float = 0.0
    """Work between two checks, θ [s]; 0: none is made."""
    caught: float = 1.0
    """Share of corruptions that a check catches."""


def kept(about: Corruption, interval_s: float, restart_s: float) -> float:
    """Share of the time that is not lost to silent corruption.

    A cycle is the clean time before a corruption, 1/λ on average, the time w until it is noticed, and the restart R;
    what is kept of it goes up to the last checkpoint before the corruption. With checks a share c/θ is spent on them:

        (λτ/(e^(λτ) − 1)) / ((1 + λ(w + R)) (1 + c/θ)),   w = γ (θ/(1 − e^(−λθ)) − 1/λ) + (1 − γ) latency

    τ: work between checkpoints [s], γ: share that checks catch. Source: renewal argument; agrees with a simulation in
    the tests.
    """
    noticed_s = waited_s(about) + restart_s
    return state_kept(about, interval_s) / (1 + about.rate_per_s * noticed_s) / (1 + spent(about))


def state_kept(about: Corruption, interval_s: float) -> float:
    """Of the clean work before a corruption, what is in a checkpoint, λτ/(e^(λτ) − 1)."""
    x = about.rate_per_s * interval_s
    return 1 - x / 2 if x < 1e-9 else x / math.expm1(x) if x < 700 else 0.0


def spent(about: Corruption) -> float:
    """Time in checks over time in work, c/θ."""
    return about.check_s / about.every_s if about.every_s else 0.0


def waited_s(about: Corruption) -> float:
    """Mean time from a corruption until it is noticed [s]."""
    if not about.every_s:
        return about.latency_s
    x = about.rate_per_s * about.every_s
    # θ/(1 − e^(−x)) − 1/λ cancels for small x: θ/2 there
    wait_s = about.every_s * (0.5 + x / 12) if x < 1e-4 else about.every_s / -math.expm1(-x) - 1 / about.rate_per_s
    return about.caught * wait_s + (1 - about.caught) * about.latency_s


def best_every_s(check_s: float, rate_per_s: float, caught: float = 1.0) -> float:
    """Best work between two checks, √(2c/(γλ)): Young's form with the cost of a check [s]."""
    return math.sqrt(2 * check_s / (caught * rate_per_s))
