"""The trees of `optimal` where rates are what is asked for: those whose network costs least, of several tried.

Were a network's cost a sum of prices per Gb/s between sites, one tree would be best: the spanning tree of least price,
for any packing sends (n−1) S each way in all. Failures that share spare capacity, and what is lit already, make it less
than a sum, and then several trees at once may be cheaper. Tried are the trees of direct exchange, ring, tree and hub,
the tree of least price (what the network of each demand alone costs), and halves of the best of these with each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.collective.optimal import EVERY_TREE, cheapest_tree
from dcplan.design.result import Infeasible
from dcplan.design.traffic import JobTraffic, sized
from dcplan.model.states import HEALTHY
from dcplan.training.across.packing import Packing, as_written, rooted
from dcplan.training.across.patterns import OPTIMAL, Collective, as_trees, pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.design.traffic import JobPlans
    from dcplan.model.network import Network, Pair

    Cost = Callable[[Sequence[Demand]], float | None]

Priced = tuple[float, JobTraffic]


def cheapest_trees(
    network: Network, plans: JobPlans, besides: Sequence[Demand], least_usd: Cost, known: Mapping[str, JobTraffic]
) -> Priced | Infeasible:
    """The cheapest packing with its cost [US$], infinite where no network carries any; else why none meets its targets.

    besides: demands of others, for which the network is as well. known: the job with simple collectives, by kind.
    """
    latency_ms = dict(plans.workload.collective.latency_ms)
    sites = tuple(dict.fromkeys(share.site for share in plans.workload.shares))
    tried: dict[tuple[tuple[Pair, float], ...], Priced] = {}
    refused: list[Infeasible] = []

    def attempt(packing: Packing) -> None:
        merged = as_written(_merged(packing))
        key = tuple(sorted((ends, round(tree.share, 9)) for tree in merged for ends in tree.links))
        if key in tried:
            return
        traffic = sized(network, plans.by(OPTIMAL, merged))
        if isinstance(traffic, Infeasible):
            refused.append(traffic)
            return
        usd = least_usd([*traffic.demands, *besides])
        tried[key] = (float("inf") if usd is None else usd, traffic)

    first = [
        as_trees(pattern(Collective(kind, tuple(latency_ms.items())), sites), latency_ms)
        for kind in ("direct", "ring", "tree", "hub")
    ]
    if (direct := known.get("direct")) is not None and len(sites) <= EVERY_TREE:
        price = _prices(direct.demands, least_usd)
        if links := cheapest_tree(price, price, len(sites)):
            first.append((rooted(links, latency_ms),))
    for packing in first:
        attempt(packing)
    if not tried:
        return refused[0]
    best = _best(tried)[1].plans.workload.collective.packing
    for other in [one for one in first if one != best]:
        attempt(tuple(replace(tree, share=tree.share / 2) for tree in (*best, *other)))
    return _best(tried)


def _best(tried: Mapping[tuple[tuple[Pair, float], ...], Priced]) -> Priced:
    """The cheapest, ties to the one that was tried first."""
    return min(tried.values(), key=lambda one: round(one[0]) if one[0] < float("inf") else one[0])


def _prices(demands: Sequence[Demand], least_usd: Cost) -> dict[Pair, float]:
    """What a Gb/s of each demand costs where the network is for it alone [US$]; none where nothing carries it."""
    found = {}
    for demand in demands:
        usd = least_usd([demand])
        if usd is not None:
            found[demand.ends] = usd / demand.gbps[HEALTHY.name]
    return found


def _merged(packing: Packing) -> Packing:
    """Equal trees as one."""
    share: dict[tuple[object, ...], float] = {}
    first = {(tree.root, tree.above): tree for tree in packing}
    for tree in packing:
        share[tree.root, tree.above] = share.get((tree.root, tree.above), 0.0) + tree.share
    return tuple(replace(tree, share=share[key]) for key, tree in first.items())
