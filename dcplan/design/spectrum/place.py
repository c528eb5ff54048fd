"""Puts wavelengths into the spectrum: the same neighbouring slots on every fiber of a lightpath, one pair of each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from dcplan.design.existing import removable
from dcplan.design.result import Channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.existing import Place
    from dcplan.design.problem import Choice, Problem
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId

SHUFFLES = 20
"""Further orders that are tried, the same ones each time."""
NO_NUMBER = 10**9
"""Pairs, where no number of them is enough."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """No order fitted; the fullest fiber of a channel that found no place."""

    fiber: FiberId


def assign(
    problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int], held: Sequence[Channel] = ()
) -> tuple[Channel, ...] | Misfit:
    """First fit in several orders, widest and longest first; the first order in which all channels fit.

    held: channels that stand and stay beside those of `counts`. On every fiber the sum of widths is a lower bound that
    the ILP keeps already, so a fit is the best there is. Channels that stand already stay in their places; those that
    may be moved are, if nothing fits otherwise.
    """
    standing = {} if held else _standing(problem, counts, pairs)
    found = _assigned(problem, counts, pairs, standing, held)
    if isinstance(found, Misfit) and any(standing.values()) and removable(problem.network):
        return _assigned(problem, counts, pairs, {}, held)
    return found


def widened(
    problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int]
) -> tuple[tuple[Channel, ...], dict[FiberId, int]] | None:
    """Channels in their places on more pairs, one more wherever one found none; none where a fiber has no more."""
    more = dict(pairs)
    while isinstance(found := assign(problem, counts, more), Misfit):
        if more[found.fiber] == problem.network.fibers[found.fiber].pairs:
            return None
        more[found.fiber] += 1
    return found, more


def _standing(problem: Problem, counts: Sequence[int], pairs: Mapping[FiberId, int]) -> dict[int, tuple[Place, ...]]:
    """Choice -> places of the channels that stay: none beyond its count, nor on a pair that goes dark."""
    found = {}
    for j, places in problem.places.items():
        fibers = problem.lightpaths[problem.choices[j].lightpath].route.fibers
        lit = [
            place
            for place in places
            if all(pair < pairs[fiber] for fiber, pair in zip(fibers, place.pairs, strict=True))
        ]
        found[j] = tuple(lit[: counts[j]])
    return found


def _assigned(
    problem: Problem,
    counts: Sequence[int],
    pairs: Mapping[FiberId, int],
    standing: Mapping[int, Sequence[Place]],
    held: Sequence[Channel],
) -> tuple[Channel, ...] | Misfit:
    there = [(problem.choices[j], place) for j, places in standing.items() for place in places]
    wanted = [
        choice
        for j, (choice, count) in enumerate(zip(problem.choices, counts, strict=True))
        if choice.slots
        for _ in range(count - len(standing.get(j, ())))
    ]
    hops = [len(lightpath.route.fibers) for lightpath in problem.lightpaths]
    first = sorted(wanted, key=lambda choice: (-choice.slots, -hops[choice.lightpath], choice.lightpath))
    orders = [first, sorted(wanted, key=lambda choice: (-hops[choice.lightpath], -choice.slots, choice.lightpath))]
    chance = random.Random(1)  # noqa: S311 - the same orders each time is the point
    shuffled = [chance.sample(first, len(first)) for _ in range(SHUFFLES)]
    if problem.band.guard:  # equal widths side by side need no guard between them
        shuffled = [sorted(order, key=lambda choice: -choice.slots) for order in shuffled]
    orders += shuffled
    misfit: Misfit | None = None
    for order in orders:
        found = _first_fit(problem, order, pairs, there, held)
        if not isinstance(found, Misfit):
            return tuple(sorted((*held, *found), key=lambda one: (_number(one.lightpath), one.first_slot, one.pairs)))
        misfit = misfit or found
    return misfit or ()


def used_slots(problem: Problem, counts: Sequence[int]) -> dict[FiberId, int]:
    """Slots taken on each fiber, all pairs together."""
    used = dict.fromkeys(problem.fibers, 0)
    for choice, count in zip(problem.choices, counts, strict=True):
        for fiber in problem.glass(choice.lightpath):
            used[fiber] += choice.slots * count
    return used


class _Pair:
    """What is free on one lit pair, as bits of slots."""

    def __init__(self, band: Band) -> None:
        self.free, self.guard = band.open, band.guard
        self.taken: dict[int, int] = {}
        """Width -> slots that channels of it take; only where guards must be kept."""

    def room(self, width: int) -> int:
        """Slots that a channel of a width may take: free, and a guard away from channels of another width."""
        room = self.free
        for other, taken in self.taken.items():
            if other != width:
                for step in range(1, self.guard + 1):
                    room &= ~(taken << step) & ~(taken >> step)
        return room

    def take(self, slots: int, width: int) -> None:
        self.free &= ~slots
        if self.guard:
            self.taken[width] = self.taken.get(width, 0) | slots


def least_pairs(
    problem: Problem, counts: Sequence[int], band_slots: Mapping[FiberId, int] | None = None
) -> dict[FiberId, int]:
    """Pairs that each fiber needs at least, wherever its channels stand: by the sum of widths, by channels per width.

    band_slots: slots per pair, where channels may take less than the band. Channels at least w wide ≤
    floor(slots / w) per pair; Σ widths + (widths − bands × pairs) × guard ≤ slots × pairs.
    """
    widths: dict[FiberId, dict[int, int]] = {fiber: {} for fiber in problem.fibers}
    for choice, count in zip(problem.choices, counts, strict=True):
        for fiber in problem.glass(choice.lightpath) if count else ():
            widths[fiber][choice.slots] = widths[fiber].get(choice.slots, 0) + count
    usable = {fiber: problem.slots if band_slots is None else band_slots[fiber] for fiber in problem.fibers}
    return {fiber: _least_pairs(problem.band, here, usable[fiber]) for fiber, here in widths.items()}


def _least_pairs(band: Band, here: Mapping[int, int], usable: int) -> int:
    """here: width -> channels, all [slots]."""
    if not here:
        return 0
    if max(here) > usable:
        return NO_NUMBER
    by_width = [
        -(-sum(count for other, count in here.items() if other >= width) // (usable // width)) for width in here
    ]
    load = sum(width * count for width, count in here.items())
    guarded = -(-(load + band.guard * len(here)) // (usable + band.guard * len(band.stretches)))
    return max(-(-load // usable), guarded, *by_width)


def placement(
    problem: Problem, by_state: Sequence[Sequence[int]], lit: Mapping[FiberId, int], repairs: Sequence[FiberId]
) -> str:
    """In words: how the channels found their places, and whether other places could have lit fewer pairs.

    by_state: wavelengths per choice, of each state where these differ.
    """
    several = [least_pairs(problem, counts) for counts in by_state]
    least = {fiber: max(each[fiber] for each in several) for fiber in problem.fibers}
    kept = problem.pairs_kept
    more = [
        f"{fiber} ({pairs} lit, {least[fiber]} by load)"
        for fiber, pairs in lit.items()
        if pairs > max(least[fiber], kept.get(fiber, 0))
    ]
    said = "no channel is lit"
    if lit and not more:
        said = "every fiber lights as few pairs as the widths of its channels ask for: no assignment needs fewer"
    elif lit:
        said = f"fits, but not shown to need all pairs of {', '.join(more)}"
    if repairs:
        names = ", ".join(dict.fromkeys(repairs))
        times = "once" if len(repairs) == 1 else f"{len(repairs)} times"
        said += f"; sized again {times} because channels found no place on {names}"
    return said


def _first_fit(
    problem: Problem,
    order: Sequence[Choice],
    pairs: Mapping[FiberId, int],
    there: Sequence[tuple[Choice, Place]],
    held: Sequence[Channel],
) -> list[Channel] | Misfit:
    band = problem.band
    free = {fiber: [_Pair(band) for _ in range(count)] for fiber, count in pairs.items()}
    route_of = {lightpath.id: lightpath.route.fibers for lightpath in problem.lightpaths}
    for channel in held:
        for fiber, pair in zip(route_of[channel.lightpath], channel.pairs, strict=True):
            free[fiber][pair].take(((1 << channel.slots) - 1) << channel.first_slot, channel.slots)
    channels = []
    for choice, place in there:
        for fiber, pair in zip(problem.lightpaths[choice.lightpath].route.fibers, place.pairs, strict=True):
            free[fiber][pair].take(((1 << choice.slots) - 1) << place.first_slot, choice.slots)
        channels.append(_channel(problem, choice, place.first_slot, place.pairs))
    for choice in order:
        lightpath, width = problem.lightpaths[choice.lightpath], choice.slots
        rooms = {fiber: [pair.room(width) for pair in free[fiber]] for fiber in lightpath.route.fibers}
        starts = band.open
        for here in rooms.values():
            starts &= reduce(or_, (_starts(room, width) for room in here), 0)
        if not starts:
            fullest = min(
                lightpath.route.fibers, key=lambda fiber: (sum(pair.free.bit_count() for pair in free[fiber]), fiber)
            )
            return Misfit(fullest)
        first = (starts & -starts).bit_length() - 1
        taken = ((1 << width) - 1) << first
        chosen = []
        for fiber, here in rooms.items():
            pair = next(i for i, room in enumerate(here) if room & taken == taken)
            free[fiber][pair].take(taken, width)
            chosen.append(pair)
        channels.append(_channel(problem, choice, first, tuple(chosen)))
    return channels


def _channel(problem: Problem, choice: Choice, first: int, pairs: tuple[int, ...]) -> Channel:
    centre = problem.band.centre(first, choice.slots)
    name = problem.lightpaths[choice.lightpath].id
    return Channel(name, choice.part, choice.mode, first, choice.slots, pairs, centre)


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
