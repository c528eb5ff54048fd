"""Topology data as the text of a YAML file: short maps on one line, long ones on several, comments behind values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Loc = tuple[str | int, ...]

WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+/ ()-]*[A-Za-z0-9_.+/()-]|[A-Za-z]")
"""Text that needs no quotes anywhere, short of what reads as something else."""
_OTHER = re.compile(r"true|false|null", re.IGNORECASE)


def yaml_text(data: Mapping[str, Any], comments: Mapping[Loc, str] | None = None) -> str:
    """The data as YAML 1.2 text that `model.source.parse` reads back alike; text, numbers, truth, none, lists, maps.

    comments: by place; each stands in the line in which its value begins.
    """
    lines = list(_map(data, (), comments or {}))
    return "\n".join(lines) + "\n"


def _map(data: Mapping[str, Any], loc: Loc, comments: Mapping[Loc, str]) -> Iterator[str]:
    indent = "  " * len(loc)
    for key, value in data.items():
        here: Loc = (*loc, key)
        head = f"{indent}{_scalar(key)}:"
        flow = f"{head} {_flow(value)}"
        inner = any(other[: len(here)] == here and other != here for other in comments)
        said = _comment(comments, here)
        if not isinstance(value, (dict, list)) or not value or (loc and not inner and len(flow + said) <= WIDTH):
            yield flow + said
        elif isinstance(value, dict):
            yield head
            yield from _map(value, here, comments)
        else:
            yield head
            for number, item in enumerate(value):
                yield f"{indent}  - {_flow(item)}{said if number == 0 else ''}"


def _comment(comments: Mapping[Loc, str], loc: Loc) -> str:
    return f"  # {comments[loc]}" if loc in comments else ""


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _OTHER.fullmatch(value)
        return value if plain else _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    """In double quotes; what YAML does not print is escaped as JSON does."""
    shown = json.dumps(text, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"\\u{ord(match[0]):04x}", shown)
