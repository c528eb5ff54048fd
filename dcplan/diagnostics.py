"""Findings and the rules that make them: what is wrong, where exactly, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

ALIKE = 0.6
"""Least likeness of two names (2 x common characters / all characters) for the one to be suggested for the other."""
MOST_COMPARED = 100
"""Names that a wrong one is compared with; a large file of wrong names must not take minutes."""


class Severity(IntEnum):
    """How bad a finding is; ordered, so that `--fail-on` is a comparison."""

    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()


class Span(NamedTuple):
    """A stretch of a file: 1-based, end exclusive, as editors and SARIF count."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is checked. `bad` and `good` are whole small files, or the lines that matter in one."""

    code: str
    name: str
    severity: Severity
    why: str
    bad: str
    good: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of an input: which rule, where, what was found and expected, what to do."""

    rule: Rule
    span: Span
    message: str
    hint: str | None = None
    snippet: str = ""
    """The line of the file in which the span begins; filled in when the file has been read."""

    def __str__(self) -> str:
        where = f"{self.span.file}:{self.span.line}:{self.span.column}"
        return f"{where}: {self.severity}[{self.rule.code}] {self.message}"

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return self.rule.severity

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """By file, line, column, code."""
        return (self.span.file, self.span.line, self.span.column, self.rule.code, self.message)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelt most like `name`; None when none is close."""
    return _nearest(name.casefold(), tuple(known))


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    folded = {other.casefold(): other for other in reversed(known)}
    if len(folded) > MOST_COMPARED:
        folded = {low: other for low, other in folded.items() if low[:2] == name[:2] or low[-2:] == name[-2:]}
    names = sorted(folded, key=lambda other: (-_ends_alike(name, other), other))[:MOST_COMPARED]
    scored = [(SequenceMatcher(None, name, other).ratio(), other) for other in names]
    best, near = max(scored, default=(0.0, ""), key=lambda pair: pair[0])
    return folded[near] if best >= ALIKE else None


def _ends_alike(name: str, other: str) -> int:
    """Characters that two words share from the front and from the back, less those by which they differ in length."""
    alike = 0
    for pairs in (zip(name, other, strict=False), zip(reversed(name), reversed(other), strict=False)):
        for mine, theirs in pairs:
            if mine != theirs:
                break
            alike += 1
    return alike - abs(len(name) - len(other))


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint for a wrong name: the nearest known one, and in any case where to find all."""
    near = nearest(name, known)
    return f"did you mean `{near}`? {otherwise}" if near else otherwise
