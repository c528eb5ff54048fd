"""show, report and diff: data on stdout, the rest on stderr, exit codes."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from dcplan.cli.app import run
from dcplan.planfile import dumps, loads
from dcplan.report.render import render
from tests.report import plans

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "old.json").write_text(dumps(plans.rich()), encoding="utf-8")
    (tmp_path / "new.json").write_text(dumps(plans.grown()), encoding="utf-8")
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_show_is_the_report_at_a_glance(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "show", "old.json") == (0, render(plans.rich(), "text", 80, main=True), "")


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_report_in_every_format(files: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    whole = render(loads(dumps(plans.rich()), "old.json"), form, 80)
    assert outcome(capsys, "report", "old.json", "--format", form) == (0, whole, "")
    assert outcome(capsys, "report", "old.json", "--format", form, "-o", "-") == (0, whole, "")


def test_report_to_a_file_takes_its_format_from_the_name(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "report", "old.json", "-o", "plan.md") == (0, "", "")
    assert (files / "plan.md").read_text(encoding="utf-8") == render(plans.rich(), "markdown")


def test_a_plan_comes_from_stdin(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(dumps(plans.rich())))
    assert outcome(capsys, "show", "-")[1] == render(plans.rich(), "text", 80, main=True)


def test_diff_of_two_plans(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "diff", "old.json", "new.json", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["kind"] == "diff"
    assert outcome(capsys, "diff", "old.json", "new.json", "--exit-code")[0] == 1


def test_diff_of_equal_plans_says_so_on_stderr_only(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = ("diff", "old.json", "old.json", "--exit-code")
    assert outcome(capsys, *same) == (0, "", "no difference\n")
    assert outcome(capsys, *same, "--format", "markdown")[:2] == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "none.json"), "none.json"),
        (("show", "old.json", "--format", "xml"), "no format `xml`"),
        (("report", "old.json", "--format", "xml"), "text, markdown, json"),
        (("diff", "old.json", "new.json", "--format", "xml"), "no format `xml`"),
        (("diff", "-", "-"), "only one of the two"),
        (("show", "bad.json"), "not a plan file"),
    ],
)
def test_what_cannot_be_answered(
    files: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    (files / "bad.json").write_text("{}", encoding="utf-8")
    code, out, err = outcome(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
