"""The sites that lit lightpaths join, and the cheapest chains of lightpaths between all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.design.distances import between_all, direct, numbered, walks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.problem import Hop, Problem
    from dcplan.design.routing.flows import Room
    from dcplan.model.network import Pair


class LitNet:
    """The sites that lit lightpaths join, for cheapest paths between all of them at once."""

    def __init__(self, problem: Problem, room: Room, rows: Mapping[Hop, int], wanted: Mapping[int, Pair]) -> None:
        import numpy as np

        sites = sorted({site for pair in room.ends.values() for site in pair})
        at = {site: k for k, site in enumerate(sites)}
        pairs = sorted(set(room.ends.values()))
        rank = {pair: k for k, pair in enumerate(pairs)}
        self.lightpaths = sorted(room.ends)
        self._pair = np.array([rank[room.ends[i]] for i in self.lightpaths], dtype=np.intp)
        self.links = np.array([[at[a], at[b]] for a, b in pairs], dtype=np.intp).reshape(-1, 2)
        self.number = numbered(len(sites), self.links)
        self.price: Any = np.array([room.price[i] for i in self.lightpaths])
        """(lightpaths,) as their tolls"""
        self.usd: Any = np.array([room.usd.get(i, 0.0) for i in self.lightpaths])
        self.rows: Any = np.array([rows[problem.top(i)] for i in self.lightpaths], dtype=np.intp)
        self.demands = [d for d, ends in wanted.items() if all(site in at for site in ends)]
        """That lit lightpaths may join."""
        self.ends = np.array([[at[site] for site in wanted[d]] for d in self.demands], dtype=np.intp).reshape(-1, 2)

    def nearest(self, tolls: Any) -> Nearest:
        """The cheapest chains of lightpaths between all ends."""
        import numpy as np

        order = np.lexsort((np.arange(len(tolls)), tolls, self._pair))
        _, first = np.unique(self._pair[order], return_index=True)
        best = order[first]
        return Nearest(self, [self.lightpaths[e] for e in best.tolist()], tolls[best])


class Nearest:
    """Cheapest chains at some tolls."""

    def __init__(self, net: LitNet, lightpaths: Sequence[int], lengths: Any) -> None:
        self._net, self._lightpaths = net, lightpaths
        self._lengths = lengths
        self._distances = between_all(len(net.number), net.links, lengths)

    def chains(self, asking: Any, than: Any) -> list[tuple[int, list[int]]]:
        """Demands, of those that ask, whose cheapest chain is cheaper than given, with the chain from the first end."""
        import numpy as np

        net = self._net
        starts, stops = net.ends.T
        paying = np.flatnonzero(asking & (self._distances[starts, stops] < than))
        straight = direct(len(net.number), net.links, self._lengths)
        walked = walks(straight, self._distances, starts[paying], stops[paying], net.number)
        return [
            (net.demands[c], [self._lightpaths[e] for e in links])
            for c, links in zip(paying.tolist(), walked, strict=True)
        ]
