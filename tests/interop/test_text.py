"""Our own writer of topology files against the reader of them."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.interop.text import WIDTH, yaml_text
from dcplan.model.source import parse

TEXT = st.one_of(
    st.sampled_from(
        ["", "no", "NO", "yes", "true", "Null", "~", "1e6", "010", "0x1f", "1:30", "a: b", "a #b", "- x", "é"]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=12),
)
SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    TEXT,
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(TEXT.filter(lambda key: key not in ("extends", "<<")), VALUE, max_size=5))
def test_what_is_written_is_read_back(data: dict[str, object]) -> None:
    document = parse(yaml_text(data), "t.yaml")
    assert not document.problems, document.problems
    assert document.data == data or not data


def test_short_maps_in_a_line_long_ones_in_several() -> None:
    data = {"sites": {"a": {"lat": 1.5, "lon": 2}}, "long": {"list": [{"x": number} for number in range(40)]}}
    text = yaml_text(data, {("long", "list"): "why"})
    assert "  a: {lat: 1.5, lon: 2}\n" in text
    assert "    - {x: 0}  # why\n    - {x: 1}\n" in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_comments_stand_where_values_begin() -> None:
    text = yaml_text({"f": {"a": {"spans": [1], "n": 2}}}, {("f", "a", "spans"): "one"})
    assert text == "f:\n  a:\n    spans: [1]  # one\n    n: 2\n"
    assert json.dumps(parse(text, "t.yaml").data) == '{"f": {"a": {"spans": [1], "n": 2}}}'
