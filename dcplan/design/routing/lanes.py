"""Work on several cores at once, with answers in the order of what is worked on.

Threads, not processes: HiGHS lets go of the interpreter while it solves, and there is nothing to start, to copy or to
clean up. A HiGHS model belongs to the lane that made it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST = 8
"""Lanes beyond which Python between the solves leaves nothing to gain."""


def lanes() -> int:
    """Cores that this process may use, at most `MOST`."""
    mine: Any = getattr(os, "sched_getaffinity", None)  # Linux: a container may hold fewer than the machine has
    return min(MOST, len(mine(0)) if mine else os.cpu_count() or 1)


def side_by_side[Item, Answer](work: Callable[[Item], Answer], items: Iterable[Item], many: int) -> list[Answer]:
    """The answers to the items, in their order, from so many lanes; one lane is a plain loop.

    The work on one item may not hang on that on another: then answers are the same whatever the number of lanes. What
    the first item in order to fail raises is raised here, as is an interrupt; of what is left nothing more is begun.
    """
    several = list(items)
    if min(many, len(several)) <= 1:
        return [work(one) for one in several]
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(many, len(several)))
    try:
        return list(pool.map(work, several))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
