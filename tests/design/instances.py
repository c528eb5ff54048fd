"""Published and generated instances as problems: every link a circuit with its modules, every failure given."""

from __future__ import annotations

import json
import re
from pathlib import Path

from dcplan.catalog.load import Catalog
from dcplan.design.circuits import lightpaths_of
from dcplan.design.problem import problem
from dcplan.design.result import Demand
from dcplan.model.network import Network, pair
from dcplan.model.schema import Topology
from dcplan.model.source import Document
from dcplan.model.states import HEALTHY, State

DATA = Path(__file__).parent / "data"
CATALOG = Catalog({}, {}, {}, {}, {}, {}, {})
UNIT_USD = 1000.0
"""US$ for one unit of an instance's cost."""


def problem_of(links, demands, states):
    """links: name -> (a, b, [(gbps, cost)], pick, existing Gb/s, cost per Gb/s); demands: (name, a, b, gbps).

    states: sets of lost links.
    """
    sites = sorted({site for a, b, *_ in links.values() for site in (a, b)})
    circuits = {
        name: {
            "ends": [a, b],
            "length_km": 100,
            "modules": {f"m{i}": {"gbps": gbps, "usd": cost * UNIT_USD} for i, (gbps, cost) in enumerate(modules)},
            "pick": pick,
            "existing_gbps": existing,
            "usd_per_gbps": per_gbps * UNIT_USD,
        }
        for name, (a, b, modules, pick, existing, per_gbps) in links.items()
    }
    topology = Topology.model_validate(
        {
            "dcplan": 1,
            "name": "instance",
            "sites": {site: {"lat": 40.0, "lon": -90.0} for site in sites},
            "circuits": circuits,
            "fibers": {},
        }
    )
    network = Network(topology, CATALOG, Document(None))
    lost = [State("+".join(sorted(gone)) or HEALTHY.name, frozenset(gone)) for gone in states]
    asked = [Demand(name, pair(a, b), {state.name: gbps for state in lost}) for name, a, b, gbps in demands]
    return problem(network, (), lightpaths_of(network), asked, lost)


def dci(path, times=1.0):
    """A generated mesh: sites, links with modules, demands, states as lists of lost links."""
    about = json.loads(Path(path).read_text())
    links = {
        link["id"]: (*link["ends"], [(module["gbps"], module["cost"]) for module in link["modules"]], "any", 0.0, 0.0)
        for link in about["links"]
    }
    demands = [(demand["id"], *demand["ends"], demand["gbps"] * times) for demand in about["demands"]]
    return problem_of(links, demands, about["states"])


def sndlib(path, *, pick="any", survive=True, least_gbps=100.0):
    """A network in SNDlib's native format as …-U-U-M-N-C-A-N-U (or -N): undirected, modules, no set-up price.

    Demands between the same two sites are added up. Rates are scaled so that the smallest module has `least_gbps`.
    `pick="knapsack"`: the list of a link is the closure of two modules, 20 and 40, up to its largest entry.
    """
    text = re.sub(r"#.*", "", Path(path).read_text(encoding="latin-1"))
    link_row = r"^\s*(\S+)\s*\(\s*(\S+)\s+(\S+)\s*\)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*\(([^)]*)\)"
    demand_row = r"^\s*(\S+)\s*\(\s*(\S+)\s+(\S+)\s*\)\s+(\S+)\s+(\S+)\s+(\S+)\s*$"
    links, total = {}, {}
    for name, a, b, there, _, per_rate, _, listed in re.findall(link_row, _section(text, "LINKS"), re.MULTILINE):
        numbers = [float(word) for word in listed.split()]
        modules = list(zip(numbers[::2], numbers[1::2], strict=True))
        if pick == "knapsack" and modules[1][0] == 2 * modules[0][0]:
            modules = modules[:2]
        links[name] = (a, b, modules, "any" if pick == "knapsack" else pick, float(there), float(per_rate))
    for _, a, b, _, value, _ in re.findall(demand_row, _section(text, "DEMANDS"), re.MULTILINE):
        total[pair(a, b)] = total.get(pair(a, b), 0.0) + float(value)
    scale = least_gbps / min(gbps for _, _, modules, *_ in links.values() for gbps, _ in modules)
    scaled = {
        name: (a, b, [(gbps * scale, cost) for gbps, cost in modules], picked, there * scale, per_rate / scale)
        for name, (a, b, modules, picked, there, per_rate) in links.items()
    }
    demands = [(f"D{i}", a, b, value * scale) for i, ((a, b), value) in enumerate(sorted(total.items()))]
    return problem_of(scaled, demands, [(), *((name,) for name in links)] if survive else [()])


def _section(text, name):
    found = re.search(rf"^{name} \(\n(.*?)^\)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
