"""The JSON Schema of a topology file: for editors, and for our own sentences about a wrong one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from dcplan.model.schema import Topology

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Node = dict[str, Any]


def json_schema() -> Node:
    """What an editor should accept: the types of the file, `extends`, and free keys that start with `x-`."""
    schema = Topology.model_json_schema()
    one = {"type": "string", "minLength": 1}
    schema["properties"]["extends"] = {
        "anyOf": [one, {"type": "array", "items": one}],
        "description": "Files beside this one whose content lies underneath: maps merge, the rest is replaced.",
        "title": "Extends",
    }
    schema["patternProperties"] = {"^x-": {}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@cache
def _schema() -> Node:
    return Topology.model_json_schema()


def nodes(path: Sequence[str | int]) -> list[Node]:
    """What may stand at a path of the file: one node of the schema per alternative; none for an unknown path."""
    found = _alternatives(_schema())
    for part in path:
        found = [node for parent in found for child in _children(parent, part) for node in _alternatives(child)]
    return found


def _children(node: Node, part: str | int) -> Iterator[Node]:
    if isinstance(part, int):
        prefix = node.get("prefixItems", [])
        if part < len(prefix):
            yield prefix[part]
        elif "items" in node:
            yield node["items"]
    elif part in node.get("properties", {}):
        yield node["properties"][part]
    elif isinstance(node.get("additionalProperties"), dict):
        yield node["additionalProperties"]


def _alternatives(node: Node) -> list[Node]:
    if "$ref" in node:
        target = _schema()["$defs"][node["$ref"].rpartition("/")[2]]
        return _alternatives({**target, **{key: value for key, value in node.items() if key != "$ref"}})
    if "anyOf" in node:
        return [
            {**{key: node[key] for key in ("description", "default") if key in node}, **found}
            for branch in node["anyOf"]
            if branch.get("type") != "null"
            for found in _alternatives(branch)
        ]
    return [node]


def keys(path: Sequence[str | int]) -> list[str]:
    """The keys that a map at a path may have; none where names are free."""
    return sorted({key for node in nodes(path) for key in node.get("properties", {})})


@cache
def homes() -> dict[str, tuple[str, ...]]:
    """Each key of the schema -> the sections it belongs in, as a reader writes them (`fibers.NAME.spans`)."""
    found: dict[str, list[str]] = {}
    for place, key in _places(_schema(), ()):
        found.setdefault(key, []).append(".".join(place))
    return {key: tuple(places) for key, places in sorted(found.items())}


def _places(node: Node, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for option in _alternatives(node):
        for key, child in option.get("properties", {}).items():
            yield place, key
            yield from _places(child, (*place, key))
        if isinstance(option.get("additionalProperties"), dict):
            yield from _places(option["additionalProperties"], (*place, "NAME"))
        if isinstance(option.get("items"), dict):
            yield from _places(option["items"], place)
