"""Builds small networks for the tests of optics, without the loader of topology files."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.load import Catalog, shipped
from dcplan.model.network import Network, Route
from dcplan.model.schema import Topology
from dcplan.model.source import Document, parse
from dcplan.optics.budget import Budget
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines

KINDS = ("fibers", "amplifiers", "transponders", "equipment", "appliances")


def network_of(data: dict[str, Any], document: Document | None = None) -> Network:
    topology = Topology.model_validate({"dcplan": 1, "name": "t", **data})
    parts = {kind: {**shipped(kind), **getattr(topology.gear, kind)} for kind in KINDS}
    catalog = Catalog(**parts, accelerators={}, models={}, calibrations={})
    return Network(topology, catalog, document or Document(None))


def network_from(text: str) -> Network:
    document = parse(text, "t.yaml")
    assert not document.problems
    return network_of({key: value for key, value in document.data.items() if key not in ("dcplan", "name")}, document)


def chain(*fibers: dict[str, Any], gear: dict[str, Any] | None = None, **policy: Any) -> Network:
    """Sites s0, s1, … in a row, joined by fibers f1, f2, …"""
    sites = {f"s{i}": {"lat": 0, "lon": i} for i in range(len(fibers) + 1)}
    named = {
        f"f{i}": {"ends": [f"s{i - 1}", f"s{i}"], "type": "g652d", "pairs": 1, **fiber}
        for i, fiber in enumerate(fibers, 1)
    }
    return network_of({"sites": sites, "fibers": named, "gear": gear or {}, "policy": policy})


def whole(network: Network) -> Route:
    """The route along a chain from end to end."""
    return Route(tuple(network.sites), tuple(network.fibers))


def budget_of(network: Network, mode: str, transponder: str = "own") -> Budget:
    """The budget of one mode along a whole chain."""
    (lightpath,) = evaluate(network, design_lines(network), [whole(network)])
    (found,) = [b for b in lightpath.budgets if (b.transponder, b.mode) == (transponder, mode)]
    return found


def flat(name: str = "flat", nf_db: float = 5.0, **given: Any) -> dict[str, Any]:
    """An amplifier with the same noise figure at any gain from 0 to 60 dB."""
    part = {"gain_min_db": 0, "gain_max_db": 60, "nf_db": [[0, nf_db]], "output_max_dbm": 40, **given}
    return {"allow": {"amplifiers": [name]}, "amplifiers": {name: part}}


OWN_MODE = {"rate_gbps": 400, "baud_gbd": 63.1, "width_ghz": 75, "required_osnr_db": 20, "tx_dbm": 0}


def own(**given: Any) -> dict[str, Any]:
    """A transponder `own` with a mode `m`."""
    return {"own": {"modes": {"m": {**OWN_MODE, **given}}}}
