"""Text on a grid: how many columns it takes, how it is padded and wrapped. Wide characters take two, marks none."""

from __future__ import annotations

import unicodedata

_SOFT = "-/_.,:"


def plain(text: str) -> str:
    """Text that is safe to print: white space is a space, controls and direction overrides become U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_printable, text))


def _printable(char: str) -> str:
    if char.isspace():
        return " "
    kind = unicodedata.category(char)
    if kind in {"Cc", "Cs"} or unicodedata.bidirectional(char) in _OVERRIDES:
        return "\ufffd"
    return char


_OVERRIDES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def columns(text: str) -> int:
    """Columns that a text takes on a terminal (East Asian Width of Unicode: W and F take two)."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with spaces to `width` columns, after it or, for `right`, before it."""
    space = " " * (width - columns(text))
    return space + text if right else text + space


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` ≥ 2 columns, broken at spaces; a longer word is broken after a `-/_.,:` or anywhere."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= width:
            lines[-1] = joined
            continue
        pieces = _break(word, width)
        if not lines[-1]:
            lines.pop()
        lines += pieces
    return lines


def _break(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` columns."""
    pieces: list[str] = []
    while columns(word) > width:
        taken, end = 0, 0
        while end < len(word) and taken + _columns_of(word[end]) <= width:
            taken += _columns_of(word[end])
            end += 1
        end = max(end, 1)
        soft = max(word.rfind(mark, 0, end) for mark in _SOFT) + 1
        cut = soft if 3 * soft > end else end
        pieces.append(word[:cut])
        word = word[cut:]
    return [*pieces, word]
