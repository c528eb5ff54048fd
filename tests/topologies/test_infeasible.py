"""Topologies that have no plan, one for each way to have none: the whole answer, and that it names the true cause."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.design.result import Infeasible
from dcplan.diagnostics import Severity
from dcplan.report import infeasible
from dcplan.report.text import draw

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[2] / "topologies" / "infeasible"
CAUSES = {
    "bridge": ("bridge", "after losing fiber long, nothing joins {kansas-city} and {lincoln, omaha}: long is a bridge"),
    "disjointness": ("disjointness", "i95 and rail share shared risk james"),
    "fiber-pairs": (
        "fiber pairs",
        "after losing fiber east, sites {papillion} need 28.8 Tb/s to the rest, 25.6 Tb/s can be lit on west (1 pair)",
    ),
    "latency": ("latency", "within latency limits, storage takes 0.83 and inference 0.67 pairs of direct at least"),
    "reach": ("reach", "no mode closes through el-paso, where `regenerate: false` lets no wavelength start again"),
    "spectrum": (
        "spectrum",
        "archive takes 0.75 and replica 0.47 pairs of trunk at least, together 1.22;",
    ),
}
every = pytest.mark.parametrize("name", CAUSES)


@cache
def answer(name: str) -> Infeasible:
    found = api.plan(api.load(FOLDER / f"{name}.yaml"))
    assert isinstance(found, Infeasible)
    return found


def test_these_are_shipped_and_no_others() -> None:
    assert {path.stem for path in FOLDER.glob("*")} == set(CAUSES)


@every
def test_the_true_cause_is_named(name: str) -> None:
    limit, reason = CAUSES[name]
    assert answer(name).limit == limit
    assert reason in answer(name).reason


@every
def test_the_whole_answer(name: str, golden: Callable[[str, str], None]) -> None:
    title = api.load(FOLDER / f"{name}.yaml").topology.name
    golden(f"infeasible-{name}.txt", draw(infeasible.view(answer(name), title)))


@every
def test_the_file_is_sound_and_says_what_it_shows(name: str) -> None:
    file = FOLDER / f"{name}.yaml"
    assert all(finding.severity is not Severity.ERROR for finding in api.check([file]))
    text = file.read_text(encoding="utf-8")
    assert "It shows: " in text
    assert text.startswith("# yaml-language-server: $schema=../../dcplan.schema.json\n")
