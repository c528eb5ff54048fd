"""`dcplan plan --fixed` and `--existing`: exit codes, streams, what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcplan.cli.app import run
from dcplan.model.rules.examples import GOOD

ROOM = GOOD.replace("gbps: 400}", "gbps: 700}")
LIT = (
    "existing:\n  fibers: {north: {pairs: 1}, south: {pairs: 1}}\n  wavelengths:\n"
    "    - {route: [north], transponder: 800zr, mode: 800g, count: 1}\n"
    "    - {route: [south], transponder: 800zr, mode: 800g, count: 1}\n"
)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "DCPLAN_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    Path("bare.yaml").write_text(ROOM, encoding="utf-8")
    Path("lit.yaml").write_text(ROOM + LIT, encoding="utf-8")
    Path("single.yaml").write_text(ROOM.replace("gbps: 700}", "gbps: 700, max_paths: 1}") + LIT, encoding="utf-8")
    Path("more.yaml").write_text(ROOM.replace("gbps: 700}", "gbps: 1000}") + LIT, encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["bare.yaml", "--fixed"], "nothing is lit: say what is under `existing` in the file, or with --existing PLAN"),
        (["lit.yaml", "--objective", "latency"], "--objective goes with --fixed"),
        (["lit.yaml", "--upgrade"], "--upgrade goes with --fixed"),
        (["lit.yaml", "--fixed", "--gap", "0.1"], "--gap has no effect with --fixed"),
        (["lit.yaml", "--fixed", "--objective", "best"], "there is no objective `best`"),
        (["single.yaml", "--fixed"], "max_paths is not kept: leave it out of checkpoints"),
    ],
)
def test_what_would_have_no_effect_is_refused(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *args]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_all_is_carried(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "lit.yaml", "--fixed", "-o", "plan.json"]) == 0
    assert "everything that is promised is carried, nothing is bought" in capsys.readouterr().out
    assert run(["verify", "lit.yaml", "plan.json"]) == 0
    assert run(["plan", "lit.yaml", "--fixed", "--format", "json"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    facts = json.loads(out[out.index("{") :])["facts"]
    assert facts[1]["fraction"] == pytest.approx(800 / 700)


def test_not_all_is_carried_and_what_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "more.yaml", "--fixed", "-o", "plan.json"]) == 1
    shown = capsys.readouterr()
    assert "not everything that is promised is carried in 2 states" in shown.out
    assert "plan.json is not written" in shown.err
    assert not Path("plan.json").exists()
    assert run(["plan", "more.yaml", "--fixed", "--upgrade", "-o", "plan.json"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.index("What helps most") < out.index("new ")
    assert "beside 2 wavelengths, 2 fiber pairs that are there" in out
    assert run(["verify", "more.yaml", "plan.json"]) == 0


def test_a_plan_that_is_built_is_found_by_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "bare.yaml", "-o", "first.json"]) == 0
    Path("grown.yaml").write_text(ROOM.replace("gbps: 700}", "gbps: 1500}"), encoding="utf-8")
    assert run(["plan", "grown.yaml", "--existing", "first.json", "-o", "second.json"]) == 0
    capsys.readouterr()
    assert run(["verify", "grown.yaml", "second.json"]) == 0
    assert run(["plan", "bare.yaml", "--existing", "first.json"]) == 0
    assert "nothing, beside" in capsys.readouterr().out
    Path("other.yaml").write_text(ROOM.replace("north", "east").replace("gbps: 700}", "gbps: 1500}"), encoding="utf-8")
    assert run(["plan", "other.yaml", "--existing", "first.json"]) == 2
    assert "does not fit this topology: there is no fiber `north`" in capsys.readouterr().err
    lied = json.loads(Path("second.json").read_text(encoding="utf-8"))
    lied["existing"]["wavelengths"] = lied["existing"]["wavelengths"][1:]
    Path("lied.json").write_text(json.dumps(lied), encoding="utf-8")
    assert run(["verify", "grown.yaml", "lied.json"]) == 1
