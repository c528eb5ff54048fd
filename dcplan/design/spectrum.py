"""Puts wavelengths into the spectrum: the same neighbouring slots on every fiber of a lightpath, one pair of each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design.result import Channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.problem import Choice, Problem
    from dcplan.model.network import FiberId

SHUFFLES = 20
"""Further orders that are tried, the same ones each time."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """No order fitted; the fullest fiber of a channel that found no place."""

    fiber: FiberId


def assign(problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int]) -> tuple[Channel, ...] | Misfit:
    """First fit in several orders, widest and longest first; the first order in which all channels fit.

    On every fiber the sum of widths is a lower bound that the ILP keeps already, so a fit is the best there is.
    """
    wanted = [choice for choice, count in zip(problem.choices, counts, strict=True) for _ in range(count)]
    hops = [len(lightpath.route.fibers) for lightpath in problem.lightpaths]
    first = sorted(wanted, key=lambda choice: (-choice.slots, -hops[choice.lightpath], choice.lightpath))
    orders = [first, sorted(wanted, key=lambda choice: (-hops[choice.lightpath], -choice.slots, choice.lightpath))]
    chance = random.Random(1)  # noqa: S311 - the same orders each time is the point
    orders += [chance.sample(first, len(first)) for _ in range(SHUFFLES)]
    misfit: Misfit | None = None
    for order in orders:
        found = _first_fit(problem, order, pairs)
        if not isinstance(found, Misfit):
            return tuple(
                sorted(found, key=lambda channel: (_number(channel.lightpath), channel.first_slot, channel.pairs))
            )
        misfit = misfit or found
    return misfit or ()


def used_slots(problem: Problem, counts: Sequence[int]) -> dict[FiberId, int]:
    """Slots taken on each fiber, all pairs together."""
    used = dict.fromkeys(problem.fibers, 0)
    for choice, count in zip(problem.choices, counts, strict=True):
        for fiber in problem.lightpaths[choice.lightpath].route.fibers:
            used[fiber] += choice.slots * count
    return used


def _first_fit(problem: Problem, order: Sequence[Choice], pairs: Mapping[FiberId, int]) -> list[Channel] | Misfit:
    band = (1 << problem.slots) - 1
    free = {fiber: [band] * count for fiber, count in pairs.items()}
    channels = []
    for choice in order:
        lightpath = problem.lightpaths[choice.lightpath]
        starts = band
        for fiber in lightpath.route.fibers:
            here = 0
            for pair in free[fiber]:
                here |= _starts(pair, choice.slots)
            starts &= here
        if not starts:
            fullest = min(
                lightpath.route.fibers, key=lambda fiber: (sum(pair.bit_count() for pair in free[fiber]), fiber)
            )
            return Misfit(fullest)
        slot = (starts & -starts).bit_length() - 1
        taken = ((1 << choice.slots) - 1) << slot
        chosen = []
        for fiber in lightpath.route.fibers:
            pair = next(i for i, mask in enumerate(free[fiber]) if mask & taken == taken)
            free[fiber][pair] &= ~taken
            chosen.append(pair)
        channels.append(
            Channel(lightpath.id, choice.budget.transponder, choice.budget.mode, slot, choice.slots, tuple(chosen))
        )
    return channels


def _starts(free: int, width: int) -> int:
    """Bits of the slots at which `width` neighbouring slots are free."""
    covered = 1
    while covered < width:
        step = min(covered, width - covered)
        free &= free >> step
        covered += step
    return free


def _number(lightpath: str) -> tuple[int, str]:
    digits = "".join(letter for letter in lightpath if letter.isdigit())
    return (int(digits) if digits else 0, lightpath)
