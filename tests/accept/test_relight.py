"""Every shipped topology under the three schemes: more freedom in a failure never costs more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcplan import api
from dcplan.design.result import Infeasible

TOPOLOGIES = sorted((Path(__file__).parent.parent.parent / "topologies").glob("*.yaml"))


@pytest.mark.accept
@pytest.mark.parametrize("file", TOPOLOGIES, ids=lambda file: file.stem)
def test_relight_costs_no_more_than_reroute_and_reroute_no_more_than_one_plus_one(file: Path) -> None:
    network = api.load(file)

    def planned(scheme: str):
        policy = network.policy.model_copy(update={"scheme": scheme})
        changed = replace(network, topology=network.topology.model_copy(update={"policy": policy}))
        found = api.plan(changed)
        if not isinstance(found, Infeasible):
            assert api.verify(changed, found) == ()
            print(f"{file.stem}, {scheme}: US$ {found.design.cost_usd:,.0f}, {found.design.proof.reason}")
        return found

    relight, reroute, twice = (planned(scheme) for scheme in ("relight", "reroute", "one-plus-one"))
    assert not isinstance(relight, Infeasible)
    if not isinstance(reroute, Infeasible):
        assert relight.design.cost_usd <= reroute.design.cost_usd * (1 + 1e-6)
        if not isinstance(twice, Infeasible):
            bound = reroute.design.proof.bound_usd
            assert bound is not None
            assert bound <= twice.design.cost_usd * (1 + 1e-6)
