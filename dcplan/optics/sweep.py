"""The bathtub of a line: GSNR and margin of each mode over the launch power."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.model.network import Route
from dcplan.optics.allowed import usable_modes
from dcplan.optics.budget import Line
from dcplan.optics.lightpath import evaluate
from dcplan.optics.loading import GIVEN_FOR_GHZ
from dcplan.units import db

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.parts import Mode
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Budget
    from dcplan.optics.line import NoLine

SPAN_DB = 6.0
"""How far from the optimum a sweep goes on either side [dB]."""
STEP_DB = 0.5
_FREE_DB = 90.0
"""More than any amplifier gives: at this, nothing clips [dB or dBm]."""


@dataclass(frozen=True, slots=True)
class Point:
    """One launch power on a line."""

    launch_dbm: float
    """Per channel [dBm]."""
    gsnr_db: float
    """Worst channel, worse direction, 0.1 nm [dB]."""
    margin_db: float | None
    """None for −infinity."""
    reached: bool
    """The amplifiers give it."""


@dataclass(frozen=True, slots=True)
class Bathtub:
    """One mode on one fiber, from end to end of it, over the launch power."""

    fiber: FiberId
    transponder: str
    mode: str
    rate_gbps: float
    used_dbm: float
    """Launch that a plan takes: optimum or given, clipped [dBm]."""
    used_limit: str
    """What sets it: optimum, amplifier output, booster gain, given."""
    gsnr_db: float
    """At that launch [dB]."""
    margin_db: float | None
    closes: bool
    optimum_dbm: float | None
    """Where GSNR would be best without limits; none where it only rises, without nonlinearity [dBm]."""
    clip_dbm: float
    """The most that the amplifiers give [dBm]."""
    clip_limit: str
    points: tuple[Point, ...]
    """From 6 dB below the optimum (without one: the clip) to 6 dB above, in steps of 0.5 dB."""


def bathtubs(
    network: Network, lines: Mapping[FiberId, Line | NoLine], fibers: Sequence[FiberId] | None = None
) -> tuple[Bathtub, ...]:
    """The bathtub of every allowed mode on every amplified line, or those of some fibers, in file order.

    Points beyond the clip are what the glass would do with stronger amplifiers of the same noise figure.
    """
    chosen = {
        name: line
        for name, line in lines.items()
        if isinstance(line, Line) and line.booster and (fibers is None or name in fibers)
    }
    modes, free = usable_modes(network), _unlimited(network)
    used = _budgets(network, chosen, modes)
    clip = _budgets(_launching(network, dict.fromkeys(chosen, _FREE_DB)), chosen, modes)
    best = _budgets(_launching(free, dict.fromkeys(chosen)), chosen, modes)
    found = []
    for transponder, name, mode in modes:
        ends = {fiber: (clip[fiber, transponder, name], best[fiber, transponder, name]) for fiber in chosen}
        points = _points(free, chosen, (transponder, name, mode), ends)
        for fiber in chosen:
            here, most, optimum = (each[fiber, transponder, name] for each in (used, clip, best))
            found.append(_bathtub(fiber, here, most, optimum, points[fiber]))
    place = {name: number for number, name in enumerate(chosen)}
    return tuple(sorted(found, key=lambda one: place[one.fiber]))


def _bathtub(fiber: FiberId, used: Budget, clip: Budget, best: Budget, points: tuple[Point, ...]) -> Bathtub:
    return Bathtub(
        fiber=fiber,
        transponder=used.transponder,
        mode=used.mode,
        rate_gbps=used.rate_gbps,
        used_dbm=_known(used.launch_dbm),
        used_limit=used.launch_limit,
        gsnr_db=_known(used.gsnr_db),
        margin_db=used.margin_db,
        closes=used.closes,
        optimum_dbm=None if _endless(best) else _known(best.launch_dbm),
        clip_dbm=_known(clip.launch_dbm),
        clip_limit=clip.launch_limit.removeprefix("given, clipped by "),
        points=points,
    )


def _points(
    free: Network,
    lines: Mapping[FiberId, Line],
    mode: tuple[str, str, Mode],
    ends: Mapping[FiberId, tuple[Budget, Budget]],
) -> dict[FiberId, tuple[Point, ...]]:
    """All points of one mode in one go: each line once for each launch, as so many fibers side by side."""
    scaled = db(mode[2].width_ghz / GIVEN_FOR_GHZ)
    steps = range(round(2 * SPAN_DB / STEP_DB) + 1)
    level: dict[FiberId, float] = {}
    copies: dict[FiberId, Line] = {}
    for fiber, line in lines.items():
        clip, best = ends[fiber]
        middle = _known(clip.launch_dbm) if _endless(best) else _known(best.launch_dbm)
        for step in steps:
            copy = f"{fiber} {step}"
            level[copy] = middle - SPAN_DB + step * STEP_DB
            copies[copy] = replace(line, fiber=copy, further=tuple(replace(one, fiber=copy) for one in line.further))
    sites = {copy: free.fibers[copy.rpartition(" ")[0]] for copy in copies}
    wide = replace(free, topology=free.topology.model_copy(update={"fibers": {**free.fibers, **sites}}))
    budgets = _budgets(_launching(wide, {copy: at - scaled for copy, at in level.items()}), copies, [mode])
    found: dict[FiberId, list[Point]] = {fiber: [] for fiber in lines}
    for (copy, _, _), budget in budgets.items():
        fiber = copy.rpartition(" ")[0]
        reached = level[copy] <= _known(ends[fiber][0].launch_dbm) + 1e-9
        found[fiber].append(Point(level[copy], _known(budget.gsnr_db), budget.margin_db, reached))
    return {fiber: tuple(points) for fiber, points in found.items()}


def _budgets(
    network: Network, lines: Mapping[FiberId, Line], modes: Sequence[tuple[str, str, Mode]]
) -> dict[tuple[FiberId, str, str], Budget]:
    """The budget of each mode on each line from end to end."""
    ends = {name: network.fibers[name].ends for name in lines}
    routes = [Route((first, second), (name,)) for name, (first, second) in ends.items()]
    return {
        (path.route.fibers[0], budget.transponder, budget.mode): budget
        for path in evaluate(network, lines, routes, modes=modes, itemise=False)
        for budget in path.budgets
    }


def _known(level: float | None) -> float:
    """A level that every line with amplifiers has."""
    return math.nan if level is None else level


def _endless(budget: Budget) -> bool:
    """Without limits, its launch has no optimum."""
    return budget.launch_limit != "optimum" or math.isinf(_known(budget.launch_dbm))


def _launching(network: Network, level_dbm: Mapping[FiberId, float | None]) -> Network:
    """The network with launch powers given, or left to the optimum."""
    fibers = {
        name: fiber.model_copy(update={"launch_dbm": level_dbm[name]}) if name in level_dbm else fiber
        for name, fiber in network.fibers.items()
    }
    policy = network.policy.model_copy(update={"launch_dbm": None})
    return replace(network, topology=network.topology.model_copy(update={"fibers": fibers, "policy": policy}))


def _unlimited(network: Network) -> Network:
    """The network with amplifiers that lack neither output nor gain; noise figures stay."""
    amplifiers = {
        name: part.model_copy(update={"output_max_dbm": _FREE_DB, "gain_max_db": 2 * _FREE_DB})
        for name, part in network.catalog.amplifiers.items()
    }
    return replace(network, catalog=replace(network.catalog, amplifiers=amplifiers))
