"""Every route that closes is a candidate, as plain enumeration says; a further fiber takes none of them away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcplan import api
from dcplan.api import optical
from dcplan.design import further as module
from dcplan.design.candidates import routes
from dcplan.design.further import further
from dcplan.model.network import Route
from dcplan.optics.line import design_lines
from dcplan.optics.screen import screen


@pytest.fixture(scope="module")
def small():
    """Ten sites, some of them a few kilometres apart; through one of them no light passes."""
    network = api.load(Path(__file__).parents[2] / "topologies" / "us-midwest.yaml")
    sites = {
        name: site.model_copy(update={"express": name != "papillion"}) for name, site in network.topology.sites.items()
    }
    return replace(network, topology=network.topology.model_copy(update={"sites": sites}))


def every_route(network, most):
    """All routes without a site twice of at most so many fibers, each from the first of its ends by name."""
    found = []

    def go(sites, fibers):
        if fibers and sites[0] < sites[-1]:
            found.append(Route(sites, fibers))
        if len(fibers) == most or (fibers and not network.sites[sites[-1]].express):
            return
        for fiber, other in network.neighbours(sites[-1]):
            if other not in sites:
                go((*sites, other), (*fibers, fiber))

    for site in network.sites:
        go((site,), ())
    return found


def with_policy(network, **keys):
    policy = network.policy.model_copy(update=keys)
    return replace(network, topology=network.topology.model_copy(update={"policy": policy}))


def closing(network):
    return {path.route for path in optical.optics(network).lightpaths if path.closing}


@pytest.mark.parametrize("hops", [2, 4, 6])
def test_candidates_are_all_routes_that_close(small, hops):
    network = with_policy(small, max_hops=hops)
    every = every_route(network, hops)
    does = screen(network, design_lines(network), every).closes.any(axis=1).tolist()
    assert closing(network) == {route for route, closes in zip(every, does, strict=True) if closes}
    listed = {route.fibers for route in routes(network)}
    assert all(route.fibers in listed for route in closing(network)) == (hops == 2)
    assert optical.optics(network).searched == f"every one of up to {hops} fibers that closes"


def test_a_fiber_takes_no_candidate_away(small):
    kept = list(small.fibers)[:-4]
    fibers = {name: small.fibers[name] for name in kept}
    fewer = replace(small, topology=small.topology.model_copy(update={"fibers": fibers}))
    assert closing(fewer) < closing(small)


def test_a_number_of_routes_is_a_cap(small):
    capped = with_policy(small, routes=1)
    assert further(capped, design_lines(capped), routes(capped)).routes == ()
    assert closing(capped) < closing(small)
    assert "policy.routes" in optical.optics(capped).searched


@pytest.mark.parametrize("limit", ["MOST_JUDGED", "MOST_CLOSING"])
def test_of_too_many_all_up_to_some_number_of_fibers(small, limit, monkeypatch):
    whole = further(small, design_lines(small), ())
    monkeypatch.setattr(module, limit, 25)
    found = further(small, design_lines(small), ())
    assert 1 <= found.fibers < small.policy.max_hops == whole.fibers
    assert set(found.routes) == {route for route in whole.routes if len(route.fibers) <= found.fibers}
    assert f"of those with more than {found.fibers} there are too many" in found.in_words(small)
