"""What is exported to GNPy, and that GNPy gives the same GSNR for it (results written down once, and run anew)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dcplan.api import optical
from dcplan.cli.app import run
from dcplan.errors import UsageError
from dcplan.interop.gnpy.comb import mode_for
from tests.interop.networks import GNPY, HEAD, MODE, RESULTS, SITES, TEXTS, exported, lit, network_from, paths_of
from tests.interop.networks import run_gnpy as gnpy_says
from tests.interop.oracle import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.interop.exported import Exported

ORACLE: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
WITHIN_DB = 0.2


@cache
def made(name: str) -> Exported:
    return exported(network_from(TEXTS[name]))


@pytest.mark.parametrize("name", TEXTS)
def test_files_are_the_golden_ones(name: str, golden: Callable[[str, str], None]) -> None:
    for file, text in made(name).files.items():
        golden(f"{name}.{file}", text)


@pytest.mark.parametrize("name", TEXTS)
def test_gnpy_gives_the_same_gsnr(name: str) -> None:
    """Every lightpath of the exported network in GNPy 3.0.1, on the worst channel, against ours."""
    known = ORACLE["exports"][name]
    assert known["digest"] == digest(made(name).files), "run python -m tests.interop.oracle: GNPy read other files"
    compare(name, known["services"])


def compare(name: str, services: dict[str, Any]) -> None:
    compared = 0
    for path in lit(network_from(TEXTS[name])):
        if path.id not in services:
            continue
        budget, theirs = path.budgets[0], services[path.id]
        first = budget.direction.startswith(f"{path.route.sites[0]} -> ")
        ours = budget.gsnr_db if first or budget.other is None else budget.other.gsnr_db
        assert len(theirs["gsnr_db"]) == budget.channels
        assert ours == pytest.approx(min(theirs["gsnr_db"]), abs=WITHIN_DB), path.route.name
        compared += 1
    assert compared == len(services) > 2


@pytest.mark.accept
@pytest.mark.parametrize("name", TEXTS)
def test_gnpy_itself(name: str, tmp_path: Path) -> None:
    """GNPy loads the export, as it is now, and gives the same GSNR."""
    if not GNPY.is_file():
        pytest.skip("GNPy is not there: `make gnpy` puts it into .venv-gnpy")
    for file, text in made(name).files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    paths = paths_of(made(name))
    answer = gnpy_says(GNPY, tmp_path / "topology.json", tmp_path / "eqpt_config.json", list(paths.values()))
    compare(name, dict(zip(paths, answer["paths"], strict=True)))


def test_lightpaths_through_sites_are_among_those_compared() -> None:
    hops = [len(nodes) - 1 for nodes in paths_of(made("mesh")).values()]
    assert max(hops) >= 3


@pytest.mark.parametrize("name", TEXTS)
def test_gains_make_up_for_spans(name: str) -> None:
    """In front of each amplifier: connectors, glass and pad; their sum is its gain, so that every span starts alike."""
    topology = json.loads(made(name).files["topology.json"])
    elements = {element["uid"]: element for element in topology["elements"]}
    after = {joint["from_node"]: joint["to_node"] for joint in topology["connections"]}
    spans = [element for element in topology["elements"] if element["type"] == "Fiber"]
    assert spans
    for span in spans:
        params, amplifier = span["params"], elements[after[span["uid"]]]["operational"]
        loss = params["con_in"] + params["con_out"] + params["length"] * params["loss_coef"]
        assert loss + amplifier["in_voa"] == pytest.approx(amplifier["gain_target"], abs=3e-4)


def test_every_connection_joins_elements_and_nothing_is_left_loose() -> None:
    topology = json.loads(made("mesh").files["topology.json"])
    names = [element["uid"] for element in topology["elements"]]
    assert len(set(names)) == len(names)
    starts = {joint["from_node"] for joint in topology["connections"]}
    assert starts == set(names) == {joint["to_node"] for joint in topology["connections"]}


def test_noise_that_gnpy_cannot_make_stands_in_the_roadm() -> None:
    """Add arrives at -16.5 dBm, light that passes at launch - 16.5: one of them is noisier in the same booster."""
    library = json.loads(made("mesh").files["eqpt_config.json"])
    (entry,) = [one for one in library["Roadm"] if one["type_variety"] == "roadm of b"]
    kinds = [next(key for key in profile if key != "roadm-path-impairments-id") for profile in entry[PROFILES]]
    figures = {kind: next(iter(p[kind])) for kind, p in zip(kinds, entry[PROFILES], strict=True)}
    assert figures["roadm-drop-path"]["roadm-osnr"] == 41
    assert figures["roadm-add-path"]["roadm-osnr"] < 40
    assert set(kinds) == {"roadm-add-path", "roadm-drop-path", "roadm-express-path"}


PROFILES = "roadm-path-impairments"


def test_what_does_not_cross_is_said() -> None:
    text = TEXTS["mesh"].replace("type: glass", "type: hollow-core", 1)
    text = text.replace("c: {lat: 41.0, lon: -101.0}", "c: {lat: 41.0, lon: -101.0, express: false}")
    text = text.replace("bd: {ends: [b, d], length_km: 510, type: large, pairs: 1}", DARK)
    notes = exported(network_from(text)).notes
    for said in [
        "under a full load of own 400g",
        "fiber bd is left out: it has no amplifiers",
        "roadm c lets light pass in GNPy",
        "hollow-core: GNPy has no fiber without nonlinearity",
        "hollow-core: GNPy computes every latency with a group index of 1.468, not 1.003",
    ]:
        assert any(said in note for note in notes), said
    assert exported(network_from(TEXTS["lines"])).notes == (
        "launch powers, gains and noise figures are those under a full load of own 400g",
    )


DARK = "bd: {ends: [b, d], length_km: 125, type: large, pairs: 1, amplified: false}"


def test_a_weak_booster_is_said() -> None:
    weak = "  amplifiers:\n    weak: {gain_min_db: 5, gain_max_db: 14, nf_db: [[5, 6]], output_max_dbm: 23}\n"
    text = (
        TEXTS["mesh"]
        .replace("gnpy-high-gain]}", "gnpy-high-gain, weak]}")
        .replace("  transponders:", f"{weak}  transponders:")
    )
    text = text.replace("bc: {ends: [b, c],", "bc: {ends: [b, c], booster: weak,")
    notes = exported(network_from(text)).notes
    assert any("light added at b is too weak for the launch into bc" in note for note in notes)


def test_the_mode_that_closes_on_most_fibers() -> None:
    two = "        600g: {rate_gbps: 600, baud_gbd: 63.1, width_ghz: 75, required_osnr_db: 24.5}\n"
    network = network_from(TEXTS["mesh"].replace("policy:", f"{two}policy:"))
    found = optical.optics(network)
    assert mode_for(network, found.lightpaths, None)[:2] == ("own", "400g")
    assert mode_for(network, found.lightpaths, "own:600g")[:2] == ("own", "600g")
    with pytest.raises(UsageError, match="did you mean `own:600g`"):
        mode_for(network, found.lightpaths, "own:60g")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(TEXTS["lines"], encoding="utf-8")
    assert run(["export", "gnpy", "t.yaml", "-o", "out", "--mode", MODE]) == 0
    assert "note: launch powers" in capsys.readouterr().err
    for file, text in made("lines").files.items():
        assert Path("out", file).read_text(encoding="utf-8") == text
    assert run(["export", "gnpy", "t.yaml", "-o", "out"]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["export", "gnpy", "t.yaml", "-o", "out", "--force"]) == 0
    assert run(["export", "gnpy", "t.yaml"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == made("lines").files.keys()
    assert run(["export", "gnpi", "t.yaml"]) == 2
    assert "did you mean `gnpy`" in capsys.readouterr().err


def test_a_network_without_fibers_has_nothing_but_sites() -> None:
    text = HEAD.format(name="Bare") + SITES + TEXTS["lines"][TEXTS["lines"].index("gear:") :]
    topology = json.loads(exported(network_from(text)).files["topology.json"])
    assert {element["type"] for element in topology["elements"]} == {"Transceiver", "Roadm"}
