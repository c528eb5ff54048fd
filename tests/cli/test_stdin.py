"""A topology that is piped in, `-`, is read as a file of that text is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dcplan.cli.app import run

FILE = Path(__file__).parents[2] / "topologies" / "two-campus.yaml"


def _pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def _but_for_its_name(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("  file ")]


@pytest.mark.parametrize("command", ["validate", "plan", "optics", "steps"])
def test_the_answer_is_that_of_the_file(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(FILE)]) == 0
    of_file = capsys.readouterr().out
    _pipe(monkeypatch, FILE.read_bytes())
    assert run([command, "-"]) == 0
    assert _but_for_its_name(capsys.readouterr().out) == _but_for_its_name(of_file)


def test_faults_are_told_at_their_place(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _pipe(monkeypatch, FILE.read_bytes().replace(b"length_km: 99.7", b"length_km: far", 1))
    line = next(i for i, text in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1) if "99.7" in text)
    assert run(["validate", "-"]) == 1
    assert f"<stdin>:{line}:" in capsys.readouterr().out


def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _pipe(monkeypatch, b"\xff\xfe")
    assert run(["plan", "-"]) == 2
    assert "<stdin>: is not UTF-8 text" in capsys.readouterr().err


def test_a_plan_and_its_topology_cannot_both_be_piped_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "-", "-"]) == 2
    assert "only one of topology and plan can come from stdin" in capsys.readouterr().err
