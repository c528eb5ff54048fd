"""The command line in process: exit codes, streams, formats."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from dcplan import __version__, api
from dcplan.api import reference
from dcplan.cli.app import COMMANDS, module_of, run
from dcplan.model.rules.examples import GOOD, with_change

TEMPLATES = ["two-campus", "single-fiber", "ring"]
WARNED = GOOD.replace(", lease_usd_per_km_year: 400", "")
WRONG = with_change("pairs: 4", "pairs: x", GOOD)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "DCPLAN_DEBUG"):
        monkeypatch.delenv(name, raising=False)


def put(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--version"], 0),
        (["--help"], 0),
        ([], 2),
        (["nothing"], 2),
        (["--nothing"], 2),
        (["validate"], 2),
        (["validate", "missing.yaml"], 2),
        (["validate", "--format", "xml", "x.yaml"], 2),
        (["explain", "DCP999"], 2),
        (["catalog", "fibres"], 2),
        (["catalog", "fibers", "g652"], 2),
        (["schema", "nothing"], 2),
        (["init"], 2),
        (["init", "ring"], 2),
        (["init", "rink", "x.yaml"], 2),
        (["init", "--list", "x.yaml"], 2),
    ],
)
def test_exit_codes(args: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(args) == code
    shown = capsys.readouterr()
    if code:
        assert shown.out == ""
        assert shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (GOOD, "error", 0),
        (GOOD, "warning", 0),
        (WARNED, "error", 0),
        (WARNED, "warning", 1),
        (WRONG, "error", 1),
        (WRONG, "warning", 1),
        (WRONG, "never", 0),
    ],
)
def test_validate_answers(text: str, fail_on: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", put("x.yaml", text), "--fail-on", fail_on]) == code
    assert "in 1 file" in capsys.readouterr().err


def test_an_unreadable_file_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_bytes(b"\xff\xfe")
    put("b.yaml", WRONG)
    assert run(["validate", "."]) == 2
    shown = capsys.readouterr()
    assert "b.yaml:7:" in shown.out
    assert "a.yaml: is not UTF-8" in shown.err
    assert shown.err.endswith("1 error in 1 file\n")


@pytest.mark.parametrize(
    "args",
    [
        ["validate", "--format", "json", "x.yaml"],
        ["explain", "--format", "json"],
        ["explain", "--format", "json", "DCP301"],
        ["catalog", "--format", "json"],
        ["catalog", "--format", "json", "transponders"],
        ["catalog", "--format", "json", "fibers", "g652d"],
        ["schema"],
        ["schema", "topology"],
        ["schema", "plan"],
    ],
)
def test_json_on_stdout_parses(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    put("x.yaml", WRONG)
    run(args)
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("no", "force", "coloured"), [("", "", False), ("", "1", True), ("1", "1", False)])
def test_colour(
    no: str, force: str, coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", no)
    monkeypatch.setenv("FORCE_COLOR", force)
    run(["validate", put("x.yaml", WRONG)])
    assert ("\x1b[" in capsys.readouterr().out) == coloured


def test_colour_only_repeats_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import re

    put("x.yaml", WRONG)
    run(["validate", "x.yaml"])
    plain = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(["validate", "x.yaml"])
    assert re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out) == plain


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--version"])
    assert capsys.readouterr().out == f"dcplan {__version__}\n"


def test_help_lists_every_command_and_each_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert f"  {name} " in shown
        doc = import_module(module_of(name)).run.__doc__
        assert run([name, "--help"]) == 0
        assert doc.splitlines()[0].split(":")[0] in " ".join(capsys.readouterr().out.split())


def test_wrong_names_are_met_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    for args, hint in [
        (["valdate"], "dcplan validate"),
        (["explain", "DCP3O1"], "DCP301"),
        (["explain", "shorter-then-line"], "shorter-than-line"),
        (["catalog", "transponder"], "transponders"),
        (["catalog", "fibers", "g654"], "g654e"),
        (["init", "rink", "x.yaml"], "ring"),
    ]:
        assert run(args) == 2
        assert f"`{hint}`" in capsys.readouterr().err


def test_explain_by_code_and_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    for rule in reference.all_rules():
        assert run(["explain", rule.code.lower()]) == 0
        by_code = capsys.readouterr().out
        assert run(["explain", rule.name]) == 0
        assert capsys.readouterr().out == by_code
        assert by_code.startswith(f"{rule.code} {rule.name} ({rule.severity})\n")
        assert "\nBad:\n" in by_code
        assert "\nGood:\n" in by_code
    run(["explain"])
    listed = capsys.readouterr().out
    assert all(f"  {rule.code}  {rule.name} " in listed for rule in reference.all_rules())


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_validate_without_findings(template: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", template, "x.yaml"]) == 0
    capsys.readouterr()
    assert run(["validate", "--fail-on", "warning", "x.yaml"]) == 0
    assert capsys.readouterr().out == ""
    run(["init", "--list"])
    assert f"{template} " in capsys.readouterr().out


def test_init_overwrites_only_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    put("x.yaml", "mine")
    assert run(["init", "x.yaml"]) == 2
    assert Path("x.yaml").read_text() == "mine"
    assert "--force" in capsys.readouterr().err
    assert run(["init", "x.yaml", "--force"]) == 0
    assert Path("x.yaml").read_text().startswith("# yaml-language-server")


def test_init_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "ring", "-"]) == 0
    shown = capsys.readouterr()
    assert "name: Ring" in shown.out
    assert shown.err == ""


def test_catalog_shows_every_entry_and_flags_estimates(capsys: pytest.CaptureFixture[str]) -> None:
    for kind, parts in reference.catalog().items():
        run(["catalog", kind])
        shown = "".join(capsys.readouterr().out.split())
        for name, part in parts.items():
            assert name in shown
            if part.confidence == "low":
                assert "~low" in shown
    run(["catalog", "amplifiers"])
    assert "4.5 to 8.5" in capsys.readouterr().out  # noise figure of alibaba-line-25 over its gain
    run(["catalog", "fibers", "hollow-core"])
    assert "~low" in capsys.readouterr().out
    run(["catalog", "fibers", "g654e"])
    shown = capsys.readouterr().out
    assert "~1.4635" in shown  # listed among its estimates
    assert "~0.17" not in shown


def test_catalog_json_is_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    run(["catalog", "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer.pop("format") == 1
    for kind, parts in reference.catalog().items():
        assert {name: part.model_dump(mode="json") for name, part in parts.items()} == answer[kind]


def test_findings_of_a_file_that_cannot_be_planned_go_to_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put("x.yaml", WRONG)
    monkeypatch.setattr(reference, "catalog", lambda *_: api.load(Path("x.yaml")))
    assert run(["catalog"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "error[DCP104]" in shown.err


def test_a_crash_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(reference, "catalog", broken)
    assert run(["catalog"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "internal error" in shown
    assert "ZeroDivisionError: by zero" in shown
    monkeypatch.setenv("DCPLAN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["catalog"])


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reference, "catalog", stop)
    assert run(["catalog"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"
