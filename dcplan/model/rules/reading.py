"""Codes 0xx: what keeps a file from being read as data, and comments that ignore findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import GOOD, with_change

if TYPE_CHECKING:
    from dcplan.model.source import Document

SYNTAX = Rule(
    "DCP001",
    "syntax",
    Severity.ERROR,
    "The file is not YAML, so nothing in it can be checked. Quotes, brackets, tabs and indentation are the usual"
    " causes.",
    with_change("gbps: 400}", "gbps: 400", GOOD),
    GOOD,
)
DUPLICATE_KEY = Rule(
    "DCP002",
    "duplicate-key",
    Severity.ERROR,
    "The same key twice in one map: most readers keep the last in silence, and half of what was written is lost.",
    with_change("  south:", "  north:", GOOD),
    GOOD,
)
COMPLEX_KEY = Rule(
    "DCP003",
    "complex-key",
    Severity.ERROR,
    "Names of sites, fibers, jobs are plain text; YAML also allows lists and maps as keys, which name nothing here.",
    with_change("  south:", "  [south, river]:", GOOD),
    GOOD,
)
EXTENDS = Rule(
    "DCP004",
    "extends",
    Severity.ERROR,
    "`extends` names files beside this one whose content lies underneath it. A missing file, a circle, an address"
    " on the network or an absolute path would make the result depend on the machine.",
    "extends: not-there.yaml\n" + GOOD,
    GOOD,
)
EMPTY = Rule(
    "DCP005",
    "empty-file",
    Severity.ERROR,
    "A topology needs at least its format version, a name and a site; `dcplan init` writes a first one.",
    "# nothing here yet\n",
    GOOD,
)
MERGE = Rule(
    "DCP006",
    "merge-key",
    Severity.ERROR,
    "`<<` takes over the keys of another map, given by an anchor. Anything else under it would have no effect.",
    with_change("gbps: 400}", "gbps: 400, <<: 3}", GOOD),
    GOOD,
)
IGNORE = Rule(
    "DCP007",
    "ignore-comment",
    Severity.ERROR,
    "A comment `# dcplan: ignore[CODE] reason` silences one rule on its line. It needs a reason that a reviewer can"
    " judge, a rule that exists, and a rule that may be ignored: a file that cannot be read or resolved stays wrong.",
    with_change("pairs: 4, lease_usd_per_km_year: 400}\n", "pairs: 4}  # dcplan: ignore[DCP350]\n", GOOD),
    with_change("pairs: 4, lease_usd_per_km_year: 400}\n", "pairs: 4}  # dcplan: ignore[DCP350] own fiber\n", GOOD),
)
UNUSED_IGNORE = Rule(
    "DCP008",
    "unused-ignore",
    Severity.WARNING,
    "The comment silences nothing on its line: the fault was mended, or the comment stands on the wrong line.",
    with_change("gbps: 400}", "gbps: 400}  # dcplan: ignore[DCP350] own fiber", GOOD),
    GOOD,
)

RULES = (SYNTAX, DUPLICATE_KEY, COMPLEX_KEY, EXTENDS, EMPTY, MERGE, IGNORE, UNUSED_IGNORE)
_BY_NAME = {rule.name: rule for rule in RULES}
_PARSING = "it may begin a line earlier: look for an open bracket or quote, a tab, a missing space after `:`"
_HINTS = {
    COMPLEX_KEY.code: "put the key in quotes if its text is meant",
    EXTENDS.code: "write `extends: other.yaml`, or a list of such names",
    MERGE.code: "write `<<: *anchor` with an anchor that stands before a map",
}


def check(document: Document) -> list[Finding]:
    """The problems of reading a document as findings; an empty file is one."""
    findings = []
    for problem in document.problems:
        rule = _BY_NAME[problem.kind]
        hint = _PARSING if rule is SYNTAX and "while" in problem.message else _HINTS.get(rule.code)
        findings.append(Finding(rule, problem.span, problem.message, problem.hint or hint))
    if not findings and document.data is None:
        hint = "`dcplan init FILE` writes a first topology"
        findings.append(Finding(EMPTY, document.locate(()), "the file holds nothing but comments", hint))
    return findings
