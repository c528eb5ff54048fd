"""Every route that closes, however many shorter ones there are: grown fiber by fiber from those that close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design.candidates import SHORTEST
from dcplan.model.ending import ending_sites
from dcplan.model.network import Route, pair
from dcplan.optics.budget import Line
from dcplan.optics.screen import screen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.model.network import FiberId, Network
    from dcplan.optics.line import NoLine

MOST_JUDGED = 2_000
"""Routes of one number of fibers that are judged: less than a second."""
MOST_CLOSING = 200
"""Routes that close, of all numbers of fibers together; with more candidates the search finds worse designs in its
time (measured: a mesh of 8 sites and 14 short fibers, of which 583 routes close)."""


@dataclass(frozen=True, slots=True)
class Further:
    """Routes that close beside those that are listed anyway."""

    routes: tuple[Route, ...]
    fibers: int
    """Every route of at most so many fibers that closes is known; fewer than `policy.max_hops` where there were too
    many to judge."""

    def in_words(self, network: Network) -> str:
        """Which routes light may take."""
        most, shortest = network.policy.max_hops, network.policy.routes
        if shortest is not None:
            return f"the {shortest} shortest of each two sites (policy.routes): one fiber more may displace one of them"
        if self.fibers == most:
            return f"every one of up to {most} fibers that closes"
        return (
            f"every one of up to {self.fibers} fibers that closes, and the {SHORTEST} shortest of each two sites of up "
            f"to {most}: of those with more than {self.fibers} there are too many, and one fiber more may displace one"
        )


def further(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    listed: Sequence[Route],
    alone: Mapping[FiberId, Line | NoLine] | None = None,
) -> Further:
    """Every other route over amplified fibers that closes in some mode, of at most `policy.max_hops` fibers.

    None where `policy.routes` says how many there may be. A route is only judged where both of its parts that lack one
    fiber close: each fiber adds noise, loss and dispersion. Whether a route is one of them hangs on itself alone, not
    on what other fibers there are, so that a further fiber never takes one away. alone: the lines of routes of one
    fiber, where these are others.
    """
    most, ending = network.policy.max_hops, ending_sites(network)
    if network.policy.routes is not None:
        return Further((), most)
    known = {route.fibers for route in listed}
    level = _closing(network, alone or lines, _single(network, alone or lines))
    found: list[Route] = []
    fibers, kept = 1, len(level)
    while level and fibers < most:
        longer = _longer(network, level)
        if len(longer) > MOST_JUDGED:
            return Further(tuple(found), fibers)
        level = _closing(network, lines, longer)
        kept += len(level)
        if kept > MOST_CLOSING:
            return Further(tuple(found), fibers)
        found += [one for one in level.values() if one.fibers not in known and ending.issuperset(one.ends)]
        fibers += 1
    return Further(tuple(found), most)


def _single(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> list[Route]:
    """Every fiber with amplifiers by itself, whether wavelengths may end at its ends or not."""
    return [
        Route(pair(*about.ends), (name,))
        for name, about in network.fibers.items()
        if about.ends[0] != about.ends[1] and isinstance(line := lines[name], Line) and line.booster
    ]


def _closing(
    network: Network, lines: Mapping[FiberId, Line | NoLine], routes: Sequence[Route]
) -> dict[tuple[FiberId, ...], Route]:
    """The routes that close in some mode, by fibers."""
    if not routes:
        return {}
    closes = screen(network, lines, routes).closes.any(axis=1).tolist()
    return {route.fibers: route for route, does in zip(routes, closes, strict=True) if does}


def _longer(network: Network, level: Mapping[tuple[FiberId, ...], Route]) -> list[Route]:
    """Routes of one fiber more whose two parts that lack one are in a level; each in the order of its ends."""
    both = [one for route in level.values() for one in (route, Route(route.sites[::-1], route.fibers[::-1]))]
    found = []
    for one in both:
        start, end = one.sites[0], one.sites[-1]
        for fiber, before in network.neighbours(start) if network.sites[start].express else ():
            other = (fiber, *one.fibers[:-1])
            if before < end and before not in one.sites and (other in level or other[::-1] in level):
                found.append(Route((before, *one.sites), (fiber, *one.fibers)))
    return found
