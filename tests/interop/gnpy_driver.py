"""Runs GNPy on an exported network. For the Python that has GNPy: `python gnpy_driver.py FOLDER`; prints JSON.

For each service of services.json: GSNR, OSNR [dB, 0.1 nm] and received power [dBm] of every channel, CD, PMD, PDL.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)


def main(folder: Path) -> None:
    from gnpy.core.elements import Roadm  # type: ignore[import-not-found]
    from gnpy.tools.json_io import load_equipments_and_configs, load_network  # type: ignore[import-not-found]
    from gnpy.tools.worker_utils import designed_network  # type: ignore[import-not-found]
    from gnpy.topology.request import compute_constrained_path, propagate  # type: ignore[import-not-found]

    services = json.loads((folder / "services.json").read_text(encoding="utf-8"))["path-request"]
    answer = {}
    for service in services:
        equipment = load_equipments_and_configs(folder / "eqpt_config.json", [], [])
        network = load_network(folder / "topology.json", equipment)
        hops = service["explicit-route-objects"]["route-object-include-exclude"]
        via = [hop["num-unnum-hop"]["node-id"] for hop in hops]
        network, request, _ = designed_network(
            equipment,
            network,
            service["source"],
            service["destination"],
            nodes_list=via,
            loose_list=["STRICT"] * len(via),
        )
        path = compute_constrained_path(network, request)
        propagate(path, request, equipment)
        end = path[-1]
        answer[service["request-id"]] = {
            "gsnr_db": [round(float(value), 4) for value in end.snr_01nm],
            "osnr_db": [round(float(value), 4) for value in end.osnr_ase_01nm],
            "cd_ps_nm": round(float(end.chromatic_dispersion[0]), 3),
            "pmd_ps": round(float(end.pmd[0]), 4),
            "pdl_db": round(float(end.pdl[0]), 4),
            "roadms": [node.uid for node in path if isinstance(node, Roadm)],
        }
    json.dump(answer, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
