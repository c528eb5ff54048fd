"""What is lit on every shipped network carries what it was built for: nothing is bought a second time."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api
from dcplan.api.standing import as_it_is
from dcplan.planfile import Plan

FILES = sorted((Path(__file__).parent.parent.parent / "topologies").glob("*.yaml"))


@pytest.mark.accept
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_bought_twice(file: Path) -> None:
    network = api.load(file)
    first = api.plan(network)
    assert isinstance(first, Plan)
    again = api.plan(network, existing=first)
    assert isinstance(again, Plan)
    assert again.design.cost_usd == pytest.approx(again.design.running_usd)
    assert again.design.cost_usd == pytest.approx(first.design.running_usd)
    assert again.design.proof.status == "optimal"
    assert api.verify(network, again) == ()
    given = as_it_is(network, existing=first)
    assert given.given.routing.whole
    assert api.verify(network, given.plan) == ()
