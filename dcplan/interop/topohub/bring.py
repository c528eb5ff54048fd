"""Makes a topology of fibers and demands from a graph of TopoHub."""

from __future__ import annotations

from itertools import combinations
from math import ceil, fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError
from dcplan.geo import great_circle_km
from dcplan.interop.imported import LONGEST, MOST, SCHEMA, Imported, distinct
from dcplan.interop.place import are_degrees, placed
from dcplan.interop.text import yaml_text
from dcplan.interop.topohub.graph import read
from dcplan.model.network import pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.interop.place import Place
    from dcplan.interop.topohub.graph import Edge, Graph
    from dcplan.model.network import Pair

TYPE, PAIRS = "g652d", 8
"""What a fiber is of which a graph says nothing."""
LEAST_KM = 1.0
"""Length of a link between two nodes in one spot."""
MOST_PAIRS = 20_000
"""Pairs of sites between which equal demands are made where a graph has none."""
LEAST_GBPS = 1e-3
"""No rate of a topology file is smaller."""


def bring(source: str, total_gbps: float | None) -> Imported:
    """A topology file from a graph of TopoHub, by file or name, and what it does not say.

    total_gbps: all demands together, each pair of sites counted once, in each direction; the shares of the graph have
    no unit. UsageError where it is missing or not above zero, and where the graph cannot be read or is empty.
    """
    if total_gbps is None or not total_gbps > 0:
        raise UsageError("demands of TopoHub have no unit: say with --total-gbps what all of them are together")
    if total_gbps >= MOST:
        raise UsageError(f"--total-gbps must be below 10^18, found {total_gbps:g}")
    graph = read(source)
    shown = Path(source).name if Path(source).is_file() else source
    said: list[str] = []
    names = dict(zip((one.id for one in graph.vertices), distinct(one.name for one in graph.vertices), strict=True))
    places = {names[one.id]: one.place for one in graph.vertices}
    edges = _single(graph, said)
    spots = _spots(places, edges, names, said)
    fibers = _fibers(edges, names, spots, said)
    shares = _shares(graph, said)
    parted = _parted(fibers)
    data: dict[str, Any] = {
        "dcplan": 1,
        "name": graph.name[:LONGEST],
        "description": f"Imported from TopoHub: {shown}, {total_gbps:g} Gb/s of demands in each direction.",
        "sites": {name: {"lat": lat, "lon": lon} for name, (lat, lon) in spots.items()},
        "fibers": fibers,
        "demands": _demands(shares, names, total_gbps, said),
        **({"policy": {"scheme": "none"}} if parted else {}),
    }
    if parted:
        said.append(
            f"losing fiber {parted} alone parts the network: no failure is promised; give a second way and "
            "`policy: {survive: [any-fiber]}` to ask for it"
        )
    said.append(f"every fiber is {TYPE} with {PAIRS} pairs and no lease: the graph says neither")
    return Imported(f"{SCHEMA}{yaml_text(data)}", tuple(said))


def _single(graph: Graph, said: list[str]) -> list[Edge]:
    """The edges once; of a directed graph, both directions of a link are one."""
    edges = [edge for edge in graph.edges if edge.ends[0] != edge.ends[1]]
    if len(edges) < len(graph.edges):
        said.append(f"{len(graph.edges) - len(edges)} links from a node to itself left out")
    if graph.directed:
        once = {pair(*edge.ends): edge for edge in reversed(edges)}
        edges = [edge for edge in edges if once[pair(*edge.ends)] is edge]
        said.append("the graph is directed: both directions of a link are one fiber")
    if not edges:
        raise UsageError("the graph joins no two nodes: there is nothing to plan")
    return edges


def _spots(
    places: Mapping[str, Place | None], edges: Sequence[Edge], names: Mapping[str, str], said: list[str]
) -> dict[str, Place]:
    """The places where they are degrees; else made, so close together that no length is below the great circle."""
    if are_degrees(places):
        return {name: place for name, place in places.items() if place}
    said.append(
        "places of nodes are no longitudes and latitudes: sites are placed around 0° N 0° E; lengths that were worked"
        " out from such places may mean nothing"
    )
    made = placed(places)
    ratios = [
        edge.length_km / line_km
        for edge in edges
        if edge.length_km and (line_km := great_circle_km(*made[names[edge.ends[0]]], *made[names[edge.ends[1]]]))
    ]
    shrink = min([1.0, *ratios]) if ratios else 1.0
    return {name: (round(lat * shrink, 6), round(lon * shrink, 6)) for name, (lat, lon) in made.items()}


def _fibers(
    edges: Sequence[Edge], names: Mapping[str, str], spots: Mapping[str, Place], said: list[str]
) -> dict[str, dict[str, Any]]:
    """A fiber for each link: as long as the graph says, never shorter than the great circle."""
    found = {}
    called = distinct(f"{names[edge.ends[0]][:36]} - {names[edge.ends[1]][:36]}" for edge in edges)
    unsaid = longer = 0
    for name, edge in zip(called, edges, strict=True):
        a, b = (names[end] for end in edge.ends)
        line_km = ceil(100 * great_circle_km(*spots[a], *spots[b])) / 100
        unsaid += not edge.length_km
        longer += bool(edge.length_km) and line_km > (edge.length_km or 0.0) * 1.005 + 1
        length_km = max(LEAST_KM, line_km, edge.length_km or 0.0)
        found[name] = {"ends": [a, b], "type": TYPE, "length_km": length_km, "pairs": PAIRS}
    if unsaid:
        said.append(f"{unsaid} links without a length are as long as the great circle, at least {LEAST_KM:g} km")
    if longer:
        said.append(f"{longer} links shorter than the great circle between their ends are as long as that")
    return found


def _shares(graph: Graph, said: list[str]) -> dict[Pair, float]:
    """What each pair of nodes asks of all, once: the larger direction; equal shares where the graph has none."""
    found: dict[Pair, float] = {}
    for ends, share in graph.demands.items():
        key = pair(*ends)
        found[key] = max(found.get(key, 0.0), share)
    joined = _components(graph)
    if graph.demands:
        if any(ends[::-1] in graph.demands for ends in graph.demands):
            said.append("of demands in both directions the larger one counts: dcplan's are the same both ways")
    else:
        asking = [one.id for one in graph.vertices if one.asks]
        if len(asking) * (len(asking) - 1) / 2 > MOST_PAIRS:
            raise UsageError(f"the graph has no demands, and {len(asking)} nodes are too many for one between each two")
        found = {pair(a, b): 1.0 for a, b in combinations(asking, 2)}
        said.append("the graph has no demands: all pairs of sites ask the same")
    kept = {ends: share for ends, share in found.items() if joined[ends[0]] == joined[ends[1]]}
    if len(kept) < len(found):
        said.append(f"{len(found) - len(kept)} demands between sites that nothing joins left out")
    if not kept:
        raise UsageError("the graph has no demand between two nodes that are joined: there is nothing to plan")
    return kept


def _components(graph: Graph) -> dict[str, int]:
    """Node -> number of the part of the graph in which it lies."""
    import networkx as nx

    whole: Any = nx.Graph()
    whole.add_nodes_from(one.id for one in graph.vertices)
    whole.add_edges_from(edge.ends for edge in graph.edges)
    return {node: number for number, part in enumerate(nx.connected_components(whole)) for node in part}


def _parted(fibers: Mapping[str, Mapping[str, Any]]) -> str | None:
    """A fiber whose loss parts the network, the first in order; none where no single loss does."""
    import networkx as nx

    whole: Any = nx.MultiGraph()
    for name, fiber in fibers.items():
        whole.add_edge(*fiber["ends"], key=name)
    bridges = {frozenset(ends) for ends in nx.bridges(whole)}
    return next((name for name, fiber in fibers.items() if frozenset(fiber["ends"]) in bridges), None)


def _demands(
    shares: Mapping[Pair, float], names: Mapping[str, str], total_gbps: float, said: list[str]
) -> dict[str, Any]:
    whole = fsum(shares.values())
    gbps = {ends: float(f"{total_gbps * share / whole:.6g}") for ends, share in shares.items()}
    kept = {ends: rate for ends, rate in gbps.items() if rate >= LEAST_GBPS}
    if len(kept) < len(gbps):
        said.append(f"{len(gbps) - len(kept)} demands below 1 Mb/s left out")
    if not kept:
        raise UsageError(f"--total-gbps {total_gbps:g} leaves every demand below 1 Mb/s")
    called = distinct(f"{names[a][:36]} - {names[b][:36]}" for a, b in kept)
    return {
        name: {"between": [names[a], names[b]], "gbps": rate}
        for name, ((a, b), rate) in zip(called, kept.items(), strict=True)
    }
