"""GNPy's automatic design of lines, made again with the same library, padding and span split."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier
from dcplan.model.network import Network
from dcplan.optics.budget import Line
from dcplan.optics.line import design_line
from dcplan.optics.spans import gnpy_count
from tests.optics.networks import budget_of, chain, own

DATA = Path(__file__).parent / "data"
DESIGN, SPLIT = (json.loads((DATA / f"gnpy_{name}.json").read_text()) for name in ("autodesign", "span_split"))
NAMES = {
    "std_low_gain": "gnpy-low-gain",
    "std_medium_gain": "gnpy-medium-gain",
    "std_high_gain": "gnpy-high-gain",
    "hybrid_4pumps_lowgain": "gnpy-hybrid-raman",
}
EXTENDED_DB = 2.5
"""GNPy lets an amplifier work so far beyond its flat gain (Span.target_extended_gain)."""
BEYOND = ((16.5, 6.48), (17.5, 6.44), (18.28, 6.42))
"""Noise figures of std_low_gain beyond its flat gain, as GNPy printed them."""


def library() -> dict[str, Any]:
    parts = {}
    for name in NAMES.values():
        part = shipped("amplifiers")[name]
        assert isinstance(part, Amplifier)
        table = (*part.nf_db, *BEYOND) if part.gain_max_db in (16.0, 28.0) else part.nf_db
        changed = {"nf_db": table, "gain_max_db": part.gain_max_db + EXTENDED_DB}
        parts[name] = part.model_dump() | changed
    return parts


def network(km: float, **policy: Any) -> Network:
    """ROADMs put out −20 dBm per channel; add and drop 41 dB each, as GNPy's 38 dB for both together."""
    gear = {
        "amplifiers": library(),
        "allow": {"amplifiers": list(NAMES.values())},
        "equipment": {"mux": {"loss_db": 10, "add_drop_osnr_db": 41}},
        "transponders": own(tx_dbm=-10, tx_osnr_db=36),
        "band_start_thz": 191.2875,
        "band_end_thz": 196.0875,
    }
    gnpys = {"span_split": "gnpy", "min_span_loss_db": 10, "repair_db_per_span": 0, "connector_db": 0.25}
    return chain({"length_km": km}, gear=gear, **gnpys, **policy)


def designed(made: Network) -> Line:
    line = design_line(made, "f1")
    assert isinstance(line, Line)
    return line


@pytest.mark.parametrize(("km", "spans"), SPLIT["rows_km_spans"])
def test_span_split_is_gnpys(km: float, spans: int) -> None:
    assert gnpy_count(km) == spans


CASES = [pytest.param(case, id=f"{case['km']}km") for case in DESIGN["cases"]]


@pytest.mark.parametrize("case", CASES)
def test_spans_and_amplifiers_are_gnpys(case: dict[str, Any]) -> None:
    """The same spans, padded alike, and the same types; GNPy's last gain also lifts light to 1 dBm for its ROADM."""
    line = designed(network(case["km"]))
    booster, *behind = (NAMES[name] for name, _, _, _ in case["amplifiers"])
    assert line.booster == booster
    assert [row.amplifier for row in line.spans[:-1]] == behind[:-1]
    if case["km"] != 800:  # lifted, the last gain leaves the window of the low-gain amplifier
        assert line.spans[-1].amplifier == behind[-1]
    assert [row.loss_db + row.padding_db for row in line.spans] == pytest.approx(case["span_loss_db"], abs=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_designs_reach_what_gnpys_reach(case: dict[str, Any]) -> None:
    """At the optimum launch, which GNPy's rule misses on long lines: never worse, at most 0.7 dB better."""
    gsnr = budget_of(network(case["km"]), "m").gsnr_db
    assert gsnr is not None
    assert -0.05 < gsnr - case["worst_gsnr_db"] < 0.7


@pytest.mark.parametrize("case", CASES)
def test_at_gnpys_launch_the_designs_agree(case: dict[str, Any]) -> None:
    total_dbm = case["amplifiers"][0][3]
    launch = total_dbm - 10 * math.log10(case["channels"])
    gsnr = budget_of(network(case["km"], launch_dbm=launch), "m").gsnr_db
    assert gsnr == pytest.approx(case["worst_gsnr_db"], abs=0.25)


@pytest.mark.parametrize("case", CASES)
def test_the_choice_is_explained(case: dict[str, Any]) -> None:
    """Each row says how many amplifiers reach and how far the second is behind; Raman pumps are pointed out."""
    for row in designed(network(case["km"])).spans:
        found = re.match(r"best GSNR of (\d) that reach ([\d.]+) dB, ([\d.]+) dB before (\S+?)(,|$)", row.why)
        assert found is not None, row.why
        count, loss, lead, second = int(found[1]), float(found[2]), float(found[3]), found[4]
        reach = [name for name, part in library().items() if reaches(part, row.loss_db + row.padding_db)]
        assert (count, second in reach) == (len(reach), True)
        assert loss == pytest.approx(row.gain_db, abs=0.051)
        assert lead > 0
        assert ("Raman" in row.why) == (row.amplifier == "gnpy-hybrid-raman")


def reaches(part: dict[str, Any], loss_db: float) -> bool:
    return bool(loss_db <= part["gain_max_db"] and (part["raman"] is None or loss_db >= part["gain_min_db"]))
