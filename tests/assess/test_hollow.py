"""What hollow core saves: by hand for latency, by a second plan in solid fiber for the step time."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api
from dcplan.assess.hollow import HollowCore
from dcplan.planfile import Plan, dumps, loads
from dcplan.report.hollow import tables

FILE = """\
dcplan: 1
name: hollow
sites:
  a: {lat: 36.67, lon: -78.38, accelerators: {h100-sxm: 2048}}
  b: {lat: 38.76, lon: -77.53, accelerators: {h100-sxm: 2048}}
fibers:
  one: {ends: [a, b], length_km: 300, type: TYPE, pairs: 4, lease_usd_per_km_year: 300}
gear: {allow: {transponders: [openzr+]}, fibers: {slow: {group_index: 1.468, attenuation_db_per_km: 0.2,
  dispersion_ps_nm_km: 3, nonlinear: false, splice_db: 0.5, wdl_db_per_km: 0.008}}}
jobs:
  pretrain:
    model: llama3-70b
    accelerators: {a: 1024, b: 1024}
    sequence_length: 8192
    global_batch_tokens: 8388608
    plans: {pipeline: {tp: 8, pp: 4, across: pp, extra_in_flight: 0}}
    targets: {max_overhead_percent: 100}
policy: {survive: []}
"""


def planned(tmp_path: Path, kind: str) -> Plan:
    file = tmp_path / f"{kind}.yaml"
    file.write_text(FILE.replace("TYPE", kind), encoding="utf-8")
    made = api.plan(api.load(file))
    assert isinstance(made, Plan)
    return made


def test_the_step_saved_is_that_of_the_same_plan_in_slow_fiber(tmp_path: Path) -> None:
    """The same glass but for its index, planned anew, has the step that the saving is counted from."""
    fast, slow = planned(tmp_path, "hollow-core"), planned(tmp_path, "slow")
    assert isinstance(fast.hollow, HollowCore)
    (fiber,) = fast.hollow.fibers
    assert fiber.lit
    assert fiber.solid_ms - fiber.latency_ms == pytest.approx(300 * (1.468 - 1.003) / 299.792458, rel=1e-9)
    (job,) = fast.hollow.jobs
    assert job.step_s is not None
    assert job.solid_step_s is not None
    assert job.step_s < job.solid_step_s
    assert job.solid_ms - job.latency_ms == pytest.approx(fiber.solid_ms - fiber.latency_ms)
    (row,) = [row for row in slow.plans if row.chosen]
    assert job.solid_step_s == pytest.approx(row.step_s, rel=1e-9)


def test_a_plan_without_hollow_core_has_no_such_table(tmp_path: Path) -> None:
    made = planned(tmp_path, "g652d")
    assert made.hollow is None
    assert tables(made) == ()


def test_the_saving_is_kept_in_the_plan_file(tmp_path: Path) -> None:
    made = planned(tmp_path, "hollow-core")
    again = loads(dumps(made), "x")
    (table,) = tables(again)
    assert [row[0].text for row in table.rows] == ["one", "job pretrain"]
    assert table.rows[0][3].value == pytest.approx(0.4653, abs=1e-3)
