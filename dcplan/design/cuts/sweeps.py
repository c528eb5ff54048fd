"""Sets of sites that a line swept over a network leaves behind: by distance from a site, or from one against another.

Cuts that part a network in the middle are among them, which sets grown site by site do not come to. Rounding distances
to cuts in this way is due to Leighton and Rao (J. ACM 46, 1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.design.distances import between_all

if TYPE_CHECKING:
    import random


def swept(size: int, links: Any, lengths: Any, orders: int, chance: random.Random) -> Any:
    """(sets, sites) what lies before the line in each of its places, each set once, the first site always inside.

    Half of the orders are by distance from a site, half by the difference of distances from two, all drawn by chance;
    sites at the same place in an order come by number. links: (links, 2) sites; lengths: (links,) not negative.
    """
    import numpy as np

    far = between_all(size, links, lengths)
    finite = far[np.isfinite(far)]
    far = np.where(np.isfinite(far), far, 1.0 + 2.0 * finite.max(initial=0.0))
    several = max(1, orders // 2)
    from_one = far[_drawn(size, several, chance)]
    from_two = far[_drawn(size, several, chance)] - far[_drawn(size, several, chance)]
    place = np.argsort(np.argsort(np.concatenate([from_one, from_two]), axis=1, kind="stable"), axis=1)
    before = (place[:, None, :] < np.arange(1, size)[None, :, None]).reshape(-1, size)
    before[~before[:, 0]] ^= True
    packed = np.unique(np.packbits(before, axis=1), axis=0)
    return np.unpackbits(packed, axis=1, count=size).astype(bool)


def _drawn(size: int, several: int, chance: random.Random) -> list[int]:
    return chance.sample(range(size), several) if several <= size else chance.choices(range(size), k=several)
