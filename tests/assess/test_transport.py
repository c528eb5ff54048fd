"""Transport through to the plan: what is lit carries it, failures lengthen round trips, reports and checks know it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dcplan import api, planfile
from dcplan.design.result import Infeasible
from dcplan.planfile import Plan
from dcplan.report.render import render

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
dcplan: 1
name: far and farther
sites:
  papillion: {{lat: 41.07, lon: -96.11, accelerators: {{h100-sxm: 8192}}}}
  lincoln: {{lat: 40.89, lon: -96.60, accelerators: {{h100-sxm: 8192}}}}
fibers:
  north: {{ends: [papillion, lincoln], length_km: 58, type: g652d, pairs: 8, lease_usd_per_km_year: 400}}
  south: {{ends: [papillion, lincoln], length_km: 94, type: g652d, pairs: 8, lease_usd_per_km_year: 400}}
jobs:
  pretrain:
    model: llama3-405b
    accelerators: {{papillion: 8192, lincoln: 8192}}
    sequence_length: 8192
    global_batch_tokens: 16777216
    targets: {{max_overhead_percent: 10, max_overhead_percent_under_failure: 60}}
    plans: {{deep: {{tp: 8, cp: 2, pp: 16, virtual_stages: 8}}}}
    {transport}
"""


def answer(folder: Path, transport: str) -> tuple[Path, Plan | Infeasible]:
    file = folder / "far.yaml"
    file.write_text(FILE.format(transport=f"transport: {transport}" if transport else ""), encoding="utf-8")
    return file, api.plan(api.load(file), max_nodes=50)


def made(folder: Path, transport: str) -> tuple[Path, Plan]:
    file, plan = answer(folder, transport)
    assert isinstance(plan, Plan), plan
    return file, plan


def test_demands_are_in_bytes_on_the_wire(tmp_path: Path) -> None:
    _, plain = made(tmp_path, "")
    _, nothing = made(tmp_path, "{}")
    _, coded = made(tmp_path, "{protocol: tcp, mtu_bytes: 1500}")
    (before,), (same,), (after,) = (plan.design.demands for plan in (plain, nothing, coded))
    assert before == same
    for state, gbps in before.gbps.items():
        assert after.gbps[state] == pytest.approx(gbps * 1538 / 1448, rel=1e-6)


def test_a_failure_lengthens_the_round_trip_and_a_window_then_carries_less(tmp_path: Path) -> None:
    """Each state by hand: usable = flows × window / RTT where that is less than the line; the step follows."""
    _, plan = made(tmp_path, "{flows: 2000, window_mb: 1.2}")
    (row,) = plan.plans
    states = {one.state: one for one in row.transport}
    assert set(states) == {"healthy", "fiber north"}
    for one in row.transport:
        line = one.rate_gbps * 4096 / 4178
        window = 2000 * 1.2e6 * 8 / (one.rtt_ms / 1e3) / 1e9
        assert one.usable_gbps == pytest.approx(min(line, window))
        assert one.limit == ("window" if window < line else "line")
    far, near = states["fiber north"], states["healthy"]
    assert far.rtt_ms == pytest.approx(2 * 94 * 4.9e-3, rel=0.01)
    assert far.usable_gbps < near.usable_gbps
    by_state = {one.state: one.jobs[0] for one in plan.assessment.states}
    assert by_state["fiber north"].step_s > by_state["fiber south"].step_s


def test_the_plan_is_verified_with_its_transport(tmp_path: Path) -> None:
    file, plan = made(tmp_path, "{protocol: roce-gbn, packet_loss: 1.0e-7, encryption: macsec}")
    network = api.load(file)
    again = planfile.loads(planfile.dumps(plan), "plan.json")
    assert api.verify(network, again) == ()
    (row,) = again.plans
    wrong = replace(row, transport=tuple(replace(one, usable_gbps=one.usable_gbps * 1.01) for one in row.transport))
    assert api.verify(network, replace(again, plans=(wrong,))) != ()


def test_reports_show_it(tmp_path: Path) -> None:
    _, plan = made(tmp_path, "{lossless: true, switch_buffer_mb: 40, encryption: macsec}")
    text = render(plan, "text")
    assert "Transport of pretrain, plan deep" in text
    assert "macsec of pretrain" in text
    table = json.loads(render(plan, "json"))["tables"]["transport pretrain"]
    (row,) = plan.plans
    assert [line["rtt_ms"] for line in table["rows"]] == [one.rtt_ms for one in row.transport]
    assert {line["limit"] for line in table["rows"]} == {"port"}
    assert table["rows"][0]["reach_km"] == pytest.approx(81.5, abs=0.1)
    _, plain = made(tmp_path, "")
    assert "Transport of" not in render(plain, "text")


def test_flows_that_carry_too_little_are_refused_with_what_would_do(tmp_path: Path) -> None:
    _, none = answer(tmp_path, "{flows: 2000, window_mb: 0.1}")
    assert isinstance(none, Infeasible)
    assert none.limit == "latency"
    assert "2,000 flows of 0.1 MB each carry at most" in none.reason
    enough = none.reason.rsplit("flows of ", 1)[1].split(" MB")[0]
    file, plan = answer(tmp_path, f"{{flows: 2000, window_mb: {enough}}}")
    assert isinstance(plan, Plan)
    assert codes(file) == []
    file, still = answer(tmp_path, f"{{flows: 2000, window_mb: {0.9 * float(enough)}}}")
    assert isinstance(still, Infeasible)
    assert codes(file) == ["DCP471"], "what a plan is refused for is told before it is planned"


def codes(file: Path) -> list[str]:
    return [finding.rule.code for finding in api.check([file])]


def test_a_named_plan_that_flows_hold_back_is_told_where_another_is_not(tmp_path: Path) -> None:
    text = FILE.format(transport="transport: {flows: 64, window_mb: 1}")
    more = "deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}, seldom: {tp: 8, cp: 2, pp: 16, sync: local-sgd, "
    text = text.replace("deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}", more + "outer: {every_steps: 500}}")
    file = tmp_path / "two.yaml"
    file.write_text(text, encoding="utf-8")
    (told,) = [finding for finding in api.check([file]) if finding.rule.code == "DCP471"]
    assert "64 flows of 1 MB each carry at most" in told.message
    assert "deep needs" in told.message


def test_a_port_that_stands_still_is_not_taken_for_sites_that_are_apart(tmp_path: Path) -> None:
    file, none = answer(tmp_path, "{lossless: true, switch_buffer_mb: 0.005}")
    (row,) = api.steps(api.load(file), gbps=400)
    assert isinstance(none, Infeasible)
    for said in (row.why_not, none.reason):
        assert "ports between lincoln and papillion stand still: the switch buffer does not hold two frames" in said
    file, _ = answer(tmp_path, "{lossless: true, switch_buffer_mb: 0.5}")
    (row,) = api.steps(api.load(file), gbps=400)
    assert row.step_s
