"""Lanes run at once, answer in order, and end at the first failure; plans do not hang on how many there are."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from dcplan import api
from dcplan.design import lanes as lanes_of
from dcplan.design import routing
from dcplan.design.lanes import side_by_side
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
def test_an_interrupt_ends_all_lanes():
    begun = []

    def work(k):
        begun.append(k)
        if k == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.02)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            side_by_side(work, range(400), 2)
    finally:
        signal.signal(signal.SIGINT, before)
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
