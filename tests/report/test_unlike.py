"""Unlike sites from the file to reports: parts, memory by site, the counterfactual, and what is warned of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.cli.app import run
from dcplan.planfile import Plan, dumps, loads
from dcplan.report.unlike import notices

if TYPE_CHECKING:
    from pathlib import Path

UNLIKE = """\
dcplan: 1
name: Old and new
sites:
  new: {lat: 40.0, lon: -100.0, accelerators: {h100-sxm: 192}}
  old: {lat: 40.0, lon: -99.0, accelerators: {a100-sxm-80gb: 192}}
fibers:
  one: {ends: [new, old], length_km: 95, type: g652d, pairs: 16}
gear:
  allow: {transponders: [400zr, 800zr+]}
jobs:
  train:
    model: llama3-70b
    accelerators: {new: 192, old: 192}
    sequence_length: 8192
    global_batch_tokens: 6291456
    split: by-speed
    plans:
      replicas: {tp: 8, pp: 2, recompute: full}
      stages: {tp: 8, pp: 12, recompute: full, across: pp}
policy: {survive: []}
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    folder = tmp_path_factory.mktemp("unlike")
    file = folder / "x.yaml"
    file.write_text(UNLIKE, encoding="utf-8")
    made = api.plan(api.load(file))
    assert isinstance(made, Plan)
    return file, made


def test_the_plan_says_what_each_site_takes_and_verifies(planned: tuple[Path, Plan]) -> None:
    file, made = planned
    assert api.verify(api.load(file), loads(dumps(made), "plan.json")) == ()
    for row in made.plans:
        assert row.equal_s is not None
        assert row.step_s is not None
        assert row.step_s < 0.8 * row.equal_s
        new, old = row.parts
        assert (new.site, old.site, old.accelerator) == ("new", "old", "a100-sxm-80gb")
        assert new.batch_percent > old.batch_percent or new.layers > old.layers
        assert max(new.memory_gb, old.memory_gb) == pytest.approx(row.memory.total_gb, rel=0.3)


def test_parts_that_do_not_pay_are_said_to_take_more(planned: tuple[Path, Plan]) -> None:
    row = planned[1].plans[0]
    assert row.step_s is not None
    for equal_s, words in ((row.step_s / 0.75, "by speed it takes 25.0 % less"), (row.step_s / 1.25, "25.0 % more")):
        (notice,) = notices([replace(row, equal_s=equal_s)])
        assert notice.text.endswith(words)


def test_reports_show_the_counterfactual(planned: tuple[Path, Plan], capsys: pytest.CaptureFixture[str]) -> None:
    file, made = planned
    assert run(["steps", str(file), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["tables"]["parts train"]["rows"]) == 4
    assert run(["steps", str(file)]) == 0
    out = capsys.readouterr().out
    assert "in equal parts the oldest would set the pace" in " ".join(out.split())
    (file.parent / "plan.json").write_text(dumps(made), encoding="utf-8")
    assert run(["report", str(file.parent / "plan.json")]) == 0
    assert "Sites of train" in capsys.readouterr().out


def test_in_equal_parts_the_old_set_the_pace_and_a_warning_says_what_would_help(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(UNLIKE.replace("    split: by-speed\n", ""), encoding="utf-8")
    (row, *_) = api.steps(api.load(file))
    assert row.equal_s is None
    assert len({round(part.batch_percent, 6) for part in row.parts}) == 1
    codes = {finding.rule.code: finding for finding in api.check([file])}
    assert "split: by-speed" in codes["DCP406"].hint
    file.write_text(UNLIKE, encoding="utf-8")
    assert "DCP406" not in {finding.rule.code for finding in api.check([file])}
    file.write_text(UNLIKE.replace("a100-sxm-80gb", "h100-sxm"), encoding="utf-8")
    assert "`split` has no effect: all accelerators are alike" in {one.message for one in api.check([file])}
