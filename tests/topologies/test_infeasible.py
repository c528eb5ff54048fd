"""Topologies that have no plan, one for each way to have none: the whole answer, and that it names the true cause."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.cli.app import run
from dcplan.cli.commands.plan import UNPLANNABLE
from dcplan.design.result import Infeasible
from dcplan.diagnostics import Severity
from dcplan.errors import UsageError
from dcplan.model.states import promised_states
from dcplan.planfile import Plan
from dcplan.report import infeasible
from dcplan.report.text import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.design.result import Member
    from dcplan.model.network import Network

FOLDER = Path(__file__).parents[2] / "topologies" / "infeasible"
CAUSES = {
    "bridge": ("bridge", "after losing fiber long, nothing joins {kansas-city} and {lincoln, omaha}: long is a bridge"),
    "disjointness": ("disjointness", "i95 and rail share shared risk james"),
    "fiber-pairs": (
        "fiber pairs",
        "after losing fiber east, sites {papillion} need 28.8 Tb/s to the rest, 25.6 Tb/s can be lit on west (1 pair)",
    ),
    "latency": ("latency", "within latency limits, storage takes 0.68 and inference 0.54 pairs of direct at least"),
    "reach": ("reach", "no mode closes through el-paso, where `regenerate: false` lets no wavelength start again"),
    "spectrum": (
        "spectrum",
        "archive takes 0.75 and replica 0.47 pairs of trunk at least, together 1.22;",
    ),
}
every = pytest.mark.parametrize("name", CAUSES)


@cache
def answer(name: str) -> Infeasible:
    """With the reasons that `--explain-infeasible` adds."""
    network = api.load(FOLDER / f"{name}.yaml")
    found = api.plan(network)
    assert isinstance(found, Infeasible)
    return replace(found, irreducible=api.reasons(network))


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


MANY_PAIRS = 60


def edited(name: str, tmp_path: Path, kept: Sequence[Member]) -> Network:
    """The file with all dropped but some members, by editing its text as a user would."""
    network = api.load(FOLDER / f"{name}.yaml")
    data = json.loads(json.dumps(network.document.data))
    names = {(member.kind, member.name) for member in kept}
    data["demands"] = {demand: about for demand, about in data["demands"].items() if ("demand", demand) in names}
    for demand, about in data["demands"].items():
        if ("latency", demand) not in names:
            about.pop("max_latency_ms", None)
        if ("scheme", demand) not in names and network.policy.scheme == "one-plus-one":
            about["scheme"] = "reroute"
    for fiber, about in data["fibers"].items():
        if ("pairs", fiber) not in names:
            about["pairs"] = MANY_PAIRS
    failures = [state for state in promised_states(network) if ("state", state.name) in names]
    data["failures"] = {f"f{i}": {"fibers": sorted(state.fibers)} for i, state in enumerate(failures)}
    data["policy"]["survive"] = list(data["failures"])
    if ("margins", "policy") not in names:
        data["policy"] |= {"margin_db": 0, "ageing_db": 0, "repair_db_per_span": 0}
    file = tmp_path / f"{name}.yaml"
    file.write_text(json.dumps(data), encoding="utf-8")
    return api.load(file, despite=UNPLANNABLE)


@every
def test_the_reasons_cannot_be_fewer(name: str, tmp_path: Path) -> None:
    """They have no plan by themselves; without any one of them the others have one."""
    reasons = answer(name).irreducible
    assert reasons is not None
    assert reasons.complete
    assert isinstance(api.plan(edited(name, tmp_path, reasons.members), gap=1.0), Infeasible)
    for member in reasons.members:
        others = [one for one in reasons.members if one != member]
        assert isinstance(api.plan(edited(name, tmp_path, others), gap=1.0), Plan), member


def test_what_would_suffice_does(tmp_path: Path) -> None:
    """One more pair on west, and less of either demand; a little less of the change is not enough."""
    reasons = answer("fiber-pairs").irreducible
    assert reasons is not None
    assert [(change.what, change.suffices) for change in reasons.changes] == [
        ("12.8 Tb/s for replica in place of 16.0 Tb/s", True),
        ("9.60 Tb/s for gradients in place of 12.8 Tb/s", True),
        ("no promise to survive the loss of fiber east", True),
        ("2 pairs on west in place of 1", True),
    ]
    text = (FOLDER / "fiber-pairs.yaml").read_text(encoding="utf-8")
    for old, new, planned in (
        ("gbps: 16000", "gbps: 12800", True),
        ("gbps: 16000", "gbps: 13300", False),
        ("gbps: 12800", "gbps: 9600", True),
        ("gbps: 12800", "gbps: 10100", False),
        ("length_km: 61.9, type: g652d, pairs: 1", "length_km: 61.9, type: g652d, pairs: 2", True),
    ):
        file = tmp_path / "changed.yaml"
        file.write_text(text.replace(old, new), encoding="utf-8")
        assert isinstance(api.plan(api.load(file), gap=1.0), Plan) == planned, (old, new)


def test_a_single_change_that_is_not_enough_is_said() -> None:
    reasons = answer("spectrum").irreducible
    assert reasons is not None
    assert ("without margins", False) in [(change.what, change.suffices) for change in reasons.changes]


def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Also of a file whose errors say that it cannot be planned; and where there is a plan, that there is one."""
    text = (FOLDER / "bridge.yaml").read_text(encoding="utf-8")
    file = tmp_path / "bridge.yaml"
    file.write_text(re.sub("  # dcplan: ignore.*", "", text), encoding="utf-8")
    assert run(["plan", str(file)]) == 1
    assert "DCP313" in capsys.readouterr().err
    assert run(["plan", str(file), "--explain-infeasible"]) == 1
    shown = capsys.readouterr()
    assert "the promise to survive the loss of fiber long" in shown.out
    assert "1 error let pass, 0 warnings: `dcplan validate" in shown.err
    file.write_text(text.replace("survive: [any-fiber]", "survive: []"), encoding="utf-8")
    assert run(["plan", str(file), "--explain-infeasible"]) == 0
    assert "nothing to explain" in capsys.readouterr().err


def test_time_that_is_too_short_is_said() -> None:
    reasons = api.reasons(api.load(FOLDER / "latency.yaml"), time_limit_s=0.001)
    assert not reasons.complete
    assert {change.suffices for change in reasons.changes} <= {None, False}


def test_a_job_that_no_network_could_serve(tmp_path: Path) -> None:
    """Its sites are too far apart for its target: the job and its targets, whatever is lit."""
    text = (FOLDER / "reach.yaml").read_text(encoding="utf-8")
    text = text[: text.index("demands:")].replace(", regenerate: false", "")
    job = (
        "jobs:\n  far:\n    model: llama3-70b\n    accelerators: {dallas: 512, phoenix: 512}\n"
        "    sequence_length: 8192\n    global_batch_tokens: 8388608\n    plans: {one: {tp: 8, pp: 4, across: pp}}\n"
        "    targets: {max_overhead_percent: 0.01}\n"
    )
    file = tmp_path / "far.yaml"
    file.write_text(f"{text}{job}policy: {{survive: []}}\n", encoding="utf-8")
    network = api.load(file)
    assert isinstance(api.plan(network), Infeasible)
    reasons = api.reasons(network)
    assert [(member.kind, member.name) for member in reasons.members] == [("job", "far"), ("targets", "far")]
    assert [change.suffices for change in reasons.changes] == [True, True]


def test_periods_are_refused(tmp_path: Path) -> None:
    text = (FOLDER / "bridge.yaml").read_text(encoding="utf-8")
    file = tmp_path / "grown.yaml"
    later = "{name: later, after_years: 2, demand_percent: 150}"
    periods = f"survive: [any-fiber]\n  periods: [{{name: now, after_years: 0}}, {later}]"
    file.write_text(text.replace("survive: [any-fiber]", periods), encoding="utf-8")
    with pytest.raises(UsageError, match=r"policy\.periods"):
        api.reasons(api.load(file))


TWO = """\
dcplan: 1
name: two troubles
sites:
  a: {lat: 41.07, lon: -96.11}
  b: {lat: 40.89, lon: -96.60}
  c: {lat: 41.50, lon: -97.11}
  d: {lat: 41.30, lon: -97.60}
fibers:
  n: {ends: [a, b], length_km: 58, type: g652d, pairs: 1, lease_usd_per_km_year: 400}
  m: {ends: [c, d], length_km: 58, type: g652d, pairs: 1, lease_usd_per_km_year: 400}
gear: {allow: {transponders: [400zr]}, band_start_thz: 191.3, band_end_thz: 191.6}
demands: {x: {between: [a, b], gbps: 4000}, y: {between: [c, d], gbps: 4000}}
policy: {survive: []}
"""


def test_where_no_change_suffices_two_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two fibers that share nothing, both too small: one change for each of them, whichever."""
    file = tmp_path / "two.yaml"
    file.write_text(TWO, encoding="utf-8")
    found = api.reasons(api.load(file))
    assert [change.suffices for change in found.changes] == [False, False]
    first, second = ("without demand x", "any number of pairs on n"), ("without demand y", "any number of pairs on m")
    assert [change.what for change in found.couples] == [f"{one}, and {other}" for one in first for other in second]
    assert all(change.suffices for change in found.couples)
    assert run(["plan", str(file), "--explain-infeasible"]) == 1
    assert "What would suffice, two changes together" in capsys.readouterr().out
    enough = TWO.replace("pairs: 1", "pairs: 3")
    file.write_text(enough, encoding="utf-8")
    assert isinstance(api.plan(api.load(file)), Plan), "as many pairs as it takes on both"


ROLE = """\
dcplan: 1
name: a role that traffic gives
sites:
  a: {lat: 41.07, lon: -96.11}
  b: {lat: 40.89, lon: -96.90, regenerate: false}
  c: {lat: 40.80, lon: -97.80}
fibers:
  n: {ends: [a, b], length_km: 100, type: g652d, pairs: 1, lease_usd_per_km_year: 400}
  m: {ends: [b, c], length_km: 100, type: g652d, pairs: 1, lease_usd_per_km_year: 400}
gear: {allow: {transponders: [400zr]}, band_start_thz: 191.3, band_end_thz: 191.6}
demands: {near: {between: [a, b], gbps: 1200}, far: {between: [a, c], gbps: 800}}
policy: {survive: []}
"""


def test_who_leaves_a_demand_out_is_told_what_its_site_loses(tmp_path: Path) -> None:
    """Wavelengths end at b only because of `near`, and `far` needs that: without `near` b must say so itself."""
    file = tmp_path / "role.yaml"
    file.write_text(ROLE, encoding="utf-8")
    found = api.plan(api.load(file))
    assert isinstance(found, Infeasible)
    reasons = api.reasons(api.load(file))
    shown = " ".join(draw(infeasible.view(replace(found, irreducible=reasons), "role")).split())
    assert (
        "Wavelengths may still end at b: who leaves out all traffic of such a site writes `regenerate: true`" in shown
    )
    alone = ROLE.replace("near: {between: [a, b], gbps: 1200}, ", "")
    for text, planned in ((alone, False), (alone.replace(", regenerate: false", ""), True)):
        file.write_text(text, encoding="utf-8")
        assert isinstance(api.plan(api.load(file, despite=UNPLANNABLE), gap=1.0), Plan) == planned
