"""Tight sets of sites: which are named, and that needing less of them is worth what is said."""

from __future__ import annotations

import re

import pytest

from dcplan.design.engine import Options, design
from dcplan.model.states import promised_states
from tests.design import factory

ONE = {"one": {"rate_gbps": 100, "baud_gbd": 30, "width_ghz": 50, "required_osnr_db": 12}}


def bound(net, demands):
    found = design(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net), Options())
    return found, [(one.what, one.worth) for one in found.binding if "sites" in one.what]


def test_the_tightest_set_is_named_once_with_its_smaller_side():
    """Two sites hang on one fiber each; a third, where nothing happens, is on either side of the same cut."""
    fibers = {"n": ("a", "b", 50, 4), "s": ("a", "b", 60, 4), "w": ("b", "c", 50, 4)}
    net = factory.network("abc", fibers, {"survive": ["any-fiber"]})
    _, listed = bound(net, [factory.demand(net, "x", "a", "b", 700)])
    ((what, worth),) = listed
    assert what == "after losing fiber n, sites {a} need 700 Gb/s to the rest, 800 Gb/s is lit"
    assert worth.startswith("100 Gb/s to spare")


def test_what_a_gigabit_less_would_save_is_what_it_does_save():
    """Many small wavelengths on one fiber: the relaxation is nearly the plan."""
    net = factory.network("ab", {"n": ("a", "b", 50, 4)}, {"scheme": "none"}, modes=ONE)
    costs = {}
    for gbps in (4000, 3000):
        found, listed = bound(net, [factory.demand(net, "x", "a", "b", gbps)])
        costs[gbps] = found.cost_usd
    ((what, worth),) = listed
    assert what == "healthy, sites {b} need 3.00 Tb/s to the rest, 3.00 Tb/s is lit"
    saved = float(re.search(r"each Gb/s less would save US\$ ([\d.,]+)", worth)[1].replace(",", ""))
    pair_share = found.certificate.terms[-1].multiplier_usd / (96 * 100)
    assert saved == pytest.approx((costs[4000] - costs[3000]) / 1000, rel=0.2)
    assert saved >= (costs[4000] - costs[3000]) / 1000 - pair_share
