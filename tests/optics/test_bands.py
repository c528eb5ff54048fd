"""Bands and grids: channels counted where they fit, two bands with amplifiers of their own, modes on fixed grids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dcplan import api
from dcplan.catalog.bands import BANDS, covers
from dcplan.design.cost import L_BAND_FACTOR, pair_items
from dcplan.model.schema import Gear
from dcplan.optics.allowed import allowed_amplifiers, load_of, usable_modes
from dcplan.optics.budget import Budget, Line
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from dcplan.planfile import Plan
from tests.optics.networks import chain, flat, own, whole

SUPER_C = {"band": "super-c", "allow": {"amplifiers": ["super-c-medium-gain"]}}


def best(network: Any, mode: str = "400g-63gbd", transponder: str = "openroadm-6") -> Budget:
    (path,) = evaluate(network, design_lines(network), [whole(network)])
    (found,) = [b for b in path.budgets if (b.transponder, b.mode) == (transponder, mode)]
    return found


@pytest.mark.parametrize(
    ("gear", "channels"),
    [({}, 64), ({"band": "c"}, 64), ({"band": "l"}, 64), (SUPER_C, 81), ({"band": "c+l"}, 128)],
)
def test_channels_of_75_ghz_in_each_band(gear: dict[str, Any], channels: int) -> None:
    assert best(chain({"length_km": 160}, gear=gear)).channels == channels


@pytest.mark.parametrize(("width", "channels"), [(50, 96), (75, 64), (100, 48), (150, 32)])
def test_channel_plans_of_a_fixed_grid(width: float, channels: int) -> None:
    gear = {**flat(), "grid_ghz": [width], "transponders": own(baud_gbd=30, width_ghz=37.5)}
    budget = best(chain({"length_km": 80}, gear=gear), "m", "own")
    assert (budget.width_ghz, budget.channels) == (width, channels)


def test_a_mixed_grid_gives_each_mode_the_narrowest_that_holds_it() -> None:
    network = chain({"length_km": 80}, gear={"grid_ghz": [100, 150]})
    widths = {mode.width_ghz for _, _, mode in usable_modes(network)}
    assert widths == {100, 150}
    flexible = {(part, name): mode for part, name, mode in usable_modes(chain({"length_km": 80}))}
    for part, name, mode in usable_modes(network):
        assert mode.width_ghz == min(w for w in (100, 150) if w >= flexible[part, name].width_ghz)


def test_modes_wider_than_the_grid_are_left_out() -> None:
    modes = usable_modes(chain({"length_km": 80}, gear={"grid_ghz": [75]}))
    assert modes
    assert all(mode.baud_gbd <= 75 for _, _, mode in modes)


def test_each_band_has_amplifiers_made_for_it() -> None:
    network = chain({"length_km": 200}, gear={"band": "c+l"})
    line = design_lines(network)["f1"]
    assert isinstance(line, Line)
    low, high = line.in_bands
    assert (low.band, high.band) == ("l", "c")
    for each in line.in_bands:
        names = {each.booster, *(row.amplifier for row in (*each.spans, *each.back))}
        assert all(covers(network.catalog.amplifiers[name].band, BANDS[each.band]) for name in names)
    alone = design_lines(chain({"length_km": 200}, gear={"band": "c"}))["f1"]
    assert isinstance(alone, Line)
    assert len(line.amplifiers) == 2 * len(alone.amplifiers)


def test_no_amplifier_of_another_band_is_allowed() -> None:
    assert all(part.band in ("any", "c") for part in allowed_amplifiers(chain({"length_km": 10})).values())
    wide = chain({"length_km": 10}, gear={"band_start_thz": 186.1})
    assert all(part.band == "any" for part in allowed_amplifiers(wide).values())


def test_a_second_band_costs_and_disturbs() -> None:
    """Raman scattering takes from C what it gives to L: the worst channel of both is worse than that of C alone."""
    one, two = (chain({"length_km": 200}, gear={"band": band}) for band in ("c", "c+l"))
    assert best(two).gsnr_db is not None
    assert best(one).gsnr_db is not None
    assert best(two).gsnr_db < best(one).gsnr_db  # type: ignore[operator]
    usd = []
    for network in (one, two):
        line = design_lines(network)["f1"]
        assert isinstance(line, Line)
        items = pair_items(network, line, 1)
        usd.append(sum(item.total_usd for item in items if item.what.startswith("terminal gear")))
        low = [item for item in items if item.what == "terminal gear, L band"]
        assert all(item.confidence == "low" for item in low)
        assert bool(low) == (network is two)
    assert usd[1] == pytest.approx(usd[0] * (1 + L_BAND_FACTOR))


def test_super_c_is_worse_than_c_by_its_tilt_only_a_little() -> None:
    alike = {"amplifiers": flat()["amplifiers"], "allow": {"amplifiers": ["flat"]}}
    c, wide = (best(chain({"length_km": 240}, gear={**alike, "band": band})) for band in ("c", "super-c"))
    assert c.gsnr_db is not None
    assert wide.gsnr_db is not None
    assert 0.1 < c.gsnr_db - wide.gsnr_db < 1.5
    assert wide.channel_thz > 195, "the channels that lose power to the others"


def test_partial_load_is_in_the_middle() -> None:
    network = chain({"length_km": 80}, load_percent=25)
    mode = next(mode for _, name, mode in usable_modes(network) if name == "400g-63gbd")
    comb = load_of(network, mode)
    middle = comb.frequencies_thz().mean()
    assert comb.channels == 16
    assert middle == pytest.approx(193.725, abs=0.04)


def test_a_band_by_name_and_by_edges_is_refused() -> None:
    with pytest.raises(ValidationError, match="either band or its edges"):
        Gear.model_validate({"band": "c", "band_end_thz": 196})


FILE = """\
dcplan: 1
name: two bands
sites:
  a: {lat: 41.07, lon: -96.11, power_mw: 100}
  b: {lat: 40.89, lon: -96.60, power_mw: 100}
fibers:
  one: {ends: [a, b], length_km: 80, type: g652d, pairs: 1, lease_usd_per_km_year: 400}
gear: {band: BAND, allow: {transponders: [openzr+]}}
demands: {bulk: {between: [a, b], gbps: GBPS}}
policy: {survive: []}
"""


def test_a_plan_over_two_bands_fills_both_and_holds(tmp_path: Path) -> None:
    """One pair carries 64 × 400 Gb/s in C; with L, twice that, none of it in the gap between the bands."""
    file = tmp_path / "both.yaml"
    file.write_text(FILE.replace("BAND", "c+l").replace("GBPS", str(100 * 400)), encoding="utf-8")
    network = api.load(file)
    made = api.plan(network)
    assert isinstance(made, Plan)
    assert api.verify(network, made) == ()
    spots = [193.1 + 0.00625 * channel.n for channel in made.design.channels]
    assert len(spots) == 100
    assert all(186.125 < at < 190.925 or 191.325 < at < 196.125 for at in spots)
    assert any(at < 191 for at in spots)
    assert any(at > 191 for at in spots)
    file.write_text(FILE.replace("BAND", "c").replace("GBPS", str(100 * 400)), encoding="utf-8")
    assert not isinstance(api.plan(api.load(file)), Plan)
