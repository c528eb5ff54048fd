"""Graphs of TopoHub: lengths kept, demands scaled, nothing empty without a word."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

from dcplan.api import check, load, plan
from dcplan.errors import UsageError
from dcplan.interop.topohub.bring import bring
from dcplan.model.source import parse

RING = {
    "directed": False,
    "multigraph": False,
    "graph": {"name": "ring", "demands": {"0": {"1": 30.0, "2": 10.0}, "1": {"0": 50.0}}, "stats": {}},
    "nodes": [
        {"name": "Ulm", "pos": [9.99, 48.4], "id": 0},
        {"name": "Augsburg", "pos": [10.9, 48.37], "id": 1},
        {"name": "Ulm", "pos": [10.2, 48.9], "id": 2},
    ],
    "edges": [
        {"dist": 90.0, "source": 0, "target": 1},
        {"dist": 0, "source": 1, "target": 2},
        {"dist": 60.5, "source": 0, "target": 2, "ecmp_fwd": {"uni": 1}},
    ],
}


def brought(tmp_path, graph, total_gbps=600.0):
    file = tmp_path / "ring.json"
    file.write_text(json.dumps(graph))
    made = bring(str(file), total_gbps)
    document = parse(made.text, "t.yaml")
    assert not document.problems
    return document.data, made.notes


def test_links_become_fibers_and_demands_are_scaled(tmp_path):
    data, notes = brought(tmp_path, RING)
    assert data["sites"]["Ulm (2)"] == {"lat": 48.9, "lon": 10.2}
    assert data["fibers"]["Ulm - Augsburg"] == {
        "ends": ["Ulm", "Augsburg"],
        "type": "g652d",
        "length_km": 90,
        "pairs": 8,
    }
    assert data["fibers"]["Augsburg - Ulm (2)"]["length_km"] == pytest.approx(78.1, abs=0.5)
    # 50, the larger of both directions, and 10: five sixths and one sixth of 600
    assert {name: demand["gbps"] for name, demand in data["demands"].items()} == {
        "Ulm - Augsburg": 500, "Ulm - Ulm (2)": 100
    }  # fmt: skip
    assert "600 Gb/s of demands in each direction" in data["description"]
    assert str(tmp_path) not in data["description"]
    said = "\n".join(notes)
    for part in ("the larger one counts", "1 links without a length", "every fiber is g652d with 8 pairs and no lease"):
        assert part in said


def test_it_plans(tmp_path):
    file = tmp_path / "ring.json"
    file.write_text(json.dumps(RING))
    topology = tmp_path / "ring.yaml"
    topology.write_text(bring(str(file), 600).text)
    assert {found.rule.code for found in check([topology])} == {"DCP350"}  # no lease: counts as free
    assert plan(load(topology)).design.proof.status == "optimal"


def test_a_graph_without_demands_asks_the_same_everywhere_but_at_waypoints(tmp_path):
    nodes = [*RING["nodes"], {"pos": [10.5, 48.6], "type": "Seacable Waypoint", "id": 3}]
    edges = [*RING["edges"], {"dist": 50, "source": 3, "target": 1}]
    data, notes = brought(
        tmp_path, RING | {"graph": {"name": "bare", "demands": {}}, "nodes": nodes, "edges": edges}, 30
    )
    assert [demand["gbps"] for demand in data["demands"].values()] == [10, 10, 10]
    assert "the graph has no demands: all pairs of sites ask the same" in notes
    assert data["policy"] == {"scheme": "none"}
    assert any(note.startswith("losing fiber 3 - Augsburg alone parts the network") for note in notes)


def test_parallel_links_are_fibers_of_their_own_and_no_bridge(tmp_path):
    edges = [{"dist": 90, "source": 0, "target": 1}, {"dist": 95, "source": 0, "target": 1}]
    graph = RING | {"multigraph": True, "nodes": RING["nodes"][:2], "edges": edges, "graph": {"name": "two"}}
    data, _ = brought(tmp_path, graph)
    assert list(data["fibers"]) == ["Ulm - Augsburg", "Ulm - Augsburg (2)"]
    assert "policy" not in data


def test_both_directions_of_a_directed_graph_are_one_fiber(tmp_path):
    edges = [*RING["edges"], {"dist": 90.0, "source": 1, "target": 0}]
    data, notes = brought(tmp_path, RING | {"directed": True, "links": edges, "edges": edges})
    assert len(data["fibers"]) == 3
    assert "the graph is directed: both directions of a link are one fiber" in notes


def test_places_on_a_plane_leave_no_length_below_the_great_circle(tmp_path):
    nodes = [node | {"pos": [100 * i, 300 * (i % 2)]} for i, node in enumerate(RING["nodes"])]
    file = tmp_path / "plane.json"
    file.write_text(json.dumps(RING | {"nodes": nodes}))
    topology = tmp_path / "plane.yaml"
    made = bring(str(file), 600)
    topology.write_text(made.text)
    assert "DCP301" not in {found.rule.code for found in check([topology])}
    assert any("no longitudes and latitudes" in note for note in made.notes)


def test_demands_between_parts_that_nothing_joins_are_left_out_and_told(tmp_path):
    nodes = [*RING["nodes"], {"name": "Island", "pos": [3, 55], "id": 4}]
    graph = {"name": "two parts", "demands": {"0": {"1": 1, "4": 1}}}
    data, notes = brought(tmp_path, RING | {"nodes": nodes, "graph": graph})
    assert list(data["demands"]) == ["Ulm - Augsburg"]
    assert "1 demands between sites that nothing joins left out" in notes


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"edges": []}, "3 nodes and no edges: there is nothing to plan"),
        ({"edges": None}, "no list of `edges` or `links`"),
        ({"nodes": {}}, "no list of `nodes`"),
        ({"nodes": [{"name": "x"}]}, "node 1 has no id"),
        ({"nodes": [*RING["nodes"], RING["nodes"][0]]}, "two nodes have the same id"),
        ({"edges": [{"source": 0}]}, "edge 1 has no source and target"),
        ({"edges": [{"source": 0, "target": 9}]}, "edge 1 ends at 9, which is no node"),
        ({"edges": [{"source": 0, "target": 1, "dist": -3}]}, "edge 1 has a negative length"),
        ({"edges": [{"source": 0, "target": 0, "dist": 3}]}, "joins no two nodes"),
        ({"graph": {"demands": {"0": {"1": "many"}}}}, "the demand from 0 to 1 is 'many'"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path, change, why):
    with pytest.raises(UsageError) as refused:
        brought(tmp_path, RING | change)
    assert why in str(refused.value)


def test_demands_without_a_unit_need_a_total(tmp_path):
    for total in (None, 0.0, -5.0):
        with pytest.raises(UsageError, match="say with --total-gbps what all of them are together"):
            brought(tmp_path, RING, total)
    for total in (1e18, float("inf")):
        with pytest.raises(UsageError, match=r"--total-gbps must be below 10\^18"):
            brought(tmp_path, RING, total)


def test_a_name_is_looked_up_in_the_installed_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", SimpleNamespace(get={"demo/ring": RING}.__getitem__))
    assert "Imported from TopoHub: demo/ring, " in bring("demo/ring", 100).text
    with pytest.raises(UsageError, match="TopoHub has no demo/other: names are as gabriel/25/0"):
        bring("demo/other", 100)
    monkeypatch.setitem(sys.modules, "topohub", None)
    with pytest.raises(UsageError, match="pip install topohub"):
        bring("demo/ring", 100)
