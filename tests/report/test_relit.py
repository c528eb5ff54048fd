"""Scheme relight from file to report: what stands where, what is retuned to what; and what changed from reroute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.planfile import Plan, dumps, loads
from dcplan.report import diff, relit, wires, work
from dcplan.report.render import draw, render
from dcplan.report.sheet import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network

    Golden = Callable[[str, str], None]

FILE = Path(__file__).parent / "data" / "relight.yaml"


@pytest.fixture(scope="module")
def network() -> Network:
    return api.load(FILE)


@pytest.fixture(scope="module")
def plan(network: Network) -> Plan:
    made = api.plan(network)
    assert isinstance(made, Plan)
    return made


def test_tables(golden: Golden, plan: Plan) -> None:
    tables = (wires.links(plan), wires.lightpaths(plan), *relit.tables(plan), *work.failures(plan))
    view = View("plan", plan.name, tables=tables)
    golden("relight.txt", draw(view, "text"))
    golden("relight.md", draw(view, "markdown"))


def test_the_plan_verifies_and_reads_back(network: Network, plan: Plan) -> None:
    assert api.verify(network, plan) == ()
    again = loads(dumps(plan), "plan.json")
    assert api.verify(network, again) == ()
    assert render(again, "text") == render(plan, "text")
    assert "time to retune after a failure" in render(plan, "text")


def told(tmp_path: Path, policy: str, **schemes: str) -> list[str]:
    """The lines of the plan of the file with other schemes, without what tells the files apart."""
    text = FILE.read_text(encoding="utf-8").replace("scheme: relight", f"scheme: {policy}")
    for name, scheme in schemes.items():
        text = text.replace(f"{name}: {{", f"{name}: {{scheme: {scheme}, ")
    file = tmp_path / FILE.name
    file.write_text(text, encoding="utf-8")
    network = api.load(file)
    made = api.plan(network)
    assert isinstance(made, Plan)
    assert api.verify(network, made) == ()
    return _told(made)


def _told(made: Plan) -> list[str]:
    return [line for line in dumps(made).splitlines() if FILE.name not in line and '"seal"' not in line]


def test_demands_under_relight_are_planned_the_same_whatever_the_policy_says(plan: Plan, tmp_path: Path) -> None:
    assert told(tmp_path, "none", data="relight", logs="relight") == _told(plan)
    for other in ("reroute", "one-plus-one"):
        beside = told(tmp_path, "relight", logs=other)
        assert beside == told(tmp_path, other, data="relight")
        assert beside != _told(plan)


def test_relight_for_nobody_is_reroute(tmp_path: Path) -> None:
    assert told(tmp_path, "relight", data="reroute", logs="reroute") == told(tmp_path, "reroute")


def test_what_changed_from_reroute(network: Network, plan: Plan) -> None:
    policy = network.policy.model_copy(update={"scheme": "reroute"})
    plain = api.plan(replace(network, topology=network.topology.model_copy(update={"policy": policy})))
    assert isinstance(plain, Plan)
    assert plan.design.cost_usd < plain.design.cost_usd
    said = diff.render(diff.diff(plain, plan), "text", 160)
    assert "800zr+ at lincoln" in said
    assert "fiber west" in said


def test_what_relight_lit_is_enough_and_grows(network: Network, plan: Plan, tmp_path: Path) -> None:
    """Beside its own plan, spare transponders with it, nothing is bought; later periods keep both."""
    again = api.plan(network, existing=plan)
    assert isinstance(again, Plan)
    assert again.existing is not None
    assert again.existing.transponders == {"ames": {"800zr+": 1}, "lincoln": {"800zr+": 2}, "omaha": {"800zr+": 2}}
    assert again.design.cost_usd == pytest.approx(plan.design.running_usd)
    assert [(one.count, one.existing) for one in again.design.owned] == [
        (one.count, one.count) for one in plan.design.owned
    ]
    assert api.verify(network, again) == ()
    file = tmp_path / "grown.yaml"
    years = "years: 6, periods: [{name: now, after_years: 0}, {name: later, after_years: 3, demand_percent: 260}]"
    file.write_text(FILE.read_text(encoding="utf-8").replace("scheme: relight", f"scheme: relight, {years}"))
    later = api.load(file)
    grown = api.plan(later)
    assert isinstance(grown, Plan)
    assert api.verify(later, grown) == ()
    first = {(one.site, one.transponder): one.count for one in plan.design.owned}
    assert {(one.site, one.transponder): one.existing for one in grown.design.owned} == first
    lost = replace(grown.design.owned[0], count=1, existing=1)
    fewer = replace(grown, design=replace(grown.design, owned=(lost, *grown.design.owned[1:])))
    assert any("at ames already, 1 are left" in fault for fault in api.verify(later, fewer))
