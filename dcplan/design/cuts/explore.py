"""Looks for tight cuts of networks that have too many to list: by sweeping, and by moving single sites across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.design.cuts.sweeps import swept

if TYPE_CHECKING:
    import random

    from dcplan.design.cuts.shores import ShoreCuts, Sight

STARTS = 60
"""Tightest known shores from which sites are moved, each in its worst state."""
SWEPT = 150
"""The same of swept ones."""
ORDERS = 250
"""Sweeps over links that are as long as they are narrow, and as many over links that are all as long."""
STEPS = 12
"""Sites moved one after the other."""
NARROWEST = 1e-3
"""Links are no narrower than this share of the widest."""
LOOSE = 0.5
"""A shore with more to spare than this share of its need is not worth knowing."""


def explored(cuts: ShoreCuts, point: Any, sight: Sight, chance: random.Random) -> list[int]:
    """Sets of sites, as bits, of which cuts over wavelengths are tight at a point; some may be known already."""
    import numpy as np

    table = cuts.table
    capacity = table.capacity_gbps(point[list(cuts.waves)])
    links = table.link_gbps(capacity)
    swept_over, states = _swept(cuts, capacity, chance)
    shores, _, known_states = sight[0] if sight else (np.zeros(0, int), None, np.zeros(0, int))
    known = _inside(cuts, [cuts.shores[shore] for shore in shores[:STARTS].tolist()])
    starts, states = np.concatenate([swept_over, known]), np.concatenate([states, known_states[:STARTS]])
    found: dict[int, None] = {}
    for k in np.unique(states).tolist():
        moved = _moved(cuts, k, links[k], starts[states == k])
        found |= dict.fromkeys(sum(1 << i for i in np.flatnonzero(row).tolist()) for row in moved)
    return list(found)


def _inside(cuts: ShoreCuts, shores: list[int]) -> Any:
    """(shores, sites) of sets of sites given as bits."""
    import numpy as np

    size = len(cuts.table.sites)
    return np.array([[shore >> i & 1 for i in range(size)] for shore in shores], dtype=bool).reshape(-1, size)


def _swept(cuts: ShoreCuts, capacity_gbps: Any, chance: random.Random) -> tuple[Any, Any]:
    """(shores, sites) the tightest that are swept over, and the state in which each is."""
    import numpy as np

    table = cuts.table
    size, links = len(table.sites), table.links
    wide = np.bincount(table.link_of, weights=capacity_gbps, minlength=len(links))
    narrow = 1.0 / np.maximum(wide, NARROWEST * (wide.max(initial=0.0) or 1.0))
    orders = max(2, min(ORDERS, cuts.room // size))
    inside = np.concatenate([swept(size, links, lengths, orders, chance) for lengths in (narrow, np.ones(len(links)))])
    share, state = cuts.least_left(inside, capacity_gbps)
    tightest = np.argsort(share, kind="stable")[:SWEPT]
    return inside[tightest], state[tightest]


def _moved(cuts: ShoreCuts, state: int, gbps: Any, starts: Any) -> Any:
    """(shores, sites) those from which no site can be moved across so that less is left relative to the need."""
    import numpy as np

    size, table = len(cuts.table.sites), cuts.table
    have = np.zeros((size, size))
    have[table.links[:, 0], table.links[:, 1]] = gbps
    have += have.T
    need = cuts.between(state)
    inside = starts.astype(float)
    for _ in range(STEPS):
        to_have, to_need = np.einsum("bj,ij->bi", inside, have), np.einsum("bj,ij->bi", inside, need)
        now_have = (to_have * (1 - inside)).sum(axis=1)
        now_need = (to_need * (1 - inside)).sum(axis=1)
        side = 1 - 2 * inside
        then_have = now_have[:, None] + side * (have.sum(axis=1) - 2 * to_have)
        then_need = now_need[:, None] + side * (need.sum(axis=1) - 2 * to_need)
        ratio = np.where(then_need > 1e-9, then_have / np.maximum(then_need, 1e-9), np.inf)
        now = np.where(now_need > 1e-9, now_have / np.maximum(now_need, 1e-9), np.inf)
        best = ratio.argmin(axis=1)
        better = np.flatnonzero(ratio[np.arange(len(inside)), best] < now - 1e-9)
        if not len(better):
            break
        inside[better, best[better]] = 1 - inside[better, best[better]]
    return inside[now < 1 + LOOSE] > 0
