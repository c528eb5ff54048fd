"""Pairs of files: NAME.yaml and the report it gets, NAME.txt. Add a pair by writing the file and running --update."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api
from dcplan.report import findings as report

HERE = Path(__file__).parent
CASES = sorted(file.stem for file in HERE.glob("*.yaml"))


@pytest.mark.parametrize("name", CASES)
def test_report(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    found = api.check([Path(f"{name}.yaml")])
    text = report.text(found) + report.summary(found, 1) + "\n"
    expected = HERE / f"{name}.txt"
    if request.config.getoption("--update"):
        expected.write_text(text, encoding="utf-8", newline="\n")
    assert text == expected.read_text(encoding="utf-8")


def test_five_faults_stand_at_their_lines_and_columns() -> None:
    found = api.check([HERE / "five-faults.yaml"])
    assert [(one.rule.code, one.span.line, one.span.column) for one in found] == [
        ("DCP105", 5, 18),
        ("DCP102", 9, 5),
        ("DCP104", 11, 12),
        ("DCP103", 14, 3),
        ("DCP106", 18, 12),
    ]
