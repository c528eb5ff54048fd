"""Both directions of a lightpath: the worse one is the budget, the other stands beside it."""

from __future__ import annotations

import pytest

from dcplan.model.network import Route
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from tests.optics.networks import chain, flat, own

UNEVEN = {"spans": [{"length_km": 40}, {"length_km": 95, "loss_db": 24}, {"length_km": 60}]}


def both_ways():
    """A line whose amplifiers differ by direction: noise figure falls with gain, the long span is not in the middle."""
    gear = {**flat(nf_db=9.0, output_max_dbm=20), "transponders": own(tx_dbm=-10)}
    gear["amplifiers"]["flat"]["nf_db"] = [[8, 9.0], [30, 5.0]]
    gear["allow"] = {"amplifiers": ["flat"], "transponders": ["own"]}
    return chain(UNEVEN, {"length_km": 70}, gear=gear)


def test_the_other_direction_has_no_less_margin_and_is_another_direction() -> None:
    network = both_ways()
    (path,) = evaluate(network, design_lines(network), [Route(("s0", "s1", "s2"), ("f1", "f2"))])
    (budget,) = path.budgets
    assert budget.other is not None
    assert {budget.direction, budget.other.direction} == {"s0 -> s2", "s2 -> s0"}
    assert budget.other.margin_db > budget.margin_db
    assert budget.other.gsnr_db - budget.gsnr_db == pytest.approx(budget.other.margin_db - budget.margin_db)


def test_a_route_walked_from_its_other_end_has_the_same_two_directions() -> None:
    network = both_ways()
    lines = design_lines(network)
    there, back = Route(("s0", "s1", "s2"), ("f1", "f2")), Route(("s2", "s1", "s0"), ("f2", "f1"))
    one, other = evaluate(network, lines, [there, back])
    assert one.budgets == other.budgets


def test_the_figures_of_the_other_direction_are_its_own_link_budget() -> None:
    """The mirrored network has the same two budgets, with the sites renamed."""
    network = both_ways()
    mirrored = chain({"length_km": 70}, {"spans": UNEVEN["spans"][::-1]}, gear=network.topology.gear.model_dump())
    (path,) = evaluate(network, design_lines(network), [Route(("s0", "s1", "s2"), ("f1", "f2"))])
    (turned,) = evaluate(mirrored, design_lines(mirrored), [Route(("s0", "s1", "s2"), ("f1", "f2"))])
    (a,), (b,) = path.budgets, turned.budgets
    assert b.gsnr_db == pytest.approx(a.gsnr_db)
    assert b.other.gsnr_db == pytest.approx(a.other.gsnr_db)
    assert (b.other.channel_thz, b.other.rx_dbm) == pytest.approx((a.other.channel_thz, a.other.rx_dbm))
