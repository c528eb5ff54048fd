"""GNPy's amplifier models, read into own amplifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier
from dcplan.interop.gnpy.amplifiers import Library, amplifiers
from dcplan.interop.gnpy.entry import Entry
from dcplan.interop.gnpy.noise import polynomial_db, two_coil
from dcplan.optics.amplifier import noise_figure_db
from dcplan.units import db, from_db
from tests.interop.networks import DATA

SHIPPED = {"std_low_gain": "gnpy-low-gain", "std_medium_gain": "gnpy-medium-gain", "std_high_gain": "gnpy-high-gain"}


def library(*entries: dict[str, Any], extended_db: float = 0.0) -> Library:
    return amplifiers(Entry({"Edfa": list(entries)}, "e.json"), DATA, extended_db)


def part(found: Library, name: str) -> Amplifier:
    return Amplifier.model_validate(found.parts[name])


@pytest.mark.parametrize(("theirs", "ours"), SHIPPED.items())
def test_two_coils_are_those_of_the_catalog(theirs: str, ours: str) -> None:
    """The shipped tables were read off GNPy itself, at whole decibels to three places."""
    entries = {one["type_variety"]: one for one in json.loads((DATA / "eqpt_config.json").read_text())["Edfa"]}
    known = shipped("amplifiers")[ours]
    assert isinstance(known, Amplifier)
    read = part(library(entries[theirs]), theirs)
    for gain, figure in known.nf_db:
        assert noise_figure_db(read, gain) == pytest.approx(figure, abs=6e-4)
    assert (read.gain_min_db, read.gain_max_db) == (known.gain_min_db, known.gain_max_db)
    assert read.output_max_dbm == known.output_max_dbm


@settings(deadline=None)
@given(st.floats(5, 20), st.floats(5, 15), st.floats(5, 8), st.floats(0.5, 4))
def test_two_coils_give_back_the_figures_they_were_made_of(least: float, span: float, low: float, more: float) -> None:
    try:
        coils = two_coil(least, least + span, low, low + more)
    except ValueError:
        return
    assert coils.noise_figure_db(least + span) == pytest.approx(low, abs=1e-6)
    figures = [coils.noise_figure_db(least + span * step / 10) for step in range(11)]
    assert figures == sorted(figures, reverse=True)


@pytest.mark.parametrize("figures", [(15, 26, 6, 6), (15, 26, 3.5, 5), (26, 15, 6, 10)])
def test_no_two_coils(figures: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"."):
        two_coil(*figures)


def test_polynomial_of_the_advanced_model() -> None:
    """std_medium_gain_advanced_config.json at full gain is its constant; 5 dB below, by hand."""
    entry = {"type_variety": "x", "type_def": "advanced_model", "gain_flatmax": 25, "gain_min": 15, "p_max": 21}
    found = library({**entry, "advanced_config_from_json": "std_medium_gain_advanced_config.json"})
    assert noise_figure_db(part(found, "x"), 25) == pytest.approx(5.82851, abs=1e-4)
    by_hand = -0.000168241 * 125 + 0.0469961 * 25 - 0.0359549 * 5 + 5.82851
    assert noise_figure_db(part(found, "x"), 20) == pytest.approx(by_hand, abs=1e-4)
    assert polynomial_db([1.0, 2.0, 3.0], 10, 13) == pytest.approx(9 - 6 + 3)
    assert any("gain_ripple is left out" in note for _, note in found.notes)
    lost = library({**entry, "advanced_config_from_json": "nowhere.json"})
    assert lost.parts == {}
    assert "cannot be expressed" in lost.notes[0][1]


FLAT = {"type_def": "fixed_gain", "gain_flatmax": 12, "gain_min": 12, "p_max": 21}
COILS = {"type_def": "variable_gain", "gain_flatmax": 16, "gain_min": 8, "p_max": 23, "nf_min": 6.5, "nf_max": 11}


def test_two_stages() -> None:
    """F = F1 + F2 / G1, with 12 dB at 5 dB in front of the low-gain amplifier at 10 dB gain."""
    first = {"type_variety": "a", "nf0": 5, **FLAT}
    second = {"type_variety": "b", **COILS}
    both = {
        "type_variety": "ab",
        "type_def": "dual_stage",
        "preamp_variety": "a",
        "booster_variety": "b",
        "gain_min": 20,
    }
    found = library(first, second, both)
    low = noise_figure_db(part(found, "b"), 10)
    assert noise_figure_db(part(found, "ab"), 22) == pytest.approx(db(from_db(5) + from_db(low - 12)), abs=1e-3)
    assert part(found, "ab").gain_max_db == 28
    lost = library(both)
    assert "there is no amplifier a" in lost.notes[0][1]


def test_raman_in_front_is_the_stage_of_the_catalog() -> None:
    first = {"type_variety": "a", "nf0": -1, **FLAT}
    both = {"type_def": "dual_stage", "preamp_variety": "a", "booster_variety": "b", "gain_min": 25, "raman": True}
    found = library(first, {"type_variety": "b", **COILS}, {"type_variety": "ab", **both})
    known = shipped("amplifiers")["gnpy-hybrid-raman"]
    assert isinstance(known, Amplifier)
    assert part(found, "ab").raman == known.raman
    assert noise_figure_db(part(found, "ab"), 26) == pytest.approx(noise_figure_db(known, 26), abs=5e-3)


@pytest.mark.parametrize(("power", "osnr"), [(-30.0, 155 / 7), (-20.0, 195 / 7), (-11.0, 33.0), (-5.0, 33.0)])
def test_openroadm_preamp(power: float, osnr: float) -> None:
    """OSNR = min((4 P + 275) / 7, 33) at P dBm per 50 GHz."""
    found = library(
        {"type_variety": "x", "type_def": "openroadm_preamp", "gain_flatmax": 27, "gain_min": 0, "p_max": 22}
    )
    assert power - noise_figure_db(part(found, "x"), 20, power) + 58 == pytest.approx(osnr)


def test_settings_of_one_amplifier_are_joined() -> None:
    names = [("x at 17 dB", 6.0), ("x at 20.5 dB", 5.0), ("x at 17 dB, NF 6.5 dB", 6.5)]
    found = library(*({"type_variety": name, **FLAT, "nf0": figure} for name, figure in names))
    assert found.parts["x"]["nf_db"] == [[17.0, 6.5], [20.5, 5.0]]
    assert set(found.names.values()) == {"x"}


def test_what_gnpy_may_choose_and_what_it_goes_beyond() -> None:
    found = library({"type_variety": "x", **COILS, "allowed_for_design": True}, extended_db=2.5)
    assert found.design == ("x",)
    assert part(found, "x").gain_max_db == 18.5
    assert noise_figure_db(part(found, "x"), 18.5) == pytest.approx(6.5, abs=1e-3)


def test_every_amplifier_of_the_examples_is_read() -> None:
    for file in ("eqpt_config.json", "eqpt_config_openroadm_ver5.json"):
        equipment = Entry(json.loads((DATA / file).read_text()), file)
        found = amplifiers(equipment, Path(DATA), 0.0)
        assert len(found.parts) == len(list(equipment.list("Edfa")))
        for name in found.parts:
            part(found, name)
