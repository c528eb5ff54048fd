"""Old and new campuses: steps and plan as printed, and what of them is worked out by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.planfile import Plan
from dcplan.report import steps
from dcplan.report.render import render
from dcplan.report.text import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network
    from dcplan.planfile import PlanRow

FILE = Path(__file__).parents[2] / "topologies" / "unlike" / "old-and-new.yaml"


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
    return {row.plan: row for row in api.steps(network(), gbps=1600)}


def test_steps(golden: Callable[[str, str], None]) -> None:
    found = api.steps(network(), gbps=1600)
    golden("old-and-new-steps.txt", draw(steps.view(network().topology.name, found)))


def test_report(golden: Callable[[str, str], None]) -> None:
    golden("old-and-new.txt", render(planned(), main=True))


def test_it_holds() -> None:
    assert api.check([FILE]) == []
    assert api.verify(network(), planned()) == ()


def test_in_equal_parts_the_old_set_the_pace() -> None:
    """2,048 sequences on 64 ranks are 32 microbatches each; three more fill a pipeline of four stages."""
    row = rows()["replicas"]
    old = next(part for part in row.parts if part.site == "south")
    assert row.equal_s == pytest.approx(35 * old.microbatch_s, rel=0.05)
    assert row.step_s < 0.5 * row.equal_s


def test_parts_add_up() -> None:
    over_dp, over_pp = rows()["replicas"], rows()["stages"]
    assert sum(part.batch_percent for part in over_dp.parts) == pytest.approx(100)
    assert sum(part.layers for part in over_pp.parts) == pytest.approx(80)
    north, east, south = over_dp.parts
    assert north.batch_percent == pytest.approx(2 * east.batch_percent, rel=0.03)  # twice the accelerators
    assert north.microbatch_s == east.microbatch_s < south.microbatch_s


def test_trees_carry_all_gradients_once() -> None:
    (one,) = planned().collectives
    assert one.pattern == "optimal"
    assert sum(tree.share for tree in one.trees) == pytest.approx(1)
    gradients_gb = 70.55 * 4
    assert sum(link.gb for link in one.links) == pytest.approx(2 * gradients_gb, rel=0.01)  # two links in each tree


def test_what_exchanges_in_every_layer_is_never_chosen() -> None:
    assert {row.plan for row in planned().plans if row.chosen} == {"replicas"}
    for name in ("contexts", "tensors"):
        assert rows()[name].terms.cross_layers_s > 3 * rows()["replicas"].step_s
        assert rows()[name].needed_gbps is None
        assert rows()[name].equal_s is None
