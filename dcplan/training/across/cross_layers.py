"""Tensor, context and expert parallel groups that span sites: what every layer of every microbatch waits for.

Such a plan pays the latency between sites several times in each layer, where data parallel ranks pay it once in a step.
It is worked out all the same, so that a user sees why not. What groups exchange inside sites is in the terms of their
own; this is what the way between sites adds. All groups of all stages share a link: a time on it is theirs together.

With n sites, a_i of the members of each group in site i, S bytes, T tokens of a microbatch in a group:
tp: an all-reduce sends S (a_i + a_j)/t from i to j, to sum and to hand out the sum: two trips. Two forward, two
    backward, two where all is recomputed; one each for the embedding and the logits.
cp: ring: c−1 steps of one block of keys and values over each crossing, one trip each, behind the attention core of the
    pass; all-gather: the blocks of a_i to every other site, one trip. Backward twice as much.
ep: a token goes to site j once, by 1 − (1 − a_j/e)^topk copies, or topk a_j/e where software sends every copy; its
    results come back. One trip to dispatch and one to combine, forward, backward and where all is recomputed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dcplan.model.network import Pair, SiteId, pair
from dcplan.training import shapes
from dcplan.training.across.patterns import shortest_ring
from dcplan.training.compute import attention_core_s, imbalance, one_copy, ring_exchange_s, tp_bytes
from dcplan.training.pipeline.stages import device_layers
from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.training.across.place import Place
    from dcplan.training.pipeline.stages import StageLayers
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Links, Tile, Workload

SPANNING = ("tp", "cp", "ep")
"""Dimensions whose groups exchange in every layer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One kind of exchange of a layer, embedding or logits."""

    times: float
    """In a microbatch, forward and backward."""
    trips: int
    """One-way latencies in it."""
    size_gb: Mapping[Pair, float]
    """Between two sites in each direction, all groups of a stage together [GB]."""
    hides_s: float = 0.0
    """Compute that it hides behind, each time [s]."""
    near_s: float = 0.0
    """What it takes inside a site, hidden or not, which other terms have [s]."""

    def adds_s(self, links: Links, stages: int) -> float:
        """What the way between sites adds to it, each time, with the groups of all stages on the links [s]."""
        took_s = max(
            self.trips * links.latency_ms.get(ends, math.inf) / 1e3
            + 8 * size * stages / (links.rate_gbps.get(ends) or math.ulp(0.0))
            for ends, size in self.size_gb.items()
        )
        return max(0.0, max(took_s, self.near_s) - self.hides_s) - max(0.0, self.near_s - self.hides_s)


@dataclass(frozen=True, slots=True)
class Spanned:
    """What the parts of a model exchange between sites for each microbatch."""

    dense: tuple[Exchange, ...] = ()
    moe: tuple[Exchange, ...] = ()
    ends: tuple[Exchange, ...] = ()
    """Embedding, and logits again."""


class Added(NamedTuple):
    """What the fullest stage waits for in a microbatch."""

    kind: StageLayers
    dense_s: float
    """Each layer without experts [s]."""
    moe_s: float
    """Each layer with experts [s]."""
    ends_s: float
    """Embedding, and logits again [s]."""

    @property
    def total_s(self) -> float:
        """The stage [s]."""
        layers_s = self.kind.dense * self.dense_s + self.kind.moe * self.moe_s
        return layers_s + (self.kind.embedding + self.kind.head) * self.ends_s


def added(workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine, links: Links) -> Added:
    """The stage that waits longest for exchanges of layers between sites."""
    found = spanned(workload, layout, where, box)
    each = [
        math.fsum(one.times * one.adds_s(links, layout.pp) for one in exchanges)
        for exchanges in (found.dense, found.moe, found.ends)
    ]
    kinds = device_layers(workload.model, layout.pp, layout.virtual_stages, layout.schedule)
    return max((Added(kind, *each) for kind in kinds), key=lambda one: one.total_s)


def cross_layers_s(workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine, links: Links) -> float:
    """Exposed exchange of layers between sites in a step: x (m + (p−1)/v), x = that of the fullest stage [s]."""
    if layout.across not in SPANNING:
        return 0.0
    stage_s = added(workload, layout, where, box, links).total_s
    return stage_s * (layout.microbatches + (layout.pp - 1) / layout.virtual_stages)


def sizes_gb(
    workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine
) -> dict[Pair, tuple[float, float, float]]:
    """Between two sites in each direction, for one microbatch of all ranks: a dense layer, one with experts, an end."""
    found = spanned(workload, layout, where, box)
    pairs = sorted({ends for part in (found.dense, found.moe, found.ends) for one in part for ends in one.size_gb})

    def size_gb(exchanges: tuple[Exchange, ...], ends: Pair) -> float:
        return math.fsum(one.times * one.size_gb.get(ends, 0.0) for one in exchanges)

    return {ends: (size_gb(found.dense, ends), size_gb(found.moe, ends), size_gb(found.ends, ends)) for ends in pairs}


def cross_layers_gb(workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine) -> dict[Pair, float]:
    """Bytes of these exchanges between two sites in a step, in each direction [GB]."""
    if layout.across not in SPANNING:
        return {}
    moe = shapes.moe_layers(workload.model)
    return {
        pair_: layout.microbatches * ((workload.model.layers - moe) * dense + moe * sparse + 2 * ends)
        for pair_, (dense, sparse, ends) in sizes_gb(workload, layout, where, box).items()
    }


def messages(workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine) -> float:
    """Exchanges of a step that wait for each other: those of all layers, for every microbatch."""
    found, moe = spanned(workload, layout, where, box), shapes.moe_layers(workload.model)
    each = [(found.dense, workload.model.layers - moe), (found.moe, moe), (found.ends, 2)]
    return layout.microbatches * math.fsum(count * one.times for kinds, count in each for one in kinds)


def spanned(workload: Workload, layout: Layout, where: tuple[Place, ...], box: Machine) -> Spanned:
    """The exchanges of a plan whose groups span sites."""
    members = tuple(members_by_site(layout, where).items())
    return _spanned(workload, layout.across, layout.dp, layout.tile, members, box)


@remembered
def _spanned(
    workload: Workload, across: str, dp: int, tile: Tile, members: tuple[tuple[SiteId, float], ...], box: Machine
) -> Spanned:
    if across == "tp":
        return _tp(workload, dp, tile, dict(members), box)
    if across == "cp":
        each = _cp(workload, dp, tile, dict(members), box)
        return Spanned(each, each)
    return Spanned(moe=_ep(workload, dp, tile, dict(members), box))


def members_by_site(layout: Layout, where: tuple[Place, ...]) -> dict[SiteId, float]:
    """Of each group that spans sites, the members in each site."""
    found: dict[SiteId, float] = {}
    for place in where:
        size = {"tp": layout.tp, "cp": layout.cp, "ep": layout.ep}[layout.across]
        own = place.members or size * place.ranks / layout.dp
        found[place.share.site] = found.get(place.share.site, 0.0) + own
    return found


def _tp(workload: Workload, dp: int, tile: Tile, members: Mapping[SiteId, float], box: Machine) -> Spanned:
    groups, passes = tile.cp * dp, 3 if tile.recompute == "full" else 2

    def reduced(size: float, times: float) -> Exchange:
        return Exchange(
            times,
            2,
            {
                pair(a, b): groups * size * (members[a] + members[b]) / tile.tp / 1e9
                for a, b in itertools.combinations(members, 2)
            },
        )

    def layer(*, moe: bool) -> tuple[Exchange, ...]:
        return tuple(reduced(size, passes) for size in tp_bytes(workload, tile, box, moe=moe))

    tokens = tile.microbatch * workload.sequence_length / tile.cp
    moe = layer(moe=True) if shapes.is_moe(workload.model) else ()
    return Spanned(layer(moe=False), moe, (reduced(2 * tokens * workload.model.hidden, 1),))


def _cp(workload: Workload, dp: int, tile: Tile, members: Mapping[SiteId, float], box: Machine) -> tuple[Exchange, ...]:
    """Forward, again where all is recomputed, and twice as much backward."""
    tokens = tile.microbatch * workload.sequence_length / tile.cp
    block_gb = dp * 2 * tokens * shapes.kv_width(workload.model) / 1e9
    sites = tuple(members)
    forwards = 2 if tile.recompute == "full" else 1
    if tile.cp_exchange == "all-gather":
        size = {pair(a, b): max(members[a], members[b]) * block_gb for a, b in itertools.combinations(sites, 2)}
        return (Exchange(forwards + 2, 1, size),)
    around = shortest_ring(sites, dict(workload.collective.latency_ms))
    edges = {pair(a, b) for a, b in zip(around, (*around[1:], around[0]), strict=True)}
    steps, near_s = tile.cp - 1, ring_exchange_s(workload, tile, box)
    core_s, backward_s = attention_core_s(workload, tile, box)
    once = dict.fromkeys(sorted(edges), steps * block_gb)
    twice = dict.fromkeys(sorted(edges), 2 * steps * block_gb)
    return (
        Exchange(forwards, steps, once, core_s, near_s),
        Exchange(1, 2 * steps, twice, backward_s, 2 * near_s),
    )


def _ep(workload: Workload, dp: int, tile: Tile, members: Mapping[SiteId, float], box: Machine) -> tuple[Exchange, ...]:
    topk, passes = workload.model.topk or 1, 3 if tile.recompute == "full" else 2
    tokens = tile.microbatch * workload.sequence_length * dp * imbalance(workload, tile)
    part = {site: own / tile.ep for site, own in members.items()}
    copies = {site: 1 - (1 - own) ** topk if one_copy(tile, box) else topk * own for site, own in part.items()}

    def sent(width: float) -> dict[Pair, float]:
        """Of the two directions, the one that has more to carry."""
        return {
            pair(a, b): width * workload.model.hidden * tokens * max(part[a] * copies[b], part[b] * copies[a]) / 1e9
            for a, b in itertools.combinations(members, 2)
        }

    return Exchange(passes, 1, sent(box.dispatch_bytes)), Exchange(passes, 1, sent(2))
