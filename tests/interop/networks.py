"""Small networks that are exported to GNPy, and GNPy's examples that are imported."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.design.candidates import routes
from dcplan.interop.gnpy.export import export
from dcplan.model.load import load_document
from dcplan.model.source import parse
from dcplan.optics.allowed import usable_modes
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.interop.exported import Exported
    from dcplan.model.network import Network
    from dcplan.optics.budget import Lightpath

DATA = Path(__file__).parent / "data"
RESULTS = DATA / "gnpy_results.json"
GNPY = Path(__file__).parents[2] / ".venv-gnpy" / "bin" / "python"
"""Where `make gnpy` puts a Python with GNPy."""
MODE = "own:400g"

POLICY = "policy: {margin_db: 2, ageing_db: 0.5, connector_db: 0.25, repair_db_per_span: 0.5}\n"
OWN = """\
  transponders:
    own:
      price_usd: 1
      modes:
        400g: {rate_gbps: 400, baud_gbd: 63.1, width_ghz: 75, required_osnr_db: 20, tx_osnr_db: 37, tx_dbm: -5}
"""
SITES = """\
sites:
  a: {lat: 40.0, lon: -100.0}
  b: {lat: 40.5, lon: -100.3}
  c: {lat: 41.0, lon: -101.0}
  d: {lat: 41.5, lon: -102.5}
"""
GLASS = """\
gear:
  allow: {transponders: [own], amplifiers: [gnpy-low-gain, gnpy-medium-gain, gnpy-high-gain]}
  fibers:
    glass: {attenuation_db_per_km: 0.2, dispersion_ps_nm_km: 16.7, effective_area_um2: 83, group_index: 1.468}
    large: {attenuation_db_per_km: 0.17, dispersion_ps_nm_km: 21, effective_area_um2: 125, group_index: 1.468}
"""
LINES = """\
fibers:
  short: {ends: [a, b], length_km: 92, type: glass, pairs: 1}
  long: {ends: [a, b], length_km: 610, type: large, pairs: 1}
  measured: {ends: [a, b], type: glass, pairs: 1,
             spans: [{length_km: 70, loss_db: 15.6}, {length_km: 40}, {length_km: 88, loss_db: 17.2, type: large}]}
"""
MESH = """\
fibers:
  ab: {ends: [a, b], length_km: 80, type: glass, pairs: 1}
  bc: {ends: [b, c], length_km: 260, type: large, pairs: 1}
  cd: {ends: [c, d], length_km: 420, type: glass, pairs: 1}
  bd: {ends: [b, d], length_km: 510, type: large, pairs: 1}
"""
HEAD = "dcplan: 1\nname: {name}\n"
TEXTS = {
    "lines": HEAD.format(name="Lines") + SITES.split("  c:", 1)[0] + LINES + GLASS + OWN + POLICY,
    "mesh": HEAD.format(name="Mesh") + SITES + MESH + GLASS + OWN + POLICY,
}
"""Topology files by name; a to b are one terminal each, b, c and d pass light on."""
EXAMPLES = {
    "Sweden_OpenROADMv5_example_network": "eqpt_config_openroadm_ver5",
    "edfa_example_network": "eqpt_config",
    "fused_roadm_example_network": "eqpt_config",
    "meshTopologyExampleV2": "eqpt_config",
    "raman_edfa_example_network": "eqpt_config",
}
"""GNPy's examples: topology -> equipment."""


def network_from(text: str) -> Network:
    network, found = load_document(parse(text, "t.yaml"))
    assert network is not None, found
    return network


def lit(network: Network, mode: str = MODE) -> tuple[Lightpath, ...]:
    """Every candidate with the budget of one mode."""
    named = [one for one in usable_modes(network) if f"{one[0]}:{one[1]}" == mode]
    return evaluate(network, design_lines(network), routes(network), modes=named)


def exported(network: Network, mode: str = MODE) -> Exported:
    (named,) = [one for one in usable_modes(network) if f"{one[0]}:{one[1]}" == mode]
    return export(network, design_lines(network), lit(network, mode), named)


def paths_of(made: Exported) -> dict[str, list[str]]:
    """The nodes of each service, from transceiver to transceiver, by its id."""
    return {
        service["request-id"]: [
            service["source"],
            *(
                hop["num-unnum-hop"]["node-id"]
                for hop in service["explicit-route-objects"]["route-object-include-exclude"]
            ),
        ]
        for service in json.loads(made.files["services.json"])["path-request"]
    }


def run_gnpy(python: Path, topology: Path, equipment: Path, paths: Sequence[list[str]]) -> dict[str, Any]:
    """GNPy's answer; a crash of it is an error with its message."""
    asked = json.dumps({"topology": str(topology), "equipment": str(equipment), "paths": list(paths)})
    driver = Path(__file__).with_name("gnpy_driver.py")
    done = subprocess.run([str(python), str(driver)], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
