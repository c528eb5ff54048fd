"""The spectrum of a plan as it is drawn: nothing that is lit is left out, nothing stands where it does not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.result import Channel
from dcplan.model.grid import Band, centre_thz
from dcplan.report.render import render
from dcplan.report.spectrum import blocks, strips
from dcplan.report.strip import DARK, FREE, GOES_ON, Scale, per_column, ruler, shrink
from tests.report import plans

MANY = settings(max_examples=100, deadline=None, derandomize=True)


@st.composite
def marks(draw: st.DrawFn) -> str:
    pieces = st.one_of(
        st.integers(1, 30).map(lambda n: FREE * n), st.integers(1, 20).map(lambda n: "A" + GOES_ON * (n - 1))
    )
    return "".join(draw(st.lists(pieces, min_size=1, max_size=30)))


@MANY
@given(marks(), st.integers(1, 160))
def test_a_column_is_free_exactly_where_all_its_slots_are(strip: str, width: int) -> None:
    shown, share = shrink(strip, width), per_column(len(strip), width)
    assert len(shown) <= width
    for i, mark in enumerate(shown):
        low, high = int(i * share + 1e-9), max(int(i * share + 1e-9) + 1, int((i + 1) * share + 1e-9))
        behind = strip[low:high]
        assert (mark == FREE) == (set(behind) == {FREE})
        if share >= 1:
            assert (mark == "A") == ("A" in behind)
    assert ("A" in shown) == ("A" in strip)


@pytest.mark.parametrize("width", [28, 48, 64, 100, 134, 400])
@pytest.mark.parametrize("scale", [Scale(191.325, 384), Scale(186.125, 800), Scale(193.1, 24)])
def test_a_tick_stands_in_the_column_of_its_frequency(scale: Scale, width: int) -> None:
    columns = len(shrink(FREE * scale.slots, width))
    numbers, rule = ruler(scale, columns)
    per = per_column(scale.slots, columns) * 0.0125
    found = [(word.start(), word.end(), float(word[0])) for word in re.finditer(r"[\d.]+", numbers)]
    assert found
    assert len(rule) == columns
    assert len(numbers) <= columns
    for start, end, thz in found:
        tick = int((thz - scale.start_thz) / per + 1e-6)
        assert rule[tick] == "┴"
        assert tick == start or (end == columns and start < tick)
        assert scale.start_thz + tick * per - 1e-6 <= thz < scale.start_thz + (tick + 1) * per + 1e-6


def test_strips_hold_every_channel_in_its_slots() -> None:
    plan = plans.rich()
    table = strips(plan)
    assert [(row[0].text, row[1].text, row[2].text) for row in table.rows] == [
        ("north", "1", "25"),
        ("south-west", "1", "9"),
        ("south-east", "2", "9"),
    ]
    north = table.rows[0][-1].value
    assert isinstance(north, str)
    assert len(north) == 384
    starts = [channel.first_slot for channel in plan.design.channels if channel.lightpath == "L1"]
    assert [i for i, mark in enumerate(north) if mark == "A"] == sorted(starts)
    assert north.count("A") + north.count(GOES_ON) == 12 * 8


def test_blocks_give_centres_and_edges_on_the_grid() -> None:
    table = blocks(plans.rich())
    first = dict(zip((column.key for column in table.columns), (cell.value for cell in table.rows[0]), strict=True))
    assert (first["letter"], first["channels"], first["n"], first["m"]) == ("A", 4, "-272 to -200", 12)
    assert first["start_thz"] == pytest.approx(191.325)
    assert first["end_thz"] == pytest.approx(191.325 + 4 * 0.15)
    assert centre_thz(-272) == pytest.approx(191.325 + 0.075)


def test_a_dark_stretch_is_shown_as_such() -> None:
    plan = plans.rich()
    band = Band(-1116, 800, 0, ((384, 32),))
    channel = Channel("L3", "800zr+", "800g-16qam", 416, 12, (0,), band.centre(416, 12))
    row = strips(replace(plan, design=replace(plan.design, band=band, channels=(channel,)))).rows[0]
    assert row[-1].value == FREE * 384 + DARK * 32 + "A" + GOES_ON * 11 + FREE * 372
    assert row[2].value == pytest.approx(100 * 12 / 768)


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_strips_fill_the_page_and_no_more(width: int) -> None:
    text = render(plans.rich(), "text", width)
    drawn = [line for line in text.splitlines() if line.startswith("  north") and "····" in line]
    assert drawn
    assert all(width * 2 / 3 < len(line) <= width for line in drawn)


def test_strips_as_data() -> None:
    data = json.loads(render(plans.rich(), "json"))
    assert [len(row["marks"]) for row in data["tables"]["spectrum-map"]["rows"]] == [384] * 3
    assert "`A━━A━━A━━A━━······A━━A━━" in render(plans.rich(), "markdown")
