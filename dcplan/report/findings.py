"""Findings for people (text, concise), for programs (json) and for GitHub's annotations."""

from __future__ import annotations

import json as jsonlib
import unicodedata
from typing import TYPE_CHECKING

from dcplan.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.diagnostics import Finding

FORMAT = 1
"""Version of the json: a minor addition keeps it, a change that breaks readers raises it."""
FORMATS = ("text", "concise", "json", "github")
_COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m"}
_BOLD, _BLUE, _PLAIN = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
_TAB = "    "


def render(findings: Iterable[Finding], form: str, *, colour: bool = False) -> str:
    """Findings in one of `FORMATS`, sorted by file, line, column and code."""
    if form == "text":
        return text(findings, colour=colour)
    return {"concise": concise, "json": json, "github": github}[form](findings)


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file, line, column and code."""
    return sorted(findings, key=lambda finding: finding.order)


def text(findings: Iterable[Finding], *, colour: bool = False) -> str:
    """Each finding with its place, the line it stands in, a mark under the fault, and what to do."""
    return "\n".join(_block(finding, colour=colour) for finding in ordered(findings))


def _block(finding: Finding, *, colour: bool) -> str:
    severity = f"{finding.severity}[{finding.rule.code}]"
    place = _place(finding)
    if colour:
        severity = f"{_COLOURS[finding.severity]}{severity}{_PLAIN}"
        place = f"{_BOLD}{place}{_PLAIN}"
    lines = [f"{place}: {severity} {_one_line(finding.message)}"]
    if finding.snippet.strip():
        number, code, marks = _snippet(finding)
        bar = "|"
        if colour:
            number, bar, marks = (f"{_BLUE}{part}{_PLAIN}" for part in (number, bar, marks))
        lines += [f"{number} {bar} {code}", f"{' ' * 5} {bar} {marks}"]
    if finding.hint:
        lines.append(f"      = hint: {_one_line(finding.hint)}")
    return "\n".join(lines) + "\n"


_LONGEST = 160
"""Columns of a line that are shown around a fault."""


def _snippet(finding: Finding) -> tuple[str, str, str]:
    """Line number, the line with its tabs widened and clipped where it is long, and the marks below the span."""
    span, line = finding.span, finding.snippet
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    if len(line) > _LONGEST:
        cut = max(0, start - _LONGEST // 3)
        kept = line[cut : cut + _LONGEST]
        line, start, end = f"…{kept}…", start - cut + 1, min(end - cut, len(kept)) + 1
    before, marked = _plain(line[:start]), _plain(line[start : max(end, start + 1)])
    marks = " " * _columns(before) + "^" * max(1, _columns(marked.rstrip()))
    return f"{span.line:>5}", _plain(line.rstrip()), marks


def _plain(line: str) -> str:
    """Text that stands still on a terminal: tabs widened, control characters shown as `?`."""
    line = line.replace("\t", _TAB)
    return "".join("?" if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else char for char in line)


def _columns(line: str) -> int:
    """Columns a text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line
    )


def _one_line(message: str) -> str:
    return _plain(" ".join(message.split("\n")))


def _place(finding: Finding) -> str:
    return f"{finding.span.file}:{finding.span.line}:{finding.span.column}"


def concise(findings: Iterable[Finding]) -> str:
    """One line per finding, as compilers and editors expect it."""
    return "".join(
        f"{_place(finding)}: {finding.rule.code} {finding.severity}: {_one_line(finding.message)}\n"
        for finding in ordered(findings)
    )


def json(findings: Iterable[Finding]) -> str:
    """All findings as one JSON object: format, errors, warnings, findings."""
    rows = ordered(findings)
    answer = {
        "format": FORMAT,
        "errors": _count(rows, Severity.ERROR),
        "warnings": _count(rows, Severity.WARNING),
        "findings": [_row(finding) for finding in rows],
    }
    return jsonlib.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def _row(finding: Finding) -> dict[str, object]:
    span = finding.span
    return {
        "code": finding.rule.code,
        "name": finding.rule.name,
        "severity": str(finding.severity),
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": finding.message,
        "hint": finding.hint,
    }


def github(findings: Iterable[Finding]) -> str:
    """Workflow commands that GitHub shows beside the changed lines."""
    return "".join(_annotation(finding) for finding in ordered(findings))


def _annotation(finding: Finding) -> str:
    span = finding.span
    properties = {"file": span.file, "line": span.line, "endLine": span.end_line, "col": span.column}
    if span.end_line == span.line:
        properties["endColumn"] = span.end_column  # GitHub refuses columns of a span over several lines
    else:
        del properties["col"]
    properties["title"] = f"{finding.rule.code} {finding.rule.name}"
    message = finding.message + (f"\nhint: {finding.hint}" if finding.hint else "")
    listed = ",".join(f"{key}={_escaped(str(value), property_=True)}" for key, value in properties.items())
    return f"::{finding.severity} {listed}::{_escaped(message)}\n"


def _escaped(value: str, *, property_: bool = False) -> str:
    value = value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return value.replace(":", "%3A").replace(",", "%2C") if property_ else value


def _count(findings: Sequence[Finding], severity: Severity) -> int:
    return sum(finding.severity is severity for finding in findings)


def summary(findings: Iterable[Finding], files: int) -> str:
    """The closing line: how many errors and warnings in how many files."""
    rows = list(findings)
    counts = [(_count(rows, Severity.ERROR), "error"), (_count(rows, Severity.WARNING), "warning")]
    found = ", ".join(_plural(number, word) for number, word in counts if number) or "no findings"
    return f"{found} in {_plural(files, 'file')}"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
