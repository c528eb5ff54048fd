"""No file, however broken, gets more than findings: mutations of a valid file through the whole command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcplan.cli.app import run
from dcplan.model.rules.examples import WITH_JOB

if TYPE_CHECKING:
    from pathlib import Path

RICH = (
    WITH_JOB
    + """\
    plans: {wide: {tp: 8, pp: 16, recompute: full}, deep: {tp: 8, pp: 32, sharding: 3, recompute: full}}
    use: wide
    targets: {max_overhead_percent: 3}
gear:
  allow: {transponders: [400zr, mine], amplifiers: [generic]}
  transponders:
    mine: {modes: {fast: {rate_gbps: 800, baud_gbd: 118, width_ghz: 150, required_osnr_db: 24, cd_penalty: [[0, 0]]}}}
  prices_usd: {mine: 9000}
policy: {survive: [any-fiber, any-shared-risk, any-site], scheme: reroute, years: 5, solver: {gap: 0.01}}
x-free: {a: 1}
"""
)
SETTINGS = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["auto", "papillion", "north", "yes", "1e400", "0x", "~", "<<", "*a", "&a", "!!int x", "- -", ""]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=3),
)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DCPLAN_DEBUG", raising=False)
    return tmp_path / "x.yaml"


def answer(target: Path, capsys: pytest.CaptureFixture[str], data: bytes | str) -> dict[str, Any] | None:
    """What validate says, after checking that it is an answer."""
    target.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    code = run(["validate", "--format", "json", str(target)])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "internal error" not in shown.err, shown.err
    assert code in (0, 1, 2)
    if code == 2:
        assert "is not UTF-8" in shown.err
        return None
    found: dict[str, Any] = json.loads(shown.out)
    assert (code == 1) == (found["errors"] > 0)
    lines = target.read_text(encoding="utf-8").splitlines()
    for finding in found["findings"]:
        assert 1 <= finding["line"] <= len(lines) + 1
        assert finding["column"] >= 1
        assert finding["message"]
    return found


def paths(data: Any, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place for key, value in members for place in [(*here, key), *paths(value, (*here, key))]]


def tree() -> Any:
    from dcplan.model.source import parse

    return parse(RICH, "x.yaml").data


def test_the_file_itself_is_clean(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(target, capsys, RICH)
    assert found is not None
    assert found["errors"] == 0


@SETTINGS
@given(data=st.data())
def test_a_value_replaced(target: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    whole = tree()
    place = data.draw(st.sampled_from(paths(whole)))
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = data.draw(SCALARS)
    text = json.dumps(whole, allow_nan=True)  # JSON is YAML; NaN and Infinity are then text, which is refused too
    answer(target, capsys, text)


@SETTINGS
@given(data=st.data())
def test_a_key_deleted_renamed_or_moved(target: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    whole = tree()
    place = data.draw(st.sampled_from([path for path in paths(whole) if isinstance(path[-1], str)]))
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    value = inner.pop(place[-1])
    what = data.draw(st.sampled_from(["delete", "rename", "move"]))
    if what == "rename":
        inner[data.draw(st.text(max_size=6))] = value
    if what == "move":
        whole[place[-1]] = value
    found = answer(target, capsys, json.dumps(whole))
    if what == "delete" and place in {("dcplan",), ("name",), ("sites",), ("fibers", "north", "ends")}:
        assert found is not None
        assert found["errors"]


@SETTINGS
@given(data=st.data())
def test_lines_shuffled_doubled_or_lost(target: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    lines = RICH.splitlines()
    chosen = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, max_size=len(lines) + 3))
    answer(target, capsys, "\n".join(lines[i] for i in chosen) + "\n")


@SETTINGS
@given(data=st.data())
def test_bytes_garbled(target: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    raw = bytearray(RICH.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=4))
    answer(target, capsys, bytes(raw))


@SETTINGS
@given(text=st.text(max_size=60))
def test_any_text(target: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    answer(target, capsys, text)
