"""Traffic and assessment by state: what jobs ask, what they get in a failure, how long a step then takes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dcplan import api
from dcplan.assess.result import JobInState, StateResult
from dcplan.design.result import Infeasible
from dcplan.design.traffic import JobTraffic, job_traffic
from dcplan.model.network import Network
from dcplan.model.states import promised_states
from dcplan.planfile import Plan
from dcplan.training.engine import needed_rates, one_site, step_time
from dcplan.training.step import Links

SITES = """
dcplan: 1
name: Ring of three
sites:
  a: {lat: 41.0, lon: -96.0, accelerators: {h100-sxm: 1024}}
  b: {lat: 41.0, lon: -95.3, accelerators: {h100-sxm: 1024}}
  c: {lat: 41.4, lon: -95.6, accelerators: {h100-sxm: 1024}}
fibers:
  ab: {ends: [a, b], length_km: 75, type: g652d, pairs: 2, lease_usd_per_km_year: 300}
  bc: {ends: [b, c], length_km: 65, type: g652d, pairs: 2, lease_usd_per_km_year: 300}
  ca: {ends: [c, a], length_km: 72, type: g652d, pairs: 2, lease_usd_per_km_year: 300}
gear:
  allow: {transponders: [openzr+, 800zr+]}
"""
JOB = """
jobs:
  train:
    model: llama3-70b
    accelerators: {%s}
    sequence_length: 8192
    global_batch_tokens: 12582912
    plans: {%s}
    targets: {max_overhead_percent: %g, max_overhead_percent_under_failure: 20}
policy:
  survive: [%s]
  scheme: %s
"""
PLANS = {
    "spread": "spread: {tp: 8, pp: 4, virtual_stages: 5, across: dp}",
    "both": "spread: {tp: 8, pp: 4, virtual_stages: 5}, sharded: {tp: 8, sharding: 3, microbatch: 2, recompute: full}",
    "split": "split: {tp: 8, pp: 4, across: pp}",
}
THREE = "a: 512, b: 512, c: 512"
TWO = "a: 512, b: 512"


@cache
def network(
    where: str = THREE, name: str = "spread", target: float = 5, survive: str = "any-fiber", scheme: str = "reroute"
) -> Network:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ring.yaml"
        file.write_text(SITES + JOB % (where, PLANS[name], target, survive, scheme), encoding="utf-8")
        return api.load(file)


@cache
def planned(*args: str | float) -> Plan:
    made = api.plan(network(*args))  # type: ignore[arg-type]
    assert isinstance(made, Plan), made
    return made


def traffic(net: Network) -> JobTraffic:
    found = job_traffic(net, "train", promised_states(net))
    assert isinstance(found, JobTraffic), found
    return found


def state(made: Plan, name: str) -> StateResult:
    return next(result for result in made.assessment.states if result.state == name)


def job_in(made: Plan, name: str) -> JobInState:
    (found,) = state(made, name).jobs
    return found


def test_rates_are_the_least_at_which_the_target_holds() -> None:
    found = traffic(network())
    load, latency = found.plans.workload, found.plans.latency_ms
    alone = one_site(load, found.chosen).step_s
    rates = {demand.ends: demand.gbps["healthy"] for demand in found.demands}

    def overhead_percent(share: float) -> float:
        links = Links({ends: share * gbps for ends, gbps in rates.items()}, latency)
        return 100 * (step_time(load, found.chosen, links).step_s / alone - 1)

    assert overhead_percent(1.0) == pytest.approx(5.0, abs=0.01)
    assert overhead_percent(0.99) > 5.0


def test_every_pair_of_sites_asks_and_less_in_a_failure() -> None:
    found = traffic(network())
    assert [demand.ends for demand in found.demands] == [("a", "b"), ("a", "c"), ("b", "c")]
    for demand in found.demands:
        assert 0 < demand.gbps["fiber ab"] < demand.gbps["healthy"]


def test_a_tighter_target_never_asks_less() -> None:
    loose, tight = traffic(network(target=5)), traffic(network(target=3))
    assert sum(d.gbps["healthy"] for d in tight.demands) > sum(d.gbps["healthy"] for d in loose.demands)


def test_a_target_beyond_light_is_infeasible_and_says_by_how_much() -> None:
    net = network(target=1e-6)
    found = job_traffic(net, "train", promised_states(net))
    assert isinstance(found, Infeasible)
    assert found.limit == "latency"
    assert "spread" in found.reason
    assert "ms one way" in found.reason


def test_steps_of_the_assessment_follow_from_the_rates_that_are_left() -> None:
    """Between two sites everything that survives is the job's: its rate can be counted by hand."""
    made = planned(TWO)
    found = traffic(network(TWO))
    routes = {path.id: path.route for path in made.lightpaths}
    for result in made.assessment.states:
        (job,) = result.jobs
        (demand,) = found.demands
        left = {("a", "b"): 0.0, ("a", "c"): 0.0, ("b", "c"): 0.0}
        for lit in made.design.wavelengths:
            route = routes[lit.lightpath]
            if result.state.removeprefix("fiber ") not in route.fibers:
                left[route.ends] += lit.count * lit.rate_gbps
        gbps = left["a", "b"] + min(left["a", "c"], left["b", "c"])
        assert job.rate_fraction == pytest.approx(gbps / demand.gbps[result.state], rel=1e-6)
        assert job.latency_ms is not None
        links = Links({("a", "b"): gbps}, {("a", "b"): job.latency_ms})
        assert job.step_s == pytest.approx(step_time(found.plans.workload, found.chosen, links).step_s, rel=1e-6)


def test_capacity_lost_and_left_add_up() -> None:
    made = planned()
    total = sum(lit.count * lit.rate_gbps for lit in made.design.wavelengths)
    assert state(made, "healthy").lost_gbps == 0
    for result in made.assessment.states:
        assert result.lost_gbps + result.left_gbps == pytest.approx(total)


def test_the_weakest_state_has_the_largest_overhead() -> None:
    made = planned()
    overheads = {result.state: result.jobs[0].overhead_percent or 0.0 for result in made.assessment.states[1:]}
    assert overheads[made.assessment.weakest] == pytest.approx(max(overheads.values()))


def test_data_parallel_goes_on_without_a_lost_site() -> None:
    made = planned(THREE, "spread", 5, "any-fiber, any-site")
    job = job_in(made, "site b")
    assert job.running
    assert job.why == "goes on without b, 66.7 % of the batch"
    assert job.met
    asked = {demand.ends: demand.gbps.get("site b") for demand in made.design.demands}
    assert asked["a", "c"]
    assert asked["a", "b"] is None
    assert asked["b", "c"] is None


def test_a_pipeline_over_sites_stops_with_a_site_and_nothing_is_promised() -> None:
    made = planned(TWO, "split", 5, "any-site")
    job = job_in(made, "site b")
    assert not job.running
    assert job.why
    assert job.met
    assert made.assessment.weakest in ("site a", "site b")
    assert job_in(made, "site c").running


def test_one_plus_one_gives_what_is_reserved_and_no_more() -> None:
    made = planned(THREE, "spread", 5, "any-fiber", "one-plus-one")
    for result in made.assessment.states:
        assert result.served_percent == pytest.approx(100)
        assert result.jobs[0].overhead_percent == pytest.approx(result.jobs[0].overhead_percent)
        assert result.jobs[0].met
    assert job_in(made, "healthy").rate_fraction == pytest.approx(1.0)


def test_one_plus_one_gives_the_same_where_both_routes_stand() -> None:
    """A failure that hits no lit fiber changes nothing: two routes that stand carry the demand once."""
    spare = "  long: {ends: [a, b], length_km: 300, type: g652d, pairs: 2, lease_usd_per_km_year: 300}\ngear:\n"
    text = SITES.replace("gear:\n", spare) + JOB % (TWO, PLANS["spread"], 5, "any-fiber", "one-plus-one")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "spare.yaml"
        file.write_text(text, encoding="utf-8")
        made = api.plan(api.load(file))
    assert isinstance(made, Plan), made
    assert state(made, "fiber long").lost_gbps == 0
    assert job_in(made, "fiber long").step_s == pytest.approx(job_in(made, "healthy").step_s)
    assert job_in(made, "fiber ab").step_s == pytest.approx(job_in(made, "healthy").step_s, rel=1e-3)


def test_a_failure_that_takes_nothing_lit_changes_nothing() -> None:
    net = api.load(Path(__file__).parent.parent.parent / "topologies" / "two-campus.yaml")
    made = api.plan(net)
    assert isinstance(made, Plan)
    routes = {path.id: path.route for path in made.lightpaths}
    dark = [
        each.name
        for each in promised_states(net)[1:]
        if not any(each.breaks(routes[lit.lightpath]) for lit in made.design.wavelengths)
    ]
    assert dark  # one cable of the duct is enough
    healthy = state(made, "healthy").jobs[0]
    for name in dark:
        assert not state(made, name).rerouted
        assert job_in(made, name).step_s == healthy.step_s
        assert job_in(made, name).rate_fraction == healthy.rate_fraction


def test_verify_works_the_assessment_and_the_comparison_out_anew() -> None:
    net, made = network(), planned()
    assert api.verify(net, made) == ()
    worse = replace(made.assessment.states[0], served_percent=50.0)
    false = replace(made, assessment=replace(made.assessment, states=(worse, *made.assessment.states[1:])))
    assert any("assessment" in fault for fault in api.verify(net, false))
    row = replace(made.plans[0], step_s=(made.plans[0].step_s or 0.0) * 0.99)
    assert any("parallelism" in fault for fault in api.verify(net, replace(made, plans=(row, *made.plans[1:]))))


def test_of_plans_as_fast_the_one_that_needs_least_rate_is_chosen() -> None:
    """Every plan that is within 2 % of the fastest at the rate of the chosen one would be as good: none is better."""
    net = network(THREE, "both")
    found = traffic(net)
    rates = {demand.ends: demand.gbps["healthy"] for demand in found.demands}
    step_s = step_time(found.plans.workload, found.chosen, Links(rates, found.plans.latency_ms)).step_s
    for layout in found.plans.layouts:
        alone = one_site(found.plans.workload, layout).step_s
        assert step_s <= 1.05 * alone * 1.02 + 1e-9
        needed = needed_rates(
            found.plans.workload, layout, found.plans.latency_ms, min(5.0, 100 * (step_s / alone - 1))
        )
        assert step_s < alone or needed is None or sum(needed.values()) >= sum(rates.values()) * (1 - 1e-6)


def test_protection_never_costs_less() -> None:
    none = planned(THREE, "spread", 5, "any-fiber", "none").design.cost_usd
    reroute = planned().design.cost_usd
    reserved = planned(THREE, "spread", 5, "any-fiber", "one-plus-one").design.cost_usd
    assert none <= reroute <= reserved
    assert none < reserved


def test_the_chosen_row_says_what_the_assessment_says() -> None:
    made = planned()
    row = next(row for row in made.plans if row.chosen)
    assert row.step_s == pytest.approx(job_in(made, "healthy").step_s)
    failures = [result.jobs[0].overhead_percent or 0.0 for result in made.assessment.states[1:]]
    assert row.overhead_worst_percent == pytest.approx(max(failures))
