"""Raman scattering and wavelength-dependent loss: against GNPy's own Raman solver, and by conservation of power."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import FiberType
from dcplan.optics.amplifier import ase_w
from dcplan.optics.budget import SpanRow
from dcplan.optics.fiber import dispersion_at, effective_length_m
from dcplan.optics.loading import Loading
from dcplan.optics.nonlinear import Comb, span_nli_per_w2
from dcplan.optics.raman import excess_loss_db, nli_weight, slope_per_w_km_thz
from dcplan.optics.tilt import Lit, Shape, tilted, wavelength_loss_db
from dcplan.units import NOISE_BANDWIDTH_GHZ, from_db, watts

steady = settings(derandomize=True, deadline=None, max_examples=40)
CASES = json.loads((Path(__file__).parent / "data" / "gnpy_raman.json").read_text())["cases"]
SHIPPED, HOLLOW = shipped("fibers")["g652d"], shipped("fibers")["hollow-core"]
assert isinstance(SHIPPED, FiberType)
assert isinstance(HOLLOW, FiberType)
GLASS = SHIPPED.model_copy(update={"dispersion_slope_ps_nm2_km": 0.0})
AT_SITES, EACH_SPAN, NO_RAMAN = Shape(raman=True, at_sites=True), Shape(raman=True, at_sites=False), Shape(False, True)


def row(km: float = 80.0, nf_db: float = 5.5) -> SpanRow:
    loss = 0.2 * km
    return SpanRow(1, km, loss, loss, False, "flat", 0.0, loss, nf_db, "")


def line_of(
    comb: Comb,
    launch_dbm: float,
    shape: Shape,
    *,
    spans: int = 5,
    kind: FiberType = GLASS,
    beside: tuple[Lit, ...] = (),
) -> Loading:
    rows = [row()] * spans
    nli = spans * span_nli_per_w2(kind, comb, 0.2, 80)
    flat = Loading(launch_dbm, "given", spans * from_db(5.5 + 16), nli)
    return tilted(flat, rows, [kind] * spans, 0.0, comb, shape, beside)


def figures(loading: Loading, comb: Comb) -> tuple[np.ndarray, np.ndarray]:
    """GSNR and OSNR of every channel in 0.1 nm [dB]."""
    power = watts(loading.launch_dbm)
    quantum = np.array([ase_w(1.0, f) for f in comb.frequencies_thz()])
    assert loading.unlike is not None
    ase = loading.noise_factor * loading.unlike * quantum / power
    nli = loading.nli_per_w2 * power**2 * NOISE_BANDWIDTH_GHZ / comb.baud_gbd
    return -10 * np.log10(ase + nli), -10 * np.log10(ase)


def centred(count: int) -> Comb:
    return Comb(193.7 - (count - 1) / 2 * 0.075, 75, 63.1, count)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if "SRS" in case["id"]])
def test_lines_against_gnpy(case: dict[str, Any]) -> None:
    """Levels, OSNR and GSNR of lines without gain correction, under each of GNPy's models with and without Raman.

    Those differ by up to 0.2 dB at the edges among themselves; ours stays within 0.25 dB of each, 0.1 in the middle.
    """
    with_raman = "noSRS" not in case["id"]
    comb = centred(case["n_channels"])
    shape = AT_SITES if with_raman else NO_RAMAN
    loading = line_of(comb, case["launch_dbm"], shape)
    gsnr, osnr = figures(loading, comb)
    centre = comb.centre
    assert gsnr[centre] == pytest.approx(case["centre_gsnr_db"], abs=0.1)
    assert osnr[centre] == pytest.approx(case["centre_osnr_db"], abs=0.15)
    assert gsnr.min() == pytest.approx(case["worst_gsnr_db"], abs=0.25)
    assert gsnr[-1] == pytest.approx(case["highest_gsnr_db"], abs=0.25)
    if "numerical" not in case["id"]:
        assert loading.tilt_db is not None
        levels = case["launch_dbm"] - loading.tilt_db[[0, -1]]
        ours = [case["lowest_rx_dbm"], case["highest_rx_dbm"]]
        assert levels == pytest.approx(ours, abs=0.15 if comb.channels == 64 else 0.45)


def test_the_low_edge_against_gnpys_most_exact_model() -> None:
    """The channels that gain power: within 0.15 dB of the spectrally separated integral."""
    for case in CASES:
        if "spectrally" in case["id"]:
            comb = centred(case["n_channels"])
            gsnr, _ = figures(line_of(comb, case["launch_dbm"], AT_SITES), comb)
            assert gsnr[0] == pytest.approx(case["lowest_gsnr_db"], abs=0.15)


@steady
@given(st.integers(2, 120), st.floats(-10, 5), st.floats(5, 120))
def test_raman_scattering_moves_power_and_keeps_it(count: int, level: float, km: float) -> None:
    comb = centred(count)
    frequency, power = comb.frequencies_thz(), np.full(count, watts(level))
    excess = excess_loss_db(GLASS, frequency, power, 0.2, km)
    after = power * 10 ** (-excess / 10)
    assert after.sum() == pytest.approx(power.sum(), rel=1e-9)
    assert (np.diff(excess) > 0).all(), "the higher the frequency, the more is lost"


def test_tilt_is_that_of_the_triangle() -> None:
    """4.343 C P Leff Δf from edge to edge: 64 channels of +1 dBm over 80 km make 1.05 dB."""
    comb = centred(64)
    frequency, power = comb.frequencies_thz(), np.full(64, watts(1))
    excess = excess_loss_db(GLASS, frequency, power, 0.2, 80)
    slope = slope_per_w_km_thz(GLASS)
    by_hand = 4.342945 * slope * power.sum() * effective_length_m(0.2, 80) / 1e3 * (frequency[-1] - frequency[0])
    assert excess[-1] - excess[0] == pytest.approx(by_hand, rel=1e-6)
    assert by_hand == pytest.approx(1.04, abs=0.02)
    assert slope == pytest.approx(0.0296, abs=1e-4)


def test_noise_weight_is_one_without_power_and_falls_with_frequency() -> None:
    frequency = centred(64).frequencies_thz()
    assert nli_weight(GLASS, frequency, np.full(64, 1e-15), 0.2) == pytest.approx(np.ones(64))
    weight = nli_weight(GLASS, frequency, np.full(64, watts(3)), 0.2)
    assert (np.diff(weight) < 0).all()
    assert weight[32] == pytest.approx(1, abs=0.01)


def test_no_raman_and_even_loss_change_nothing() -> None:
    comb = centred(20)
    loading = line_of(comb, 0.0, NO_RAMAN)
    assert loading.unlike == pytest.approx(np.ones(20))
    assert loading.nli_per_w2 == pytest.approx(5 * span_nli_per_w2(GLASS, comb, 0.2, 80), rel=1e-9)
    assert not NO_RAMAN.matters([GLASS])
    assert NO_RAMAN.matters([GLASS, HOLLOW])
    assert not replace(EACH_SPAN).matters([HOLLOW.model_copy(update={"wdl_db_per_km": 0.0})])


def test_gains_that_follow_the_tilt_keep_the_worst_channel_better() -> None:
    comb = centred(64)
    each, sites = (figures(line_of(comb, 1.0, shape), comb)[0].min() for shape in (EACH_SPAN, AT_SITES))
    flat = figures(line_of(comb, 1.0, NO_RAMAN), comb)[0].min()
    assert sites < each < flat + 0.05


def test_another_band_on_the_same_fiber_takes_power_and_adds_noise() -> None:
    """L beside C: C, above it, loses power; each disturbs the other."""
    c, l_ = Comb(191.3625, 75, 63.1, 64), Comb(186.1625, 75, 63.1, 64)
    alone = line_of(c, 1.0, EACH_SPAN)
    both = line_of(c, 1.0, EACH_SPAN, beside=(Lit(l_, 1.0),))
    assert alone.unlike is not None
    assert both.unlike is not None
    assert (both.unlike > alone.unlike).all()
    off = line_of(c, 1.0, NO_RAMAN)
    more = line_of(c, 1.0, NO_RAMAN, beside=(Lit(l_, 1.0),))
    assert (more.nli_per_w2 > off.nli_per_w2).all()


def test_wavelength_dependent_loss_of_hollow_core() -> None:
    """0.8 dB per 100 km across the C band: 0.4 dB at its edges, none in the middle."""
    at = np.array([191.325, 193.725, 196.125])
    assert wavelength_loss_db(HOLLOW, at, 100) == pytest.approx([-0.4, 0, 0.4], abs=1e-9)
    assert (wavelength_loss_db(GLASS, at, 100) == 0).all()


def test_dispersion_slope() -> None:
    """17.68 ps/(nm km) at 191.325 THz (1566.9 nm), 15.5 at 196.125: 0.058 from 1550 nm."""
    assert dispersion_at(SHIPPED, 191.325) == pytest.approx(16.7 + 0.058 * (299792.458 / 191.325 - 1550))
    assert dispersion_at(SHIPPED, 191.325) == pytest.approx(17.68, abs=0.01)
    assert dispersion_at(GLASS, 191.325) == 16.7
