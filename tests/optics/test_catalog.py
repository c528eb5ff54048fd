"""The shipped optical parts: sourced, marked where they are estimates, and as their sources say."""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier, Equipment, FiberType, Part, Transponder
from dcplan.optics.amplifier import noise_figure_db
from dcplan.units import LIGHT_M_PER_S

KINDS = ("fibers", "amplifiers", "transponders", "equipment", "appliances")
ENTRIES = [pytest.param(kind, name, id=f"{kind}.{name}") for kind in KINDS for name in shipped(kind)]


def raw(kind: str, name: str) -> dict[str, Any]:
    text = (files("dcplan.catalog") / "data" / f"{kind}.toml").read_text(encoding="utf-8")
    entry: dict[str, Any] = tomllib.loads(text)[name]
    return entry


def faults_of(entry: dict[str, Any]) -> list[str]:
    """What an entry owes its reader; the test below shows that each of these can be found."""
    faults = [field for field in ("source", "confidence") if not entry.get(field)]
    if entry.get("source", "user") == "user":
        faults.append("source is a user's")
    if entry.get("confidence") == "low" and not entry.get("note"):
        faults.append("low confidence without a note")
    if "price_usd" in entry and not entry.get("price_source"):
        faults.append("price without a source")
    if entry.get("price_source", "").startswith("estimate") != ("price_usd" in entry.get("estimates", [])):
        faults.append("estimated price not listed, or listed and not estimated")
    return faults


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_entry_has_source_and_confidence(kind: str, name: str) -> None:
    assert faults_of(raw(kind, name)) == []


@pytest.mark.parametrize(
    "without",
    [
        {"confidence": "high"},
        {"source": "x"},
        {"source": "user", "confidence": "high"},
        {"source": "x", "confidence": "low"},
        {"source": "x", "confidence": "high", "price_usd": 1.0},
        {"source": "x", "confidence": "high", "price_usd": 1.0, "price_source": "estimate: y"},
    ],
)
def test_an_unsourced_entry_is_found(without: dict[str, Any]) -> None:
    assert faults_of(without)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_estimates_name_fields_that_the_entry_states(kind: str, name: str) -> None:
    entry = raw(kind, name)
    for path in entry.get("estimates", []):
        place: Any = entry
        for part in path.split("."):
            assert part in place, path
            place = place[part]


def test_power_of_what_is_bought_is_known() -> None:
    """Energy is priced, so a part that a plan may use without being named has a power; passive gear says 0."""
    for kind in ("amplifiers", "transponders", "equipment"):
        for name, part in shipped(kind).items():
            entry = raw(kind, name)
            usable = not isinstance(part, Transponder) or any(m.required_osnr_db for m in part.modes.values())
            assert not usable or "power_w" in entry, name


def test_parts_that_nothing_is_known_of_are_kept_but_unusable() -> None:
    for name in ("1600zr", "ciena-wl6e", "nokia-pse6s", "infinera-ice7", "acacia-cim8"):
        part = shipped("transponders")[name]
        assert isinstance(part, Transponder)
        assert all(mode.required_osnr_db is None for mode in part.modes.values())
        assert "not published" in part.note


def test_signals_wider_than_their_slot_say_so() -> None:
    """63.1 GBd at roll-off 0.20 takes 75.72 GHz: kept on 75, with a note; never more than one percent over."""
    for name, part in shipped("transponders").items():
        assert isinstance(part, Transponder)
        for mode in part.modes.values():
            taken = mode.baud_gbd * (1 + mode.roll_off)
            if taken > mode.width_ghz and mode.required_osnr_db is not None:
                assert "oll-off" in part.note, (name, mode)
                assert taken < 1.01 * mode.width_ghz, (name, mode)


def test_fibers_against_the_physics() -> None:
    glass, hollow = shipped("fibers")["g652d"], shipped("fibers")["hollow-core"]
    assert isinstance(glass, FiberType)
    assert isinstance(hollow, FiberType)
    assert glass.group_index / LIGHT_M_PER_S * 1e9 == pytest.approx(4.8967, abs=1e-3)
    assert 1 - hollow.group_index / glass.group_index == pytest.approx(0.317, abs=1e-3)
    assert not hollow.nonlinear


def test_amplifiers_are_noisiest_at_least_gain() -> None:
    for part in shipped("amplifiers").values():
        assert isinstance(part, Amplifier)
        if part.osnr_cubic or part.raman:  # the cubic follows the input; Raman gain lies below the quantum limit
            continue
        figures = [figure for _, figure in part.nf_db]
        assert figures[0] == max(figures)
        assert [gain for gain, _ in part.nf_db] == sorted(gain for gain, _ in part.nf_db)
        assert noise_figure_db(part, part.gain_max_db) == figures[-1]
        assert min(figures) > 3.0, "quantum limit of a phase-insensitive amplifier at high gain"


@pytest.mark.parametrize(("name", "osnr_db"), [("openroadm-ila", 30.17), ("openroadm-ila-low-noise", 31.0)])
def test_openroadm_amplifiers_give_the_osnr_of_the_msa(name: str, osnr_db: float) -> None:
    """At −20 dBm in, the MSA's cubic gives 30.17 and 31.00 dB; the mask gives that input at 21.5 dB of gain."""
    part = shipped("amplifiers")[name]
    assert isinstance(part, Amplifier)
    gain = (20 - 5.6667) * 1.5
    assert 58 - 20 - noise_figure_db(part, gain, -20.0) == pytest.approx(osnr_db, abs=0.02)


def test_terminal_gear() -> None:
    mux, roadm = shipped("equipment")["mux"], shipped("equipment")["roadm"]
    assert isinstance(mux, Equipment)
    assert isinstance(roadm, Equipment)
    assert mux.express_loss_db is None
    assert roadm.express_loss_db is not None
    assert roadm.add_drop_osnr_db == 41.0


def test_openroadm_modes_end_where_the_msa_ends_them() -> None:
    part = shipped("transponders")["openroadm-6"]
    assert isinstance(part, Transponder)
    mode = part.modes["400g-63gbd"]
    assert (mode.required_osnr_db, mode.rx_min_dbm, mode.tx_osnr_db) == (24.0, -14.0, 37.0)
    assert mode.cd_penalty[-1] == (12000.0, 0.5)
    assert mode.pmd_penalty[-1] == (20.0, 0.5)
    assert mode.pdl_penalty == ((1.0, 0.5), (2.0, 1.0), (4.0, 2.5))
    assert part.modes["600g-118gbd"].required_osnr_db is None
    assert all(math.isclose(m.width_ghz % 12.5, 0) for m in part.modes.values())
    assert part.modes["800g-131gbd-e"].width_ghz == 162.5


def test_entries_are_parts() -> None:
    assert all(isinstance(part, Part) for kind in KINDS for part in shipped(kind).values())
