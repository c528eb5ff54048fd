"""What traffic takes up, by index: links, and hops that only the traffic of listed ways is counted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.design.formulation import TBPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.arrays import Arrays
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.ways.chains import Way


@dataclass(frozen=True, slots=True, eq=False)
class Commodity:
    """Traffic that is routed as one: free demands between the same two sites, or a demand held to its ways."""

    ends: tuple[int, int]
    """Sites."""
    demands: tuple[int, ...]
    ways: tuple[tuple[int, ...], ...] | None
    """Of each listed way the resources that it takes up; none where any way will do."""
    broken: tuple[frozenset[int], ...] = ()
    """Of each listed way the states that break it."""


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Links first, then hops; a hop holds the traffic of listed ways that must ride on its tier or a faster one."""

    table: Arrays
    hops: tuple[Hop, ...]
    within: tuple[tuple[int, ...], ...]
    """Of each hop: the choices that its traffic may ride on."""
    commodities: tuple[Commodity, ...]
    ends: Any
    """(commodities, 2) sites"""

    @property
    def size(self) -> int:
        """How many."""
        return len(self.table.links) + len(self.hops)

    def room_tbps(self, counts: Any) -> Any:
        """(states, resources) what so many of each choice leave [Tb/s]."""
        import numpy as np

        table = self.table
        links = table.link_gbps(table.capacity_gbps(counts))
        bought = np.asarray(counts, dtype=float) * table.gbps
        hops = np.array([bought[list(mine)].sum() for mine in self.within], dtype=float).reshape(-1)
        alive = table.alive[:, [lightpath for lightpath, _ in self.hops]]
        return np.concatenate([links, alive * hops], axis=1) * TBPS

    def asked_tbps(self, rates: Any) -> Any:
        """(…, commodities) of rates of demands, (…, demands) [Gb/s], what each commodity asks [Tb/s]."""
        import numpy as np

        asked = [rates[..., list(one.demands)].sum(axis=-1) for one in self.commodities]
        return np.stack(asked, axis=-1) * TBPS if asked else np.zeros((*rates.shape[:-1], 0))

    def weights(self, prices: Any) -> tuple[Any, Any]:
        """(choices,) what one Tb/s of each choice is worth at prices of resources, and (lightpaths,) the least of them.

        A wavelength weighs what its link does and what each hop does that it serves: the faster, the more.
        """
        import numpy as np

        table = self.table
        mine = prices[: len(table.links)][table.link_of[table.owner]].copy()
        for price, choices in zip(prices[len(table.links) :], self.within, strict=True):
            if price:
                mine[list(choices)] += price
        least = np.full(len(table.link_of), np.inf)
        np.minimum.at(least, table.owner, mine)
        return mine, least


def resources(problem: Problem, table: Arrays, ways: Mapping[int, Sequence[Way]]) -> Resources:
    """The resources of a problem in which some demands are held to listed ways."""
    import numpy as np

    hops = tuple(sorted({hop for listed in ways.values() for way in listed for hop in way.hops}))
    first = len(table.links)
    slower: dict[Hop, list[int]] = {
        hop: [first + h for h, other in enumerate(hops) if other[0] == hop[0] and other[1] >= hop[1]] for hop in hops
    }
    free: dict[tuple[int, int], list[int]] = {}
    made: list[Commodity] = []
    for d, (a, b) in enumerate(table.demands.tolist()):
        if d in ways:
            taken = tuple(
                tuple(r for hop in way.hops for r in (int(table.link_of[hop[0]]), *slower[hop])) for way in ways[d]
            )
            made.append(Commodity((a, b), (d,), taken, tuple(way.broken for way in ways[d])))
        else:
            free.setdefault((min(a, b), max(a, b)), []).append(d)
    made = [*(Commodity(ends, tuple(mine), None) for ends, mine in free.items()), *made]
    return Resources(
        table=table,
        hops=hops,
        within=tuple(problem.within(hop) for hop in hops),
        commodities=tuple(made),
        ends=np.array([one.ends for one in made], dtype=np.intp).reshape(-1, 2),
    )
