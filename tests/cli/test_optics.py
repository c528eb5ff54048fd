"""`dcplan optics`: all of a small network, the best of a large one, and what is asked for by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dcplan.cli.app import run

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
SMALL, LARGE = TOPOLOGIES / "two-campus.yaml", TOPOLOGIES / "us-midwest.yaml"


def asked(capsys: pytest.CaptureFixture[str], *args: object) -> dict[str, Any]:
    assert run(["optics", *map(str, args), "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [row["lightpath"] for row in found["tables"]["lightpaths"]["rows"]]


def kinds(found: dict[str, Any], what: str) -> set[str]:
    return {name.partition(" ")[2] for name in found["tables"] if name.startswith(f"{what} ")}


def test_a_small_network_shows_every_budget_in_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, SMALL)
    assert kinds(found, "budget") == kinds(found, "modes") == kinds(found, "directions") == set(ids(found))
    for name in ids(found):
        worse, better = found["tables"][f"directions {name}"]["rows"]
        assert worse["margin_db"] <= better["margin_db"]
        assert worse["direction"].split(" → ") == better["direction"].split(" → ")[::-1]
    assert not [notice for notice in found["notices"] if "left out" in notice["text"]]


def test_a_large_network_shows_the_best_of_each_pair_and_says_what_it_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = asked(capsys, LARGE)
    rows = found["tables"]["lightpaths"]["rows"]
    ends = [row["ends"] for row in rows]
    assert len(set(ends)) == len(ends)
    assert kinds(found, "line")
    assert not kinds(found, "budget")
    candidates = found["facts"][1]["lightpaths"]
    (notice,) = [notice["text"] for notice in found["notices"] if "left out" in notice["text"]]
    assert notice.startswith(f"left out: {candidates - len(rows)} lightpaths")
    assert "--all" in notice


def test_names_choose_lightpaths_with_the_lines_that_they_run_on(capsys: pytest.CaptureFixture[str]) -> None:
    between = asked(capsys, LARGE, "omaha", "chicago")
    rows = between["tables"]["lightpaths"]["rows"]
    assert {row["ends"] for row in rows} == {"chicago – omaha"}
    assert kinds(between, "budget") == set(ids(between))
    assert kinds(between, "line") == {fiber for row in rows for fiber in row["fibers"].split(", ")}
    one = asked(capsys, LARGE, ids(between)[1].lower())
    assert ids(one) == ids(between)[1:2]
    assert one["tables"]["lightpaths"]["rows"][0] == rows[1]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["lincon"], "`lincoln`"),
        (["L1x"], "did you mean `L1`"),
        (["L1", "L2"], "name one lightpath, one site or two sites"),
        (["L1", "lincoln"], "name one lightpath, one site or two sites"),
    ],
)
def test_wrong_names(names: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["optics", str(SMALL), *names]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


def test_a_fiber_to_a_site_that_only_passes_light_on_need_not_close_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fiber of the way is unlit by itself, as nothing may end at its far end; the exit code is about what may."""
    text = (
        "dcplan: 1\nname: t\nsites:\n  a: {lat: 41, lon: -96}\n  b: {lat: 41, lon: -95, regenerate: false}\n"
        "  c: {lat: 41, lon: -94}\nfibers:\n"
        "  ab: {ends: [a, b], length_km: 100, type: g652d, pairs: 2}\n"
        "  bc: {ends: [b, c], length_km: 100, type: g652d, pairs: 2}\n"
        "demands: {d: {between: [a, c], gbps: 100}}\ngear: {allow: {transponders: [openzr+]}}\npolicy: {scheme: none}\n"
    )
    file = tmp_path / "t.yaml"
    file.write_text(text, encoding="utf-8")
    found = asked(capsys, file)
    assert [row["fibers"] for row in found["tables"]["lightpaths"]["rows"]] == ["ab, bc"]


def test_a_fiber_of_low_confidence_is_said_though_no_table_names_its_type(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, TOPOLOGIES / "hollow-core.yaml")
    assert [n["text"].partition(":")[0] for n in found["notices"]] == ["hollow-core is of low confidence"]
