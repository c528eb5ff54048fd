"""Looks for tight cuts of networks that have too many to list: by contraction, and by moving single sites across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.design.bonds import contracted, random_keys

if TYPE_CHECKING:
    import random

    from dcplan.design.shores import ShoreCuts, Sight

STARTS = 60
"""Tightest known shores from which sites are moved."""
STATES = 12
"""States in which that is done: those in which known shores are tightest, and some by chance."""
STEPS = 12
"""Sites moved one after the other."""
CONTRACTIONS = 6
LEFT = 5
"""Lumps of sites that a contraction leaves."""
LOOSE = 0.5
"""A shore with more to spare than this share of its need is not worth knowing."""


def explored(cuts: ShoreCuts, point: Any, sight: Sight, chance: random.Random) -> list[int]:
    """Sets of sites, as bits, of which cuts over wavelengths are tight at a point; some may be known already."""
    import numpy as np

    table = cuts.table
    shores, _, states = sight[0] if sight else (np.zeros(0, int), None, np.zeros(0, int))
    counts = point[list(cuts.waves)]
    links = table.link_gbps(table.capacity_gbps(counts))
    picked = list(dict.fromkeys(states.tolist()))[:STATES]
    others = [k for k in table.ruling if k not in picked]
    picked += chance.sample(others, min(len(others), max(2, STATES - len(picked))))
    known = [cuts.shores[shore] for shore in shores[:STARTS].tolist()]
    found: dict[int, None] = {}
    for k in picked:
        starts = [*known, *_contracted(cuts, links[k], chance)]
        found |= dict.fromkeys(_moved(cuts, k, links[k], starts))
    return list(found)


def _contracted(cuts: ShoreCuts, gbps: Any, chance: random.Random) -> list[int]:
    table = cuts.table
    edges = [(a, b) for a, b in table.links.tolist()]
    scale = float(gbps.max(initial=0.0)) or 1.0
    found: list[int] = []
    for _ in range(CONTRACTIONS):
        found += contracted(len(table.sites), edges, random_keys(chance, (gbps / scale).tolist()), LEFT)
    return found


def _moved(cuts: ShoreCuts, state: int, gbps: Any, starts: list[int]) -> list[int]:
    """Shores from which no site can be moved across so that less is left relative to the need in a state."""
    import numpy as np

    size, table = len(cuts.table.sites), cuts.table
    have = np.zeros((size, size))
    have[table.links[:, 0], table.links[:, 1]] = gbps
    have += have.T
    need = cuts.between(state)
    inside = np.array([[shore >> i & 1 for i in range(size)] for shore in starts], dtype=float)
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
    tight = now < 1 + LOOSE
    return [sum(1 << i for i in np.flatnonzero(row).tolist()) for row in inside[tight]]
