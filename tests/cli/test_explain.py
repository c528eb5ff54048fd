"""`dcplan explain`: rules, constants, formulas and parts by name."""

from __future__ import annotations

import json

import pytest

from dcplan.api import reference
from dcplan.cli.app import run


def said(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(["explain", *args]) == 0
    return capsys.readouterr().out


def test_every_constant_prints_its_value_source_and_confidence(capsys: pytest.CaptureFixture[str]) -> None:
    for one in reference.all_constants():
        text = " ".join(said(capsys, one.name.upper()).split())
        assert text.startswith(f"{one.name} = " if one.value else f"{one.name}: {one.about}")
        assert f"source {one.source} confidence {one.confidence}" in text
        assert ("an estimate, or from memory" in text) == (one.confidence == "low")


def test_a_key_of_the_topology_file_is_known_by_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "connector_db") == said(capsys, "connector-loss")
    assert "stands in   policy.connector_db" in said(capsys, "connector_db")


@pytest.mark.parametrize("kind", ["fibers", "amplifiers", "transponders", "equipment"])
def test_every_part_is_explained_by_its_id(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, part in reference.catalog(kind)[kind].items():
        text = " ".join(said(capsys, name).split())
        assert f"{kind}: {name} " in text
        assert part.confidence in text
        assert ("~low" in text) == (part.confidence == "low")


def test_the_list_has_rules_constants_and_formulas_apart(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys)
    rules, _, rest = text.partition("constants of optics")
    constants, _, formulas = rest.partition("formulas of optics")
    assert "  DCP301  " in rules
    assert "  n2 " in constants
    assert "  repair-allowance " in constants
    assert "~0.5 dB" in constants
    assert "  gsnr " in formulas
    assert "n2 " not in formulas
    assert max(map(len, text.splitlines())) <= 100


def test_constants_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = json.loads(said(capsys, "n2", "--format", "json"))["constants"]
    assert (one["value"], one["unit"], one["confidence"]) == ("2.6e-20", "m²/W", "high")
    everything = json.loads(said(capsys, "--format", "json"))
    assert len(everything["constants"]) == len(reference.all_constants())
    assert len(everything["rules"]) == len(reference.all_rules())
    assert json.loads(said(capsys, "800zr+", "--format", "json"))["transponders"]["800zr+"]["modes"]


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("connecter-loss", "connector-loss"), ("g645e", "g654e"), ("DCP3O1", "DCP301"), ("gsnrr", "gsnr")],
)
def test_wrong_names_are_met_with_the_nearest(wrong: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", wrong]) == 2
    assert f"did you mean `{near}`?" in capsys.readouterr().err
