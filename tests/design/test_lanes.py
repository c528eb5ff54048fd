"""Lanes run at once, answer in order, and end at the first failure; plans do not hang on how many there are."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from dcplan import api
from dcplan.design import answer
from dcplan.design.routing import check
from dcplan.design.routing import lanes as lanes_of
from dcplan.design.routing import states as routing
from dcplan.design.routing.check import StateCheck, UncheckedError
from dcplan.design.routing.lanes import side_by_side
from dcplan.errors import SolverError
from dcplan.planfile import dumps
from tests.cli.test_progress import lumpy

PATIENCE_S = 20.0


def test_lanes_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=PATIENCE_S)
    assert side_by_side(lambda _: meeting.wait() >= 0, range(3), 3) == [True] * 3


@pytest.mark.parametrize("many", [0, 1, 2, 5, 99])
def test_answers_are_in_order_though_the_first_come_last(many):
    def slow(k):
        time.sleep((7 - k) / 500)
        return k * k

    assert side_by_side(slow, iter(range(8)), many) == [k * k for k in range(8)]
    assert side_by_side(slow, [], many) == []


def test_one_lane_is_the_thread_that_asks():
    assert set(side_by_side(lambda _: threading.current_thread(), range(3), 1)) == {threading.current_thread()}


def test_the_first_in_order_to_fail_is_raised_and_nothing_more_is_begun():
    begun = []
    second = threading.Event()

    def work(k):
        begun.append(k)
        if k == 0:
            assert second.wait(PATIENCE_S)
            raise ValueError("first")
        if k == 1:
            second.set()
            raise ValueError("second")
        time.sleep(0.02)

    with pytest.raises(ValueError, match="first"):
        side_by_side(work, range(400), 2)
    assert len(begun) < 400
    ended = len(begun)
    time.sleep(0.05)
    assert len(begun) == ended


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="interrupts are sent to a thread")
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_all_lanes():
    begun = []

    def work(k):
        begun.append(k)
        if k == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.02)

    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, range(400), 2)
    assert len(begun) < 400


def test_lanes_are_the_cores_that_may_be_used(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert lanes_of.lanes() == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert lanes_of.lanes() == lanes_of.MOST
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert lanes_of.lanes() == 1


@pytest.mark.parametrize("scheme", ["reroute", "relight"])
def test_same_plan_whatever_the_number_of_lanes(tmp_path, monkeypatch, scheme):
    file = tmp_path / "lumpy.yaml"
    text = lumpy(sites=5, chords=3, demands=8).replace(", time_limit_s: 600", "")
    file.write_text(text.replace("policy: {", f"policy: {{scheme: {scheme}, "))
    network = api.load(file)
    route, threads = routing._route, set()

    def watched(*args):
        threads.add(threading.get_ident())
        time.sleep(0.001)  # so that one lane cannot do it all before the others begin
        return route(*args)

    monkeypatch.setattr(routing, "_route", watched)

    def made(least, many):
        monkeypatch.setattr(routing, "MUCH", least)
        monkeypatch.setattr(routing, "lanes", lambda: many)
        threads.clear()
        return dumps(api.plan(network, max_nodes=10)), len(threads)

    plain, one = made(10**9, 4)
    several, more = made(0, 4)
    assert one == 1
    assert more > 2
    assert several == plain == made(0, 2)[0]


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    """A problem of some states, and a purchase that carries them all."""
    file = tmp_path_factory.mktemp("mesh") / "lumpy.yaml"
    file.write_text(lumpy(sites=8, chords=5, demands=16).replace(", time_limit_s: 600", ""))
    network, seen = api.load(file), []
    routed = answer.routed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer, "routed", lambda *args: seen.append(args[:2]) or routed(*args))
        api.plan(network, max_nodes=3)
    return network, seen[-1][0].problem, seen[-1][1]


def in_parts(monkeypatch, problem, many):
    """Checks failures in parts, from so many lanes."""
    monkeypatch.setattr(check, "MUCH", 0)
    monkeypatch.setattr(check, "lanes", lambda: many)
    return StateCheck(problem, {})


def test_broken_states_whatever_the_parts_and_lanes(mesh, monkeypatch):
    _, problem, counts = mesh
    states = range(len(problem.states))
    whole, one, two = StateCheck(problem, {}), *(in_parts(monkeypatch, problem, many) for many in (1, 2))
    assert [len(each._parts) for each in (whole, one, two)] == [1, check.PARTS, check.PARTS]
    some = 0
    for share in (1.0, 0.9, 0.97, 0.8, 1.1, 0.6):
        bought, said = [share * count for count in counts], []
        for checker, many in ((one, 1), (two, 2)):
            monkeypatch.setattr(check, "lanes", lambda many=many: many)
            said.append([checker.broken(bought, states, enough) for enough in (len(states), 2)])
        (alone, few), together = said
        assert together == [alone, few]
        assert [short.state for short in alone] == [short.state for short in whole.broken(bought, states, len(states))]
        assert len(few) == min(2, len(alone))
        some += 0 < len(alone) < len(states)
    assert some >= 2


def test_states_that_are_checked_meet_in_several_threads(mesh, monkeypatch):
    _, problem, counts = mesh
    checker, threads = in_parts(monkeypatch, problem, 2), set()
    carried = StateCheck._carried

    def watched(self, state, room):
        threads.add(threading.get_ident())
        time.sleep(0.002)
        return carried(self, state, room)

    monkeypatch.setattr(StateCheck, "_carried", watched)
    assert checker.broken(counts, range(len(problem.states)), 40) == []
    assert len(threads) == 3


class Countdown:
    """Time that is up when it was looked at so many times."""

    def __init__(self, looks):
        self.looks = looks

    @property
    def over(self):
        self.looks -= 1
        return self.looks < 0


def test_time_that_is_up_in_the_parts(mesh, monkeypatch):
    _, problem, counts = mesh
    states = range(len(problem.states))
    for looks in (0, 1, len(states) // 2):
        with pytest.raises(UncheckedError):
            in_parts(monkeypatch, problem, 2).broken(counts, states, 40, until=Countdown(looks))
    assert in_parts(monkeypatch, problem, 2).broken(counts, states, 40, until=Countdown(len(states))) == []
    little = [0.6 * count for count in counts]
    every = in_parts(monkeypatch, problem, 1).broken(little, states, 40)
    found = in_parts(monkeypatch, problem, 1).broken(little, states, 40, until=Countdown(len(states) - 6))
    assert 0 < len(found) < len(every)


def test_a_part_that_fails_is_said(mesh, monkeypatch):
    _, problem, counts = mesh
    checker = in_parts(monkeypatch, problem, 2)
    solve, last = type(checker._parts[0]).solve, len(problem.states) - 1

    def failing(self, state, *rest):
        if state == last:
            raise SolverError("the routing of a state gave no answer")
        return solve(self, state, *rest)

    monkeypatch.setattr(type(checker._parts[0]), "solve", failing)
    monkeypatch.setattr(StateCheck, "_carried", lambda *_: False)
    with pytest.raises(SolverError, match="gave no answer"):
        checker.broken(counts, range(len(problem.states)), 40)


def test_same_plan_from_checks_in_one_lane_and_in_two(mesh, monkeypatch):
    network, *_ = mesh
    monkeypatch.setattr(check, "MUCH", 0)
    made = []
    for many in (1, 2, 3):
        monkeypatch.setattr(check, "lanes", lambda many=many: many)
        made.append(dumps(api.plan(network, max_nodes=3)))
    assert made[0] == made[1] == made[2]
