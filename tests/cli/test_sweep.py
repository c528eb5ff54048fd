"""`dcplan optics --sweep launch` and `--load`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from dcplan.cli.app import run

SMALL = Path(__file__).parents[2] / "topologies" / "hollow-core.yaml"


def answer(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert run(["optics", str(SMALL), *args]) == code
    return capsys.readouterr().out


def test_sweep_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(answer(capsys, "--sweep", "launch", "--format", "json", "solid"))
    tables = shown["tables"]
    assert set(tables) == {"launch solid", "bathtub solid"}
    rows = tables["bathtub solid"]["rows"]
    assert len(rows) == 25
    steps = {round(b["launch_dbm"] - a["launch_dbm"], 6) for a, b in pairwise(rows)}
    assert steps == {0.5}
    marks = [row["mark"] for row in rows]
    assert sum("optimum" in mark for mark in marks) == 1
    assert sum("best" in mark for mark in marks) == 1


def test_sweep_as_markdown_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert "| Launch" in answer(capsys, "--sweep", "launch", "--format", "markdown")
    text = answer(capsys, "--sweep", "launch")
    assert "●" in text
    assert "hollow" in text


@pytest.mark.parametrize(
    "args", [["--sweep", "length"], ["--sweep", "launch", "nowhere"], ["--load", "0"], ["--load", "101"]]
)
def test_what_cannot_be_asked(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["optics", str(SMALL), *args]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err


def test_partial_load_is_said_and_is_kinder(capsys: pytest.CaptureFixture[str]) -> None:
    full, part = (answer(capsys, *args) for args in ((), ("--load", "25")))
    assert "25 % of the band" in part
    assert "% of the band" not in full
    assert "hollow core saves" in full
