"""The report of findings in each format."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.diagnostics import Finding, Rule, Severity, Span
from dcplan.report import findings as report

RULE = Rule("DCP999", "test-rule", Severity.ERROR, "why", "bad", "good")
NOTE = Rule("DCP998", "test-note", Severity.WARNING, "why", "bad", "good")


def finding(line: int = 3, column: int = 5, end: int = 8, **more: object) -> Finding:
    fields = {"rule": RULE, "message": "it is wrong", "hint": "mend it", "snippet": "key: value"} | more
    return Finding(span=Span("a,b:c.yaml", line, column, line, end), **fields)  # type: ignore[arg-type]


def test_text_marks_the_fault() -> None:
    assert report.text([finding()]) == (
        "a,b:c.yaml:3:5: error[DCP999] it is wrong\n    3 | key: value\n      |     ^^^\n      = hint: mend it\n"
    )


def test_marks_stand_under_wide_text_and_tabs() -> None:
    text = report.text([finding(column=4, end=6, snippet="\t東:東京 x")])
    _, line, marks, _ = text.splitlines()
    assert line.index("東京") + 1 == marks.index("^") - 0  # one wide character before it takes a second column
    assert marks.endswith("^^^^")


def test_escape_codes_of_a_file_never_reach_the_terminal() -> None:
    text = report.text([finding(message="\x1b[31m", snippet="\x1b]0;title\x07 x", hint="\u202e")])
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_sorted_by_place_then_code() -> None:
    mixed = [finding(5), finding(3, 9), finding(3, 2), finding(3, 2, rule=NOTE)]
    lines = report.concise(mixed).splitlines()
    assert lines == [
        "a,b:c.yaml:3:2: DCP998 warning: it is wrong",
        "a,b:c.yaml:3:2: DCP999 error: it is wrong",
        "a,b:c.yaml:3:9: DCP999 error: it is wrong",
        "a,b:c.yaml:5:5: DCP999 error: it is wrong",
    ]


def test_github_escapes() -> None:
    line = report.github([finding(message="50% of, x:\ny", hint=None)])
    assert line == (
        "::error file=a%2Cb%3Ac.yaml,line=3,endLine=3,col=5,endColumn=8,title=DCP999 test-rule::50%25 of, x:%0Ay\n"
    )


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(), st.text())
def test_each_format_holds_any_text(message: str, snippet: str) -> None:
    one = finding(message=message, hint=message, snippet=snippet)
    assert json.loads(report.json([one]))["findings"][0]["message"] == message
    for line_format in (report.github, report.concise):
        assert len(line_format([one]).split("\n")) == 2
    assert report.text([one])


def test_json_counts() -> None:
    answer = json.loads(report.json([finding(), finding(rule=NOTE), finding(4)]))
    assert (answer["format"], answer["errors"], answer["warnings"]) == (1, 2, 1)
    assert answer["findings"][0]["line"] == 3


@pytest.mark.parametrize(
    ("rules", "files", "text"),
    [
        ([], 1, "no findings in 1 file"),
        ([RULE], 2, "1 error in 2 files"),
        ([RULE, NOTE, NOTE], 3, "1 error, 2 warnings in 3 files"),
    ],
)
def test_summary(rules: list[Rule], files: int, text: str) -> None:
    assert report.summary([finding(rule=rule) for rule in rules], files) == text
