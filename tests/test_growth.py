"""Growth in periods: supersets, sums that add up, a bound that no sequence of networks beats."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, product
from math import ceil, inf

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan import api, planfile
from dcplan.api import growth
from dcplan.api.pipeline import planned
from dcplan.design import cost
from dcplan.design.engine import Options, design
from dcplan.design.result import Infeasible
from dcplan.design.traffic import traffic_of
from dcplan.model.rules.examples import GOOD
from dcplan.model.states import promised_states
from dcplan.optics.ends import Light
from tests.design import factory
from tests.model.factory import valid

FEW = settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.3}  # two channels of the mode
ONE = {"fast": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24}}
FILE = GOOD + (
    "policy:\n  years: 6\n  periods:\n    - {name: now, after_years: 0}\n"
    "    - {name: later, after_years: 2, demand_percent: 260, price_percent: 80}\n"
    "    - {name: last, after_years: 5, demand_percent: 420, price_percent: 90}\n"
)


def planner(solves):
    """Plans networks of the factory, and counts how often."""

    def plan(net):
        solves.append(net)
        lines, paths, states = factory.lines(net), factory.lightpaths(net), promised_states(net)
        jobs, demands = traffic_of(net, states)
        found = design(net, lines, paths, demands, states, Options(gap=1e-7))
        if isinstance(found, Infeasible):
            return found
        return planned(net, {}, Light(net, lines, paths), found, states, jobs, {}, "all")

    return plan


@st.composite
def growing(draw):
    fibers = {
        "f0": ("a", "b", draw(st.sampled_from([40, 150])), draw(st.integers(1, 2)),
               {"build_usd_per_km": draw(st.sampled_from([None, 2000.0]))}),
        "f1": ("a", "b", draw(st.sampled_from([82, 200])), 2),
    }  # fmt: skip
    first = draw(st.sampled_from([300.0, 900.0]))
    rise = draw(st.sampled_from([100.0, 200.0, 320.0]))
    prices = draw(st.sampled_from([(100, 100), (100, 60), (50, 90)]))
    return fibers, first, rise, prices, draw(st.sampled_from([1.0, 3.0]))


def paid_usd(net, paths, counts, before):
    """What is bought beside what was there, and what runs, over the horizon of a network; counts per fiber."""
    line_of = {line.fiber: line for line in factory.lines(net)}
    items = []
    for path, fiber, n, old in zip(paths, net.fibers, counts, before, strict=True):
        pairs, lit = ceil(n / 2), ceil(old / 2)
        if pairs > net.fibers[fiber].pairs:
            return inf, inf
        items += cost.wavelength_items(net, path, "tx", n, old)
        items += cost.pair_items(net, line_of[fiber], pairs, lit) if pairs else []
        items += cost.build_items(net, fiber) if pairs and not lit else []
    running = sum(item.total_usd for item in items if item.running)
    return sum(item.total_usd for item in items) - running, running


@FEW
@given(growing())
def test_no_sequence_of_networks_beats_the_bound(case):
    fibers, first, rise, prices, second_after = case
    periods = [
        {"name": "now", "after_years": 0, "price_percent": prices[0]},
        {"name": "later", "after_years": second_after, "demand_percent": rise, "price_percent": prices[1]},
    ]
    policy = {"scheme": "none", "years": 5, "periods": periods}
    net = factory.network(["a", "b"], fibers, policy, BAND, [("a", "b", first)], ONE)
    solves = []
    found = growth.grow(net, planner(solves), lambda _: None)
    need = ceil(first / 800), ceil(first * rise / 100 / 800)
    paths = sorted(factory.lightpaths(net), key=lambda path: path.route.fibers)
    years = growth.years_of(net)
    here = [growth.in_period(net, p, y) for p, y in zip(net.policy.periods, years, strict=True)]
    best, most = inf, [2 * net.fibers[fiber].pairs for fiber in net.fibers]
    for counts in product(*(range(n + 1) for n in most)):
        if sum(counts) < need[0]:
            continue
        for grown in product(*(range(n, m + 1) for n, m in zip(counts, most, strict=True))):
            if sum(grown) >= need[1]:
                total = sum(paid_usd(here[0], paths, counts, [0, 0])) + sum(paid_usd(here[1], paths, grown, counts))
                best = min(best, total)
    if isinstance(found, Infeasible):
        assert best == inf
        assert found.reason.startswith("in period ")
        return
    assert len(solves) == 5
    made = found.growth
    assert made.bound_usd <= best * (1 + 1e-6)
    assert best <= made.total_usd * (1 + 1e-6)


@pytest.fixture(scope="module")
def made():
    return valid(FILE), api.plan(valid(FILE))


def test_each_period_keeps_the_last_and_sums_add_up(made):
    plan = made[1]
    names = [period.name for period in plan.growth.periods]
    assert names == ["now", "later", "last"]
    assert [period.years for period in plan.growth.periods] == [2, 3, 1]
    several = [growth.of_period(plan, name) for name in names]
    for before, after in pairwise(several):
        assert set(before.design.channels) <= set(after.design.channels)
        assert {lit.fiber: lit.pairs for lit in before.design.lit}.items() <= {
            lit.fiber: lit.existing for lit in after.design.lit
        }.items()
    total = sum(period.bought_usd + period.running_usd for period in plan.growth.periods)
    assert plan.growth.total_usd == pytest.approx(total)
    assert plan.growth.bound_usd <= total
    assert several[0].design.demands[0].gbps["healthy"] == 400
    assert several[2].design.demands[0].gbps["healthy"] == pytest.approx(1680)
    assert growth.kept(plan)
    assert plan.design == several[2].design


def test_a_plan_in_periods_verifies_and_a_changed_one_does_not(made):
    net, plan = made
    again = planfile.loads(planfile.dumps(plan), "plan.json")
    assert api.verify(net, again) == ()
    grown = plan.growth

    def faults(**changes):
        return " ".join(api.verify(net, replace(plan, growth=replace(grown, **changes))))

    first, second, last = grown.periods
    assert "not what is said" in faults(periods=(replace(first, bought_usd=first.bought_usd + 10), second, last))
    assert "do not add up to their total" in faults(total_usd=grown.total_usd + 10)
    assert "do not add up to that of all" in faults(bound_usd=grown.bound_usd - 10)
    assert "not those of the topology" in faults(periods=(first, replace(second, after_years=1.0), last))
    assert "not those of the topology" in faults(periods=(first, last))
    lied = replace(second, earlier=replace(second.earlier, existing=first.earlier.existing))
    assert "what it finds lit is not what the period before lit" in faults(periods=(first, lied, last))
    path, *others = first.earlier.lightpaths
    longer = replace(first.earlier, lightpaths=(replace(path, length_km=path.length_km + 1), *others))
    said = faults(periods=(replace(first, earlier=longer), second, last))
    assert "now: the link budgets of the plan are not what the topology gives" in said
    assert "the periods of the plan" in " ".join(api.verify(net, replace(plan, growth=None)))


def test_the_report_shows_the_periods(made):
    from dcplan.report.render import render

    _, plan = made
    text = render(plan, "text", 100)
    assert "over all periods, at most" in " ".join(text.split())
    assert text.index("Periods") < text.index("Links and wavelengths")
    rows = json.loads(render(plan, "json"))["tables"]["periods"]["rows"]
    assert [row["period"] for row in rows] == ["now", "later", "last"]
    assert sum(row["total_usd"] for row in rows) == pytest.approx(plan.growth.total_usd)
    assert "Periods" not in render(growth.of_period(plan, "now"), "text", 100)
    with pytest.raises(Exception, match="has no period `x`; its periods: now, later, last"):
        growth.of_period(plan, "x")


def test_prices_and_demand_by_percent():
    cheap = valid(GOOD + "policy: {demand_percent: 200, price_percent: 50}\n")
    dear = valid(GOOD.replace("gbps: 400}", "gbps: 800}"))
    one, other = api.plan(cheap), api.plan(dear)
    assert one.design.demands[0].gbps == other.design.demands[0].gbps
    bought = [plan.design.cost_usd - plan.design.running_usd for plan in (one, other)]
    assert bought[0] == pytest.approx(bought[1] / 2)
    assert one.design.running_usd == pytest.approx(other.design.running_usd)
