"""What a failure parts: one depth-first walk answers for every single fiber and site, a search for larger failures."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.graph import Adjacency
    from dcplan.model.network import FiberId, SiteId
    from dcplan.model.states import State

    Part = Callable[[SiteId], int]
    """Site -> the part in which it lies after a failure: sites in equal parts still hang together."""


@dataclass(frozen=True, slots=True)
class Forest:
    """A depth-first walk over all sites. Descendants of a site have the numbers from its own to its last."""

    root: dict[SiteId, SiteId]
    """Sites with the same root hang together in the healthy network."""
    number: dict[SiteId, int]
    last: dict[SiteId, int]
    low: dict[SiteId, int]
    """Least number next to the site or a descendant, not counting the fiber by which the walk came."""
    entered: dict[SiteId, FiberId]
    led_to: dict[FiberId, SiteId]
    children: dict[SiteId, list[SiteId]]
    ends: dict[FiberId, tuple[SiteId, SiteId]]


def forest(around: Adjacency) -> Forest:
    """The walk, its low points and its last descendants (Tarjan, SIAM J. Computing 1(2), 1972)."""
    walk = Forest({}, {}, {}, {}, {}, {}, {site: [] for site in around}, {})
    for root in around:
        walk.ends.update({fiber: (root, other) for fiber, other in around[root]})
        if root not in walk.number:
            _descend(around, root, walk)
    for site in reversed(list(walk.number)):
        below = walk.children[site]
        walk.last[site] = max([walk.number[site], *(walk.last[child] for child in below)])
        near = (walk.number[other] for fiber, other in around[site] if fiber != walk.entered.get(site))
        walk.low[site] = min([walk.number[site], *near, *(walk.low[child] for child in below)])
    return walk


def _descend(around: Adjacency, root: SiteId, walk: Forest) -> None:
    walk.number[root] = len(walk.number)
    walk.root[root] = root
    stack = [(root, iter(around[root]))]
    while stack:
        site, rest = stack[-1]
        step = next(((fiber, other) for fiber, other in rest if other not in walk.number), None)
        if step is None:
            stack.pop()
            continue
        fiber, other = step
        walk.number[other], walk.root[other], walk.entered[other] = len(walk.number), root, fiber
        walk.led_to[fiber] = other
        walk.children[site].append(other)
        stack.append((other, iter(around[other])))


def split(around: Adjacency, walk: Forest, state: State) -> Part | None:
    """How a failure parts what hung together; None when it parts nothing."""
    if len(state.sites) == 1:
        (site,) = state.sites
        return _without_site(walk, site)
    if len(state.fibers) == 1 and not state.sites:
        (fiber,) = state.fibers
        return _without_fiber(walk, fiber)
    return _without(around, walk, state)


def _without_fiber(walk: Forest, fiber: FiberId) -> Part | None:
    """A fiber parts the descendants of the site it led to, if nothing else leads out of them: it is a bridge."""
    child = walk.led_to.get(fiber)
    if child is None or walk.low[child] < walk.number[child]:
        return None
    first, last = walk.number[child], walk.last[child]
    return lambda site: int(first <= walk.number[site] <= last)


def _without_site(walk: Forest, site: SiteId) -> Part | None:
    """A site parts each child from whose descendants nothing leads above the site, and these from the rest."""
    apart = [child for child in walk.children[site] if walk.low[child] >= walk.number[site]]
    is_root = site not in walk.entered
    if len(apart) < (2 if is_root else 1):
        return None
    starts = [walk.number[child] for child in apart]
    ends = [walk.last[child] for child in apart]

    def part(other: SiteId) -> int:
        i = bisect_right(starts, walk.number[other]) - 1
        return i if i >= 0 and walk.number[other] <= ends[i] else -1

    return part


def _without(around: Adjacency, walk: Forest, state: State) -> Part | None:
    """Larger failures: None if the ends of every lost fiber still hang together, else the parts by search."""
    if not state.sites and all(_joined(around, *walk.ends[fiber], state) for fiber in sorted(state.fibers)):
        return None
    parts: dict[SiteId, int] = {}
    for site in around:
        if site not in parts:
            parts |= dict.fromkeys(_reached(around, site, state), len(parts))
    return parts.__getitem__


def _joined(around: Adjacency, a: SiteId, b: SiteId, state: State) -> bool:
    """Whether two sites hang together in a state, searched from both: near sites are found at once."""
    seen = ({a}, {b})
    edges = ([a], [b])
    while edges[0] and edges[1]:
        side = 0 if len(edges[0]) <= len(edges[1]) else 1
        fresh = []
        for site in edges[side]:
            for fiber, other in around[site]:
                if fiber in state.fibers or other in state.sites or other in seen[side]:
                    continue
                if other in seen[1 - side]:
                    return True
                seen[side].add(other)
                fresh.append(other)
        edges[side][:] = fresh
    return False


def _reached(around: Adjacency, start: SiteId, state: State) -> set[SiteId]:
    seen, todo = {start}, [start]
    while todo:
        for fiber, site in around[todo.pop()]:
            if site not in seen and fiber not in state.fibers and site not in state.sites:
                seen.add(site)
                todo.append(site)
    return seen
