"""Where the sites of an imported network stand on the map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Place = tuple[float, float]
"""Latitude and longitude [degrees]."""
CENTRE: Place = (0.0, 0.0)
"""Off the coast of Africa, where nobody takes the sites for real ones."""
SPREAD = 10.0
"""Extent of a network that is placed there [degrees]."""


def are_degrees(places: Mapping[str, Place | None]) -> bool:
    """Every site has a latitude and a longitude, and they are not all in one spot."""
    there = [place for place in places.values() if place is not None]
    if len(there) < len(places):
        return False
    return all(abs(lat) <= 90 and abs(lon) <= 180 for lat, lon in there) and (len(there) < 2 or len(set(there)) > 1)


def placed(places: Mapping[str, Place | None]) -> dict[str, Place]:
    """Sites around 0° N 0° E: by their pixels where all have them, shrunk to ten degrees, else on a circle."""
    there = {name: place for name, place in places.items() if place is not None and all(map(math.isfinite, place))}
    if len(there) == len(places) and len(set(there.values())) > 1:
        lats, lons = zip(*there.values(), strict=True)
        extent = max(max(lats) - min(lats), max(lons) - min(lons))
        middle = (max(lats) + min(lats)) / 2, (max(lons) + min(lons)) / 2
        return {
            name: (
                round(CENTRE[0] + SPREAD * (lat - middle[0]) / extent, 4),
                round(CENTRE[1] + SPREAD * (lon - middle[1]) / extent, 4),
            )
            for name, (lat, lon) in there.items()
        }
    turn = 2 * math.pi / max(1, len(places))
    return {
        name: (
            round(CENTRE[0] + SPREAD / 2 * math.sin(i * turn), 4),
            round(CENTRE[1] + SPREAD / 2 * math.cos(i * turn), 4),
        )
        for i, name in enumerate(places)
    }
