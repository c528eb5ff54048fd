"""The Earth: how far it is along the great circle."""

from __future__ import annotations

from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG) [km]."""


def great_circle_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Length of the great circle between two points [km].

    d = 2 R asin(sqrt(sin²(Δφ/2) + cos φ1 cos φ2 sin²(Δλ/2))), R = 6371.0088 km

    lat1, lon1, lat2, lon2: degrees. The sphere is within 0.5 % of the ellipsoid.
    Sinnott, Virtues of the haversine, Sky and Telescope 68(2), 1984.
    """
    phi1, phi2 = radians(lat1), radians(lat2)
    half = sin((phi2 - phi1) / 2) ** 2 + cos(phi1) * cos(phi2) * sin(radians(lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(half)))
