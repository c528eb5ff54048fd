"""Campuses far apart, on leased waves: the report, and what of it is worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.design.candidates import state_latency_ms
from dcplan.model.states import promised_states
from dcplan.planfile import Plan
from dcplan.report import diff, steps
from dcplan.report.render import render
from dcplan.report.text import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network
    from dcplan.planfile import PlanRow

FILE = Path(__file__).parents[2] / "topologies" / "seldom" / "far-campuses.yaml"


@cache
def network() -> Network:
    return api.load(FILE)


@cache
def planned() -> Plan:
    made = api.plan(network())
    assert isinstance(made, Plan)
    return made


@cache
def rows() -> dict[str, PlanRow]:
    return {row.plan: row for row in planned().plans}


def test_report(golden: Callable[[str, str], None]) -> None:
    golden("far-campuses.txt", render(planned(), main=True))


def test_steps(golden: Callable[[str, str], None]) -> None:
    golden("far-campuses-steps.txt", draw(steps.view(network().topology.name, api.steps(network()))))


def test_it_holds() -> None:
    assert api.verify(network(), planned()) == ()


def test_latency_of_circuits_by_hand() -> None:
    """4.9 µs/km on the shortest way that is left: 900 km, and without it 1,900 + 2,600 km."""
    healthy, *failures = promised_states(network())
    assert state_latency_ms(network(), healthy, "prairie", "lakes") == pytest.approx(0.9 * 4.9)
    (east,) = [state for state in failures if "east" in state.fibers]
    assert state_latency_ms(network(), east, "prairie", "lakes") == pytest.approx(4.5 * 4.9)


def test_bytes_of_a_step_by_hand() -> None:
    """70.55 billion parameters; between every two of three sites 2/3 of them, or all of them to and from the server."""
    gb = 70.55
    assert rows()["every-step"].cross_site_gb == pytest.approx(gb * 4 * 2 / 3, rel=1e-3)
    assert rows()["seldom"].cross_site_gb == pytest.approx(gb * 2 * 2 / 3 / 100, rel=1e-3)
    assert rows()["streamed"].cross_site_gb == pytest.approx(gb / 2 * 2 / 3 / 100, rel=1e-3)


def test_who_does_not_wait_adds_up_the_rates() -> None:
    served, waiting = rows()["served"], rows()["seldom"]
    assert served.terms is not None
    assert waiting.terms is not None
    slow = waiting.terms.total_s - waiting.terms.sync_s
    fast = slow - waiting.terms.straggler_s
    assert served.step_s == pytest.approx(3 / (2 / fast + 1 / slow), rel=0.01)


def test_plans_whose_sites_train_by_themselves_stand_apart() -> None:
    assert [row.plan for row in planned().plans] == ["every-step", "served", "streamed", "seldom"]
    assert [row.plan for row in planned().plans if row.quality is None] == ["every-step"]
    assert [row.plan for row in planned().plans if row.chosen] == ["streamed"]
    assert rows()["served"].evidence == "extrapolated"


def test_a_diff_says_that_shorter_steps_teach_less() -> None:
    """A plan that is sized for synchronous training instead, beside this one."""
    rows = tuple(replace(row, chosen=row.plan == "every-step") for row in planned().plans)
    found = diff.diff(replace(planned(), plans=rows), planned())
    (learning,) = [change for change in found.changes if change.area == "learning"]
    assert learning.old == "every step alike in all sites"
    assert learning.new == "sites train by themselves for 100 steps, loss +1.28 %"
