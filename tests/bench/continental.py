"""A continental network of 100 sites and 200 fibers, the same in every run: for measuring, and for comparing."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tests.optics.networks import network_of

if TYPE_CHECKING:
    from dcplan.model.network import Network

TRANSPONDERS = ("openzr+", "800zr", "800zr+", "openroadm-6")
DETOUR = 1.25
"""Cable over air line (research: 1.2 to 1.5)."""


def sites_of(count: int, seed: int = 1) -> dict[str, tuple[float, float]]:
    """Sites at random over the middle of North America, latitude and longitude [degrees], at least a town apart."""
    pick, placed = random.Random(seed), []
    while len(placed) < count:
        here = (round(pick.uniform(31, 47), 3), round(pick.uniform(-122, -76), 3))
        if all(air_km(here, other) > 60 for other in placed):
            placed.append(here)
    return {f"s{i:02d}": here for i, here in enumerate(placed)}


def air_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance on a plane; a degree of longitude is shorter by the cosine of the mean latitude [km]."""
    return 111.2 * math.hypot(a[0] - b[0], (a[1] - b[1]) * math.cos(math.radians((a[0] + b[0]) / 2)))


def gabriel(sites: dict[str, tuple[float, float]]) -> list[tuple[float, str, str]]:
    """The Gabriel graph, shortest edge first: two sites are joined if no third is in the circle between them.

    Air length [km] and the two sites. Source: Gabriel and Sokal, Systematic Zoology 18 (1969); networks of fiber
    look much like it (Cetinkaya et al., 2014).
    """
    edges = []
    for a, b in combinations(sites, 2):
        far = air_km(sites[a], sites[b]) ** 2
        if all(
            air_km(sites[a], sites[c]) ** 2 + air_km(sites[c], sites[b]) ** 2 > far for c in sites if c not in (a, b)
        ):
            edges.append((math.sqrt(far), a, b))
    return sorted(edges)


def hubs_of(sites: dict[str, tuple[float, float]], count: int) -> list[str]:
    """Sites spread as widely as can be: each next one is the farthest from those before."""
    hubs = [min(sites)]
    while len(hubs) < count:
        hubs.append(max(sites, key=lambda site: (min(air_km(sites[site], sites[hub]) for hub in hubs), site)))
    return hubs


def long_haul(sites: dict[str, tuple[float, float]], count: int) -> list[tuple[float, str, str]]:
    """So many cables between hubs, the shortest first: hubs are a twelfth of the sites."""
    hubs = hubs_of(sites, len(sites) // 12)
    return sorted((air_km(sites[a], sites[b]), *sorted((a, b))) for a, b in combinations(hubs, 2))[:count]


def continental(count: int = 100, fibers: int = 200, **policy: Any) -> Network:
    """The network: the edges of a Gabriel graph, some twice in parallel, and long cables between hubs.

    Parallel cables (a tenth longer) lie beside the shortest edges: a quarter of what the Gabriel graph leaves of
    `fibers`; the rest are long cables, so that six hops reach across.
    """
    sites = sites_of(count)
    edges = gabriel(sites)[:fibers]
    double = (fibers - len(edges)) // 4
    named = {f"f-{a}-{b}": (km * DETOUR, a, b) for km, a, b in edges}
    named |= {f"g-{a}-{b}": (km * DETOUR * 1.1, a, b) for km, a, b in edges[:double]}
    named |= {f"h-{a}-{b}": (km * DETOUR, a, b) for km, a, b in long_haul(sites, fibers - len(edges) - double)}
    kinds = ("g652d", "g652d", "g654e")
    return network_of(
        {
            "sites": {name: {"lat": lat, "lon": lon} for name, (lat, lon) in sites.items()},
            "fibers": {
                name: {"ends": [a, b], "length_km": round(km, 1), "type": kinds[i % len(kinds)], "pairs": 4}
                for i, (name, (km, a, b)) in enumerate(named.items())
            },
            "gear": {"allow": {"transponders": list(TRANSPONDERS)}},
            "policy": {"routes": 10, "max_hops": 6} | policy,
        }
    )
