"""Reads a topology file once and keeps where every key and value stands. The only module that knows YAML.

Scalars follow the YAML 1.2 core schema, as editors do: NO, 1:30 are text, 1e6 is a number, 010 is ten. Keys are text.
`extends` merges other files underneath: maps merge deeply, scalars and lists replace, null removes.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dcplan.diagnostics import Span
from dcplan.errors import UsageError

Loc = tuple[str | int, ...]
MAX_NODES = 1_000_000
"""An alias bomb multiplies nodes; a topology of 10,000 lines has about 20,000."""
MAX_DIGITS = 400
"""A whole number with more digits is beyond every float; reading it digit by digit would take forever."""
MAX_DEPTH = 8
"""How deep files may extend files."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps a file from being read as data."""

    kind: str
    span: Span
    message: str
    hint: str | None = None


@dataclass(slots=True)
class Document:
    """A file as plain data, with the span of every value and of every key, and what was wrong in reading it."""

    data: Any
    values: dict[Loc, Span] = field(default_factory=dict)
    keys: dict[Loc, Span] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def locate(self, loc: Loc, *, of_key: bool = False) -> Span:
        """The span of a value or key. Parts of `loc` that name nothing in the file (tags of unions) are skipped."""
        path: Loc = ()
        for part in loc:
            if (*path, part) in self.values:
                path = (*path, part)
        return self.keys.get(path, self.values[path]) if of_key else self.values[path]


class _CoreLoader(yaml.CSafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


_INT = r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
for _tag, _pattern, _first in (
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", _INT, list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
    ("merge", "<<", ["<"]),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def _scalar(node: yaml.Node) -> Any:
    text, tag = node.value, node.tag.rpartition(":")[2]
    match tag:
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            if len(text) > MAX_DIGITS:
                return math.inf
            return int(text, 0) if text[:2] in ("0x", "0o") else int(text, 10)
        case "float":
            number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
            return int(number) if "e" in text.lower() and number.is_integer() else number
        case _:
            return text


class _Reader:
    """One walk over the node tree of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.document = Document(None)
        self.budget = MAX_NODES

    def span(self, node: yaml.Node) -> Span:
        start, end = node.start_mark, node.end_mark
        return Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def walk(self, node: yaml.Node, path: Loc, above: frozenset[int]) -> Any:
        self.budget -= 1
        if self.budget < 0 or id(node) in above:
            raise yaml.MarkedYAMLError(problem="aliases repeat without end", problem_mark=node.start_mark)
        self.document.values[path] = self.span(node)
        above |= {id(node)}
        if isinstance(node, yaml.SequenceNode):
            return [self.walk(item, (*path, i), above) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, above)
        try:
            return _scalar(node)
        except ValueError:
            self.problem("syntax", node, f"`{node.value}` is not what its tag {node.tag} says")
            return None

    def mapping(self, node: yaml.MappingNode, path: Loc, above: frozenset[int]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if not key.tag.endswith(":merge"):
                continue
            for base in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                inherited = self.walk(base, path, above)
                if isinstance(inherited, dict):
                    merged = inherited | merged
                else:
                    self.problem("merge-key", base, "`<<` takes a map or a list of maps")
        for key, value in node.value:
            if key.tag.endswith(":merge"):
                continue
            if not isinstance(key, yaml.ScalarNode):
                self.problem("complex-key", key, "a key must be plain text")
                continue
            name = key.value
            if name in own:
                first = self.document.keys[(*path, name)].line
                self.problem("duplicate-key", key, f"key `{name}` stands here a second time, first at line {first}")
                continue
            self.document.keys[(*path, name)] = self.span(key)
            own[name] = self.walk(value, (*path, name), above)
        self.document.values[path] = self.span(node)  # a merge walked the same path; this mapping's span is the one
        return merged | own

    def problem(self, kind: str, node: yaml.Node, message: str) -> None:
        self.document.problems.append(Problem(kind, self.span(node), message))


def parse(text: str, file: str) -> Document:
    """One text as data with positions; `extends` is left alone. Never raises for a bad text: see `problems`."""
    reader = _Reader(file)
    reader.document.texts[file] = text
    start = Span(file, 1, 1, 1, 1)
    try:
        loader = _CoreLoader(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
        if root is None:
            reader.document.values[()] = start
        else:
            reader.document.data = reader.walk(root, (), frozenset())
    except (yaml.YAMLError, RecursionError, UnicodeEncodeError) as error:
        reader.document.values.setdefault((), start)
        reader.document.data = None
        reader.document.problems.append(Problem("syntax", _where(error, text, file), _what(error)))
    return reader.document


def _where(error: Exception, text: str, file: str) -> Span:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None and isinstance(error, yaml.reader.ReaderError):
        lines = text.encode()[: error.position].decode(errors="replace").split("\n")
        return Span(file, len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 2)
    if mark is None:
        return Span(file, 1, 1, 1, 1)
    return Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)


def _what(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply to read"
    if isinstance(error, yaml.MarkedYAMLError):
        return ": ".join(part for part in (error.context, error.problem) if part)
    return getattr(error, "reason", None) or str(error).splitlines()[0]


def read(path: Path, shown: str | None = None) -> Document:
    """A file, `-` for stdin, with all that it extends. UsageError when it cannot be opened itself or is not UTF-8."""
    return _read(path, shown or ("<stdin>" if is_stdin(path) else path.as_posix()), ())


def is_stdin(path: Path) -> bool:
    """The path stands for what is piped in."""
    return str(path) == "-"


def _read(path: Path, shown: str, above: tuple[Path, ...]) -> Document:
    try:
        text = sys.stdin.buffer.read().decode() if is_stdin(path) else path.read_text(encoding="utf-8")
        document = parse(text, shown)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown}: is not UTF-8 text (byte {error.start})") from error
    if not isinstance(document.data, dict) or "extends" not in document.data:
        return document
    bases = document.data.pop("extends")
    for i, base in reversed(list(enumerate(bases if isinstance(bases, list) else [bases]))):
        span = document.locate(("extends", i))
        if isinstance(base, str):
            _merge_base(document, base, span, path, (*above, path.resolve()), shown)
        else:
            document.problems.append(Problem("extends", span, "extends takes a file name or a list of file names"))
    return document


def _merge_base(document: Document, base: str, span: Span, path: Path, above: tuple[Path, ...], shown: str) -> None:
    target = path.parent / base
    if "://" in base or Path(base).is_absolute():
        trouble = "only a path relative to this file can be extended"
    elif target.resolve() in above:
        trouble = f"`{base}` extends this file in turn"
    elif len(above) > MAX_DEPTH:
        trouble = f"files extend files more than {MAX_DEPTH} deep"
    elif not target.is_file():
        trouble = f"there is no file `{base}` beside this one"
    else:
        under = _read(target, (Path(shown).parent / base).as_posix(), above)
        document.problems.extend(under.problems)
        document.texts = under.texts | document.texts
        if isinstance(under.data, dict):
            _merge(document, under, document.data, under.data, ())
        return
    document.problems.append(Problem("extends", span, trouble))


def _merge(top: Document, under: Document, data: dict[str, Any], base: dict[str, Any], path: Loc) -> None:
    """Put what `base` has and `data` lacks into `data`, with its positions; null in `data` removes."""
    for name, value in base.items():
        here: Loc = (*path, name)
        if name not in data:
            data[name] = value
            size = len(here)
            top.values |= {loc: span for loc, span in under.values.items() if loc[:size] == here}
            top.keys |= {loc: span for loc, span in under.keys.items() if loc[:size] == here}
        elif data[name] is None:
            del data[name]
        elif isinstance(data[name], dict) and isinstance(value, dict):
            _merge(top, under, data[name], value, here)
