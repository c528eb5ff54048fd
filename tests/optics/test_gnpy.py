"""Agreement with GNPy 3.0.1 on lines whose results were written down once (tests/optics/data)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TID253
import pytest

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier
from dcplan.optics.allowed import load_of
from dcplan.optics.amplifier import noise_figure_db
from dcplan.optics.budget import Line
from dcplan.optics.journey import journey, ways_of
from dcplan.optics.line import design_lines
from dcplan.optics.loading import load
from dcplan.optics.walk import Loads, Noise, noise_along
from tests.optics.networks import chain, flat, own, whole

DATA = Path(__file__).parent / "data"
LINES, OPTIMUM, DCI = (json.loads((DATA / f"gnpy_{name}.json").read_text()) for name in ("lines", "optimum", "dci"))
NOTHING = {"loss_db": 0}
"""Terminal gear that neither loses nor adds anything."""
SILENT = [[0, -300]]


def ids(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases["cases"]]


def fiber_type(given: dict[str, float]) -> dict[str, Any]:
    """GNPy's SI fiber in catalog units."""
    return {
        "attenuation_db_per_km": given["loss_coef"],
        "dispersion_ps_nm_km": given["dispersion"] * 1e6,
        "effective_area_um2": given["effective_area"] * 1e12,
        "pmd_ps_sqrt_km": given["pmd_coef"] * 1e12 * 1000**0.5,
        "group_index": 1.468,
    }


def run(case: dict[str, Any], launch_dbm: float | None) -> tuple[Line, Noise, float]:
    """A GNPy line through the engine: (line, noise of every channel, launch). Launch None: the engine's optimum."""
    width, baud, channels = case["spacing_hz"] / 1e9, case["baud_rate_hz"] / 1e9, case["n_channels"]
    gear = {
        **flat(nf_db=case["nf_db"]),
        "fibers": {"glass": fiber_type(LINES["fibers"][case["fiber"]])},
        "equipment": {"mux": NOTHING},
        "transponders": own(baud_gbd=baud, width_ghz=width),
        "band_start_thz": 193.7 - channels * width / 2e3,
        "band_end_thz": 193.7 + channels * width / 2e3,
    }
    spans = [{"length_km": case["span_km"]}] * case["n_spans"]
    policy = {"repair_db_per_span": 0, "connector_db": case["connector_db_per_end"]}
    network = chain({"type": "glass", "spans": spans}, gear=gear, **policy)
    line = design_lines(network)["f1"]
    assert isinstance(line, Line)
    ways = ways_of(network, {"f1": line})
    mode = network.catalog.transponders["own"].modes["m"]
    comb = load_of(network, mode)
    assert comb.channels == channels
    loading = load(
        line.spans, "flat", network.catalog.amplifiers, network.fiber_type("f1"), network.policy.connector_db, comb
    )
    if launch_dbm is not None:
        loading = replace(loading, launch_dbm=launch_dbm)
    silent = network.catalog.amplifiers["flat"].model_copy(update={"nf_db": tuple(map(tuple, SILENT))})
    loads = Loads.of(comb, [loading] * len(ways), [silent] * len(ways))
    noise = noise_along(journey(network, [whole(network)], ways, back=False), loads, mode)
    return line, noise, loading.launch_dbm


def gsnr_db(noise: Noise) -> np.ndarray:
    return -10 * np.log10(noise.every[0])


def test_all_72_records_are_here() -> None:
    assert len(LINES["cases"]) == 72
    assert len({case["id"] for case in LINES["cases"]}) == 72


@pytest.mark.parametrize("case", ids(LINES))
def test_lines(case: dict[str, Any]) -> None:
    line, noise, _ = run(case, case["launch_power_dbm"])
    ours, theirs = gsnr_db(noise), np.array(case["gsnr_db"])
    centre = case["n_channels"] // 2
    assert ours[centre] == pytest.approx(case["centre_gsnr_db"], abs=0.2)
    assert ours.min() == pytest.approx(theirs.min(), abs=0.2)
    assert np.abs(ours - theirs).max() < 0.35
    assert -10 * np.log10(noise.spans.sum()) == pytest.approx(case["centre_osnr_db"], abs=0.1)
    assert line.dispersion_ps_nm == pytest.approx(case["cd_ps_nm"], rel=1e-4)
    assert line.pmd_ps == pytest.approx(case["pmd_ps"], abs=1e-3)


@pytest.mark.parametrize("case", ids(LINES))
def test_rule_of_58(case: dict[str, Any]) -> None:
    _, noise, _ = run(case, case["launch_power_dbm"])
    assert -10 * np.log10(noise.spans.sum()) == pytest.approx(case["rule_of_58_db"], abs=0.13)


def test_closed_form_is_the_published_one() -> None:
    """Not better nor worse than the closed form is known to agree with GNPy: median of the centre channel 0.026 dB."""
    off = [
        abs(gsnr_db(run(case, case["launch_power_dbm"])[1])[case["n_channels"] // 2] - case["centre_gsnr_db"])
        for case in LINES["cases"]
    ]
    assert np.median(off) == pytest.approx(0.026, abs=0.01)
    assert max(off) < 0.16


@pytest.mark.parametrize("case", ids(OPTIMUM))
def test_optimum(case: dict[str, Any]) -> None:
    _, noise, launch = run(case, None)
    assert launch == pytest.approx(case["p_opt_dbm"], abs=0.1)
    centre = case["n_channels"] // 2
    assert gsnr_db(noise)[centre] == pytest.approx(case["centre_gsnr_db"], abs=0.2)
    assert case["ase_minus_nli_db"] == pytest.approx(-3.01, abs=0.05)


@pytest.mark.parametrize("case", [case for case in ids(DCI) if case.values[0]["booster_nf"] is not None])
def test_dci(case: dict[str, Any]) -> None:
    """Booster, one span, preamplifier, transmitter noise, mux loss: the whole chain against GNPy."""
    width, channels = case["spacing_ghz"], case["n_channels"]
    gear = {
        **flat(nf_db=case["preamp_nf"], output_max_dbm=case["launch_dbm"] + 10 * np.log10(channels)),
        "fibers": {"glass": fiber_type(DCI["fibers"][case["fiber"]])},
        "equipment": {"mux": {"loss_db": case["mux_loss_db"]}},
        "transponders": own(
            baud_gbd=case["baud_gbd"], width_ghz=width, tx_dbm=case["tx_power_dbm"], tx_osnr_db=case["tx_osnr_0p1nm_db"]
        ),
        "band_start_thz": 193.7 - channels * width / 2e3,
        "band_end_thz": 193.7 + channels * width / 2e3,
    }
    policy = {"repair_db_per_span": 0, "connector_db": case["connector_db_per_end"]}
    network = chain({"type": "glass", "spans": [{"length_km": case["km"]}]}, gear=gear, **policy)
    line = design_lines(network)["f1"]
    assert isinstance(line, Line)
    ways = ways_of(network, {"f1": line})
    mode = network.catalog.transponders["own"].modes["m"]
    loading = load(
        line.spans,
        "flat",
        network.catalog.amplifiers,
        network.fiber_type("f1"),
        network.policy.connector_db,
        load_of(network, mode),
    )
    loads = Loads.of(
        load_of(network, mode),
        [replace(loading, launch_dbm=case["launch_dbm"])] * len(ways),
        [network.catalog.amplifiers["flat"]] * len(ways),
    )
    ours = gsnr_db(noise_along(journey(network, [whole(network)], ways, back=False), loads, mode))
    assert ours[channels // 2] == pytest.approx(case["centre_gsnr_db"], abs=0.2)
    assert ours.min() == pytest.approx(case["worst_gsnr_db"], abs=0.2)


@pytest.mark.parametrize(
    ("name", "gain_db", "nf_db"),
    [
        ("gnpy-low-gain", 12.0, 7.46),
        ("gnpy-medium-gain", 18.78, 7.0),
        ("gnpy-medium-gain", 19.0, 6.9),
        ("gnpy-medium-gain", 19.46, 6.74),
        ("gnpy-medium-gain", 20.0, 6.58),
        ("gnpy-medium-gain", 20.5, 6.46),
        ("gnpy-medium-gain", 21.0, 6.36),
        ("gnpy-medium-gain", 22.5, 6.16),
        ("gnpy-medium-gain", 23.0, 6.12),
        ("gnpy-medium-gain", 24.0, 6.06),
    ],
)
def test_shipped_amplifiers_have_the_noise_figures_of_gnpy(name: str, gain_db: float, nf_db: float) -> None:
    """Noise figures that GNPy's own design printed for its library amplifiers (autodesign runs)."""
    part = shipped("amplifiers")[name]
    assert isinstance(part, Amplifier)
    assert noise_figure_db(part, gain_db) == pytest.approx(nf_db, abs=0.03)
