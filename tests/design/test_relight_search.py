"""What the search for scheme relight rests on: its inequalities hold for every design, and it always has an answer."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from dcplan.design import engine
from dcplan.design.cuts.loop import Task
from dcplan.design.engine import Options, design
from dcplan.design.formulation import USD, whole_slots
from dcplan.design.limits import Limits, Stop, Until, now_s
from dcplan.design.problem import problem
from dcplan.design.relight import answer, known, search
from dcplan.design.relight.block import whole
from dcplan.design.relight.master import start
from dcplan.design.relight.projected import Wanted
from dcplan.design.result import Design
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import solve
from dcplan.design.ways.listing import held
from dcplan.errors import NothingYetError, StoppedError
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_relight import ring


def task_of(net, demands, until=None):
    made = problem(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net))
    return Task(made, whole_slots(made), {}, "highs", 1e-6, until or Until(), lambda _: None)


@pytest.mark.parametrize("survive", [["any-fiber"], ["any-fiber", "any-site"]])
def test_what_states_ask_of_a_purchase_holds_for_every_design(survive):
    """The least left side of each inequality over the whole program of all states is no less than its right side."""
    net, demands = ring(survive=survive)
    task = task_of(net, demands)
    slots = [whole_slots(task.problem)] * len(task.problem.states)
    found = search.search(task, slots)
    assert found is not None
    master = found.master
    program, _ = whole(task.problem, slots, {})
    wanted = [kept for kept in master.pool.kept if isinstance(kept.asked, Wanted)]
    assert len(wanted) >= 5
    for kept in wanted:
        row = master.pool.whole.rows[kept.row]
        columns = [replace(column, cost=row.terms.get(i, 0.0)) for i, column in enumerate(program.columns)]
        least = solve("highs", Program(columns, program.rows), Limits(20, 0.0))
        assert least.bound is not None
        assert least.bound >= row.lower * (1 - 1e-6)


def test_ways_are_listed_although_time_has_passed():
    """Ways that are listed only as long as there is time are one, which may well not be the one that serves."""
    net, demands = ring(max_hops=2)
    task = task_of(net, [replace(demand, max_latency_ms=3.0) for demand in demands], Until(now_s() - 1.0))
    every = held({}, task, [0, 1])
    assert {d: len(ways) for d, ways in every.ways.items()} == {0: 2, 1: 2}
    assert every.until.over


def test_some_bound_there_is_although_time_has_passed():
    net, demands = ring()
    task = task_of(net, demands)
    slots = [whole_slots(task.problem)] * len(task.problem.states)
    best = search.search(task, slots)
    late = search.search(replace(task, until=Until(now_s() - 1.0)), slots, bound=True)
    assert late.cost_usd == inf
    assert best.cost_usd / 2 < late.bound_usd <= best.cost_usd * (1 + 1e-6)


def test_what_is_not_retuned_is_the_answer_where_nothing_better_is_found(monkeypatch):
    """Channels that find no place ask for another search, and time is up before that has an answer."""
    net, demands = ring()
    lines, paths, states = factory.lines(net), factory.lightpaths(net), promised_states(net)
    best = design(net, lines, paths, demands, states, Options())
    rerouted = design(net, lines, paths, factory.under("reroute", demands), states, Options())
    assert isinstance(best, Design)
    assert isinstance(rerouted, Design)
    assert best.cost_usd < rerouted.cost_usd
    first = search.search

    def once(task, slots, begin, before, foresee):
        if before is not None:
            raise NothingYetError("time ran out")
        return first(task, slots, begin, before, foresee)

    monkeypatch.setattr(answer, "search", once)
    monkeypatch.setattr(answer, "arranged", lambda task, found, slots: answer.Stuck(1, "ab", slots[1]))
    found = design(net, lines, paths, demands, states, Options())
    assert found.cost_usd == pytest.approx(rerouted.cost_usd)
    assert found.proof.bound_usd == pytest.approx(best.cost_usd)
    assert inf > found.proof.gap > 0
    assert [one.retuned for one in found.relit] == [0] * len(found.relit)


def test_what_it_begins_from_outlasts_what_is_asked_further(monkeypatch):
    """Time is up when a demand turns out late: nothing else is found, and what reroute buys still stands."""
    net, demands = ring()
    task = task_of(net, demands)
    fixed = engine._without_retuning(task, factory.lightpaths(net))
    assert fixed.bound_usd == 0  # retuned, something may cost less
    begin = answer.begin_of(task.problem, fixed)
    slots = [whole_slots(task.problem)] * len(task.problem.states)
    monkeypatch.setattr(search, "enlarged", lambda *_: [0])
    found = known.Search(start(task, slots), foresee=lambda task, _: replace(task), begin=begin)
    found.bought, found.counts, found.cost = tuple(0.0 for _ in found.columns), tuple(begin), 0.0
    assert search._foreseen(found, found.counts)
    assert found.cost / USD == pytest.approx(fixed.cost_usd)
    monkeypatch.setattr(search, "_begun", lambda *_: None)
    over = replace(task, until=Until(now_s() - 1.0).within(0.0, 0.0))
    none = search.search(over, slots, begin)
    assert none.cost_usd == inf
    with pytest.raises(NothingYetError, match="time limit before any design was found"):
        search.search(over, slots)
    with pytest.raises(StoppedError, match="interrupted before any design was found"):
        search.search(replace(task, until=replace(over.until, stop=Stop(asked=True))), slots)
