"""What is lit, as a plan names it: wavelengths by lightpath and mode, fibers with their pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design.result import LitFiber, Wavelengths
from dcplan.model.grid import SLOT_GHZ

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.result import Channel
    from dcplan.model.network import FiberId


def wavelengths_of(made: Problem, counts: Sequence[int]) -> tuple[Wavelengths, ...]:
    """What is lit, what was there already and what is new of a kind as one."""
    total: dict[tuple[int, str, str], int] = {}
    there: dict[tuple[int, str, str], int] = {}
    about = {}
    for choice, count in zip(made.choices, counts, strict=True):
        kind = (choice.lightpath, choice.part, choice.mode)
        about[kind] = choice
        total[kind] = total.get(kind, 0) + count
        there[kind] = there.get(kind, 0) + (choice.most if choice.existing else 0)
    return tuple(
        Wavelengths(
            lightpath=made.lightpaths[choice.lightpath].id,
            transponder=choice.part,
            mode=choice.mode,
            count=total[kind],
            rate_gbps=choice.gbps,
            width_ghz=choice.width_ghz,
            latency_ms=choice.latency_ms,
            existing=min(total[kind], there[kind]),
        )
        for kind, choice in about.items()
        if total[kind]
    )


def lit_fibers(made: Problem, channels: Sequence[Channel], failing: Sequence[Channel] = ()) -> tuple[LitFiber, ...]:
    """Lit pairs as the channels take them, and those that stay lit without any.

    First fit starts on the first pair, so none between is empty that was not lit already. failing: channels that are
    lit in some failure only, which need pairs as well.
    """
    routes: Mapping[str, tuple[FiberId, ...]] = {path.id: path.route.fibers for path in made.lightpaths}
    taken: dict[FiberId, list[int]] = {fiber: [] for fiber in made.fibers}
    pairs = {fiber: made.pairs_kept.get(fiber, 0) for fiber in made.fibers}
    for channel in (*channels, *failing):
        for fiber, pair in zip(routes[channel.lightpath], channel.pairs, strict=True):
            pairs[fiber] = max(pairs[fiber], 1 + pair)
    for channel in channels:
        for fiber in routes[channel.lightpath]:
            taken[fiber].append(channel.slots)
    lit = []
    for fiber, here in taken.items():
        if pairs[fiber]:
            used = sum(here)
            fill_percent = 100 * used / (made.band.amplified * pairs[fiber])
            there = min(pairs[fiber], made.pairs_lit.get(fiber, 0))
            lit.append(LitFiber(fiber, pairs[fiber], len(here), used * SLOT_GHZ, fill_percent, there))
    return tuple(lit)
