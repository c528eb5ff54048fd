"""Transponders by the site where they stand: what relight buys, since a wavelength may be another in each state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.design import cost

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
    users: tuple[tuple[int, ...], ...]
    """Of each place: the choices of which every wavelength takes a transponder there."""
    glass: tuple[int, ...]
    """Choices that take transponders; the others are modules of circuits."""

    def taken(self, counts: Sequence[float]) -> tuple[float, ...]:
        """Transponders in use at each place for a number of wavelengths per choice."""
        return tuple(sum(counts[j] for j in users) for users in self.users)


def stock(problem: Problem) -> Stock:
    """Every site and type of transponder that some wavelength could use, sorted."""
    users: dict[Place, list[int]] = {}
    glass = []
    for j, choice in enumerate(problem.choices):
        if choice.slots:
            glass.append(j)
            for site in problem.lightpaths[choice.lightpath].route.ends:
                users.setdefault((site, choice.part), []).append(j)
    places = tuple(sorted(users))
    usd = tuple(cost.total(cost.end_items(problem.network, site, part, 1)) for site, part in places)
    return Stock(places, usd, tuple(tuple(users[place]) for place in places), tuple(glass))
