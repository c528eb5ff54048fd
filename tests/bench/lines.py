"""The line on which GNPy and dcplan are timed side by side: 10 × 80 km of SSMF, 64 channels of 75 GHz, all channels."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253

from dcplan.model.network import Route
from dcplan.optics.allowed import load_of
from dcplan.optics.budget import Line
from dcplan.optics.journey import journey, ways_of
from dcplan.optics.lightpath import loads_of
from dcplan.optics.line import design_lines
from dcplan.optics.nonlinear import interaction
from dcplan.optics.walk import noise_along
from tests.optics.networks import network_of, own

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network

ROOT = Path(__file__).parents[2]
GNPY = ROOT / ".venv-gnpy" / "bin" / "python"
SPANS, SPAN_KM, CHANNELS, WIDTH_GHZ, BAUD_GBD, LAUNCH_DBM, NF_DB = 10, 80.0, 64, 75.0, 63.1, 0.0, 5.5
GLASS = {"attenuation_db_per_km": 0.2, "dispersion_ps_nm_km": 16.7, "effective_area_um2": 83, "group_index": 1.468}
"""GNPy's SSMF."""
START_THZ = 193.7 - CHANNELS * WIDTH_GHZ / 2e3


@dataclass(frozen=True, slots=True)
class Timed:
    """One side of the comparison: GSNR of each channel of the line in 0.1 nm, and the best time of one core."""

    gsnr_db: list[float]
    best_s: float
    """For one line."""


def network(lines: list[list[float]]) -> Network:
    """Two sites, and a fiber for each list of span lengths; flat amplifiers, silent boosters, no loss at sites."""
    flat = {"gain_min_db": 0, "gain_max_db": 60, "output_max_dbm": 40}
    amplifiers = {
        "flat": flat | {"nf_db": [[0, NF_DB]], "role": "preamp"},
        "hut": flat | {"nf_db": [[0, NF_DB]], "role": "line"},
        "silent": flat | {"nf_db": [[0, -300]], "role": "booster"},
    }
    return network_of(
        {
            "sites": {"a": {"lat": 0, "lon": 0, "express": False}, "b": {"lat": 0, "lon": 7, "express": False}},
            "fibers": {
                f"f{i}": {"ends": ["a", "b"], "type": "glass", "pairs": 1, "spans": [{"length_km": km} for km in spans]}
                for i, spans in enumerate(lines)
            },
            "gear": {
                "allow": {"amplifiers": list(amplifiers), "transponders": ["own"]},
                "amplifiers": amplifiers,
                "fibers": {"glass": GLASS},
                "equipment": {"mux": {"loss_db": 0}},
                "transponders": own(baud_gbd=BAUD_GBD, width_ghz=WIDTH_GHZ),
                "band_start_thz": START_THZ,
                "band_end_thz": START_THZ + CHANNELS * WIDTH_GHZ / 1e3,
            },
            "policy": {"repair_db_per_span": 0, "connector_db": 0, "launch_dbm": LAUNCH_DBM},
        }
    )


def calculation(lines: list[list[float]], *, paths: bool) -> Callable[[], np.ndarray]:
    """What is timed of ours: one direction of each designed line, to the GSNR of each channel; shape (L, C).

    Nothing is kept from call to call: what lines share (interaction of channels) is computed anew in each. Paths, as
    arrays with their dispersion, PMD and PDL, are made before, as GNPy's list of elements is; or with `paths`, too.
    """
    made = network(lines)
    designed = {name: line for name, line in design_lines(made).items() if isinstance(line, Line)}
    ways = {key: way for key, way in ways_of(made, designed).items() if key[1] == "a"}
    mode = made.catalog.transponders["own"].modes["m"]
    routes = [Route(("a", "b"), (name,)) for name in designed]
    before = journey(made, routes, ways, back=False)

    def run() -> np.ndarray:
        interaction.cache_clear()
        path = journey(made, routes, ways, back=False) if paths else before
        loads = loads_of(made, list(ways.values()), load_of(made, mode))
        return -10 * np.log10(noise_along(path, loads, mode).every)

    return run


def ours(lines: list[list[float]], repeat: int, *, paths: bool = False) -> Timed:
    """Our side: the GSNR of the first line, the time of a line."""
    run = calculation(lines, paths=paths)
    times = []
    for _ in range(repeat):
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return Timed(found[0].tolist(), min(times) / len(lines))


def unlike(count: int) -> list[list[float]]:
    """The line, and others of as many spans between 70 and 90 km, no two alike."""
    pick = random.Random(1)
    others = [[pick.uniform(70, 90) for _ in range(SPANS)] for _ in range(count - 1)]
    return [[SPAN_KM] * SPANS, *others]


def gnpy(repeat: int) -> Timed:
    """GNPy's side, in its own Python."""
    case: dict[str, Any] = {
        "spans": SPANS,
        "span_km": SPAN_KM,
        "attenuation_db_per_km": GLASS["attenuation_db_per_km"],
        "dispersion_ps_nm_km": GLASS["dispersion_ps_nm_km"],
        "effective_area_um2": GLASS["effective_area_um2"],
        "connector_db": 0,
        "nf_db": NF_DB,
        "first_thz": START_THZ + WIDTH_GHZ / 2e3,
        "channels": CHANNELS,
        "width_ghz": WIDTH_GHZ,
        "baud_gbd": BAUD_GBD,
        "roll_off": 0.15,
        "launch_dbm": LAUNCH_DBM,
        "repeat": repeat,
    }
    side = Path(__file__).with_name("gnpy_side.py")
    quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # threads of so small arrays only stand in each other's way
    told = subprocess.run(
        [GNPY, side], input=json.dumps(case), check=True, capture_output=True, text=True, env=quiet
    ).stdout
    found = json.loads(told)
    return Timed(found["gsnr_db"], found["best_s"])


@dataclass(frozen=True, slots=True)
class Compared:
    """GNPy and ours on one line, in one run."""

    what: str
    theirs: Timed
    ours: Timed

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs.best_s / self.ours.best_s

    @property
    def apart_db(self) -> float:
        """The larger difference of the GSNR of the centre and of the worst channel [dB]."""
        theirs, ours = self.theirs.gsnr_db, self.ours.gsnr_db
        centre = len(ours) // 2
        return max(abs(theirs[centre] - ours[centre]), abs(min(theirs) - min(ours)))

    @property
    def said(self) -> str:
        """In words."""
        times = f"GNPy {self.theirs.best_s * 1e3:8.3f} ms, dcplan {self.ours.best_s * 1e3:6.3f} ms"
        return f"{self.what:<44} {times}: {self.ratio:5.0f} times; GSNR {self.apart_db:.3f} dB apart"


def compared(rounds: int = 3, batch: int = 500) -> list[Compared]:
    """Side by side: the sides take turns, for each the best of all rounds counts."""
    one, many = [[SPAN_KM] * SPANS], unlike(batch)
    tries: list[tuple[Timed, ...]] = []
    for _ in range(rounds):
        mine = (ours(one, 60), ours(one, 60, paths=True), ours(many, 4), ours(many, 4, paths=True))
        tries.append((gnpy(25), *mine))
    theirs, single, single_paths, lines, lines_paths = (
        min(each, key=lambda timed: timed.best_s) for each in zip(*tries, strict=True)
    )
    return [
        Compared("a single call", theirs, single),
        Compared("a single call, path made anew", theirs, single_paths),
        Compared(f"a line in a batch of {batch}", theirs, lines),
        Compared(f"a line in a batch of {batch}, paths made anew", theirs, lines_paths),
    ]
