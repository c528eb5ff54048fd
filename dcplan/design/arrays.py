"""A problem as arrays of indices: what the cut loop computes with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.design.problem import Problem, rate

if TYPE_CHECKING:
    from dcplan.model.network import SiteId


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Sites, links, lightpaths, fibers, demands and states by index; a link is two sites that a lightpath joins."""

    sites: tuple[SiteId, ...]
    """Those where a lightpath, a fiber or a demand ends, sorted."""
    links: Any
    """(links, 2) sites, each pair once, sorted."""
    link_of: Any
    """(lightpaths,) link."""
    alive: Any
    """(states, lightpaths) survives."""
    fibers: Any
    """(fibers, 2) sites."""
    fiber_alive: Any
    """(states, fibers) survives."""
    demands: Any
    """(demands, 2) sites."""
    rates: Any
    """(states, demands) [Gb/s]."""
    owner: Any
    """(choices,) lightpath."""
    gbps: Any
    """(choices,) rate of one [Gb/s]."""
    ruling: tuple[int, ...]
    """The healthy state, and the states that no other implies: no state that loses as much asks for as much."""

    def capacity_gbps(self, counts: Any) -> Any:
        """(lightpaths,) what so many of each choice carry [Gb/s]."""
        import numpy as np

        bought = np.asarray(counts, dtype=float) * self.gbps
        return np.bincount(self.owner, weights=bought, minlength=len(self.link_of))

    def link_gbps(self, capacity_gbps: Any) -> Any:
        """(states, links) what survives of the capacity of lightpaths [Gb/s]."""
        import numpy as np

        order = np.argsort(self.link_of, kind="stable")
        starts = np.searchsorted(self.link_of[order], np.arange(len(self.links)))
        if not len(order):
            return np.zeros((len(self.alive), 0))
        return np.add.reduceat((self.alive * capacity_gbps)[:, order], starts, axis=1)


def arrays(problem: Problem) -> Arrays:
    """The arrays of a problem."""
    import numpy as np

    network, states = problem.network, problem.states
    path_ends = [lightpath.route.ends for lightpath in problem.lightpaths]
    fiber_ends = [network.fibers[fiber].ends for fiber in problem.fibers]
    demand_ends = [demand.ends for demand in problem.demands]
    sites = tuple(sorted({site for ends in (*path_ends, *fiber_ends, *demand_ends) for site in ends}))
    at = {site: i for i, site in enumerate(sites)}
    links = sorted({(at[a], at[b]) for a, b in path_ends})
    number = {ends: i for i, ends in enumerate(links)}
    alive = [[not state.breaks(path.route) for path in problem.lightpaths] for state in states]
    fiber_alive = [
        [
            fiber not in state.fibers and state.sites.isdisjoint(ends)
            for fiber, ends in zip(problem.fibers, fiber_ends, strict=True)
        ]
        for state in states
    ]

    def pairs(ends: Any) -> Any:
        return np.array([(at[a], at[b]) for a, b in ends], dtype=np.intp).reshape(-1, 2)

    def table(rows: Any, width: int, kind: type) -> Any:
        return np.array(rows, dtype=kind).reshape(len(states), width)

    rates = table([[rate(demand, state) for demand in problem.demands] for state in states], len(demand_ends), float)
    survives = table(alive, len(path_ends), bool), table(fiber_alive, len(fiber_ends), bool)
    healthy = [k for k, state in enumerate(states) if state.healthy]
    return Arrays(
        sites=sites,
        links=np.array(links, dtype=np.intp).reshape(-1, 2),
        link_of=np.array([number[at[a], at[b]] for a, b in path_ends], dtype=np.intp),
        alive=survives[0],
        fibers=pairs(fiber_ends),
        fiber_alive=survives[1],
        demands=pairs(demand_ends),
        rates=rates,
        owner=np.array([choice.lightpath for choice in problem.choices], dtype=np.intp),
        gbps=np.array([choice.gbps for choice in problem.choices], dtype=float),
        ruling=tuple(sorted({*healthy, *_ruling(np.concatenate(survives, axis=1), rates)})),
    )


def _ruling(alive: Any, rates: Any) -> list[int]:
    """States of which no other loses all that they lose and asks for all that they ask; of equal ones the first."""
    found = []
    for k in range(len(alive)):
        worse = (alive <= alive[k]).all(axis=1) & (rates >= rates[k]).all(axis=1)
        alike = (alive == alive[k]).all(axis=1) & (rates == rates[k]).all(axis=1)
        alike[:k] = False
        if not (worse & ~alike).any():
            found.append(k)
    return found
