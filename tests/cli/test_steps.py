"""`dcplan steps` with pins, objectives and the front: what is printed, what is refused, and what the exit code says."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dcplan import api
from dcplan.api.exploring import explorations
from dcplan.cli.app import run
from dcplan.model.rules.examples import adding, with_change
from dcplan.training.plans.pins import read_pins

SMALL = with_change("{papillion: 8192, lincoln: 8192}", "{papillion: 16, lincoln: 16}")
SMALL = with_change("global_batch_tokens: 16777216", "global_batch_tokens: 262144", SMALL)
SMALL = with_change("llama3-405b", "llama3-8b", SMALL)
FEWER = ("--pin", "cp=1,schedule=1f1b,recompute=full")
PRICED = adding("    accelerator_usd_per_h: 2.5\n", SMALL)
NAMED = adding("    plans: {mine: {tp: 4}, other: {tp: 2, sharding: 3}}\n", PRICED)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


def steps(text: str, *options: str) -> int:
    Path("x.yaml").write_text(text, encoding="utf-8")
    return run(["steps", "x.yaml", "--gbps", "1600", *options])


def found(text: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, list[dict[str, object]]]:
    assert steps(text, *options, "--format", "json") == 0
    return {name: table["rows"] for name, table in json.loads(capsys.readouterr().out)["tables"].items()}


def test_json_says_what_the_search_found(capsys: pytest.CaptureFixture[str]) -> None:
    tables = found(PRICED, capsys, "--pareto", *FEWER)
    network = api.load(Path("x.yaml"))
    (explored,) = api.explore(network, gbps=1600, pin=read_pins([FEWER[1]]))
    assert [row["plan"] for row in tables["front pretrain"]] == list(explored.explored.front)
    best = {row["objective"]: row["plan"] for row in tables["best pretrain"]}
    assert list(best.values()) == [explored.explored.best[each] for each in ("step", "cost", "memory", "bytes")]
    for row in tables["front pretrain"]:
        figures = explored.explored.weighed[str(row["plan"])]
        assert row["step_s"] == pytest.approx(figures.step_s)
        assert row["tokens_per_usd"] == pytest.approx(262144 / figures.step_s * 3600 / (32 * 2.5))


@pytest.mark.parametrize(
    ("objective", "column", "most"),
    [
        ("step", "step_s", False),
        ("cost", "tokens_per_usd", True),
        ("memory", "headroom_gb", True),
        ("bytes", "cross_site_gb", False),
    ],
)
def test_a_ranking_is_in_order(objective: str, column: str, most: bool, capsys: pytest.CaptureFixture[str]) -> None:
    rows = found(PRICED, capsys, "--objective", objective, *FEWER)["ranked pretrain"]
    values = [float(f"{row[column]:.4g}") for row in rows]
    assert values == sorted(values, reverse=most)
    assert objective in str(rows[0]["best"])


def test_text_and_pins(capsys: pytest.CaptureFixture[str]) -> None:
    assert steps(PRICED, "--objective", "memory", "--pin", "tp=4,across=dp", "--pin", "sync=synchronous") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "Plans of pretrain by memory that is left" in shown.out
    assert "-synchronous" in shown.out
    assert "over-pp" not in shown.out
    assert "tp2" not in shown.out
    assert steps(PRICED, "--pin", "tp=4,pp=2") == 0
    assert "tp4-pp2" in capsys.readouterr().out


def test_named_plans_are_weighed_too(capsys: pytest.CaptureFixture[str]) -> None:
    tables = found(NAMED, capsys, "--objective", "memory")
    assert {row["plan"] for row in tables["ranked pretrain"]} == {"mine", "other"}
    assert "misfits pretrain" not in tables


def test_methods_that_change_what_is_learnt_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    local = "{tp: 4, sync: local-sgd, outer: {every_steps: 50}}"
    tables = found(adding(f"    plans: {{every: {{tp: 4}}, rarely: {local}}}\n", PRICED), capsys, "--pareto")
    assert [row["plan"] for row in tables["front pretrain"]] == ["every"]
    assert [row["plan"] for row in tables["apart pretrain"]] == ["rarely"]
    assert {row["plan"] for row in tables["best pretrain"]} == {"every"}
    assert tables["apart pretrain"][0]["step_s"] < tables["front pretrain"][0]["step_s"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (SMALL, ["--objective", "cost"], "accelerator_usd_per_h"),
        (SMALL, ["--objective", "costs"], "did you mean `cost`?"),
        (with_change(", lincoln: 16}", "}", PRICED), ["--objective", "bytes"], "stays in one site"),
        (SMALL, ["--pin", "tpp=8"], "did you mean `tp`?"),
        (SMALL, ["--pin", "across=DP"], "did you mean `dp`?"),
        (SMALL, ["--pin", "recompute=none"], "has no effect"),
        (NAMED, ["--pin", "tp=8"], "every job names its plans"),
        (NAMED, ["--explain", "mine", "--pareto"], "give one of them"),
    ],
)
def test_refused(text: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert steps(text, *options) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("options", [["--pin", "tp=3"], ["--pin", "tp=3", "--pareto"]])
def test_nothing_fits(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert steps(SMALL, *options) == 1
    assert "with tp 3 divide" in " ".join(capsys.readouterr().out.split())


def test_progress_is_told_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert steps(SMALL, "--pareto", *FEWER) == 0
    assert capsys.readouterr().err == ""

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    assert steps(SMALL, "--pareto", *FEWER) == 0
    assert "plans looked at" in screen.getvalue()


def test_a_job_keeps_to_its_pins_in_steps_and_in_plan(capsys: pytest.CaptureFixture[str]) -> None:
    text = adding("    pin: {tp: 4, across: pp}\n", SMALL)
    rows = [row for row in found(text, capsys)["plans pretrain"] if row["step_s"]]
    assert {row["across"] for row in rows} == {"pp"}
    network = api.load(Path("x.yaml"))
    made = api.plan(network)
    assert {row.across for row in made.plans if row.fits} == {"pp"}
    assert all("TP4" in row.layout for row in made.plans if row.fits)
    assert api.verify(network, made) == ()
    assert explorations(network, objective="step", gbps=None, pin=None, tell=None)


def test_what_a_search_found_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    rows = found(PRICED, capsys, "--objective", "memory", *FEWER)["ranked pretrain"]
    name = str(rows[0]["plan"])
    assert steps(PRICED, "--explain", name) == 0
    assert name in capsys.readouterr().out
    assert steps(PRICED, "--explain", f"{name}x") == 2
