"""Meshes of data centers made for this purpose, sized to their known optima; answers stand whatever stops them.

The instances and optima of tests/design/data were computed by a separate prototype of the method; those of 6 and 12
sites also by the integer program with every state written out.
"""

from __future__ import annotations

import pytest

from dcplan.design import sizing
from dcplan.design.cuts.loop import Task
from dcplan.design.formulation import whole_slots
from dcplan.design.limits import Stop, Until, now_s
from dcplan.design.sizing import size
from tests.design import instances
from tests.design.test_cuts import shortage

OPTIMA = {"dci_6_1": 1148.08, "dci_12_1": 3188.68, "dci_20_2": 8165.69}


def task_of(name, until, gap=1e-4):
    made = instances.dci(instances.DATA / f"{name}.json")
    said = []
    return Task(made, whole_slots(made), {}, "highs", gap, until, said.append), said


def carried(made, counts):
    return all(shortage(made, {}, k, counts) < 1e-6 for k in range(len(made.states)))


@pytest.mark.parametrize("name", OPTIMA)
def test_known_optima(name):
    task, said = task_of(name, Until())
    found = size(task)
    assert found.status == "optimal"
    assert found.cost_usd / instances.UNIT_USD == pytest.approx(OPTIMA[name], abs=0.005)
    assert found.bound_usd >= found.cost_usd * (1 - 1e-4)
    assert carried(task.problem, found.counts)
    assert all("nan" not in line and "inf" not in line for line in said)


def test_same_counts_again():
    once, again = (size(task_of("dci_12_1", Until())[0]) for _ in range(2))
    assert once.counts == again.counts
    assert [held.row for held in once.cuts] == [held.row for held in again.cuts]


def test_nodes_used_up_at_once_leave_a_design_with_its_true_bound():
    task, _ = task_of("dci_12_1", Until(stop=Stop(nodes=0)))
    found = size(task)
    assert found.status == "feasible"
    assert found.reason == "node limit"
    assert found.bound_usd <= OPTIMA["dci_12_1"] * instances.UNIT_USD <= found.cost_usd * (1 + 1e-9)
    assert carried(task.problem, found.counts)


def test_no_time_at_all_still_leaves_a_design(monkeypatch):
    monkeypatch.setattr(sizing, "LATE_S", 0.0)
    task, _ = task_of("dci_12_1", Until(now_s() - 1.0))
    found = size(task)
    assert found.reason == "time limit"
    assert found.bound_usd <= OPTIMA["dci_12_1"] * instances.UNIT_USD <= found.cost_usd * (1 + 1e-9)
    assert carried(task.problem, found.counts)
