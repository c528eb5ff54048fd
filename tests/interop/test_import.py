"""GNPy's own examples as topology files: they validate, and light in them is worth what GNPy says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dcplan import api
from dcplan.catalog.parts import Mode
from dcplan.cli.app import run
from dcplan.diagnostics import Severity
from dcplan.errors import UsageError
from dcplan.interop.gnpy.bring import bring
from dcplan.interop.imported import Imported
from dcplan.model.network import Route
from dcplan.model.source import parse
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from tests.interop.networks import DATA, EXAMPLES, RESULTS, network_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.model.network import Network

ORACLE: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
WITHIN_DB = 0.2


def brought(name: str) -> Imported:
    return bring(DATA / f"{name}.json", DATA / f"{EXAMPLES[name]}.json")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_become_valid_files(name: str, tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(brought(name).text, encoding="utf-8")
    found = api.check([file])
    assert [str(finding) for finding in found if finding.severity is Severity.ERROR] == []
    assert api.load(file).fibers


@pytest.mark.parametrize("name", ["edfa_example_network", "meshTopologyExampleV2", "raman_edfa_example_network"])
def test_files_are_the_golden_ones(name: str, golden: Callable[[str, str], None]) -> None:
    made = brought(name)
    notes = "".join(f"# note: {note}\n" for note in made.notes)
    golden(f"{name}.yaml", made.text + notes)


def test_light_in_the_swedish_network_is_what_gnpy_says() -> None:
    """OpenROADM amplifiers by input power, ROADMs, 45 fibers: worst channel of five paths, SI block as the mode."""
    name = "Sweden_OpenROADMv5_example_network"
    network = network_from(brought(name).text)
    (si,) = json.loads((DATA / f"{EXAMPLES[name]}.json").read_text())["SI"]
    mode = Mode(
        rate_gbps=100,
        baud_gbd=si["baud_rate"] * 1e-9,
        width_ghz=si["spacing"] * 1e-9,
        required_osnr_db=10,
        tx_osnr_db=si["tx_osnr"],
        tx_dbm=si["power_dbm"],
    )
    lines = design_lines(network)
    for known in ORACLE["sweden"]:
        path = route(network, known["sites"])
        (found,) = evaluate(network, lines, [path], modes=[("si", "m", mode)])
        (budget,) = found.budgets
        assert budget.channels == len(known["gsnr_db"])
        there = budget.direction.startswith(known["sites"][0])
        gsnr = budget.gsnr_db if there or budget.other is None else budget.other.gsnr_db
        assert gsnr == pytest.approx(min(known["gsnr_db"]), abs=WITHIN_DB), known["sites"]


def route(network: Network, sites: list[str]) -> Route:
    """The way along sites, by the first fiber between each two."""
    fibers = [next(fiber for fiber, other in network.neighbours(a) if other == b) for a, b in pairwise(sites)]
    return Route(tuple(sites), tuple(fibers))


def element(kind: str, uid: str, **more: Any) -> dict[str, Any]:
    return {"uid": uid, "type": kind, **more}


def glass(uid: str, **params: Any) -> dict[str, Any]:
    whole = {"length": 80, "length_units": "km", "loss_coef": 0.2, "con_in": 0.5, "con_out": 0.5, **params}
    return element("Fiber", uid, type_variety="SSMF", params=whole)


def edfa(uid: str, variety: str = "std_medium_gain", **operational: Any) -> dict[str, Any]:
    return element("Edfa", uid, type_variety=variety, operational=operational)


def line(*inner: dict[str, Any], back: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """A topology of two ROADM sites with elements between them, there and back."""
    ends = [element("Transceiver", "ta"), element("Roadm", "ra"), element("Roadm", "rb"), element("Transceiver", "tb")]
    joints = [("ta", "ra"), ("ra", "ta"), ("tb", "rb"), ("rb", "tb")]
    for chain, start, end in ((inner, "ra", "rb"), (back, "rb", "ra")):
        uids = [start, *(one["uid"] for one in chain), end]
        joints += list(pairwise(uids)) if chain else []
    elements = [*ends, *inner, *back]
    return {"elements": elements, "connections": [{"from_node": a, "to_node": b} for a, b in joints]}


def imported(tmp_path: Path, topology: dict[str, Any], **span: Any) -> Imported:
    library = json.loads((DATA / "eqpt_config.json").read_text())
    library["Span"][0].update(span)
    (tmp_path / "t.json").write_text(json.dumps(topology))
    (tmp_path / "e.json").write_text(json.dumps(library))
    return bring(tmp_path / "t.json", tmp_path / "e.json")


def fiber_of(made: Imported) -> dict[str, Any]:
    data = parse(made.text, "t.yaml").data
    (fiber,) = data["fibers"].values()
    return dict(fiber)


def test_spans_losses_and_amplifiers(tmp_path: Path) -> None:
    """Two spans with a splice in the second: 16 + 1 dB, and 8 + 4 + 2 x 1 + 1 dB, of which the connectors make 1 dB."""
    there = (edfa("b1"), glass("f1"), edfa("m1", "std_high_gain"), glass("f2", length=40), element("Fused", "s"))
    made = imported(tmp_path, line(*there, glass("f3", length=20), edfa("p1", "std_low_gain")))
    fiber = fiber_of(made)
    assert fiber["spans"] == [
        {"length_km": 80, "amplifier": "std_high_gain"},
        {"length_km": 60, "loss_db": 14, "amplifier": "std_high_gain"},
    ]
    assert (fiber["booster"], fiber["preamp"]) == ("std_medium_gain", "std_low_gain")
    policy = parse(made.text, "t.yaml").data["policy"]
    assert (policy["connector_db"], policy["repair_db_per_span"]) == (0.5, 0)
    assert "there is no way back" in made.notes[0]


def test_the_worse_direction_is_kept_and_said(tmp_path: Path) -> None:
    there = (edfa("b1"), glass("f1"), edfa("p1"))
    back = (edfa("b2", "std_low_gain"), glass("g1", loss_coef=0.25), edfa("p2", "std_high_gain"))
    made = imported(tmp_path, line(*there, back=back))
    fiber = fiber_of(made)
    assert fiber["booster"] == "std_low_gain"  # 11 dB at its least gain, against 10
    assert fiber["preamp"] == "std_medium_gain"  # 10 dB, against 7
    assert fiber["spans"] == [{"length_km": 80}]
    types = parse(made.text, "t.yaml").data["gear"]["fibers"]
    assert [kind["attenuation_db_per_km"] for kind in types.values()] == [0.25]
    text = "\n".join(made.notes)
    assert "80 km SSMF of 17.00 dB one way, 80 km SSMF of 21.00 dB the other; the larger loss is kept" in text
    assert "the booster is std_medium_gain one way and std_low_gain the other; std_low_gain is kept" in text


def test_span_counts_that_differ(tmp_path: Path) -> None:
    there = (edfa("b1"), glass("f1"), edfa("p1"))
    back = (edfa("b2"), glass("g1", length=60), edfa("m2"), glass("g2", length=30), edfa("p2"))
    made = imported(tmp_path, line(*there, back=back))
    assert [span["length_km"] for span in fiber_of(made)["spans"]] == [30, 60]
    assert any("1 spans of 17.00 dB one way, 2 of 20.00 dB the other" in note for note in made.notes)


def test_missing_amplifiers_are_designed(tmp_path: Path) -> None:
    made = imported(tmp_path, line(glass("f1"), glass("f2")))
    fiber = fiber_of(made)
    assert fiber["spans"] == [{"length_km": 80}, {"length_km": 80}]
    assert not fiber.keys() & {"booster", "preamp", "launch_dbm"}
    allowed = parse(made.text, "t.yaml").data["gear"]["allow"]["amplifiers"]
    assert {"std_low_gain", "std_medium_gain", "std_high_gain"} <= set(allowed)
    assert "high_power" not in allowed  # GNPy may not choose it by itself
    assert any("launches at the optimum" in note for note in made.notes)


@pytest.mark.parametrize(("length", "spans"), [(149, 1), (150, 2), (500, 6), (1000, 11)])
def test_long_fibers_are_cut_as_gnpy_cuts_them(length: float, spans: int, tmp_path: Path) -> None:
    made = imported(tmp_path, line(glass("f1", length=length)))
    assert len(fiber_of(made)["spans"]) == spans
    assert (spans > 1) == any("are cut near 90 km" in note for note in made.notes)


def test_launch_follows_the_settings(tmp_path: Path) -> None:
    """Power mode: reference + delta; gain mode: ROADM target + gain; both of a 50 GHz channel, 1.76 dB under 75 GHz."""
    chain = (edfa("b1", gain_target=21, delta_p=1.5), glass("f1"), edfa("p1", gain_target=17, delta_p=1.5))
    scale = 1.760913
    made = imported(tmp_path, line(*chain), power_mode=True)
    assert fiber_of(made)["launch_dbm"] == pytest.approx(1.5 + scale, abs=1e-5)
    made = imported(tmp_path, line(*chain), power_mode=False)
    assert fiber_of(made)["launch_dbm"] == pytest.approx(-20 + 21 + scale, abs=1e-5)
    uneven = (*chain[:2], edfa("p1", gain_target=19, delta_p=0))
    made = imported(tmp_path, line(*uneven), power_mode=False)
    assert any("p1: leaves 3.00 dBm per channel where the line launches 1.00" in note for note in made.notes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"lumped_losses": [{"position": 20, "loss": 1.5}]},
            "f1: lumped losses of 1.5 dB are counted behind the fiber",
        ),
        ({"loss_coef": {"value": [0.19, 0.23], "frequency": [191e12, 196e12]}}, "the largest counts, 0.23 dB/km"),
        ({"dispersion_slope": 60}, "f1: its own dispersion_slope is left out"),
        ({"att_in": 2}, ""),
    ],
)
def test_what_fibers_lose_on_the_way(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    made = imported(tmp_path, line(edfa("b1"), glass("f1", **change), edfa("p1")))
    assert any(said in note for note in made.notes)
    lost = {"lumped_losses": 18.5, "loss_coef": 19.4, "dispersion_slope": 17, "att_in": 19}[next(iter(change))]
    data = parse(made.text, "t.yaml").data
    (span,) = fiber_of(made)["spans"]
    kinds = {"g652d": {"attenuation_db_per_km": 0.2}, **data["gear"].get("fibers", {})}
    own = span.get("loss_db", 80 * kinds[fiber_of(made)["type"]]["attenuation_db_per_km"])
    policy = data["policy"]
    assert own + 2 * policy["connector_db"] + policy["repair_db_per_span"] == pytest.approx(lost)


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        ({"elements": [{"uid": "x", "type": "Laser"}], "connections": []}, "found `Laser`"),
        ({"elements": [], "connections": [{"from_node": "x", "to_node": "y"}]}, "there is no element `x`"),
        (line(edfa("b1"), glass("f1", length="long"), edfa("p1")), "`length` must be a number"),
        (line(edfa("b1"), glass("f1", length=None), edfa("p1")), "`length` is missing"),
        (line(edfa("b1"), element("Fiber", "f1", type_variety="X", params=glass("")["params"])), "has no Fiber `X`"),
        ({"elements": [element("Roadm", "r"), element("Roadm", "r")], "connections": []}, "stands there twice"),
        ({"gnpy-network-topology:topology": {}}, "gnpy-convert-yang"),
        ({"sites": {}}, "it has no `elements`"),
    ],
)
def test_files_that_are_none_of_gnpys(topology: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        imported(tmp_path, topology)


def test_loose_ends_are_said(tmp_path: Path) -> None:
    topology = line(edfa("b1"), glass("f1"), edfa("p1"))
    topology["elements"] += [glass("loose"), edfa("end")]
    topology["connections"].append({"from_node": "ra", "to_node": "end"})
    notes = imported(tmp_path, topology).notes
    assert "the line from ra by end is left out: it ends at end" in notes
    assert any("loose is left out: no site leads to it" in note for note in notes)


def test_unknown_amplifiers_are_designed_and_said(tmp_path: Path) -> None:
    made = imported(tmp_path, line(edfa("b1", "nobody"), glass("f1"), edfa("p1")))
    assert "booster" not in fiber_of(made)
    assert any("b1: nobody cannot be expressed" in note for note in made.notes)


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    files = [str(DATA / "meshTopologyExampleV2.json"), "--equipment", str(DATA / "eqpt_config.json")]
    assert run(["import", "gnpy", *files, "-o", "mesh.yaml"]) == 0
    shown = capsys.readouterr()
    assert "note: " in shown.err
    assert "dcplan validate mesh.yaml" in shown.err
    assert shown.out == ""
    assert run(["validate", "mesh.yaml"]) == 0
    assert run(["import", "gnpy", *files, "-o", "mesh.yaml"]) == 2
    assert run(["import", "gnpy", files[0]]) == 2
    assert "--equipment" in capsys.readouterr().err
    assert run(["import", "visio", *files]) == 2
    assert "there is no format `visio`: there is gnpy" in capsys.readouterr().err
    assert run(["import", "gnpy", "missing.json", "--equipment", files[2]]) == 2
    assert "missing.json: cannot be read" in capsys.readouterr().err
    Path("bad.json").write_text("{")
    assert run(["import", "gnpy", "bad.json", "--equipment", files[2]]) == 2
    assert "bad.json: is no JSON" in capsys.readouterr().err
