"""The plans of a search that a network may be sized for: the fastest side by side, and all that are nearly as fast."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dcplan.model.job import ParallelismPlan
from dcplan.training.plans.columns import TEXTS, numbered
from dcplan.training.plans.least import least_s
from dcplan.training.plans.search import called, reasons, with_name
from dcplan.training.plans.space import Space
from dcplan.training.plans.table import FITS, table
from dcplan.training.terms import no_distance, step_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.training.plans.table import Table
    from dcplan.training.step import Layout, Misfit, Workload

    Array = Any

KEEP = {"none": 8, "dp": 8, "pp": 4}
"""Plans side by side for each dimension that crosses sites; of ep, cp and tp one, so that a user sees why not."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What a search gives a designer. Steps are those in one site."""

    layouts: tuple[Layout, ...]
    """Of each tp, cp, pp, ep the fastest, and of those the first ones for each dimension across sites; then of each way
    to synchronise that changes what is learnt the fastest."""
    close: tuple[Layout, ...]
    """Of each of them the fastest as long as its step is within a share of the shortest, by their step."""
    misfits: tuple[Misfit, ...]


def shortlist(
    workload: Workload, pin: ParallelismPlan, within: float, allowed: Iterable[str] = (), use: str | None = None
) -> Shortlist:
    """Search all plans that keep to `pin`. Those of `close` take at most 1 + `within` times the shortest step.

    allowed: ways to synchronise that change what is learnt and may be among them. Without a plan that synchronises
    every step all may. use: the only plan, by its name.
    """
    plain = replace(workload)
    found = _shortlist(plain, pin.model_dump_json(exclude_unset=True), within, frozenset(allowed), use)
    plain.answers.clear()  # the list is kept, not what a search remembers
    return found


@lru_cache(maxsize=16)
def _shortlist(workload: Workload, pin: str, within: float, allowed: frozenset[str], use: str | None) -> Shortlist:
    space = Space(ParallelismPlan.model_validate_json(pin))
    found = table(workload, space)
    if use is not None:
        one = called(found, use)
        return Shortlist(() if one is None else (one,), (), reasons(found))
    rows = (found.kind == FITS).nonzero()[0]
    if not len(rows):
        return Shortlist((), (), reasons(found))
    search = _Search(found, rows)
    return Shortlist(search.side_by_side(), search.close(within, allowed), reasons(found))


class _Search:
    """Prices rows in the order of the least that their step can be."""

    def __init__(self, found: Table, rows: Sequence[int]) -> None:
        import numpy as np

        self._found, self._near = found, no_distance(found.workload)
        self._at = at = found.columns.at(rows)
        self._rows, self._least = rows, least_s(found, rows, self._near, [found.workload])
        self._order = np.lexsort((rows, self._least))
        sizes = [np.where(at.outer, key[:1], key) for key in (at.across, at.tp, at.cp, at.pp, at.ep)]
        methods = [np.where(at.outer, key, key[:1]) for key in (at.sync, at.every)]
        self._alike = numbered([at.outer, *sizes, *methods])

    def close(self, within: float, allowed: frozenset[str]) -> tuple[Layout, ...]:
        """See `Shortlist`."""
        import numpy as np

        may = ~self._at.outer | self._at.has("sync", *allowed)
        return self._best(may if (~self._at.outer).any() else np.ones_like(may), len(self._rows), within)

    def side_by_side(self) -> tuple[Layout, ...]:
        """See `Shortlist`."""
        strict = ~self._at.outer
        found: list[Layout] = []
        for across in TEXTS["across"]:
            found += self._best(strict & self._at.has("across", across), KEEP.get(across, 1))
        return (*found, *self._best(~strict, len(self._rows)))

    def _best(self, takes: Array, most: int, within: float = math.inf) -> tuple[Layout, ...]:
        """Of rows that are alike the fastest; of those the first ones, as long as they are within a share of the first.

        Of equal ones the first row is taken.
        """
        best: dict[int, tuple[float, int, Layout]] = {}
        last_s = shortest_s = math.inf
        for i in self._order[takes[self._order]]:
            alike, least = int(self._alike[i]), self._least[i]
            if least > min(last_s, shortest_s * (1 + within)):
                break
            if alike not in best or least <= best[alike][0]:
                layout = self._found.layout(self._rows[i])
                step_s = step_terms(self._found.workload, layout, self._near)[0].total_s
                best[alike] = min([(step_s, int(self._rows[i]), layout), *filter(None, [best.get(alike)])], key=_first)
                shortest_s = min(shortest_s, step_s)
                if len(best) >= most:
                    last_s = sorted(step_s for step_s, _, _ in best.values())[most - 1]
        ranked = [one for one in sorted(best.values(), key=_first)[:most] if one[0] <= shortest_s * (1 + within)]
        return tuple(with_name(layout) for _, _, layout in ranked)


def _first(entry: tuple[float, int, Layout]) -> tuple[float, int]:
    return entry[:2]
