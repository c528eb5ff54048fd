"""What binds and what it is worth: one more millisecond, pair or Gb/s, also beside what is lit already."""

from __future__ import annotations

import pytest

from dcplan.design.reasons import later
from dcplan.units import money
from tests.design import factory
from tests.design.test_existing import as_existing, having, solved

DEAR = {"build_usd_per_km": 9000.0}


def short_and_long(limit_ms, gbps=700.0):
    """A short dear fiber and a long cheap one, 0.49 and 1.22 ms."""
    fibers = {"short": ("a", "b", 100, 2, DEAR), "long": ("a", "b", 250, 2)}
    net = factory.network(["a", "b"], fibers, {"scheme": "none"})
    return net, factory.lightpaths(net), [factory.demand(net, "d", "a", "b", gbps, max_latency_ms=limit_ms)]


def worth(found):
    return {limit.what: limit.worth for limit in found.binding}


def test_one_ms_is_worth_what_the_design_with_it_saves():
    net, paths, demands = short_and_long(0.6)
    held, free = solved(net, paths, demands), solved(*short_and_long(1.6))
    assert worth(held)["demand d: at most 0.6 ms one way"] == (
        f"one ms more would save {money(held.cost_usd - free.cost_usd)}"
    )
    assert [lit.fiber for lit in free.lit] == ["long"]


def test_a_limit_that_does_not_bind_is_not_listed():
    assert not any("at most" in what for what in worth(solved(*short_and_long(1.6))))


def test_one_ms_that_changes_nothing_is_worth_nothing():
    fibers = {"short": ("a", "b", 100, 2, DEAR), "far": ("a", "b", 800, 2, {"lease_usd_per_km_year": 0})}
    net = factory.network(["a", "b"], fibers, {"scheme": "none"})
    found = worth(solved(net, factory.lightpaths(net), [factory.demand(net, "d", "a", "b", 700, max_latency_ms=0.6)]))
    assert found["latency limit of d"] == "one ms more would save nothing"


def test_above_so_many_choices_it_is_the_relaxation_that_saves(monkeypatch):
    monkeypatch.setattr(later, "RESOLVED_CHOICES", 0)
    net, paths, demands = short_and_long(0.6)
    text = worth(solved(net, paths, demands))["demand d: at most 0.6 ms one way"]
    assert text.startswith("one ms more would save US$")
    assert text.endswith("(relaxation)")


def test_beside_what_is_lit_the_same_words_hold():
    net, paths, demands = short_and_long(0.6)
    first = solved(net, paths, demands)
    again = solved(having(net, as_existing(first, paths)), paths, demands)
    assert not any(what.startswith("demand d") for what in worth(again))  # all is paid for, 100 Gb/s more would fit
    full = having(net, as_existing(first, paths) | {"fibers": {"short": {"pairs": 2}}})
    grown = solved(full, paths, [factory.demand(net, "d", "a", "b", 1500, max_latency_ms=0.6)])
    assert worth(grown)["short: all 2 pairs are lit"] == "one more would save nothing"
    assert "each further Gb/s costs" in worth(grown)["demand d"]
    assert grown.cost_usd - grown.running_usd == pytest.approx(2 * 10_000)  # two transponders of one wavelength
