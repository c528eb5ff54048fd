"""What a job may expect of a designed network, and failures step by step: by hand from the assessment beside it."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dcplan import api
from dcplan.assess.result import Expected, JobInState, Timeline
from dcplan.assess.timeline import SWITCH_S, timeline
from dcplan.design.traffic import JobTraffic, job_traffic
from dcplan.model.network import Network
from dcplan.model.reliability import Reliability
from dcplan.model.states import State, promised_states
from dcplan.planfile import Plan, dumps, loads
from dcplan.report.outlook import nines
from dcplan.report.render import draw
from dcplan.report.view import states as assessment
from dcplan.report.view import view
from dcplan.training.engine import one_site, without_sites
from dcplan.training.goodput.chain import Goodput
from dcplan.training.step import Layout, Misfit, Workload

RING = """
dcplan: 1
name: Ring of three
sites:
  a: {lat: 41.0, lon: -96.0, accelerators: {h100-sxm: 512}, failures_per_year: 2, repair_h: 10}
  b: {lat: 41.0, lon: -95.3, accelerators: {h100-sxm: 512}}
  c: {lat: 41.4, lon: -95.6}
fibers:
  ab: {ends: [a, b], length_km: 75, type: g652d, pairs: 2, failures_per_year: 4, repair_h: 12}
  bc: {ends: [b, c], length_km: 65, type: g652d, pairs: 2, failures_per_year: 6, repair_h: 15}
  ca: {ends: [c, a], length_km: 72, type: g652d, pairs: 2}
gear:
  allow: {transponders: [openzr+, 800zr+]}
jobs:
  train:
    model: llama3-70b
    accelerators: {a: 512, b: 512}
    sequence_length: 8192
    global_batch_tokens: 12582912
    plans: {only: {%s}}
    targets: {max_overhead_percent: 5, max_overhead_percent_under_failure: 20}
    %s
policy: {survive: [%s]}
"""
DP, PP = "tp: 8, pp: 4, virtual_stages: 5, across: dp", "tp: 8, pp: 4, across: pp"
LOCAL = "reliability: {checkpoint: {interval_s: 60, local_gb_per_s: 5, remote_interval_s: 600}}"


@cache
def network(plan: str = DP, about: str = "reliability: {}", survive: str = "any-fiber, any-site") -> Network:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ring.yaml"
        file.write_text(RING % (plan, about, survive), encoding="utf-8")
        return api.load(file)


@cache
def planned(plan: str = DP, about: str = "reliability: {}", survive: str = "any-fiber, any-site") -> Plan:
    made = api.plan(network(plan, about, survive))
    assert isinstance(made, Plan), made
    return made


def expected(made: Plan) -> Expected:
    (found,) = made.assessment.outlook.expected
    return found


def line(made: Plan, state: str) -> Timeline:
    return next(one for one in made.assessment.outlook.timelines if one.state == state)


def test_a_job_that_does_not_ask_has_no_outlook() -> None:
    made = planned(DP, "use: only")
    assert made.assessment.outlook.expected == made.assessment.outlook.timelines == ()
    assert made.plans[0].goodput is None
    titles = [table.title for table in view(made).tables]
    assert not {"Expected goodput", "Failures step by step", "Goodput of train"} & set(titles)


def test_the_speed_of_a_year_is_the_mean_over_its_states() -> None:
    """From step times and lost batch of the assessment, and shares by hand for one failure at a time."""
    made = planned()
    steps = {result.state: result.jobs[0].step_s or math.inf for result in made.assessment.states}
    down = {"fiber ab": 4 * 12, "fiber bc": 6 * 15, "site a": 2 * 10}
    u = {name: hours / 8760 / (1 + hours / 8760) for name, hours in down.items()}
    speeds = {name: steps["healthy"] / steps[name] * (0.5 if name == "site a" else 1) for name in down}
    shares = {one.state: one for one in expected(made).states}
    for name in down:
        others = math.prod(1 - u[other] for other in u if other != name)
        more = u["fiber ab"] * (1 - u["fiber bc"]) * u["site a"] if name == "site a" else 0.0  # a takes ab with it
        assert shares[name].hours_per_year == pytest.approx(8760 * (u[name] * others + more))
        assert shares[name].speed_percent == pytest.approx(100 * speeds[name])
    lost = sum(one.hours_per_year * (100 - one.speed_percent) for one in shares.values()) / 8760
    lost += 100 * expected(made).unseen_hours_per_year / 8760
    assert expected(made).goodput.network_percent == pytest.approx(lost, abs=0.01)  # switching and coming back besides
    assert expected(made).goodput.network_percent > lost


def test_two_failures_at_once_part_the_sites_and_stop_the_job() -> None:
    both = next(one for one in expected(planned()).states if one.state == "fiber ab + fiber bc")
    assert both.speed_percent == 0
    assert both.hours_per_year == pytest.approx(8760 * (48 / 8808) * (90 / 8850) * (1 - 20 / 8780))


def test_a_fiber_that_is_cut_is_a_switch_and_a_slower_step() -> None:
    made = planned()
    one, step_s = line(made, "fiber ab"), made.plans[0].step_s
    assert step_s is not None
    assert (one.detection_s, one.switch_s, one.restart_s, one.rework_s, one.back_s) == (0, 1.0, 0, 0, 0)
    slower = (1 - one.speed_percent / 100) * 3600 / step_s
    assert one.lost_once_steps == pytest.approx(1.0 / step_s)
    assert one.lost_per_hour_steps == pytest.approx(slower)
    assert one.lost_steps == pytest.approx(1.0 / step_s + 12 * slower)


def test_a_lost_site_is_a_restart_and_half_of_the_batch() -> None:
    made = planned()
    one, step_s, about = line(made, "site a"), made.plans[0].step_s, expected(made).goodput
    assert step_s is not None
    assert about.interval_s is not None
    assert (one.detection_s, one.restart_s, one.back_s, one.repair_h) == (60, 600, 600, 10)
    assert one.rework_s == pytest.approx(about.interval_s / 2)
    assert 50 < one.speed_percent < 55
    assert one.lost_once_steps == pytest.approx((60 + 600 + about.interval_s / 2 + 600) / step_s)
    other = line(made, "site b")
    assert (other.repair_h, other.lost_steps) == (None, None)


def test_what_is_kept_in_a_lost_site_is_lost_with_it() -> None:
    made = planned(DP, LOCAL)
    about = made.plans[0].goodput
    assert about is not None
    assert about.interval_s is not None
    assert about.remote_every > 1
    assert line(made, "site a").rework_s == pytest.approx(about.interval_s * about.remote_every / 2 + about.write_s)


def test_a_pipeline_over_sites_stops_with_one_of_them() -> None:
    made = planned(PP)
    one = line(made, "site a")
    assert not one.running
    assert (one.speed_percent, one.back_s) == (0, 0)
    assert expected(made).goodput.goodput_percent < expected(planned()).goodput.goodput_percent
    assert next(share for share in expected(made).states if share.state == "site a").speed_percent == 0


def test_failures_that_nobody_survives_by_promise_count_as_well() -> None:
    made = planned(DP, "reliability: {}", "any-fiber")
    assert [one.state for one in made.assessment.outlook.timelines] == ["fiber ab", "fiber bc", "fiber ca"]
    found = {one.state: one.speed_percent for one in expected(made).states}
    assert found["site a"] == pytest.approx(line(planned(), "site a").speed_percent)


def test_restarts_by_sites_join_those_by_accelerators() -> None:
    made = planned()
    alone = made.plans[0].goodput
    assert alone is not None
    assert alone.mtbf_h is not None
    rate = 1 / alone.mtbf_h + 2 / 8760 / (1 + 20 / 8760)
    assert expected(made).goodput.mtbf_h == pytest.approx(1 / rate)


def test_verify_works_it_out_anew() -> None:
    made = planned(DP, LOCAL)
    read = loads(dumps(made), "plan.json")
    assert api.verify(network(DP, LOCAL), read) == ()
    (one,) = read.assessment.outlook.expected
    better = replace(one, goodput=replace(one.goodput, goodput_percent=one.goodput.goodput_percent + 0.1))
    wrong = replace(
        read, assessment=replace(read.assessment, outlook=replace(read.assessment.outlook, expected=(better,)))
    )
    assert api.verify(network(DP, LOCAL), wrong) == ("the assessment of the plan are not what the topology gives",)


def test_reports_show_it() -> None:
    made = planned()
    for form in ("text", "markdown", "json"):
        for shown in (view(made), assessment(made)):
            text = draw(shown, form, 120)
            assert "Failures step by step" in text
            assert "Expected goodput" in text


def a_timeline(
    *, touched: bool, lost_site: bool, running: bool = True, scheme: str = "reroute", speed: float = 0.5, **keys: float
) -> Timeline:
    found = JobInState("job", running=running, why="", rate_fraction=None, latency_ms=None, step_s=10.0,
                       overhead_percent=None, target_percent=None)  # fmt: skip
    zero = dict.fromkeys(Goodput.__dataclass_fields__, 0.0)
    about = Goodput(**{**zero, "interval_s": 400.0, "remote_every": 3, "write_s": 90.0, "local_s": None})  # type: ignore[arg-type]
    return timeline(Reliability(**keys), scheme, State("fiber x", frozenset("x")), found, touched=touched,
                    lost_site=lost_site, speed=speed, step_s=10.0, goodput=about, repair_h=2.0)  # type: ignore[arg-type] # fmt: skip


@pytest.mark.parametrize("scheme", SWITCH_S)
def test_how_long_a_switch_takes_is_up_to_the_scheme(scheme: str) -> None:
    assert a_timeline(touched=True, lost_site=False, scheme=scheme).switch_s == SWITCH_S[scheme]
    assert a_timeline(touched=False, lost_site=False, scheme=scheme).lost_once_steps == 0


def test_a_switch_beyond_the_collective_timeout_is_a_restart() -> None:
    within = a_timeline(touched=True, lost_site=False, switch_s=599)
    beyond = a_timeline(touched=True, lost_site=False, switch_s=900)
    assert (within.detection_s, within.switch_s, within.restart_s) == (0, 599, 0)
    assert (beyond.detection_s, beyond.switch_s, beyond.restart_s, beyond.rework_s) == (600, 0, 600, 200)
    slow = a_timeline(touched=True, lost_site=False, switch_s=2000)
    assert slow.switch_s == 800  # what is left of it when the job is ready again
    assert slow.lost_once_steps == pytest.approx((600 + 600 + 800 + 200) / 10)


def test_a_job_whose_sites_are_parted_waits_for_the_repair() -> None:
    found = a_timeline(touched=True, lost_site=False, running=False, speed=0.0)
    assert (found.running, found.detection_s, found.switch_s, found.restart_s) == (False, 600, 0, 600)
    assert found.lost_steps == pytest.approx((600 + 600 + 200) / 10 + 2 * 360)
    alone = a_timeline(touched=True, lost_site=False, running=False, speed=0.5)
    assert (alone.running, alone.back_s) == (True, 600)
    assert alone.lost_steps == pytest.approx((600 + 600 + 200 + 600) / 10 + 2 * 0.5 * 360)


def test_an_elastic_job_goes_on_in_one_site_where_the_others_cannot_be_reached() -> None:
    """Half of the batch in a step without exchange; a pipeline over sites cannot."""
    both = "fiber ab + fiber bc"

    def speed(plan: str) -> float:
        shares = expected(planned(plan, "reliability: {elastic: true}")).states
        return next(one.speed_percent for one in shares if one.state == both)

    made = planned(DP, "reliability: {elastic: true}")
    row = made.plans[0]
    assert row.step_s is not None
    half = without_sites(*_chosen(DP), frozenset("b"))
    assert not isinstance(half, Misfit)
    assert speed(DP) == pytest.approx(50 * row.step_s / one_site(*half).step_s)
    assert speed(PP) == 0


def _chosen(plan: str) -> tuple[Workload, Layout]:
    net = network(plan, "reliability: {elastic: true}")
    found = job_traffic(net, "train", promised_states(net))
    assert isinstance(found, JobTraffic)
    return found.plans.workload, found.chosen


def test_a_demand_is_available_as_often_as_sampled_states_carry_it() -> None:
    """Both ways round a ring, each sized for all of it: short only when both are cut, or an end is gone."""
    text = RING % (DP, "use: only", "any-fiber")
    text = text[: text.index("jobs:")] + "demands: {x: {between: [a, b], gbps: 400}}\npolicy: {survive: [any-fiber]}\n"
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ring.yaml"
        file.write_text(text, encoding="utf-8")
        made = api.plan(api.load(file))
    assert isinstance(made, Plan)
    (found,) = made.assessment.outlook.available
    source, good, many = random.Random(3), 0, 400_000
    down = {"ab": 48 / 8808, "bc": 90 / 8850, "a": 20 / 8780}
    for _ in range(many):
        up = {name: source.random() >= share for name, share in down.items()}
        good += up["a"] and (up["ab"] or up["bc"])
    assert found.whole_percent == pytest.approx(100 * good / many, abs=0.03)
    exact = (1 - down["a"]) * (1 - down["ab"] * down["bc"])
    assert found.whole_percent == found.some_percent == pytest.approx(100 * exact, abs=1e-3)
    assert found.short_hours_per_year == pytest.approx(8760 * (1 - found.whole_percent / 100))


HUB = """
dcplan: 1
name: Hub
sites:
  a: {lat: 41.0, lon: -96.0, accelerators: {h100-sxm: 64}}
  b: {lat: 41.0, lon: -95.3, accelerators: {h100-sxm: 64}}
  c: {lat: 41.4, lon: -95.6, accelerators: {h100-sxm: 64}}
circuits:
  ab: {ends: [a, b], length_km: 75, modules: {one: {gbps: 100, usd: 1}}, failures_per_year: 4, repair_h: 12}
  bc: {ends: [b, c], length_km: 65, modules: {one: {gbps: 100, usd: 1}}}
  ca: {ends: [c, a], length_km: 72, modules: {one: {gbps: 100, usd: 1}}}
jobs:
  train:
    model: llama3-8b
    accelerators: {a: 64, b: 64, c: 64}
    sequence_length: 8192
    global_batch_tokens: 6291456
    collective: hub
    plans: {only: {tp: 8}}
    targets: {max_overhead_percent: 50, max_overhead_percent_under_failure: 100}
    reliability: {}
policy: {survive: [any-site]}
"""


def test_demands_that_only_a_lost_hub_calls_for_have_no_healthy_rate_to_compare_with() -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "hub.yaml"
        file.write_text(HUB, encoding="utf-8")
        asked = api.load(file)
    made = api.plan(asked)
    assert isinstance(made, Plan)
    seldom = {demand.id for demand in made.design.demands if "healthy" not in demand.gbps}
    listed = {each.demand for each in made.assessment.outlook.available}
    assert seldom
    assert listed == {demand.id for demand in made.design.demands} - seldom
    assert any("ab" in share.state for one in made.assessment.outlook.expected for share in one.states)
    assert not api.verify(asked, loads(dumps(made), "hub"))


def test_without_rates_the_report_says_that_the_network_never_fails() -> None:
    text = RING % (DP, "reliability: {}", "any-fiber")
    for rate in ("failures_per_year: 2, repair_h: 10", "failures_per_year: 4, repair_h: 12",
                 "failures_per_year: 6, repair_h: 15"):  # fmt: skip
        text = text.replace(f", {rate}", "")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ring.yaml"
        file.write_text(text, encoding="utf-8")
        made = api.plan(api.load(file))
    assert isinstance(made, Plan)
    assert (expected(made).states, expected(made).goodput.network_percent) == ((), 0.0)
    assert made.assessment.outlook.available == ()
    assert all(one.repair_h is None for one in made.assessment.outlook.timelines)
    assert "no fiber or site says how often it fails" in draw(assessment(made), "markdown")


def test_of_many_states_a_year_shows_the_likeliest_and_the_mean_of_the_others() -> None:
    text = RING % (DP, "reliability: {}", "any-fiber")
    text = text.replace("type: g652d, pairs: 2}", "type: g652d, pairs: 2, failures_per_year: 9, repair_h: 30}")
    text = text.replace("{h100-sxm: 512}}", "{h100-sxm: 512}, failures_per_year: 3, repair_h: 40}")
    text = text.replace("lon: -95.6}", "lon: -95.6, failures_per_year: 2, repair_h: 50}")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ring.yaml"
        file.write_text(text, encoding="utf-8")
        made = api.plan(api.load(file))
    assert isinstance(made, Plan)
    year = next(table for table in assessment(made).tables if table.id == "year train")
    names = [str(row[0].value) for row in year.rows]
    assert len(expected(made).states) > 12
    assert names[12:] == [f"{len(expected(made).states) - 12} others", "not looked at"]
    assert sum(float(row[1].value or 0) for row in year.rows) == pytest.approx(8760)


def test_percentages_near_a_hundred_are_not_rounded_up() -> None:
    shown = [nines(value).text for value in (100.0, 99.9999996, 99.995, 99.86, 50.0)]
    assert shown == ["100.000", "99.99999960", "99.9950", "99.86", "50.00"]


def test_assumptions_tell_defaults_from_what_is_given() -> None:
    def stated(about: str) -> dict[str, tuple[str, str]]:
        return {one.what: (one.value, one.confidence) for one in planned(DP, about).assumptions}

    default = stated("reliability: {}")
    assert default["failures of train"] == ("one accelerator fails in 50,677 h", "medium")
    assert default["detection of train"] == ("60 s", "low")
    assert default["switch of train"] == ("1 s until traffic is on other routes (reroute)", "low")
    given = stated(
        "reliability: {accelerator_mtbf_h: 1000, infant_factor: 2, detection_s: 5, checkpoint: {gb_per_s: 40}}"
    )
    assert given["failures of train"] == ("one accelerator fails in 1,000 h, 2 times as often while new", "high")
    assert given["detection of train"] == ("5 s", "high")
    assert given["storage of train"] == ("40.0 GB/s for all of it", "high")
    assert "failures of train" not in stated("use: only")


def test_the_shipped_example_says_all_of_it() -> None:
    net = api.load(Path(__file__).parents[2] / "topologies" / "goodput" / "two-campus.yaml")
    made = api.plan(net)
    assert isinstance(made, Plan)
    found = expected(made).goodput
    lost = (found.checkpoint_percent, found.failure_percent, found.spares_percent, found.straggler_percent,
            found.corruption_percent, found.network_percent)  # fmt: skip
    assert all(share > 0 for share in lost)
    assert found.train_usd == pytest.approx(2 * (8064 + 16 * 8) * 24 * (found.train_days or 0))
    assert {one.state for one in expected(made).states} >= {"shared risk i80-duct", "site lincoln", "fiber south"}
