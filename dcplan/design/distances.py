"""Shortest distances between all sites at once, and the links on the way."""

from __future__ import annotations

from typing import Any


def between_all(size: int, links: Any, lengths: Any) -> Any:
    """(sites, sites) shortest distances over links of non-negative length; infinite where nothing joins (Floyd 1962).

    links: (links, 2) sites; lengths: (links,), infinite where a link is gone.
    """
    import numpy as np

    found = direct(size, links, lengths)
    for site in range(size):
        np.minimum(found, found[:, site, None] + found[None, site, :], out=found)
    return found


def direct(size: int, links: Any, lengths: Any) -> Any:
    """(sites, sites) length of the link between two sites, 0 from a site to itself."""
    import numpy as np

    found = np.full((size, size), np.inf)
    found[links[:, 0], links[:, 1]] = lengths
    found[links[:, 1], links[:, 0]] = lengths
    found[np.arange(size), np.arange(size)] = 0.0
    return found


def numbered(size: int, links: Any) -> Any:
    """(sites, sites) number of the link between two sites."""
    import numpy as np

    found = np.zeros((size, size), dtype=np.intp)
    numbers = np.arange(len(links))
    found[links[:, 0], links[:, 1]] = numbers
    found[links[:, 1], links[:, 0]] = numbers
    return found


def shorter(links: Any, lengths: Any, number: Any, ends: Any, than: Any) -> tuple[Any, list[list[int]]]:
    """Which pairs of sites are nearer than given, and the links of a shortest way for each of these.

    number: of `numbered`; ends: (pairs, 2) sites; than: (pairs,) distances. Links must be longer than nothing.
    """
    import numpy as np

    size = len(number)
    distances = between_all(size, links, lengths)
    starts, stops = ends.T
    nearer = np.flatnonzero(distances[starts, stops] < than)
    return nearer, walks(direct(size, links, lengths), distances, starts[nearer], stops[nearer], number)


def walks(straight: Any, distances: Any, starts: Any, ends: Any, number: Any) -> list[list[int]]:
    """The links of a shortest way for each start and end, all walked at once; links must be longer than nothing.

    straight, distances: of `direct` and `between_all`; number: (sites, sites) link between two sites.
    """
    import numpy as np

    found: list[list[int]] = [[] for _ in starts]
    going = np.arange(len(starts))
    here = np.array(starts)
    away = straight.copy()
    away[np.arange(len(away)), np.arange(len(away))] = np.inf
    while len(going):
        there = (away[here] + distances[ends[going]]).argmin(axis=1)
        for rank, link in zip(going.tolist(), number[here, there].tolist(), strict=True):
            found[rank].append(link)
        left = there != ends[going]
        going, here = going[left], there[left]
    return found
