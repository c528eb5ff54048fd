"""Why there is no design: what is claimed of the fibers is true, whichever way it is looked at."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.cuts.loop import Task
from dcplan.design.formulation import whole, whole_slots
from dcplan.design.limits import Until
from dcplan.design.problem import problem
from dcplan.design.reasons.overfull import densest, overfull
from dcplan.design.solver.solve import Linear
from dcplan.model.states import promised_states
from tests.design import factory


def task_of(net, demands):
    made = problem(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net))
    return Task(made, whole_slots(made), {}, "highs", 1e-4, Until(), lambda _: None)


def common_share(made):
    """The largest share of all rates that fits, wavelengths not whole, every state written out: the whole LP."""
    program = whole(made)
    share = program.column("share", -1.0, 1.0)
    for i, row in enumerate(program.rows):
        if row.name.startswith("balance") and row.upper:
            program.rows[i] = type(row)(row.name, {**row.terms, share: -row.upper}, 0.0, 0.0)
    program.columns[:] = [
        type(one)(one.name, one.cost if i == share else 0.0, one.lower, one.upper, False)
        for i, one in enumerate(program.columns)
    ]
    linear = Linear(program)
    assert linear.solve() == "optimal"
    return linear.values[share]


@st.composite
def crowded(draw):
    """Up to four sites in a ring with a chord, one or two pairs each, a narrow band, demands that may not fit."""
    sites = "abcd"[: draw(st.integers(3, 4))]
    ends = [*pairwise(sites), (sites[-1], sites[0]), (sites[0], sites[2])]
    fibers = {
        f"f{i}": (a, b, draw(st.sampled_from([60, 200, 350])), draw(st.integers(1, 2))) for i, (a, b) in enumerate(ends)
    }
    gear = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.15 * draw(st.integers(1, 3))}
    policy = {"survive": draw(st.sampled_from([[], ["any-fiber"]]))}
    net = factory.network(list(sites), fibers, policy, gear)
    pairs = draw(st.lists(st.sampled_from([(a, b) for a, b in product(sites, sites) if a < b]), min_size=1, max_size=4))
    return net, [
        factory.demand(net, f"d{i}", a, b, draw(st.sampled_from([400, 900, 1700]))) for i, (a, b) in enumerate(pairs)
    ]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(crowded())
def test_fibers_overflow_exactly_where_the_rates_do_not_fit(case):
    """The share that fits is room over what is taken, and equals that of the whole linear program."""
    task = task_of(*case)
    found, share = overfull(task), common_share(task.problem)
    if found is None:
        assert share == pytest.approx(1, abs=1e-6)
        return
    assert found.room / found.taken == pytest.approx(share, rel=1e-5)
    pairs = {fiber: task.problem.network.fibers[fiber].pairs for fiber in task.problem.fibers}
    assert found.room == pytest.approx(sum(weight * pairs[fiber] for fiber, weight in found.weights.items()), rel=1e-6)
    assert densest(task.problem, found) <= found.taken * (1 + 1e-6)


def test_what_each_takes_can_be_counted_by_hand():
    """Four channels of 150 GHz fit the band: three for x at 800 Gb/s, two for y, on a single pair."""
    gear = {"band_start_thz": 191.3, "band_end_thz": 191.9}
    net = factory.network(["a", "b"], {"n": ("a", "b", 50, 1)}, {"scheme": "none"}, gear)
    demands = [factory.demand(net, "x", "a", "b", 2400), factory.demand(net, "y", "a", "b", 1600)]
    found = overfull(task_of(net, demands))
    assert found.takes == pytest.approx({(0, 0): 0.75, (0, 1): 0.5})
    assert (found.weights, found.room) == ({"n": 1.0}, pytest.approx(1.0))
