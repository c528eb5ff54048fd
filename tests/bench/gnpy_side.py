"""GNPy's side of the comparison, run by the Python of .venv-gnpy: a line from stdin, GSNR and times to stdout, as JSON.

The line is built from GNPy's own elements: transceiver, and span by span a Fiber and an Edfa of fixed, flat gain equal
to the loss of the span. What is timed is `gnpy.topology.request.propagate` and nothing else, in time of one core, so
that other work on the machine hardly counts.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

from gnpy.core.elements import Edfa, Fiber, Transceiver
from gnpy.core.parameters import EdfaParams
from gnpy.topology.request import propagate

FixedNoise = namedtuple("FixedNoise", "nf0")  # noqa: PYI024 - as GNPy reads it


def path_of(case: dict[str, Any]) -> list[Any]:
    """Transceiver, (fiber, amplifier) × spans, transceiver."""
    edges = {"f_min": 191.2e12, "f_max": 196.2e12}
    amplifier = EdfaParams.default_values | edges | {
        "type_variety": "flat", "type_def": "fixed_gain", "gain_flatmax": 40, "gain_min": 0, "p_max": 40,
        "nf_model": FixedNoise(case["nf_db"]), "dgt": [0.0],
    }  # fmt: skip
    glass = {
        "length": case["span_km"], "length_units": "km", "loss_coef": case["attenuation_db_per_km"],
        "con_in": case["connector_db"], "con_out": case["connector_db"],
        "dispersion": case["dispersion_ps_nm_km"] * 1e-6, "effective_area": case["effective_area_um2"] * 1e-12,
        "pmd_coef": 1.265e-15,
    }  # fmt: skip
    loss = case["span_km"] * case["attenuation_db_per_km"] + 2 * case["connector_db"]
    operation = {"gain_target": loss, "tilt_target": 0, "out_voa": 0, "delta_p": None}
    path: list[Any] = [Transceiver(uid="from")]
    for i in range(case["spans"]):
        fiber = Fiber(uid=f"fiber {i}", params=glass)
        fiber.ref_pch_in_dbm = case["launch_dbm"]
        path.append(fiber)
        path.append(Edfa(uid=f"amplifier {i}", params=amplifier, operational=operation))
    return [*path, Transceiver(uid="to")]


def request_of(case: dict[str, Any]) -> SimpleNamespace:
    """What `propagate` reads of a request: the comb, its power, no transmitter noise."""
    return SimpleNamespace(
        initial_spectrum=None,
        f_min=case["first_thz"] * 1e12,
        f_max=(case["first_thz"] * 1e3 + (case["channels"] - 1) * case["width_ghz"]) * 1e9,
        spacing=case["width_ghz"] * 1e9,
        baud_rate=case["baud_gbd"] * 1e9,
        roll_off=case["roll_off"],
        tx_osnr=200,
        tx_power=1e-3 * 10 ** (case["launch_dbm"] / 10),
        required_osnr_db_01nm=0,
        penalties={},
        rx_channel_power_min_dbm=None,
        rx_channel_power_max_dbm=None,
        detailed_rx=None,
        offset_db=0,
    )


def main() -> None:
    """Propagate the line a few times; the GSNR is that of the last."""
    case = json.load(sys.stdin)
    path, request = path_of(case), request_of(case)
    equipment = {"SI": {"default": request}}
    times = []
    for _ in range(case["repeat"]):
        start = time.process_time()
        propagate(path, request, equipment)
        times.append(time.process_time() - start)
    gsnr = [float(value) for value in path[-1].snr_01nm]
    json.dump({"gsnr_db": gsnr, "best_s": min(times), "median_s": statistics.median(times)}, sys.stdout)


if __name__ == "__main__":
    main()
