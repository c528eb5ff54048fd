"""Launch power: given, clipped, swept; the bathtub has its bottom where theory puts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.api import optical
from dcplan.errors import UsageError
from dcplan.optics.line import design_lines
from dcplan.optics.sweep import bathtubs
from dcplan.report.launch import view
from dcplan.report.render import draw
from dcplan.report.width import columns
from dcplan.units import db
from tests.optics.networks import budget_of, chain, flat, own

steady = settings(derandomize=True, deadline=None, max_examples=25)
CLEAN: dict[str, Any] = {"equipment": {"mux": {"loss_db": 0}, "roadm": {"loss_db": 0, "express_loss_db": 0}}}
TOPOLOGIES = Path(__file__).parents[2] / "topologies"


def gear_of(**amplifier: Any) -> dict[str, Any]:
    allow = {"amplifiers": ["flat"], "transponders": ["own"]}
    return {**flat(**amplifier), **CLEAN, "transponders": own(), "allow": allow}


def spans(*lengths: float, **fiber: Any) -> dict[str, Any]:
    return {"spans": [{"length_km": km} for km in lengths], **fiber}


@pytest.mark.parametrize("width", [50.0, 75.0, 150.0])
def test_given_launch_is_scaled_to_the_width(width: float) -> None:
    gear = {**gear_of(), "transponders": own(width_ghz=width, baud_gbd=width * 0.8)}
    budget = budget_of(chain(spans(80, 80), gear=gear, launch_dbm=-1.5), "m")
    assert budget.launch_dbm == pytest.approx(-1.5 + db(width / 75))
    assert budget.launch_limit == "given"


def test_launch_of_a_fiber_comes_before_that_of_the_policy() -> None:
    budget = budget_of(chain(spans(80, launch_dbm=2), gear=gear_of(), launch_dbm=-3), "m")
    assert budget.launch_dbm == pytest.approx(2)


def test_a_given_launch_of_zero_counts() -> None:
    """0 dBm is a level, not the absence of one."""
    budget = budget_of(chain(spans(80), gear=gear_of(), launch_dbm=0), "m")
    assert (budget.launch_dbm, budget.launch_limit) == (0, "given")


def test_given_launch_is_clipped_and_says_so() -> None:
    budget = budget_of(chain(spans(80), gear=gear_of(output_max_dbm=18), launch_dbm=5), "m")
    assert budget.launch_dbm == pytest.approx(18 - db(64))
    assert budget.launch_limit == "given, clipped by amplifier output"
    (item,) = [item for item in budget.items if item.name == "launch into f1"]
    assert item.why == budget.launch_limit


@steady
@given(st.floats(-12, 12))
def test_no_given_launch_beats_the_optimum_by_much(level: float) -> None:
    """Best at the centre channel by theory; the worst channel may gain a tenth of a decibel elsewhere."""
    best = budget_of(chain(spans(80, 80, 80), gear=gear_of()), "m").gsnr_db
    assert budget_of(chain(spans(80, 80, 80), gear=gear_of(), launch_dbm=level), "m").gsnr_db <= best + 0.15


@steady
@given(st.integers(1, 64))
def test_total_power_is_that_of_a_channel_and_ten_log_n(channels: int) -> None:
    """At the output limit, however many channels there are."""
    band = {"band_start_thz": 193.0, "band_end_thz": 193.0 + channels * 0.075}
    gear = {**gear_of(output_max_dbm=10), "transponders": own(tx_dbm=20), **band}
    budget = budget_of(chain(spans(20, type="hollow-core"), gear=gear), "m")
    assert budget.channels == channels
    assert budget.launch_dbm + db(channels) == pytest.approx(10)


def test_bathtub_of_a_line() -> None:
    network = chain(spans(80, 80), gear=gear_of(output_max_dbm=20.5))
    (one,) = bathtubs(network, design_lines(network))
    assert one.optimum_dbm == pytest.approx(budget_of(chain(spans(80, 80), gear=gear_of()), "m").launch_dbm)
    assert one.clip_dbm == pytest.approx(20.5 - db(64))
    assert len(one.points) == 25
    levels = [point.launch_dbm for point in one.points]
    assert levels[12] == pytest.approx(one.optimum_dbm)
    assert levels[-1] - levels[0] == pytest.approx(12)
    gsnr = [point.gsnr_db for point in one.points]
    top = gsnr.index(max(gsnr))
    assert abs(top - 12) <= 1
    assert gsnr[: top + 1] == sorted(gsnr[: top + 1])
    assert gsnr[top:] == sorted(gsnr[top:], reverse=True)
    assert [point.reached for point in one.points] == [level <= one.clip_dbm for level in levels]


def test_each_point_is_what_a_given_launch_gives() -> None:
    network = chain(spans(80, 80), gear=gear_of())
    (one,) = bathtubs(network, design_lines(network))
    for point in one.points[::6]:
        budget = budget_of(chain(spans(80, 80), gear=gear_of(), launch_dbm=point.launch_dbm), "m")
        assert point.gsnr_db == pytest.approx(budget.gsnr_db, abs=1e-9)
        assert point.margin_db == pytest.approx(budget.margin_db, abs=1e-9)


def test_hollow_core_has_no_optimum_and_its_sweep_is_about_the_clip() -> None:
    network = chain(spans(80, type="hollow-core"), gear=gear_of(output_max_dbm=20))
    (one,) = bathtubs(network, design_lines(network))
    assert one.optimum_dbm is None
    assert one.points[12].launch_dbm == pytest.approx(one.clip_dbm)
    gsnr = [point.gsnr_db for point in one.points]
    assert gsnr == sorted(gsnr)


@pytest.mark.parametrize("width", [80, 120])
def test_the_plot_keeps_to_the_page(width: int) -> None:
    network = api.load(TOPOLOGIES / "hollow-core.yaml")
    shown = view("t", optical.sweep(network, "launch"))
    text = draw(shown, "text", width)
    assert max(columns(line) for line in text.splitlines()) <= width
    assert "optimum" in text
    assert "clip" in text
    assert [table.id for table in shown.tables] == ["launch solid", "bathtub solid", "launch hollow", "bathtub hollow"]


def test_sweeps_of_some_fibers_and_what_is_refused() -> None:
    network = api.load(TOPOLOGIES / "hollow-core.yaml")
    assert {one.fiber for one in optical.sweep(network, "launch", ["hollow"])} == {"hollow"}
    assert {one.fiber for one in optical.sweep(network, "launch", ["boydton", "manassas"])} == {"solid", "hollow"}
    with pytest.raises(UsageError, match="no sweep of"):
        optical.sweep(network, "loss")
    with pytest.raises(UsageError, match="no fiber is called"):
        optical.sweep(network, "launch", ["omaha"])
    with pytest.raises(UsageError, match="--load"):
        optical.at_load(network, 0)


def test_partial_load_is_kinder_and_is_what_was_asked() -> None:
    full, part = (budget_of(chain(spans(80, 80), gear=gear_of(), load_percent=load), "m") for load in (100, 30))
    assert (full.channels, part.channels) == (64, 20)
    assert part.gsnr_db > full.gsnr_db
