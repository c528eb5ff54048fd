"""Shares what survives fairly among the demands: max-min fair rates on what is lit."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dcplan.design.routing.filling import Filling, Way, Wish
from dcplan.design.solver.solve import Linear
from dcplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.design.result import Wavelengths
    from dcplan.design.routing.filling import Programs
    from dcplan.model.network import Pair, SiteId
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath

NOTHING = 1e-7
"""A fraction below this is the rounding of what others hold; so is a room of so many Gb/s."""


@dataclass(frozen=True, slots=True)
class _Room:
    """What a state leaves [Gb/s]."""

    links: Mapping[Pair, float]
    lightpaths: Mapping[str, float]
    ends: Mapping[str, Pair]
    """Of each lightpath."""


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
    likely: Mapping[str, Iterable[tuple[str, ...]]] | None = None,
    carried: bool = False,
    programs: Programs = Linear,
) -> dict[str, float]:
    """Max-min fair share of each demand on the wavelengths that survive a state.

    wanted: (name, ends, Gb/s in each direction). Those named in `first` are served before all others, up to 1; those in
    `last` when the others have what they want, up to 1; then the others up to `most` times what they want. `reserved`:
    what is set aside on a lightpath [Gb/s]. `held`: the chains of lightpaths that a demand takes and no others; all
    else splits freely. `likely`: chains that a demand may take, to begin with. `carried`: all in `first` are known to
    be served whole. `programs`: what solves.
    Progressive filling: raise the common fraction, freeze the demands that block it (a positive dual), go on with the
    rest (Bertsekas and Gallager, Data Networks, 6.5.2). Latency limits are left aside: what arrives late arrives. A
    demand whose ends are parted, or gone, gets 0.
    """
    asked, held = list(wanted), held or {}
    room = _room(lightpaths, wavelengths, state, reserved or {})
    part = _parts(room.links)
    wishes = {
        name: Wish(ends, gbps, tuple(_ways(room, held[name])), held=True)
        if name in held
        else Wish(ends, gbps, tuple(Way(way.links) for way in _ways(room, (likely or {}).get(name, ()))), held=False)
        for name, ends, gbps in asked
        if gbps > 0 and part.get(ends[0], ends[0]) == part.get(ends[1], ends[1])
    }
    before, behind = [one for one in asked if one[0] in first], [one for one in asked if one[0] in last]
    between = [one for one in asked if one[0] not in first | last]
    turns = [(before, 1.0), *([(between, 1.0), (behind, 1.0)] if behind else []), (between, most)]
    alone = _told_apart(room, wishes)
    for settled in ([first] if carried else []) + [frozenset[str]()]:
        shares = _shares(Filling(room.links, alone, wishes, settled, programs), turns, wishes, settled)
        if shares is not None:
            return {name: shares[name] for name, _, _ in asked}
    raise SolverError("the surviving rates could not be computed")


def _shares(
    filling: Filling,
    turns: Sequence[tuple[Sequence[tuple[str, Pair, float]], float]],
    wishes: Mapping[str, Wish],
    settled: frozenset[str],
) -> dict[str, float] | None:
    """Group after group, each up to its cap; None where what is settled does not fit, be it by rounding."""
    fixed = dict.fromkeys(settled, 1.0)
    for group, cap in turns:
        fixed |= {name: cap if cap < inf else 1.0 for name, _, gbps in group if gbps <= 0}
        fixed |= {name: 0.0 for name, _, gbps in group if gbps > 0 and name not in wishes}
        rising = [name for name, _, _ in group if name in wishes and name not in settled]
        fixed = {name: share for name, share in fixed.items() if name not in rising}
        while rising:
            found = filling.highest(rising, fixed, cap)
            if found is None:
                return None
            reached, blocked = found
            fixed |= dict.fromkeys(blocked, reached if reached > NOTHING else 0.0)
            rising = [name for name in rising if name not in blocked]
    return fixed


def _room(
    lightpaths: Sequence[Lightpath],
    wavelengths: Sequence[Wavelengths],
    state: State,
    reserved: Mapping[str, float],
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
        {pair: gbps for pair, gbps in sorted(links.items()) if gbps > NOTHING},
        {name: max(0.0, gbps) for name, gbps in sorted(alone.items())},
        ends,
    )


def _ways(room: _Room, chains: Iterable[tuple[str, ...]]) -> list[Way]:
    """Chains of lightpaths of which all survive, on links with room."""
    found = []
    for chain in chains:
        links = tuple(room.ends[one] for one in chain if one in room.lightpaths)
        if len(links) == len(chain) and all(link in room.links for link in links):
            found.append(Way(links, chain))
    return found


def _told_apart(room: _Room, wishes: Mapping[str, Wish]) -> dict[str, float]:
    """The room of lightpaths that demands with few ways take; the others only see that of their link."""
    names = {one for wish in wishes.values() if wish.held for way in wish.ways for one in way.lightpaths}
    return {name: room.lightpaths[name] for name in sorted(names)}


def _parts(links: Iterable[Pair]) -> dict[SiteId, SiteId]:
    """Site -> one of the sites that it hangs together with, the same for all of these."""
    near: dict[SiteId, list[SiteId]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found: dict[SiteId, SiteId] = {}
    for start in near:
        todo = [] if start in found else [start]
        while todo:
            site = todo.pop()
            if site not in found:
                found[site] = start
                todo += near[site]
    return found
