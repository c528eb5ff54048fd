"""Transponders by the site where they stand: what relight buys, since a wavelength may be another in each state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.existing import removable, transponders_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.problem import Problem

Place = tuple[str, str]
"""A site and a type of transponder."""


@dataclass(frozen=True, slots=True)
class Stock:
    """Where which transponders may stand."""

    places: tuple[Place, ...]
    usd: tuple[float, ...]
    """Of one transponder and its energy, by place [US$]."""
    saved_usd: tuple[float, ...]
    """What one that is there already costs less, by place [US$]."""
    there: tuple[int, ...]
    """Transponders that are there already, by place."""
    kept: bool
    """What is there stays."""
    users: tuple[tuple[int, ...], ...]
    """Of each place: the choices of which every wavelength takes a transponder there."""
    glass: tuple[int, ...]
    """Choices that take transponders; the others are modules of circuits."""

    def taken(self, counts: Sequence[float]) -> tuple[float, ...]:
        """Transponders in use at each place for a number of wavelengths per choice."""
        return tuple(sum(counts[j] for j in users) for users in self.users)


def stock(problem: Problem) -> Stock:
    """Every site and type of transponder that is there already or that some wavelength could use, sorted."""
    users: dict[Place, list[int]] = {}
    glass = []
    for j, choice in enumerate(problem.choices):
        if choice.slots:
            glass.append(j)
            for site in problem.lightpaths[choice.lightpath].route.ends:
                users.setdefault((site, choice.part), []).append(j)
    network = problem.network
    there = transponders_at(network)
    places = tuple(sorted(users.keys() | there.keys()))
    usd = tuple(cost.total(cost.end_items(network, site, part, 1)) for site, part in places)
    running = (cost.total(cost.end_items(network, site, part, 1, existing=1)) for site, part in places)
    return Stock(
        places=places,
        usd=usd,
        saved_usd=tuple(new - old for new, old in zip(usd, running, strict=True)),
        there=tuple(there.get(place, 0) for place in places),
        kept=not removable(network),
        users=tuple(tuple(users.get(place, ())) for place in places),
        glass=tuple(glass),
    )
