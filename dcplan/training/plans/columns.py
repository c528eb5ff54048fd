"""Keys of many plans as numpy arrays, and what follows from a few of them, worked out once for each that there is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, get_args

from dcplan.model.job import ParallelismPlan
from dcplan.training.outer.exchange import host_bytes, state_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.training.plans.space import Way
    from dcplan.training.step import Layout, Tile, Workload

    Array = Any

TEXTS: dict[str, tuple[str, ...]] = {
    "across": ("none",),
    **dict.fromkeys(("schedule", "recompute", "cp_exchange", "sync"), ()),
}
TEXTS = {key: (*more, *get_args(ParallelismPlan.model_fields[key].annotation)) for key, more in TEXTS.items()}
"""Values of keys that are texts."""
TILED = ("tp", "cp", "ep", "microbatch", "recompute", "sequence_parallel", "cp_exchange")
"""Keys of a `Tile` that differ between plans of a search."""
KINDS_OF_STAGE = 3
"""First, inner and last stages at most."""
MOST_CODES = 2**62
"""Combinations that fit into a whole number of numpy."""


@dataclass(frozen=True)
class Columns:
    """Keys of plans, a value for each plan; texts by their place in `TEXTS`."""

    tp: Array
    cp: Array
    pp: Array
    ep: Array
    dp: Array
    virtual_stages: Array
    shard_size: Array
    extra: Array
    """Extra microbatches in flight that are given, over all boundaries."""
    across: Array
    schedule: Array
    paired: Array
    sharding: Array
    microbatch: Array
    microbatches: Array
    recompute: Array
    sequence_parallel: Array
    cp_exchange: Array
    sync: Array
    outer: Array
    """Sites train by themselves."""
    every: Array
    """Steps from one exchange to the next where they do; else 0."""
    state_bytes: Array
    host_bytes: Array
    offloaded: Array
    """Share of the optimizer in the host."""
    base: Layout | None
    """One of them, for keys that are the same in all."""

    @classmethod
    def of(cls, workload: Workload, nodes: Sequence[Layout], chosen: Sequence[Way], node: Array, way: Array) -> Columns:
        """Of rows with the sizes of their node and the choices of their way."""
        import numpy as np

        def sized(value: Callable[[Layout], float]) -> Array:
            return np.array([value(each) for each in nodes] or [0])[node]

        def picked(value: Callable[[Any], float]) -> Array:
            return np.array([value(each) for each in chosen] or [0])[way]

        sizes = ("tp", "cp", "pp", "ep", "dp", "virtual_stages", "shard_size")
        found = {key: sized(attrgetter(key)) for key in sizes}
        found |= {key: picked(itemgetter(key)) for key in ("sharding", "sequence_parallel", "microbatch")}
        found |= {key: picked(partial(_place, key)) for key in ("schedule", "recompute", "cp_exchange", "sync")}
        across = sized(lambda each: TEXTS["across"].index(each.across))
        boundaries = np.where(across == TEXTS["across"].index("pp"), len(workload.shares) - 1, 0)
        return cls(
            **found,
            across=across,
            extra=sized(lambda each: each.extra_in_flight or 0) * boundaries,
            paired=picked(itemgetter("expert_overlap")).astype(bool) & (found["ep"] > 1),
            microbatches=workload.batch // np.maximum(1, found["dp"] * found["microbatch"]),
            outer=picked(lambda each: each["outer"] is not None).astype(bool),
            every=picked(lambda each: each["outer"].every_steps if each["outer"] else 0),
            state_bytes=picked(lambda each: state_bytes(each["sync"], each["outer"])),
            host_bytes=picked(lambda each: host_bytes(each["outer"])),
            offloaded=sized(lambda each: each.optimizer_offload_percent) / 100,
            base=nodes[0] if nodes else None,
        )

    def at(self, rows: Array) -> Columns:
        """Some of the rows."""
        picked = {field.name: getattr(self, field.name)[rows] for field in fields(self) if field.name != "base"}
        return Columns(**picked, base=self.base)

    def has(self, key: str, *values: str) -> Array:
        """Rows in which a key has one of these values."""
        import numpy as np

        return np.isin(getattr(self, key), [TEXTS[key].index(value) for value in values])

    def by_stages(self, function: Callable[[int, int, str], Sequence[float]]) -> Array:
        """What follows from pp, virtual stages and schedule, value by value, row by row."""
        import numpy as np

        first, where = alike([self.pp, self.virtual_stages, self.schedule])
        known = [
            function(int(self.pp[i]), int(self.virtual_stages[i]), TEXTS["schedule"][int(self.schedule[i])])
            for i in first
        ]
        return np.array(known, dtype=float).T[..., where]

    def by_tile(self, function: Callable[[Tile], Sequence[float]]) -> Array:
        """What follows from the tile, value by value, row by row."""
        import numpy as np

        first, where = alike([getattr(self, key) for key in TILED])
        return np.array([function(self._tile(i)) for i in first], dtype=float).T[..., where]

    def _tile(self, i: int) -> Tile:
        values = {key: int(getattr(self, key)[i]) for key in TILED}
        said: dict[str, Any] = {key: TEXTS[key][value] if key in TEXTS else value for key, value in values.items()}
        said["sequence_parallel"] = bool(values["sequence_parallel"])
        base: Any = self.base  # there is a row
        tile: Tile = base.tile._replace(**said)
        return tile


def _place(key: str, way: Way) -> int:
    return TEXTS[key].index(str(way[key]))


def alike(keys: Sequence[Array]) -> tuple[Array, Array]:
    """The first row of each combination of keys, and which of them each row has. Keys are whole numbers from 0."""
    import numpy as np

    _, first, where = np.unique(numbered(keys), return_index=True, return_inverse=True)
    return first, where


def numbered(keys: Sequence[Array]) -> Array:
    """A number from 0 for each combination of keys that there is, row by row. Keys are whole numbers from 0."""
    import numpy as np

    code, span = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys:
        size = 1 + int(key.max(initial=0))
        if span * size > MOST_CODES:
            code = np.unique(code, return_inverse=True)[1]
            span = 1 + int(code.max(initial=0))
        code, span = code * size + key, span * size
    return np.unique(code, return_inverse=True)[1]
