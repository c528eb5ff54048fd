"""A search under a time limit leaves the time that routing takes; one under other limits does not look at the clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan import api
from dcplan.design import answer, sizing
from dcplan.design.limits import Until, now_s
from dcplan.design.routing import reserve
from dcplan.design.routing import states as routing
from tests.cli.test_progress import lumpy


class Clock:
    """Stands still but while a state is routed, which takes a second."""

    def __init__(self, monkeypatch):
        self.now, self.routed = 0.0, []
        monkeypatch.setattr(reserve, "now_s", lambda: self.now)
        route = routing._route

        def slow(problem, state, *rest):
            self.now += 1.0
            self.routed.append(state.name)
            return route(problem, state, *rest)

        monkeypatch.setattr(routing, "_route", slow)
        monkeypatch.setattr(routing, "lanes", lambda: 1)
        monkeypatch.setattr(routing, "MUCH", 0)


@pytest.fixture
def network(tmp_path):
    file = tmp_path / "lumpy.yaml"
    file.write_text(lumpy(sites=8, chords=5, demands=16).replace(", time_limit_s: 600", ""))
    return api.load(file)


@pytest.fixture
def asked(network, monkeypatch):
    """The task and the purchase of a finished search."""
    seen = []
    routed = answer.routed

    def noted(task, counts, *rest):
        seen.append((task, counts))
        return routed(task, counts, *rest)

    monkeypatch.setattr(answer, "routed", noted)
    api.plan(network, max_nodes=1)
    return seen[-1]


def test_as_long_as_all_states_take_is_left(asked, monkeypatch):
    task, counts = asked
    clock = Clock(monkeypatch)
    task = replace(task, until=Until(now_s() + 1000))
    left = reserve.with_routing(task, counts).until
    states = len(task.problem.states)
    assert states > 1 + reserve.SAMPLE
    assert len(set(clock.routed)) == len(clock.routed) == 1 + reserve.SAMPLE
    assert task.until.at_s - left.at_s == pytest.approx(reserve.MARGIN * states)
    assert left.stop is task.until.stop


def test_the_clock_is_not_looked_at_where_it_does_not_count(asked, monkeypatch):
    task, counts = asked
    clock = Clock(monkeypatch)
    assert reserve.with_routing(replace(task, until=Until()), counts).until == Until()
    monkeypatch.setattr(routing, "MUCH", 10**9)
    timed = replace(task, until=Until(now_s() + 1000))
    assert reserve.with_routing(timed, counts) is timed
    assert clock.routed == []


def test_the_search_ends_sooner_and_the_plan_carries_everything(network, monkeypatch):
    """Routing that would take longer than the limit ends the search at its first answer."""
    whole = api.plan(network, time_limit_s=600)
    assert whole.design.proof.status == "optimal"
    asked = []

    def all_of_it(task, counts):
        asked.append(counts)
        return replace(task, until=task.until.sooner(1e9))

    monkeypatch.setattr(sizing, "with_routing", all_of_it)
    monkeypatch.setattr(sizing, "LATE_S", 0.0)
    cut = api.plan(network, time_limit_s=600)
    assert len(asked) == 1
    assert (cut.design.proof.status, cut.design.proof.reason) == ("feasible", "time limit")
    assert cut.design.cost_usd >= whole.design.cost_usd
    assert cut.design.proof.bound_usd <= whole.design.cost_usd * (1 + 1e-9)
    assert api.verify(network, cut) == ()
    assert len(cut.design.routing) == len(whole.design.routing)
