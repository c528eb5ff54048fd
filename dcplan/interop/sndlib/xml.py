"""Reads SNDlib's XML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dcplan.errors import UsageError
from dcplan.interop.imported import MOST
from dcplan.interop.sndlib.instance import UNLIMITED, Demand, Instance, Link, Module, Node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

NAMESPACE = "{http://sndlib.zib.de/network}"


def parse(data: bytes, file: str, name: str) -> Instance:
    """The instance in an XML file. UsageError for anything that is not a whole network, and for entities of its own.

    data: the bytes, whose encoding the file states itself.
    """
    from xml.etree import ElementTree

    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", data):
        raise UsageError(f"{file}: it declares a document type or entities, which files of SNDlib do not")
    try:
        root = ElementTree.fromstring(data)  # noqa: S314  no entities: see above
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise UsageError(f"{file} is no XML: {error}") from error
    if root.tag != f"{NAMESPACE}network":
        raise UsageError(f"{file} is no network of SNDlib: its root is {root.tag.rpartition('}')[2]}")
    where = _Place(root, file)
    nodes = root.find(f".//{NAMESPACE}nodes")
    kind = nodes.get("coordinatesType") if nodes is not None else None
    return Instance(
        name=name,
        unit=where.text("meta/unit", ""),
        geographic=None if kind is None else kind == "geographical",
        nodes=tuple(_node(one) for one in where.all("networkStructure/nodes/node")),
        links=tuple(_link(one) for one in where.all("networkStructure/links/link")),
        demands=tuple(_demand(one) for one in where.all("demands/demand")),
        listed_paths=root.find(f".//{NAMESPACE}admissiblePath") is not None,
    )


class _Place:
    """An element with the name by which it is called in messages."""

    def __init__(self, element: Element, name: str) -> None:
        self.element, self.name = element, name

    def all(self, path: str) -> Iterator[_Place]:
        for number, element in enumerate(self.element.findall(_spelled(path)), 1):
            label = element.get("id") or str(number)
            yield _Place(element, f"{self.name}: {path.rpartition('/')[2]} {label}")

    def id(self) -> str:
        name = self.element.get("id")
        if not name:
            raise UsageError(f"{self.name} has no id")
        return name

    def text(self, path: str, otherwise: str | None = None) -> str:
        found = self.element.find(_spelled(path))
        text = (found.text or "").strip() if found is not None else ""
        if not text and otherwise is None:
            raise UsageError(f"{self.name} has no {path}")
        return text or otherwise or ""

    def figure(self, path: str, otherwise: float | None = None) -> float:
        text = self.text(path, None if otherwise is None else repr(otherwise))
        if text == "UNLIMITED":
            return UNLIMITED
        try:
            value = float(text)
        except ValueError:
            value = UNLIMITED
        if not abs(value) < MOST and value != otherwise:
            raise UsageError(f"{self.name}: {path} must be a figure, found {text}")
        return value


def _spelled(path: str) -> str:
    return "/".join(f"{NAMESPACE}{step}" for step in path.split("/"))


def _node(one: _Place) -> Node:
    if one.element.find(_spelled("coordinates")) is None:
        return Node(one.id(), None)
    return Node(one.id(), (one.figure("coordinates/x"), one.figure("coordinates/y")))


def _link(one: _Place) -> Link:
    return Link(
        one.id(),
        (one.text("source"), one.text("target")),
        Module(one.figure("preInstalledModule/capacity", 0.0), one.figure("preInstalledModule/cost", 0.0)),
        one.figure("routingCost", 0.0),
        one.figure("setupCost", 0.0),
        tuple(Module(each.figure("capacity"), each.figure("cost")) for each in one.all("additionalModules/addModule")),
    )


def _demand(one: _Place) -> Demand:
    value = one.figure("routingUnit", 1.0) * one.figure("demandValue")
    return Demand(one.id(), (one.text("source"), one.text("target")), value, one.figure("maxPathLength", UNLIMITED))
