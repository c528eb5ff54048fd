"""Noise figures: OSNR cubics of OpenROADM by hand, Raman hybrids by Friis, launch and noise found together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier
from dcplan.optics.amplifier import ase_w, may_stand, noise_figure_db, noise_figures_db, per_50_ghz_dbm
from dcplan.optics.budget import Line
from dcplan.optics.line import design_line
from dcplan.optics.loading import load
from dcplan.optics.nonlinear import full_load
from tests.optics.networks import budget_of, chain, own

steady = settings(derandomize=True, deadline=None, max_examples=60)
WINDOW = {"input_min_dbm": -31, "input_max_dbm": -9}
STANDARD = {"a": -5.952e-4, "b": -0.0625, "c": -1.071, "d": 28.99, **WINDOW}
LOW_NOISE = {"a": -8.104e-4, "b": -0.06221, "c": -0.5889, "d": 37.62, **WINDOW}
WSS = {"a": -5.952e-4, "b": -0.0625, "c": -1.071, "d": 27.99, **WINDOW}
"""MWi-standard, MWi-low-noise and MW-MW-core of the OpenROADM 6.0 optical specification."""


def cubic(given: dict[str, float], **more: Any) -> Amplifier:
    window = {"gain_min_db": 0, "gain_max_db": 27, "output_max_dbm": 21.8}
    return Amplifier.model_validate({**window, "osnr_cubic": given, **more})


@pytest.mark.parametrize(
    ("given", "osnr_db", "nf_db"), [(STANDARD, 30.17, 7.83), (LOW_NOISE, 31.00, 7.00), (WSS, 29.17, 8.83)]
)
def test_hand_points_at_minus_20_dbm(given: dict[str, float], osnr_db: float, nf_db: float) -> None:
    figure = noise_figure_db(cubic(given), 20.0, -20.0)
    assert figure == pytest.approx(nf_db, abs=0.006)
    assert -20 - figure + 58 == pytest.approx(osnr_db, abs=0.006)


@pytest.mark.parametrize(("name", "given"), [("openroadm-ila", STANDARD), ("openroadm-ila-low-noise", LOW_NOISE)])
def test_shipped_cubics_are_those_of_the_msa(name: str, given: dict[str, float]) -> None:
    part = shipped("amplifiers")[name]
    assert isinstance(part, Amplifier)
    assert part.osnr_cubic is not None
    assert part.osnr_cubic.model_dump() == given


def test_outside_the_window_of_a_cubic() -> None:
    """Below, the noise figure stays; above, light is attenuated to the window: dB for dB more noise figure."""
    part = cubic(STANDARD)
    assert noise_figure_db(part, 20, -40) == noise_figure_db(part, 20, -31)
    assert noise_figure_db(part, 20, -4) == pytest.approx(noise_figure_db(part, 20, -9) + 5)
    with pytest.raises(ValueError, match="input power"):
        noise_figure_db(part, 20)


def test_input_is_scaled_to_50_ghz() -> None:
    assert per_50_ghz_dbm(-20, 50) == -20
    assert per_50_ghz_dbm(-20, 75) == pytest.approx(-20 - 1.761, abs=1e-3)
    assert per_50_ghz_dbm(-20, 150) == pytest.approx(-20 - 4.771, abs=1e-3)


def test_raman_hybrid_by_hand() -> None:
    """12 dB at −1 dB, then 15.3 dB at 6.58: 10 log10(0.794 + 4.55 / 15.85) = 0.34 dB, as GNPy has it at 27.3 dB."""
    part = shipped("amplifiers")["gnpy-hybrid-raman"]
    assert isinstance(part, Amplifier)
    assert noise_figure_db(part, 27.3) == pytest.approx(0.34, abs=0.01)
    edfa = shipped("amplifiers")["gnpy-low-gain"]
    assert isinstance(edfa, Amplifier)
    rest = 10 ** (noise_figure_db(edfa, 14.0) / 10) / 10**1.2
    assert noise_figure_db(part, 26.0) == pytest.approx(10 * math.log10(10**-0.1 + rest))
    assert not may_stand(part, "booster")
    assert may_stand(part, "line")
    assert part.price_usd is not None
    assert "price_usd" in part.estimates
    assert "safety" in part.note


@steady
@given(st.lists(st.tuples(st.floats(0, 40), st.floats(-45, 5)), min_size=1, max_size=6), st.integers(0, 2))
def test_many_at_once_are_one_by_one(points: list[tuple[float, float]], which: int) -> None:
    table = shipped("amplifiers")["gnpy-medium-gain"]
    part = [cubic(STANDARD), shipped("amplifiers")["gnpy-hybrid-raman"], table][which]
    assert isinstance(part, Amplifier)
    gains, inputs = (np.array(column) for column in zip(*points, strict=True))
    each = [noise_figure_db(part, gain, power) for gain, power in points]
    assert noise_figures_db(part, gains, inputs) == pytest.approx(each)


@steady
@given(st.floats(30, 130), st.integers(1, 12), st.sampled_from([(50, 32.0), (75, 63.1), (150, 118.2)]))
def test_launch_and_noise_of_a_cubic_agree(km: float, count: int, channel: tuple[float, float]) -> None:
    """At the launch found, ASE at that very input is twice the nonlinear noise, or the launch is clipped."""
    part = cubic(LOW_NOISE).model_dump(exclude_none=True)
    gear = {"allow": {"amplifiers": ["ila"]}, "amplifiers": {"ila": part}}
    network = chain({"spans": [{"length_km": km}] * count}, gear=gear)
    line = design_line(network, "f1")
    if not isinstance(line, Line):  # more than 27 dB
        assert km * 0.2 + 1 > 27
        return
    comb = full_load(191.325, 196.125, *channel)
    found = load(line.spans, "ila", network.catalog.amplifiers, network.fiber_type("f1"), 0.25, comb)
    figure = noise_figure_db(cubic(LOW_NOISE), 0, per_50_ghz_dbm(found.launch_dbm - line.spans[0].gain_db, channel[0]))
    factor = count * 10 ** ((figure + line.spans[0].gain_db) / 10)
    assert found.noise_factor == pytest.approx(factor, rel=1e-6)
    power = 1e-3 * 10 ** (found.launch_dbm / 10)
    ase = ase_w(factor, comb.centre_thz, comb.baud_gbd)
    nli = float(found.nli_per_w2[comb.centre]) * power**3
    if found.limit == "optimum":
        assert ase == pytest.approx(2 * nli, rel=1e-4)
    else:
        assert ase > 2 * nli
        assert found.launch_dbm == pytest.approx(21.8 - 10 * math.log10(comb.channels))


def test_a_starved_cubic_has_the_noise_of_its_input() -> None:
    """A booster with little gain launches less than the line wants; the noise figure is that of the light there is."""
    ila = cubic(LOW_NOISE, role="line").model_dump(exclude_none=True)
    weak = {"gain_min_db": 0, "gain_max_db": 3, "nf_db": [[0, -60]], "output_max_dbm": 30, "role": "booster"}
    end = {"gain_min_db": 0, "gain_max_db": 30, "nf_db": [[0, -60]], "output_max_dbm": 30, "role": "preamp"}
    gear = {
        "allow": {"amplifiers": ["ila", "weak", "end"]},
        "amplifiers": {"ila": ila, "weak": weak, "end": end},
        "equipment": {"mux": {"loss_db": 0}},
        "transponders": own(tx_dbm=-12),
    }
    budget = budget_of(chain({"spans": [{"length_km": 80}, {"length_km": 80}]}, gear=gear), "m")
    assert budget.launch_limit == "booster gain"
    assert budget.launch_dbm == pytest.approx(-9)
    figure = noise_figure_db(cubic(LOW_NOISE), 17, per_50_ghz_dbm(-9 - 17, 75))
    assert budget.channel_thz is not None
    noise_w = ase_w(10 ** ((figure + 17) / 10), budget.channel_thz)
    assert budget.osnr_ase_db == pytest.approx(10 * math.log10(10**-3.9 / noise_w), abs=1e-3)
    at_optimum = noise_figure_db(cubic(LOW_NOISE), 17, per_50_ghz_dbm(0 - 17, 75))
    assert abs(figure - at_optimum) > 0.2  # so that the figure of the line's own launch would be found out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "give either nf_db or osnr_cubic"),
        ({"nf_db": [[0, 5]], "osnr_cubic": STANDARD}, "give either nf_db or osnr_cubic"),
        ({"osnr_cubic": STANDARD, "raman": {"gain_db": 12, "nf_db": -1}}, "needs nf_db"),
        ({"nf_db": [[0, 5]], "raman": {"gain_db": 12, "nf_db": -1}}, "cannot lie below"),
        ({"nf_db": [[0, 5]], "gain_min_db": 15, "role": "booster", "raman": {"gain_db": 12, "nf_db": -1}}, "booster"),
        ({"osnr_cubic": STANDARD | {"input_max_dbm": -40}}, "above input_min_dbm"),
    ],
)
def test_contradicting_figures_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Amplifier.model_validate({"gain_min_db": 0, "gain_max_db": 27, "output_max_dbm": 21.8, **change})
