"""A neighbourhood bought anew costs less, carries every state, and leaves all else as it was."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np  # noqa: TID253
import pytest

from dcplan.design import sizing
from dcplan.design.cuts import loop as cut_loop
from dcplan.design.cuts import shores
from dcplan.design.cuts.loop import Task, cost, root, start
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Stop, Until, now_s
from dcplan.design.local_branching import stepped
from dcplan.design.neighbourhood import GAP, SITES, improved
from dcplan.design.sizing import size
from tests.design import instances
from tests.design.test_cuts import shortage
from tests.design.test_sweeps import COLUMNS, ROWS, grid, name

OPTIMUM = 8165.69


def loop_of(name, until=None):
    made = instances.dci(instances.DATA / f"{name}.json")
    loop = start(Task(made, whole_slots(made), {}, "highs", 1e-6, until or Until(), lambda _: None))
    assert root(loop)
    return loop


def counts_of(loop, values):
    return [round(values[i]) for i in loop.bought.wavelengths]


def test_cheaper_and_carried_and_near():
    loop = loop_of("dci_20_2")
    before = tuple(np.ceil(np.array(loop.linear.values)) + 1.0)
    made = loop.task.problem
    changed = 0
    for _ in range(12):
        found = improved(loop, before)
        if found is None:
            continue
        assert cost(loop, found) < cost(loop, before)
        apart = [j for j, i in enumerate(loop.bought.wavelengths) if found[i] != before[i]]
        sites = {site for j in apart for site in made.lightpaths[made.choices[j].lightpath].route.ends}
        assert 2 <= len(sites) <= SITES
        before, changed = found, changed + 1
    assert changed > 3
    assert all(shortage(made, {}, k, counts_of(loop, before)) < 1e-6 for k in range(len(made.states)))


def test_nothing_is_cheaper_than_the_optimum():
    loop = loop_of("dci_12_1")
    best = size(loop.task)
    values = [0.0] * len(loop.program.columns)
    for column, count in zip(loop.bought.wavelengths, best.counts, strict=True):
        values[column] = float(count)
    assert all(improved(loop, tuple(values)) is None for _ in range(12))


def test_no_time_no_change():
    loop = loop_of("dci_6_1")
    before = tuple(np.ceil(np.array(loop.linear.values)) + 1.0)
    for until in (Until(now_s() - 1.0), Until(stop=Stop(nodes=0))):
        loop.task = Task(loop.task.problem, loop.task.slots, {}, "highs", 1e-6, until, lambda _: None)
        assert improved(loop, before) is None


@pytest.fixture
def unlisted(monkeypatch):
    """As of a network whose cuts are too many to list."""
    monkeypatch.setattr(shores, "MOST_BONDS", 20)
    monkeypatch.setattr(shores, "MOST_EXPRESS", 20)
    monkeypatch.setattr(shores, "MOST_SMALL", 30)


def test_the_optimum_without_a_list_of_cuts(unlisted):
    made = instances.dci(instances.DATA / "dci_20_2.json")
    found = size(Task(made, whole_slots(made), {}, "highs", 1e-4, Until(), lambda _: None))
    assert found.status == "optimal"
    assert found.bound_usd / instances.UNIT_USD <= OPTIMUM * (1 + 1e-9)
    assert found.cost_usd / instances.UNIT_USD <= OPTIMUM * (1 + 1e-4)


def lumpy():
    """Forty demands between sites drawn by chance."""
    chance = random.Random(3)
    sites = [name(r, c) for r in range(ROWS) for c in range(COLUMNS)]
    return [(f"d{i}", *chance.sample(sites, 2), chance.choice((150.0, 350.0, 700.0))) for i in range(40)]


def test_nodes_lead_to_the_same_answer(unlisted, monkeypatch):
    looked = []

    def counted(loop, values, sites):
        looked.append(improved(loop, values, sites))
        return looked[-1]

    monkeypatch.setattr(sizing, "improved", counted)
    made = grid(lumpy())

    def once():
        until = Until(stop=Stop(nodes=10))
        return size(Task(made, whole_slots(made), {}, "highs", 1e-6, until, lambda _: None))

    first, second = once(), once()
    assert first.reason == "node limit"
    assert any(looked)
    assert (first.counts, first.cost_usd, first.bound_usd) == (second.counts, second.cost_usd, second.bound_usd)
    assert all(shortage(made, {}, k, first.counts) < 1e-6 for k in range(len(made.states)))


def test_one_state_costs_the_same_without_its_traffic_written_out(unlisted, monkeypatch):
    looked, steps = [], []

    def counted(loop, values, sites):
        looked.append(sites)
        return improved(loop, values, sites)

    def stepping(loop, values, most):
        steps.append(most)
        return stepped(loop, values, most)

    monkeypatch.setattr(sizing, "improved", counted)
    monkeypatch.setattr(sizing, "stepped", stepping)
    for limit, value in (("HARD", 1), ("LOOSE_GAP", 1e-4), ("STEPS", 2), ("MOST_STEPS", 2)):
        monkeypatch.setattr(sizing, limit, value)
    made = instances.dci(instances.DATA / "dci_12_1.json")
    healthy = replace(made, states=made.states[:1])
    task = Task(healthy, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None)
    assert start(task).traffic.columns
    written = size(task)
    assert not looked
    assert not steps
    monkeypatch.setattr(cut_loop, "MOST_WRITTEN", 0)
    assert not start(task).traffic.columns
    found = size(task)
    assert looked
    assert steps
    assert written.status == found.status == "optimal"
    assert found.cost_usd == pytest.approx(written.cost_usd)
    assert shortage(healthy, {}, 0, found.counts) < 1e-6


def test_a_neighbourhood_of_one_state_takes_in_what_leads_out_of_it():
    made = instances.dci(instances.DATA / "dci_12_1.json")
    healthy = replace(made, states=made.states[:1])
    loop = start(Task(healthy, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None))
    assert root(loop)
    before = tuple(np.ceil(np.array(loop.linear.values)) + 1.0)
    apart = set()
    for _ in range(12):
        found = improved(loop, before, 1)
        if found is not None:
            mine = [j for j, i in enumerate(loop.bought.wavelengths) if found[i] != before[i]]
            ends = [set(made.lightpaths[made.choices[j].lightpath].route.ends) for j in mine]
            assert set.intersection(*ends)
            before = found
            apart |= set(mine)
    assert apart
    assert shortage(healthy, {}, 0, counts_of(loop, before)) < 1e-6


@pytest.fixture
def healthy(monkeypatch):
    """A single state, with its traffic not written out."""
    monkeypatch.setattr(cut_loop, "MOST_WRITTEN", 0)
    made = instances.dci(instances.DATA / "dci_6_1.json")
    return Task(replace(made, states=made.states[:1]), whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None)


@pytest.mark.parametrize("steps", [4, 200])
def test_no_more_than_some_steps_away_down_to_the_optimum(healthy, steps):
    loop = start(healthy)
    assert root(loop)
    before, moves = tuple(np.ceil(np.array(loop.linear.values)) + 1.0), 0
    while (found := stepped(loop, before, steps)) is not None:
        assert cost(loop, found) < cost(loop, before)
        assert sum(abs(a - b) for a, b in zip(found, before, strict=True)) <= steps
        assert shortage(healthy.problem, {}, 0, counts_of(loop, found)) < 1e-6
        before, moves = found, moves + 1
    assert moves > 0
    if steps == 200:
        assert cost(loop, before) * (1 - GAP) <= size(healthy).cost_usd * USD
