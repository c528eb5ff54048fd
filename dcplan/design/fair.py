"""Shares what survives fairly among the demands: max-min fair rates on what is lit."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.program import Program
from dcplan.design.solver import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Wavelengths
    from dcplan.design.simplex import Simplex
    from dcplan.model.network import Pair, SiteId
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath

NOTHING = 1e-7
"""A fraction below this is the rounding of what others hold."""


@dataclass(frozen=True, slots=True)
class _Room:
    """What a state leaves [Gb/s]."""

    links: Mapping[Pair, float]
    lightpaths: Mapping[str, float]
    ends: Mapping[str, Pair]
    """Of each lightpath."""
    held: Mapping[str, Sequence[tuple[str, ...]]]
    """Demand -> the chains that it takes and no others, as far as they survive."""


def max_min(
    lightpaths: Sequence[Lightpath],
    wavelengths: Sequence[Wavelengths],
    state: State,
    wanted: Sequence[tuple[str, Pair, float]],
    first: frozenset[str] = frozenset(),
    most: float = inf,
    *,
    last: frozenset[str] = frozenset(),
    reserved: Mapping[str, float] | None = None,
    held: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
    programs: Callable[[Program], Linear | Simplex] = Linear,
) -> dict[str, float]:
    """Max-min fair share of each demand on the wavelengths that survive a state.

    wanted: (name, ends, Gb/s in each direction). Those named in `first` are served before all others, up to 1; those in
    `last` when the others have what they want, up to 1; then the others up to `most` times what they want. `reserved`:
    what is set aside on a lightpath [Gb/s]. `held`: the chains of lightpaths that a demand takes and no others; all
    else splits freely. `programs`: what solves. Progressive filling: raise the common fraction, freeze the demands that
    block it (a positive dual), go on with the rest (Bertsekas and Gallager, Data Networks, 6.5.2). Latency limits are
    left aside: what arrives late arrives. A demand whose ends are parted, or gone, gets 0.
    """
    asked = list(wanted)
    room = _room(lightpaths, wavelengths, state, reserved or {}, held or {})
    fixed: dict[str, float] = {}
    before, behind = [one for one in asked if one[0] in first], [one for one in asked if one[0] in last]
    between = [one for one in asked if one[0] not in first | last]
    turns = [(before, 1.0), *([(between, 1.0), (behind, 1.0)] if behind else []), (between, most)]
    for group, cap in turns:
        rising = [one for one in group if one[2] > 0]
        fixed = {name: share for name, share in fixed.items() if name not in {one[0] for one in rising}}
        fixed |= {name: cap if cap < inf else 1.0 for name, _, gbps in group if gbps <= 0}
        while rising:
            level, blocked = _raise(programs, room, asked, fixed, [name for name, _, _ in rising], cap)
            fixed |= dict.fromkeys(blocked, level)
            rising = [one for one in rising if one[0] not in blocked]
    return {name: fixed[name] for name, _, _ in asked}


def _room(
    lightpaths: Sequence[Lightpath],
    wavelengths: Sequence[Wavelengths],
    state: State,
    reserved: Mapping[str, float],
    held: Mapping[str, Sequence[tuple[str, ...]]],
) -> _Room:
    by_id = {lightpath.id: lightpath for lightpath in lightpaths}
    alone = {name: -gbps for name, gbps in sorted(reserved.items())}
    for lit in wavelengths:
        alone[lit.lightpath] = alone.get(lit.lightpath, 0.0) + lit.count * lit.rate_gbps
    alone = {name: gbps for name, gbps in alone.items() if not state.breaks(by_id[name].route)}
    ends = {name: by_id[name].route.ends for name in alone}
    links: dict[Pair, float] = {}
    for name, gbps in alone.items():
        links[ends[name]] = links.get(ends[name], 0.0) + gbps
    return _Room(
        {pair: max(0.0, gbps) for pair, gbps in sorted(links.items())},
        {name: max(0.0, gbps) for name, gbps in sorted(alone.items())},
        ends,
        {name: [chain for chain in chains if all(one in alone for one in chain)] for name, chains in held.items()},
    )


def _raise(
    programs: Callable[[Program], Linear | Simplex],
    room: _Room,
    asked: Sequence[tuple[str, Pair, float]],
    fixed: Mapping[str, float],
    rising: Sequence[str],
    most: float,
) -> tuple[float, list[str]]:
    """The highest common fraction of the rising demands, and which of them can rise no further."""
    program = Program()
    level = program.column("t", -1.0, most)
    load: dict[Pair, dict[int, float]] = {ends: {} for ends in room.links}
    alone: dict[str, dict[int, float]] = {name: {} for name in room.lightpaths}
    rows: dict[str, int] = {}
    for name, (source, target), gbps in asked:
        share = fixed.get(name, 0.0)
        if name not in rising and share <= 0:
            continue
        if name in room.held:
            balance = _on_chains(program, room, load, alone, room.held[name])
        else:
            balance = _balance(program, load, source, target)
        if name in rising:
            rows[name] = program.row(f"carried{len(program.rows)}", balance | {level: -gbps}, lower=0.0)
        else:
            program.row(f"carried{len(program.rows)}", balance, lower=share * gbps * (1 - 1e-9))
    for ends, terms in load.items():
        program.row(f"link{len(program.rows)}", terms, upper=room.links[ends])
    for one, terms in alone.items():
        if terms:
            program.row(f"path{len(program.rows)}", terms, upper=room.lightpaths[one])
    linear = programs(program)
    if linear.solve() != "optimal":
        raise SolverError("the surviving rates could not be computed")
    reached = linear.values[level] if linear.values[level] > NOTHING else 0.0
    if reached >= most * (1 - 1e-9):
        return most, list(rising)
    blocked = [name for name in rising if linear.duals[rows[name]] > 1e-9]
    return reached, blocked or list(rising)


def _balance(
    program: Program, load: Mapping[Pair, dict[int, float]], source: SiteId, target: SiteId
) -> dict[int, float]:
    """Add the flow of one demand over links, conserved on the way; returns what arrives."""
    balance: dict[SiteId, dict[int, float]] = {target: {}}
    for ends, terms in load.items():
        for head, tail in (ends, ends[::-1]):
            if tail != source and head != target:
                column = program.column(f"f{len(program.columns)}")
                terms[column] = 1.0
                balance.setdefault(head, {})[column] = -1.0
                balance.setdefault(tail, {})[column] = 1.0
    for site, here in sorted(balance.items()):
        if site not in (source, target):
            program.row(f"balance{len(program.rows)}", here, 0, 0)
    return balance[target]


def _on_chains(
    program: Program,
    room: _Room,
    load: Mapping[Pair, dict[int, float]],
    alone: Mapping[str, dict[int, float]],
    chains: Sequence[tuple[str, ...]],
) -> dict[int, float]:
    """Add the flow of one demand over chains of lightpaths; returns what arrives."""
    arrives = {}
    for chain in chains:
        column = program.column(f"f{len(program.columns)}")
        arrives[column] = 1.0
        for one in chain:
            alone[one][column] = 1.0
            load[room.ends[one]][column] = load[room.ends[one]].get(column, 0.0) + 1.0
    return arrives
