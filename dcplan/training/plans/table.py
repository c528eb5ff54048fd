"""All plans of a space side by side, a numpy array per key: which can run, and what the others break."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dcplan.training.layout import checked
from dcplan.training.memory import USABLE, smallest
from dcplan.training.pipeline.line import may_be_by_speed
from dcplan.training.pipeline.schedules import OVER_SITES, chunks, least_microbatches, multiple, no_pairs, refusal
from dcplan.training.pipeline.stages import fills
from dcplan.training.plans.columns import Columns
from dcplan.training.plans.space import WHOLE, of_ways, sizes, ways
from dcplan.training.plans.weigh import memory_gb
from dcplan.training.state import refusal as refused
from dcplan.training.step import Layout, Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.training.plans.space import Space, Way
    from dcplan.training.step import Workload

    Array = Any

FITS = 0
KINDS = ("fits", "layout", "batch", "sites", "memory")
"""What a row may be; the last four are kinds of `Misfit`, in the order in which they are looked for."""


@dataclass(frozen=True)
class Table:
    """Plans of a space. Row i has the sizes of `nodes[node[i]]` and the choices of `chosen[way[i]]`."""

    workload: Workload
    space: Space
    nodes: tuple[Layout, ...]
    chosen: tuple[Way, ...]
    node: Array
    way: Array
    never: tuple[Misfit, ...]
    """Sizes that cannot be, whatever is chosen for them."""

    def __len__(self) -> int:
        return len(self.node)

    def layout(self, row: int) -> Layout:
        """The plan of a row, without a name; by speed or in equal parts, whichever is faster."""
        plain = self._plain(row)
        result = checked(plain, self.workload) if may_be_by_speed(self.workload) else plain
        return plain if isinstance(result, Misfit) else result

    def _plain(self, row: int) -> Layout:
        base, way = self.nodes[self.node[row]], self.chosen[self.way[row]]
        microbatch: Any = way["microbatch"]
        changed: Any = way
        layout: Layout = replace(base, microbatches=self.workload.batch // (base.dp * microbatch), **changed)
        return layout

    @cached_property
    def columns(self) -> Columns:
        """What plans consist of, as numbers."""
        return Columns.of(self.workload, self.nodes, self.chosen, self.node, self.way)

    @cached_property
    def kind(self) -> Array:
        """Of each row the first rule that it breaks, as a place in `KINDS`; 0 where it fits."""
        import numpy as np

        at = self.columns
        found = np.zeros(len(self), dtype=np.int8)
        if not len(self):
            return found
        unfit = [(1, self._layout()), (2, self._batch()), (1, self._kept()), (3, self._sites())]
        for number, breaks in reversed(unfit):
            found[breaks] = number
        left = found == FITS
        too_much = ~memory_fits(self.workload, at.at(left))
        found[np.flatnonzero(left)[too_much]] = KINDS.index("memory")
        if may_be_by_speed(self.workload):  # parts by speed are cut for each plan
            left = (found == FITS) | (found == KINDS.index("memory"))
            for row in np.flatnonzero(left & (at.has("across", "pp") | ~at.has("schedule", "1f1b"))):
                result = checked(self._plain(int(row)), self.workload)
                found[row] = KINDS.index(result.kind) if isinstance(result, Misfit) else FITS
        return found

    def _layout(self) -> Array:
        at, model = self.columns, self.workload.model

        def broken(pp: int, v: int, schedule: str) -> tuple[bool, bool]:
            unfit = refusal(schedule, pp, v) is not None or not fills(model, pp, v * chunks(schedule))
            return unfit, no_pairs(schedule, pp, v) is not None

        unfit, unpaired = at.by_stages(broken)
        return unfit.astype(bool) | (at.paired & unpaired.astype(bool))

    def _batch(self) -> Array:
        at = self.columns

        def asked(pp: int, v: int, schedule: str) -> tuple[int, int]:
            return least_microbatches(schedule, pp), multiple(schedule, pp, v)

        least, step = at.by_stages(asked)
        rest = self.workload.batch % (at.dp * at.microbatch)
        return (rest > 0) | (at.microbatches < least) | (at.microbatches < 1) | (at.microbatches % step > 0)

    def _kept(self) -> bool:
        """Nothing can keep a parameter so."""
        return refused(self.nodes[0], self.workload.precision) is not None

    def _sites(self) -> Array:
        at = self.columns
        over_pp = at.has("across", "pp") & ~at.has("schedule", *OVER_SITES)
        ring = at.has("across", "cp", "ep") & at.has("sync", "synchronous")
        return over_pp | ring | (at.outer & ~at.has("across", "dp"))

    def count(self, kind: str) -> int:
        """How many rows, and sizes that cannot be, are of a kind."""
        found = int((self.kind == KINDS.index(kind)).sum())
        return found + sum(misfit.kind == kind for misfit in self.never)

    def first_layout_misfit(self) -> Misfit | None:
        """In words what the first plan breaks whose sizes or choices do not go together."""
        found = next((misfit for misfit in self.never if misfit.kind == "layout"), None)
        if found:
            return found
        rows = (self.kind == KINDS.index("layout")).nonzero()[0]
        first = checked(self.layout(int(rows[0])), self.workload) if len(rows) else None
        return first if isinstance(first, Misfit) else None

    def nearest_gb(self) -> float:
        """The least memory that is needed by any that does not fit [GB]."""
        import numpy as np

        rows = self.kind == KINDS.index("memory")
        needed = memory_gb(self.workload, self.columns.at(rows))[0]
        return float(needed.min()) if np.any(rows) else 0.0


def memory_fits(workload: Workload, at: Columns) -> Array:
    """Accelerator and host hold it; see `memory.fits` and `memory.in_host`."""
    used, in_host = memory_gb(workload, at)
    part = smallest(workload).accelerator
    holds = used <= USABLE * part.hbm_gb
    return holds if part.host_memory_gb is None else holds & (in_host <= USABLE * part.host_memory_gb)


def table(workload: Workload, space: Space = WHOLE) -> Table:
    """Every plan of a space, in a fixed order: by its sizes as `sizes` has them, then by what is chosen for them."""
    import numpy as np

    nodes, never = list[Layout](), list[Misfit]()
    alike: dict[tuple[object, ...], tuple[list[int], list[Way]]] = {}
    for found in sizes(workload, space):
        if isinstance(found, Misfit):
            never.append(found)
            continue
        key = of_ways(found)
        if key not in alike:
            alike[key] = ([], ways(workload, space, found))
        alike[key][0].append(len(nodes))
        nodes.append(found)
    chosen: list[Way] = []
    parts: list[tuple[Array, Array]] = [(np.zeros(0, dtype=np.int64),) * 2]
    for members, mine in alike.values():
        numbers = np.arange(len(chosen), len(chosen) + len(mine))
        parts.append((np.repeat(members, len(mine)), np.tile(numbers, len(members))))
        chosen += mine
    node, way = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    order = np.lexsort((way, node))
    return Table(workload, space, tuple(nodes), tuple(chosen), node[order], way[order], tuple(never))


def candidates(workload: Workload, space: Space = WHOLE) -> Iterator[Layout]:
    """Every plan of a space that fits, in the order of the table."""
    found = table(workload, space)
    return (found.layout(row) for row in (found.kind == FITS).nonzero()[0])
