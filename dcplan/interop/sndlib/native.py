"""Reads SNDlib's native text: sections of words and nested parentheses, `#` begins a comment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from dcplan.errors import UsageError
from dcplan.interop.imported import MOST
from dcplan.interop.sndlib.instance import UNLIMITED, Demand, Instance, Link, Module, Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADER = re.compile(r"\s*\?SNDlib native format;\s*type:\s*(\w+)", re.IGNORECASE)
_TOKEN = re.compile(r"[()]|[^\s()]+")
_SECTION = re.compile(r"^(\w+)\s*\(", re.MULTILINE)
_META = re.compile(r"^META\s*\((.*?)^\)", re.MULTILINE | re.DOTALL)
_UNIT = re.compile(r"^\s*unit\s*=\s*(.*?)\s*$", re.MULTILINE)


def parse(text: str, file: str, name: str) -> Instance:
    """The instance in a native text. UsageError, with file and line, for anything that is not a whole network."""
    header = HEADER.match(text)
    if header is None or header[1].lower() != "network":
        kind = "no native file of SNDlib" if header is None else f"an SNDlib file of type {header[1]}"
        raise UsageError(f"{file} is {kind}: wanted is the network, whose first line says `type: network`")
    meta = _META.search(text)
    unit = _UNIT.search(meta[1]) if meta else None
    sections = _sections(text, file)

    def walk(section: str) -> _Walk:
        return _Walk(file, sections.get(section, ()))

    return Instance(
        name=name,
        unit=unit[1] if unit else "",
        geographic=None,
        nodes=tuple(_nodes(walk("NODES"))),
        links=tuple(_links(walk("LINKS"))),
        demands=tuple(_demands(walk("DEMANDS"))),
        listed_paths=bool(sections.get("ADMISSIBLE_PATHS")),
    )


def _nodes(walk: _Walk) -> Iterator[Node]:
    """`id ( x y )`, the place being optional."""
    while walk.more():
        name = walk.word()
        place = walk.figures() if walk.opens() else []
        if len(place) not in (0, 2):
            raise walk.fault("two coordinates")
        yield Node(name, (place[0], place[1]) if place else None)


def _links(walk: _Walk) -> Iterator[Link]:
    """`id ( source target ) existing cost routing setup ( capacity cost … )`."""
    while walk.more():
        name, ends = walk.word(), walk.ends()
        existing, paid, routing, setup = (walk.figure() for _ in range(4))
        figures = walk.figures()
        if len(figures) % 2:
            raise walk.fault("a cost for each capacity")
        modules = tuple(Module(*pair) for pair in zip(figures[::2], figures[1::2], strict=True))
        yield Link(name, ends, Module(existing, paid), routing, setup, modules)


def _demands(walk: _Walk) -> Iterator[Demand]:
    """`id ( source target ) routing_unit demand_value max_path_length`."""
    while walk.more():
        name, ends = walk.word(), walk.ends()
        unit, value, hops = (walk.figure() for _ in range(3))
        yield Demand(name, ends, unit * value, hops)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int


def _sections(text: str, file: str) -> dict[str, tuple[_Word, ...]]:
    """Section -> its words, without its own parentheses; META, which is free text, is left out."""
    meta = _META.search(text)
    if meta is not None:
        text = text[: meta.start()] + "\n" * meta[0].count("\n") + text[meta.end() :]
    words = [
        _Word(token, number)
        for number, line in enumerate(text.splitlines(), 1)
        if not line.lstrip().startswith("?")
        for token in _TOKEN.findall(line.partition("#")[0])
    ]
    found: dict[str, tuple[_Word, ...]] = {}
    at = 0
    while at < len(words):
        name = words[at]
        if at + 1 == len(words) or words[at + 1].text != "(":
            raise UsageError(f"{file}:{name.line}: a section was expected, as `NODES (`, found `{name.text}`")
        depth, end = 1, at + 2
        while depth and end < len(words):
            depth += (words[end].text == "(") - (words[end].text == ")")
            end += 1
        if depth:
            raise UsageError(f"{file}:{name.line}: section {name.text} is not closed")
        found[name.text] = tuple(words[at + 2 : end - 1])
        at = end
    return found


class _Walk:
    """A walk over the words of a section."""

    def __init__(self, file: str, words: Sequence[_Word]) -> None:
        self.file, self.words, self.at = file, words, 0

    def more(self) -> bool:
        return self.at < len(self.words)

    def opens(self) -> bool:
        return self.more() and self.words[self.at].text == "("

    def fault(self, wanted: str) -> UsageError:
        here = self.words[min(self.at, len(self.words) - 1)]
        found = f"found `{here.text}`" if self.more() else "the section ends"
        return UsageError(f"{self.file}:{here.line}: {wanted} was expected, {found}")

    def word(self) -> str:
        if not self.more() or self.words[self.at].text in ("(", ")"):
            raise self.fault("a name or figure")
        self.at += 1
        return self.words[self.at - 1].text

    def figure(self) -> float:
        text = self.word()
        value = UNLIMITED if text == "UNLIMITED" else _number(text)
        if not abs(value) < MOST and text != "UNLIMITED":
            self.at -= 1
            raise self.fault("a figure")
        return value

    def figures(self) -> list[float]:
        """Figures in parentheses."""
        self._open()
        found = []
        while self.more() and self.words[self.at].text != ")":
            found.append(self.figure())
        self._close()
        return found

    def ends(self) -> tuple[str, str]:
        """Two names in parentheses."""
        self._open()
        both = self.word(), self.word()
        self._close()
        return both

    def _open(self) -> None:
        if not self.opens():
            raise self.fault("`(`")
        self.at += 1

    def _close(self) -> None:
        if not self.more() or self.words[self.at].text != ")":
            raise self.fault("`)`")
        self.at += 1


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
