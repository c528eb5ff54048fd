"""Less of a purchase: every state is still carried, and nothing that is left could be given up too."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest

from dcplan.design import lean as module
from dcplan.design.cuts.loop import Task, cost, start, whole
from dcplan.design.formulation import whole_slots
from dcplan.design.lean import lean
from dcplan.design.limits import Until, now_s
from dcplan.design.problem import problem
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_cuts import shortage
from tests.design.test_neighbourhood import counts_of, loop_of

BAND = {"band_start_thz": 191.3, "band_end_thz": 191.6}


def carried(loop, counts):
    made = loop.task.problem
    return all(shortage(made, {}, k, counts) < 1e-6 for k in range(len(made.states)))


def test_carried_and_nothing_superfluous(monkeypatch):
    monkeypatch.setattr(module, "CHECKS", 10_000)
    loop = loop_of("dci_6_1")
    before = tuple(ceil(value) + 1.0 for value in loop.linear.values)
    found = lean(loop, before)
    counts = counts_of(loop, found)
    assert cost(loop, found) < cost(loop, before)
    assert carried(loop, counts)
    for j, count in enumerate(counts):
        less = [*counts[:j], count - 1, *counts[j + 1 :]]
        assert count == 0 or not carried(loop, less)
    assert lean(loop, found) is None


def test_no_time_no_change():
    loop = loop_of("dci_6_1", Until(now_s() - 1.0))
    assert lean(loop, tuple(ceil(value) + 1.0 for value in loop.linear.values)) is None


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_pairs_that_nothing_is_left_on_are_not_lit(pairs):
    net = factory.network(["a", "b"], {"n": ("a", "b", 60, 3)}, {"scheme": "none"}, BAND)
    demands = [factory.demand(net, "x", "a", "b", 700)]
    made = problem(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net))
    task = Task(made, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None)
    loop = start(replace(task, problem=replace(made, states=(*made.states, made.states[0]))))
    most = made.slots // made.choices[0].slots
    values = [0.0] * len(loop.program.columns)
    values[loop.bought.wavelengths[0]], values[loop.bought.pairs["n"]] = float(pairs * most), float(pairs)
    found = lean(loop, whole(loop, values))
    needed = ceil(700 / made.choices[0].gbps)
    assert counts_of(loop, found)[0] == needed
    assert found[loop.bought.pairs["n"]] == 1
