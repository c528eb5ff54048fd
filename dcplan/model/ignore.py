"""Comments that silence a rule on their line: `# dcplan: ignore[DCP301] cable is measured along the hose`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Span, did_you_mean
from dcplan.model.rules.reading import IGNORE, UNUSED_IGNORE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.diagnostics import Rule
    from dcplan.model.source import Document

_COMMENT = re.compile(r"(?:^|\s)(#\s*dcplan:\s*ignore\b\s*(?:\[([^\]]*)\])?\s*(.*?))\s*$")
FIRST_IGNORABLE = "DCP300"
"""Below it stand faults of reading, schema and names: without them mended there is no network to plan."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment: where it stands, which codes or names of rules it silences, and why."""

    span: Span
    names: tuple[str, ...]
    reason: str


def comments(document: Document) -> list[Comment]:
    """All such comments of a file and of those it extends."""
    return [
        _comment(file, number, match)
        for file, text in document.texts.items()
        if "dcplan:" in text
        for number, line in enumerate(text.splitlines(), 1)
        if (match := _COMMENT.search(line))
    ]


def _comment(file: str, number: int, match: re.Match[str]) -> Comment:
    span = Span(file, number, match.start(1) + 1, number, match.end(1) + 1)
    names = tuple(name.strip() for name in (match[2] or "").split(",") if name.strip())
    return Comment(span, names, match[3])


def apply(document: Document, found: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """The findings that no comment silences, and findings for comments that are wrong or silence nothing.

    Comments in a file that this one extends may serve another: only those of the file itself are called unused.
    """
    listed = comments(document)
    if not listed:
        return list(found)
    known = {name: rule for rule in rules for name in (rule.code, rule.name)}
    silenced: set[int] = set()
    troubles: list[Finding] = []
    for comment in listed:
        trouble = list(_troubles(comment, known))
        troubles += trouble
        if trouble:
            continue
        codes = {known[name].code for name in comment.names}
        hit = {i for i, finding in enumerate(found) if finding.rule.code in codes and _same_line(finding, comment)}
        silenced |= hit
        idle = sorted(codes - {found[i].rule.code for i in hit})
        if idle and comment.span.file == next(iter(reversed(document.texts))):
            message = f"nothing on this line to ignore for {', '.join(idle)}"
            troubles.append(Finding(UNUSED_IGNORE, comment.span, message, "remove the comment"))
    return [finding for i, finding in enumerate(found) if i not in silenced] + troubles


def _same_line(finding: Finding, comment: Comment) -> bool:
    return (finding.span.file, finding.span.line) == (comment.span.file, comment.span.line)


def _troubles(comment: Comment, known: dict[str, Rule]) -> Iterator[Finding]:
    if not comment.names:
        yield Finding(IGNORE, comment.span, "the comment names no rule", "write `# dcplan: ignore[CODE] reason`")
        return
    if not comment.reason:
        yield Finding(IGNORE, comment.span, "the comment gives no reason", "write it behind the bracket")
    for name in comment.names:
        rule = known.get(name)
        if rule is None:
            hint = did_you_mean(name, known, "`dcplan explain` lists all")
            yield Finding(IGNORE, comment.span, f"there is no rule `{name}`", hint)
        elif rule.code < FIRST_IGNORABLE:
            yield Finding(IGNORE, comment.span, f"{rule.code} {rule.name} cannot be ignored: mend it")
