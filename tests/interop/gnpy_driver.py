"""Runs GNPy. For the Python that has it: a request from stdin, the answer to stdout, both JSON.

Request: {topology, equipment: files; paths: [[uid, …], …], from the transceiver at one end to that at the other}.
Answer: {gnpy: version; paths: GSNR and OSNR [dB, 0.1 nm] of every channel, CD [ps/nm], PMD [ps], PDL [dB]}.
"""

from __future__ import annotations

import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path

logging.disable(logging.CRITICAL)


def rate(topology: Path, library: Path, via: list[str]) -> dict[str, object]:
    """One path under the full load of the SI block. A network is read anew each time: GNPy changes it."""
    from gnpy.tools.json_io import load_equipments_and_configs, load_network  # type: ignore[import-not-found]
    from gnpy.tools.worker_utils import designed_network  # type: ignore[import-not-found]
    from gnpy.topology.request import compute_constrained_path, propagate  # type: ignore[import-not-found]

    equipment = load_equipments_and_configs(library, [], [])
    network = load_network(topology, equipment)
    strict = ["STRICT"] * (len(via) - 1)
    network, request, _ = designed_network(equipment, network, via[0], via[-1], nodes_list=via[1:], loose_list=strict)
    path = compute_constrained_path(network, request)
    propagate(path, request, equipment)
    end = path[-1]
    return {
        "gsnr_db": [round(float(value), 3) for value in end.snr_01nm],
        "osnr_db": [round(float(value), 3) for value in end.osnr_ase_01nm],
        "cd_ps_nm": round(float(end.chromatic_dispersion[0]), 2),
        "pmd_ps": round(float(end.pmd[0]), 3),
        "pdl_db": round(float(end.pdl[0]), 3),
    }


def main() -> None:
    """Answer one request."""
    asked = json.load(sys.stdin)
    files = Path(asked["topology"]), Path(asked["equipment"])
    answer = {"gnpy": version("gnpy"), "paths": [rate(*files, via) for via in asked["paths"]]}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
