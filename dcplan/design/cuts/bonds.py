"""Bonds: cuts of a graph of which both shores hang together. They imply every other cut.

Sites are bits of an integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CALLS = 50
"""Connected sets looked at per bond that may be found, before the search is given up."""


def bonds(size: int, edges: Iterable[tuple[int, int]], most: int) -> tuple[list[int], bool]:
    """One shore of each bond of a graph of `size` sites, and whether these are all; no more than `most`.

    Grows connected sets from the first site of each part; each site beside the set is taken or refused for good, and a
    set is given up once refused sites lie in two parts of what is outside (they can not be joined any more).
    """
    near = neighbours(size, edges)
    found: list[int] = []
    for part in parts(near, (1 << size) - 1):
        if not _grow(near, part, found, most):
            return found, False
    return found, True


def neighbours(size: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Of each site, the sites beside it."""
    near = [0] * size
    for a, b in edges:
        if a != b:
            near[a] |= 1 << b
            near[b] |= 1 << a
    return near


def parts(near: Sequence[int], inside: int) -> list[int]:
    """The connected parts of a set of sites."""
    found = []
    while inside:
        part = _reached(near, inside & -inside, inside)
        found.append(part)
        inside &= ~part
    return found


def beside(near: Sequence[int], inside: int) -> int:
    """All neighbours of a set of sites, its own sites included where they neighbour each other."""
    found = 0
    for site in members(inside):
        found |= near[site]
    return found


def members(inside: int) -> Iterator[int]:
    """The sites of a set."""
    while inside:
        lowest = inside & -inside
        yield lowest.bit_length() - 1
        inside ^= lowest


def _grow(near: Sequence[int], part: int, found: list[int], most: int) -> bool:
    """Add the bonds inside one connected part; False where there are more than `most` in all."""
    calls = 0
    stack = [(part & -part, near[(part & -part).bit_length() - 1] & part, 0)]
    while stack:
        inside, beyond, refused = stack.pop()
        calls += 1
        rest = part & ~inside
        first = refused or rest
        together = _reached(near, first & -first, rest)
        if calls > CALLS * most:
            return False
        if together == rest:
            if rest and len(found) == most:
                return False
            if rest:
                found.append(inside)
        elif refused & ~together:
            continue
        beyond &= ~refused
        while beyond:
            lowest = beyond & -beyond
            beyond ^= lowest
            grown = inside | lowest
            stack.append((grown, (beyond | near[lowest.bit_length() - 1]) & part & ~grown, refused))
            refused |= lowest
    return True


def _reached(near: Sequence[int], front: int, inside: int) -> int:
    """The sites of a set that hang together with some of its sites."""
    reached = front
    while front:
        lowest = front & -front
        fresh = near[lowest.bit_length() - 1] & inside & ~reached
        reached |= fresh
        front = front ^ lowest | fresh
    return reached


def small(near: Sequence[int], most: int) -> list[int]:
    """Connected sets of sites whose rest hangs together too, smallest first; no more than `most`."""
    whole = (1 << len(near)) - 1
    parted = {part: len(parts(near, part)) for part in parts(near, whole)}
    level = [1 << site for site in range(len(near))]
    seen, found = set(level), []
    while level:
        for one in level:
            part = next(part for part in parted if part & one)
            if part != one and len(parts(near, part & ~one)) == 1:
                found.append(one)
                if len(found) == most:
                    return found
        grown = dict.fromkeys(one | 1 << site for one in level for site in members(beside(near, one) & ~one))
        level = [one for one in grown if one not in seen]
        seen.update(level)
        if len(seen) > 4 * most:
            level = []
    return found
