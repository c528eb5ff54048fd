"""Runs of one's own: what a file may say, and how every mistake in it is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.accuracy.compare import own_comparison
from dcplan.accuracy.runs import run_sets
from dcplan.cli.app import run
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
title = "Ours"

[common]
model = "llama3-8b"
accelerator = "h100-sxm"
sequence_length = 8192

[runs]
"plain" = { dp = 8, batch = 128, seconds = 9.07 }
"small" = { layers = 16, tp = 2, dp = 4, batch = 128, precision = "fp8", tokens_per_s_per_accelerator = 20000 }
"""


def put(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_own_runs_are_compared_as_shipped_ones(tmp_path: Path) -> None:
    found = own_comparison(put(tmp_path, GOOD))
    assert (found.name, found.title) == ("mine", "Ours")
    plain, small = found.rows
    assert (plain.id, plain.measured) == ("plain", 9.07)
    assert small.measured == pytest.approx(128 * 8192 / 8 / 20000)
    assert not plain.fitted
    assert found.figures(fitted=True) is None


def test_a_shipped_run_comes_out_alike_from_an_own_file(tmp_path: Path) -> None:
    row = 'model = "llama3-405b", accelerator = "gb200-nvl72", tp = 4, cp = 2, pp = 8, dp = 2, virtual_stages = 8, '
    row += 'batch = 64, sequence_length = 8192, recompute = "none", grad_reduce_in_fp32 = false, seconds = 9.347'
    (ours,) = own_comparison(put(tmp_path, f'[runs]\n"a" = {{ {row} }}\n')).rows
    shipped = {row.id: row for row in api.accuracy(["gb200-dense"])[0].rows}["dgxc_405B_gb200_128_bf16"]
    assert ours.predicted == pytest.approx(shipped.predicted)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[runs]", "[runs", "cannot be read"),
        ("[runs]", "[ran]", "ran: is no key of this file"),
        ("dp = 8,", "dq = 8,", "run `plain`: dq: is no key of this file"),
        ("dp = 8,", "", "run `plain`: dp: its number of accelerators is"),
        ("dp = 8,", "dp = 7,", "run `plain`: a batch of 128 sequences is not a multiple"),
        ("dp = 8,", "dp = 8.5,", "run `plain`: dp: "),
        ("dp = 8,", "dp = 8, tp = 3,", "run `plain`: tp 3 does not divide 32 attention heads"),
        ("dp = 8,", "dp = 8, pp = 64,", "run `plain`: "),
        ("dp = 8,", "dp = 8, ep = 4,", "run `plain`: ep 4 needs experts"),
        ("seconds = 9.07", "seconds = -1", "run `plain`: seconds: "),
        ("seconds = 9.07", "seconds = 9, mfu_percent = 40", "it has seconds and mfu_percent"),
        (", seconds = 9.07", "", "it has none"),
        ("llama3-8b", "llama3-8", "did you mean `llama3-8b`"),
        ("h100-sxm", "h100", "the catalog has no `h100` among its accelerators"),
        ("h100-sxm", "vera-rubin-nvl72", "vera-rubin-nvl72 has no calibration of its own"),
        ('precision = "fp8"', 'precision = "fp4"', "run `small`: the catalog has no calibration hopper-fp4"),
        ('precision = "fp8"', 'precision = "fp7"', "run `small`: precision: "),
        ('model = "llama3-8b"\n', "", "run `plain`: give a `model` of the catalog, or its dimensions: layers"),
        ("layers = 16", "layers = 0", "run `small`: layers: "),
        ("layers = 16", 'calibration = "hoper"', "the catalog has no `hoper` among its calibrations"),
        ("layers = 16", 'across = "dp"', "run `small`: across: is no key of this file"),
    ],
)
def test_every_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    path = put(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        own_comparison(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_empty_file_and_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="runs: "):
        own_comparison(put(tmp_path, ""))
    with pytest.raises(UsageError, match="cannot be read"):
        own_comparison(tmp_path / "missing.toml")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, GOOD)
    assert run(["accuracy", "--runs", str(path), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in shown["tables"]["sets"]["rows"]] == ["mine"]
    assert run(["accuracy", "--runs", str(path), "--set", "a100-mt-nlg", "--rows"]) == 0
    text = capsys.readouterr().out
    assert "MT-NLG 530B" in text
    assert "plain" in text
    assert run(["accuracy", "--runs", str(tmp_path)]) == 2
    assert run(["accuracy", "--set", "nothing"]) == 2
    assert run(["accuracy", "--format", "xml"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_command_says_it_all_and_quotes_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["accuracy", "--rows", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    sets, fact = shown["tables"]["sets"]["rows"], shown["facts"][0]
    assert sum(row["n"] for row in sets) == fact["rows"] == fact["tested"] + fact["fitted"]
    assert {row["used_for"] for row in sets} == {"fitted", "test"}
    assert {row["error_unit"] for row in sets} == {"%", "pt"}
    for name, group in run_sets().items():
        table = shown["tables"][f"rows {name}"]
        assert [row["id"] for row in table["rows"]] == list(group.runs)
        assert group.source in table["note"]


def test_a_missed_bound_is_an_answer_of_no(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    from dcplan.accuracy import compare

    (trials,) = compare.comparisons(["long-haul-trials"])
    worse = replace(trials, rows=tuple(replace(row, predicted=row.measured - 3) for row in trials.rows))
    monkeypatch.setattr(compare, "comparisons", lambda *_: (worse,))
    assert run(["accuracy", "--set", "long-haul-trials"]) == 1
    assert "nemo_longhaul" in capsys.readouterr().out
