"""Findings and the rules that make them: what is wrong, where exactly, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How bad a finding is; ordered, so that `--fail-on` is a comparison."""

    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, order=True)
class Span:
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

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return self.rule.severity

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """By file, line, column, code."""
        return (self.span.file, self.span.line, self.span.column, self.rule.code, self.message)
