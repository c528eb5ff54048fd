"""Half of three cuts holds for every purchase that carries the traffic, and is what its row says."""

from __future__ import annotations

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.design.cuts.halves import halves
from dcplan.design.cuts.loop import Task, plain, root, start
from dcplan.design.cuts.rounding import derived
from dcplan.design.formulation import USD, whole, whole_slots
from dcplan.design.limits import Limits, Until
from dcplan.design.reasons.words import cut_in_words
from dcplan.design.sizing import size
from dcplan.design.solver.solve import solve
from tests.design import instances
from tests.design.test_cuts import SOME, problems, shortage, value_of

PAIRS = ("ab", "ac", "bc")


def task_of(made, gap=1e-6):
    return Task(made, whole_slots(made), {}, "highs", gap, Until(), lambda _: None)


def triangle(module, asked=200.0, per_gbps=0.0):
    links = {pair: (*pair, [module], "any", 0.0, per_gbps) for pair in PAIRS}
    return instances.problem_of(links, [(f"d{pair}", *pair, asked) for pair in PAIRS], [()])


@pytest.mark.parametrize(("asked", "modules"), [(200.0, 2), (100.0, 2), (250.0, 3), (600.0, 5)])
def test_half_a_module_between_each_two_of_three_sites(asked, modules):
    loop = start(task_of(triangle((400, 10), asked)))
    assert root(loop)
    assert loop.linear.objective == pytest.approx(10 * modules)


@SOME
@given(problems(failing=False), st.integers(0, 99))
def test_no_purchase_that_carries_everything_is_cut_off(case, seed):
    made, counts = case
    loop = start(task_of(made))
    point = np.zeros(len(loop.program.columns))
    point[list(loop.bought.wavelengths)] = np.random.default_rng(seed).uniform(0, 2, len(counts))
    point = np.maximum(point, loop.least)
    cuts = loop.shore_cuts
    found = halves(cuts, point, cuts.sight(point, every=True), -np.inf, 1000)
    bought = np.zeros(len(point))
    bought[list(loop.bought.wavelengths)] = counts
    carried = shortage(made, {}, 0, counts) < 1e-9
    for one in found:
        several = [cuts.cut(cuts.number(shore), 0, over_paths=one.over_paths) for shore in one.shores]
        row, need = derived([plain(loop, cut) for cut in several], (one.divisor, 2.0), loop.least)
        assert value_of(row, bought) >= need - 1e-6 or not carried
        if not loop.least.any():
            assert 1 - value_of(row, point) / need == pytest.approx(one.by, abs=1e-6)


@SOME
@given(problems(failing=False))
def test_one_state_costs_what_the_whole_program_costs(case):
    made, _ = case
    loop = start(task_of(made))
    assert loop.check is not None
    assert loop.traffic.columns
    asked = solve("highs", whole(made), Limits(gap=1e-6))
    found = size(task_of(made))
    assert (found is None) is (asked.status == "infeasible")
    if found is not None:
        assert found.cost_usd * USD == pytest.approx(asked.objective, rel=1e-5)


def test_traffic_with_a_price_stays_in_the_master():
    loop = start(task_of(triangle((400, 10), per_gbps=0.01)))
    assert loop.check is None
    assert not loop.traffic.columns
    assert root(loop)
    assert loop.linear.objective == pytest.approx(20 + 600 * 0.01)


def test_the_three_cuts_in_words():
    made = triangle((400, 10), 200.0)
    loop = start(task_of(made))
    root(loop)
    words = {cut_in_words(made, held) for held in loop.cuts.values() if len(held.cuts) > 1}
    needs = " and ".join(f"sites {{{site}}} need 400 Gb/s to the rest" for site in "abc")
    assert words == {f"healthy, {needs}, added up; rounded by 0.4 and 2"}
