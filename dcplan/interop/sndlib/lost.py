"""What of an SNDlib instance does not cross over, or is not what it seems, an item each."""

from __future__ import annotations

from itertools import pairwise
from math import fsum, isfinite
from typing import TYPE_CHECKING

from dcplan.model.network import pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.interop.sndlib.instance import Demand, Instance, Link
    from dcplan.interop.sndlib.model import Model
    from dcplan.interop.sndlib.unit import Scale

LONG_LIST = 4
"""Modules of a list from which on it is likely meant for one pick (E)."""
SHOWN = 3


def notes(instance: Instance, model: Model, scale: Scale, *, by_default: bool, degrees: bool) -> Iterator[str]:
    """In the order of the file: the problem, unit and map, links, demands."""
    if by_default:
        yield f"planned as {instance.name}--{model.name}; --model names another problem of the same network"
    yield scale.said[0].lower() + scale.said[1:].rstrip(".")
    yield from _map(instance, degrees=degrees)
    yield from _links(instance, model)
    yield from _capacities(instance.links, model, scale)
    yield from _demands(instance, model)


def _map(instance: Instance, *, degrees: bool) -> Iterator[str]:
    if degrees:
        yield "links are as long as the great circle between their nodes: SNDlib has no lengths"
    else:
        why = "are pixels" if all(node.place for node in instance.nodes) else "are missing"
        yield f"coordinates of nodes {why}: sites are placed around 0° N 0° E, and latency is left out (0 ms)"


def _links(instance: Instance, model: Model) -> Iterator[str]:
    links = instance.links
    loops = [link.id for link in links if link.ends[0] == link.ends[1]]
    bare = [link.id for link in links if link.id not in loops and not link.modules and not link.existing.capacity]
    if loops:
        yield f"{_some(loops, 'link')} from a node to itself left out"
    if bare:
        yield f"{_some(bare, 'link')} without any capacity left out"
    ways = {link.ends for link in links}
    if sum((b, a) in ways for a, b in ways) > len(ways) / 2:
        yield "most links stand there once in each direction: each is planned as a circuit of its own, for both"
    there = [link.id for link in links if link.existing.capacity]
    if there:
        yield f"{_some(there, 'link')} with capacity that is there already: it is kept and free"
    paid = fsum(link.existing.cost for link in links)
    if paid:
        yield f"the cost of capacity that is there already, {paid:.10g}, is not in the plan: add it to compare"
    if any(link.routing_cost for link in links) and not model.priced:
        yield "routing cost per unit of traffic is left out: under one-plus-one traffic has no price"
    if not model.setup and any(link.setup_cost for link in links):
        yield "set-up cost is left out, as the problem says (letter 4 is N)"


def _capacities(links: Sequence[Link], model: Model, scale: Scale) -> Iterator[str]:
    """Lists that look wrong: dearer for less, twice the same, without limit, long but for any mix."""
    falling: dict[str, str] = {}
    for link in links:
        steps = sorted(link.modules, key=lambda module: (module.capacity, module.cost))
        for less, more in pairwise(steps):
            if more.capacity == less.capacity:
                counted = f"the cheaper one, {less.cost:.10g}, counts"
                yield f"link {link.id} has capacity {more.capacity:.10g} twice: {counted}"
            elif more.cost < less.cost:
                found = f"{more.capacity:.10g} at {more.cost:.10g} after {less.capacity:.10g} at {less.cost:.10g}"
                falling.setdefault(link.id, found)
        if any(not isfinite(module.capacity) for module in link.modules):
            yield f"link {link.id} has capacity UNLIMITED: it stands as {scale.all_gbps:g} Gb/s, all demands together"
    if falling:
        shown = "; ".join(f"{name}: {found}" for name, found in list(falling.items())[:SHOWN])
        yield (
            f"more capacity costs less on {_some(list(falling), 'link')}, likely corrupt: {shown}; the lists are taken "
            "as they stand, and nothing dearer for less is ever leased"
        )
    longest = max(len(link.modules) for link in links)
    if longest >= LONG_LIST and not model.one:
        yield f"lists of up to {longest} capacities are planned as any mix (M); letter 3 E takes one of each list"


def _demands(instance: Instance, model: Model) -> Iterator[str]:
    mine: dict[tuple[str, str], list[Demand]] = {}
    for demand in instance.demands:
        mine.setdefault(pair(*demand.ends), []).append(demand)
    folded = sum(len(each) > 1 for (a, b), each in mine.items() if a != b)
    if folded and not model.single:
        yield f"demands between the same two nodes are added up, in {folded} of {len(mine)} pairs: U is undirected"
    nothing = [demand.id for demand in instance.demands if demand.ends[0] == demand.ends[1] or not demand.value]
    if nothing:
        yield f"{_some(nothing, 'demand')} of nothing, or of a node to itself, left out"
    limited = [demand.id for demand in instance.demands if isfinite(demand.most_hops)]
    if limited:
        yield f"{_some(limited, 'demand')} with a limit of hops, which is ignored as the problem says (letter 7 is N)"


def _some(names: Sequence[str], what: str) -> str:
    """`2 links (a, b)`."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names)} {what}{'' if len(names) == 1 else 's'} ({', '.join(names[:SHOWN])}{more})"
