"""One mixture of experts in every pipeline schedule: the report, and what of it is worked out by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.planfile import Plan
from dcplan.report import steps
from dcplan.report.text import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network
    from dcplan.training.step import Memory, Terms

FILE = Path(__file__).parents[2] / "topologies" / "inside" / "schedules.yaml"
P, M = 16, 128


@cache
def network() -> Network:
    return api.load(FILE)


@cache
def planned() -> Plan:
    made = api.plan(network())
    assert isinstance(made, Plan)
    return made


@cache
def terms(plan: str) -> Terms:
    (found,) = [row.terms for row in planned().plans if row.plan == plan]
    assert found is not None
    return found


def memory(plan: str) -> Memory:
    (found,) = [row.memory for row in planned().plans if row.plan == plan]
    assert found is not None
    return found


def test_steps(golden: Callable[[str, str], None]) -> None:
    golden("schedules-steps.txt", draw(steps.view(network().topology.name, api.steps(network()))))


def test_it_holds() -> None:
    assert api.verify(network(), planned()) == ()


def test_what_the_answer_rests_on_is_said() -> None:
    said = {assumption.what: assumption.value for assumption in planned().assumptions}
    assert said["fabric of papillion"] == "1:2 beyond 512 accelerators"
    assert said["experts of experts"] == "the fullest expert parallel rank gets 1.10 times the mean"
    assert said["schedule of experts"] == "20 of 132 cores drive expert exchange while the others compute"


@pytest.mark.parametrize(("plan", "pairs"), [("paired", M - (1 + P) / 2), ("both-ends", M - P / 2 - 2)])
def test_expert_exchange_behind_compute_by_hand(plan: str, pairs: float) -> None:
    """A pair takes as long as its exchange, or as its compute on 112 of 132 cores."""
    apart = terms("interleaved") if plan == "paired" else terms("plain")
    work, exchange = apart.compute_s / M, apart.ep_s / M
    saved = work + exchange - max(work * 132 / 112, exchange)
    # dualpipe has two stages on a device, and so other layers on the fullest
    assert terms(plan).ep_s == pytest.approx(apart.ep_s - pairs * saved, rel=0.06)
    assert terms(plan).ep_s < 0.4 * apart.ep_s


def test_bubbles_fall_as_the_papers_say() -> None:
    bubbles = [terms(plan).bubble_s for plan in ("plain", "zero-bubble", "no-bubble")]
    assert bubbles == sorted(bubbles, reverse=True)
    assert terms("plain").bubble_s == pytest.approx(2 * terms("interleaved").bubble_s, rel=0.02)
    weights_s = (bubbles[0] - bubbles[1]) / 2  # (p-1)(f+b+w) less (p-1)(f+b-w)
    assert bubbles[1] - bubbles[2] == pytest.approx(weights_s)  # less (p-1)(f+b-2w)


def test_memory_is_that_of_what_is_in_flight() -> None:
    h1, h2 = memory("zero-bubble").activations_gb, memory("no-bubble").activations_gb
    assert h2 > h1
    assert memory("paired").activations_gb > memory("interleaved").activations_gb
    assert memory("both-ends").gradients_gb > 2 * memory("plain").gradients_gb
