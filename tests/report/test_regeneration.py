"""Regenerators: what is passed on where, over which wavelengths, at what price, and why it is no single lightpath."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dcplan.design.result import Flow, Routing, Wavelengths
from dcplan.report.regeneration import cuts, regenerators
from dcplan.report.render import render
from tests.report import plans


def cut_at_ashland(*through: object):
    """Traffic from lincoln to papillion over two lightpaths that meet at ashland, more of it after a failure."""
    plan = plans.rich()
    west = plan.lightpaths[2]
    east = plans.lightpath(
        4,
        (plans.POP, plans.A),
        ("south-east",),
        61.0,
        plans.budget("400zr+", "400g-16qam", 400, 75, 30.1, 24.0),
    )
    whole = replace(plan.lightpaths[1], budgets=through) if through else plan.lightpaths[1]
    waves = (
        Wavelengths("L3", "800zr+", "800g-16qam", 2, 800, 150, 0.35),
        Wavelengths("L4", "400zr+", "400g-16qam", 4, 400, 75, 0.31),
    )
    name = "pretrain: lincoln - papillion"
    flows = (
        Routing("healthy", (Flow(name, ("L3", "L4"), 500.0, 0.66), Flow("checkpoints", ("L4", "L3"), 400.0, 0.66))),
        Routing("fiber north", (Flow(name, ("L3", "L4"), 1300.0, 0.66),)),
    )
    design = replace(plan.design, wavelengths=waves, routing=flows)
    return replace(plan, lightpaths=(plan.lightpaths[0], whole, west, east), design=design)


def row_of(plan):
    table = regenerators(plan)
    (row,) = table.rows
    return dict(zip((column.key for column in table.columns), (cell.value for cell in row), strict=True))


def test_both_directions_and_all_demands_are_one_cut() -> None:
    (cut,) = cuts(cut_at_ashland())
    assert (cut.site, cut.sides) == (plans.POP, ("L3", "L4"))
    assert (cut.healthy_gbps, cut.most_gbps) == (900.0, 1300.0)
    assert cut.demands == ("pretrain: lincoln - papillion", "checkpoints")


def test_each_side_has_a_transponder_per_wavelength() -> None:
    """1,300 Gb/s: two wavelengths of 800 on one side, four of 400 on the other; prices are those of the bill."""
    plan = cut_at_ashland()
    row = row_of(plan)
    assert row["transponders"] == math.ceil(1300 / 800) + math.ceil(1300 / 400)
    prices = {item.part: item.unit_usd for item in plan.design.bill}
    assert row["usd"] == 2 * prices["800zr+"] + 4 * prices["400zr+"]
    assert row["one"] == "L3: 2 × 800zr+ 800g-16qam"
    assert row["other"] == "L4: 4 × 400zr+ 400g-16qam"


@pytest.mark.parametrize(
    ("through", "why"),
    [
        ((("400zr+", "400g-16qam", 400, 75, 27.2, 24.0),), "L2 would close; wavelengths that end here are shared"),
        (
            (("x", "slow", 200, 75, 27.2, 16.0), ("400zr+", "400g-16qam", 400, 75, 25.2, 24.0)),
            "L2 closes up to 200 Gb/s; 400zr+ 400g-16qam: OSNR, 1.6 dB short",
        ),
        (
            (("400zr+", "400g-16qam", 400, 75, 26.78, 24.0),),
            "L2 closes with no mode, nearest 400zr+ 400g-16qam: OSNR, 0.03 dB short",
        ),
    ],
)
def test_why_it_is_not_one_lightpath(through, why: str) -> None:
    assert row_of(cut_at_ashland(*(plans.budget(*args) for args in through)))["why"] == why


def test_without_a_candidate_through_the_site_that_is_the_reason() -> None:
    plan = cut_at_ashland()
    plan = replace(plan, lightpaths=tuple(path for path in plan.lightpaths if path.id != "L2"))
    assert row_of(plan)["why"].startswith("no candidate passes through")


def test_a_plan_without_cuts_says_none() -> None:
    assert regenerators(plans.rich()).rows == ()
    assert "Regenerators\n  none\n" in render(plans.rich(), "text")
