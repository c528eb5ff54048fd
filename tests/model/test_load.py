"""From text to network: what is refused, what is not, and where it is said to stand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.api import reference
from dcplan.diagnostics import MOST_COMPARED, nearest
from dcplan.errors import InputError, UsageError
from dcplan.model import jsonschema
from dcplan.model.faults import subject
from dcplan.model.load import load_document
from dcplan.model.rules.examples import GOOD, with_change
from dcplan.model.source import parse
from tests.model.factory import network, text_of, valid

ROOT = Path(__file__).parents[2]


def test_schema_in_the_repository_is_current() -> None:
    text = json.dumps(reference.schema("topology"), indent=1, ensure_ascii=False) + "\n"
    assert text == (ROOT / "dcplan.schema.json").read_text(encoding="utf-8"), "make schema"


def test_schema_knows_extends_and_free_keys() -> None:
    schema = reference.schema("topology")
    assert schema["patternProperties"] == {"^x-": {}}
    assert "extends" in schema["properties"]
    assert schema["additionalProperties"] is False


def test_keys_with_x_are_free_only_at_the_top() -> None:
    assert network("x-anything: {a: [1, .inf]}\n" + GOOD)[1] == []
    _, found = network(with_change("gbps: 400", "gbps: 400, x-note: 3", GOOD))
    assert [one.rule.code for one in found] == ["DCP102"]


def test_numbers_of_yaml_12() -> None:
    made = valid(with_change("gbps: 400", "gbps: 4e2", with_change("pairs: 4", "pairs: 0o10", GOOD)))
    assert made.topology.demands["checkpoints"].gbps == 400
    assert made.fibers["north"].pairs == 8


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pairs: 4.0", "DCP104"),
        ("pairs: '4'", "DCP104"),
        ("pairs: true", "DCP104"),
        ("pairs: 0", "DCP105"),
        ("pairs: -0x1", "DCP104"),
        ("pairs: [4]", "DCP104"),
        ("pairs: .nan", "DCP108"),
        ("pairs: " + "9" * 5000, "DCP108"),
        ("pairs: !!int x", "DCP001"),
    ],
)
def test_nothing_is_converted(text: str, code: str) -> None:
    _, found = network(with_change("pairs: 4", text, GOOD))
    assert [one.rule.code for one in found] == [code]


def test_phases_gate_each_other() -> None:
    bad_name = with_change("type: g652d", "type: nothing", GOOD)
    assert {one.rule.code for one in network(bad_name)[1]} == {"DCP202"}
    bad_schema = with_change("pairs: 4", "pairs: x", bad_name)
    assert {one.rule.code for one in network(bad_schema)[1]} == {"DCP104"}
    bad_text = bad_schema + "name: again\n"
    assert {one.rule.code for one in network(bad_text)[1]} == {"DCP002"}


def test_a_fault_from_an_anchor_stands_where_the_anchor_says_it() -> None:
    text = GOOD.replace("name: example", "name: example\nx-base: &base {pairs: 0}").replace("pairs: 4", "<<: *base", 1)
    _, found = network(text)
    assert [(one.rule.code, one.span.line) for one in found] == [("DCP105", 3)]


def test_own_parts_join_the_catalog() -> None:
    own = "{attenuation_db_per_km: 0.3, dispersion_ps_nm_km: 4, nonlinear: false, group_index: 1.2}"
    made = valid(GOOD.replace("g652d", "own") + f"gear: {{fibers: {{own: {own}}}}}\n")
    assert made.fiber_type("north").attenuation_db_per_km == 0.3
    assert "g652d" in made.catalog.fibers


def test_load_raises_all_findings(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(with_change("pairs: 4", "pairs: x", with_change("gbps: 400", "gbps: y", GOOD)))
    with pytest.raises(InputError) as caught:
        api.load(file)
    assert len(caught.value.findings) == 2
    file.write_text(GOOD)
    assert api.load(file).topology.name == "example"
    with pytest.raises(UsageError, match="no such file"):
        api.load(tmp_path / "y.yaml")


def test_warnings_do_not_keep_a_file_from_loading(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(GOOD.replace(", lease_usd_per_km_year: 400", ""))
    assert {one.rule.code for one in api.check([file])} == {"DCP350"}
    assert len(api.load(file).fibers) == 2


def test_a_directory_means_the_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.yaml", "a.yml", "deep/c.dcplan.yaml", "notes.txt"):
        (tmp_path / name).write_text("[")
    found = api.check([tmp_path, tmp_path / "a.yml"])
    assert [Path(one.span.file).name for one in found] == ["a.yml", "b.yaml", "c.dcplan.yaml"]


def test_a_fault_in_a_shared_base_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "base.txt").write_text("policy: {years: -1}\n")
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("extends: base/base.txt\n" + GOOD)
    found = api.check([tmp_path])
    assert [(one.rule.code, Path(one.span.file).name) for one in found] == [("DCP105", "base.txt")]


def test_subjects_read_as_words() -> None:
    assert subject(("fibers", "a-b", "spans", 0, "length_km")) == "fiber `a-b`: `spans`: number 1: `length_km`"
    assert subject(("gear", "fibers", "own", "group_index")) == "fiber `own`: `group_index`"
    assert subject(()) == "the file"


def test_every_key_of_the_schema_has_a_home() -> None:
    homes = jsonschema.homes()
    assert homes["survive"] == ("jobs.NAME", "demands.NAME", "policy")
    assert homes["time_limit_s"] == ("policy.solver",)
    assert "fibers.NAME.spans" in homes["loss_db"]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.text("abcdefgh", min_size=4, max_size=8), min_size=1, max_size=3 * MOST_COMPARED), st.data())
def test_a_name_with_one_letter_changed_finds_itself(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    place = data.draw(st.integers(0, len(name) - 1))
    wrong = name[:place] + "z" + name[place + 1 :]
    near = nearest(wrong, names)
    assert near is not None
    assert nearest("ZZZZ", names) is None


def test_case_alone_is_no_distance() -> None:
    assert nearest("G652D", ["g652d", "g654e"]) == "g652d"


@pytest.mark.parametrize("depth", [150, 300, 5000])
@pytest.mark.parametrize("key", ["name", "x-free"])
def test_deep_nesting_is_no_crash(depth: int, key: str) -> None:
    text = f"{key}: {'[' * depth}{']' * depth}\n" + GOOD.replace("name: example\n", "")
    made, found = load_document(parse(text, "x.yaml"))
    assert made is None
    assert found


def test_growth_is_linear() -> None:
    """Twice the sites and fibers must not take four times the steps; steps are counted, time is not measured."""

    def steps(sites: int) -> int:
        ring = [(i, (i + 1) % sites) for i in range(sites)]
        text = text_of(sites, ring, "demands: {d: {between: [s0, s1], gbps: 1, max_latency_ms: 90}}\n")
        count = 0

        def tracer(frame: object, event: str, arg: object) -> None:
            nonlocal count
            count += event == "call"

        network(text)
        sys.setprofile(tracer)
        try:
            network(text)
        finally:
            sys.setprofile(None)
        return count

    small, large = steps(100), steps(200)
    assert large < 2.5 * small
