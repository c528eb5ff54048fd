"""Reads a graph in the node-link JSON of NetworkX, as TopoHub writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError
from dcplan.interop.imported import MOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.interop.place import Place

WAYPOINT = "Waypoint"
"""In the type of a node that only bends a cable and asks for nothing."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node."""

    id: str
    name: str
    place: Place | None
    """Latitude and longitude, or the two coordinates of a plane in the same order."""
    asks: bool
    """It may have traffic of its own."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link, of which parallel ones are others."""

    ends: tuple[str, str]
    length_km: float | None


@dataclass(frozen=True, slots=True)
class Graph:
    """A topology as the file says it."""

    name: str
    directed: bool
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    demands: Mapping[tuple[str, str], float]
    """From, to -> share; no unit. Empty where the file has none."""


def read(source: str) -> Graph:
    """The graph in a file, or by its name in the installed `topohub`, as `sndlib/polska`.

    UsageError where there is no such file or name, or the JSON is no graph or an empty one.
    """
    file = Path(source)
    if file.is_file():
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{source}: cannot be read as JSON: {error}") from error
        return _graph(data, source, file.stem)
    try:
        topohub = import_module("topohub")
    except ImportError as error:
        hint = f"`pip install topohub` lets dcplan find {source} by name" if "/" in source else "name a JSON file"
        raise UsageError(f"{source}: there is no such file; {hint}") from error
    try:
        data = topohub.get(source)
    except (KeyError, OSError, ValueError) as error:
        hint = "names are as gabriel/25/0, topozoo/Abilene, sndlib/polska"
        raise UsageError(f"TopoHub has no {source}: {hint}") from error
    return _graph(data, source, source.rpartition("/")[2])


def _graph(data: Any, source: str, name: str) -> Graph:
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise UsageError(f"{source} is no node-link JSON of a graph: it has no list of `nodes`")
    links = data.get("edges", data.get("links"))
    if not isinstance(links, list):
        raise UsageError(f"{source} is no node-link JSON of a graph: it has no list of `edges` or `links`")
    vertices = tuple(_vertex(one, source, number) for number, one in enumerate(data["nodes"], 1))
    known = {vertex.id for vertex in vertices}
    if len(known) < len(vertices):
        raise UsageError(f"{source}: two nodes have the same id")
    edges = tuple(_edge(one, source, number, known) for number, one in enumerate(links, 1))
    if not edges:
        raise UsageError(f"{source}: the graph has {len(vertices)} nodes and no edges: there is nothing to plan")
    about: Any = data.get("graph")
    about = about if isinstance(about, dict) else {}
    called = about.get("name")
    return Graph(
        name=called if isinstance(called, str) and called else name,
        directed=data.get("directed") is True,
        vertices=vertices,
        edges=edges,
        demands=_demands(about.get("demands"), source, known),
    )


def _vertex(one: Any, source: str, number: int) -> Vertex:
    if not isinstance(one, dict) or one.get("id") is None:
        raise UsageError(f"{source}: node {number} has no id")
    called = one.get("name") or one.get("label") or one["id"]
    spot = one.get("pos")
    place = (_number(spot[1]), _number(spot[0])) if isinstance(spot, (list, tuple)) and len(spot) == 2 else None
    there = place is not None and None not in place
    kind = one.get("type")
    return Vertex(
        id=str(one["id"]),
        name=str(called),
        place=(place[0] or 0.0, place[1] or 0.0) if place is not None and there else None,
        asks=not (isinstance(kind, str) and WAYPOINT in kind),
    )


def _edge(one: Any, source: str, number: int, known: set[str]) -> Edge:
    if not isinstance(one, dict) or "source" not in one or "target" not in one:
        raise UsageError(f"{source}: edge {number} has no source and target")
    ends = str(one["source"]), str(one["target"])
    for end in ends:
        if end not in known:
            raise UsageError(f"{source}: edge {number} ends at {end}, which is no node")
    length_km = _number(one.get("dist"))
    if length_km is not None and length_km < 0:
        raise UsageError(f"{source}: edge {number} has a negative length")
    return Edge(ends, length_km)


def _demands(matrix: Any, source: str, known: set[str]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for start, row in matrix.items() if isinstance(matrix, dict) else ():
        for end, value in row.items() if isinstance(row, dict) else ():
            share = _number(value)
            if str(start) not in known or str(end) not in known or share is None or share < 0:
                raise UsageError(f"{source}: the demand from {start} to {end} is {value!r}, or one of them is no node")
            if share and str(start) != str(end):
                found[str(start), str(end)] = share
    return found


def _number(value: Any) -> float | None:
    """A number that a topology file takes, none for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number and abs(value) < MOST else None
