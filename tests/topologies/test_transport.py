"""The same job over 1,000 km by seven transports: what is left of 400 Gb/s, by hand, and what is lit for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dcplan import api
from dcplan.planfile import Plan, PlanRow

FILE = Path(__file__).parents[2] / "topologies" / "transport" / "thousand-km.yaml"
RTT_S = 1.5 * 9.8e-3
LOSS = 1e-6
PACKET = 4096 / 4178
"""Payload of a RoCE packet."""
LINE = 400 * PACKET


@cache
def rows() -> dict[str, PlanRow]:
    return {row.job: row for row in api.steps(api.load(FILE), gbps=400)}


def test_nothing_is_to_be_said_about_it() -> None:
    assert api.check([FILE]) == []


@pytest.mark.parametrize(
    ("job", "gbps", "limit"),
    [
        ("repeat-all", LINE / (1 + LOSS / (1 - LOSS) * RTT_S * LINE * 1e9 / 8 / 4096), "loss"),
        ("repeat-lost", LINE * (1 - LOSS), "line"),
        ("small-window", 4 * 128e6 * 8 / RTT_S / 1e9, "window"),
        ("streams", min(400 * 8948 / 9038 * (1 - LOSS), 64 * 8948 * 8 / RTT_S * 1.5**0.5 / LOSS**0.5 / 1e9), "line"),
        ("coded", 400 * 32 / 40 * 4096 / (4096 + 86 + 32), "line"),
        ("pausing", LINE * (256e6 - 2 * 4178) / (50e9 * (RTT_S + 1e-6)), "port"),
    ],
)
def test_what_is_left_of_a_wave(job: str, gbps: float, limit: str) -> None:
    (pair,) = rows()[job].transport
    assert pair.usable_gbps == pytest.approx(gbps, rel=1e-5)
    assert pair.limit == limit


def test_what_must_be_lit_grows_as_much() -> None:
    """Selective repeat needs its headers more; go-back-N and pauses what they throw away; all keep the same promise."""
    made = api.plan(api.load(FILE), max_nodes=50)
    assert isinstance(made, Plan)
    needs = {demand.job: demand.gbps["healthy"] for demand in made.design.demands}
    assert needs["repeat-lost"] == pytest.approx(needs["plain"] / PACKET, rel=0.01)
    assert needs["repeat-lost"] < needs["repeat-all"] < needs["pausing"]
    for job in made.assessment.states[0].jobs:
        assert job.met
        assert job.overhead_percent is not None
        assert job.overhead_percent <= 10 + 1e-6
