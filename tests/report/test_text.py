"""Plain text keeps its width, its columns and its words, whatever the names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.optics.line import NoLine
from dcplan.report import diff, optics, steps, text, width
from dcplan.report.render import draw, render
from dcplan.report.sheet import Cell, Column, Fact, Notice, Table, View
from tests.report import plans

QUICK = settings(max_examples=30, deadline=None, derandomize=True)
NAMES = st.one_of(
    st.text(min_size=1, max_size=80),
    st.text("東京大阪北 ー한국서울é̈-_/|", min_size=1, max_size=80),
    st.sampled_from(["x" * 80, "東" * 80, "a b " * 20, "🚄🚄🚄", "\u202eevil", "\x1b[31mred", "line\nbreak", "é" * 80]),
)
WIDTHS = st.integers(60, 160)
SGR = re.compile(r"\x1b\[[0-9;]*m")


def named(name: str, other: str) -> plans.Plan:
    """The rich plan with other names for what a user names."""
    plan = plans.rich()
    fibers = tuple(replace(fiber, name=name + fiber.name, a=other, type=name) for fiber in plan.fibers)
    rename = {fiber.name: name + fiber.name for fiber in plan.fibers}
    paths = tuple(
        replace(
            path,
            route=replace(
                path.route, fibers=tuple(rename[f] for f in path.route.fibers), sites=(name, *path.route.sites[1:])
            ),
            budgets=tuple(replace(budget, transponder=name, direction=f"{name} -> {other}") for budget in path.budgets),
        )
        for path in plan.lightpaths
    )
    states = tuple(
        replace(s, rerouted=(name,), worst_demand=other, jobs=tuple(replace(j, job=name, why=other) for j in s.jobs))
        for s in plan.assessment.states
    )
    return replace(
        plan,
        name=name,
        inputs={name: "0" * 64},
        sites=tuple(replace(site, name=other, accelerators={name: 8}) for site in plan.sites),
        fibers=fibers,
        lines=tuple(replace(line, fiber=rename[line.fiber], booster=other) for line in plan.lines),
        lightpaths=paths,
        assessment=replace(plan.assessment, states=states),
        plans=tuple(replace(row, job=name, plan=other, layout=name, why_not=row.why_not) for row in plan.plans),
    )  # fmt: skip


def sheets(name: str, other: str) -> list[View]:
    plan = named(name, other)
    found = [optics.view(name, [*plan.lines, NoLine(name, other, 1)], plan.lightpaths), steps.view(name, plan.plans)]
    return [*found, View("x", name, (Fact(name, other, {}, "FAIL"),), (Notice("FAIL", name),))]


@QUICK
@given(NAMES, NAMES, WIDTHS)
def test_no_line_is_wider_than_the_page(name: str, other: str, columns: int) -> None:
    plan = named(name, other)
    shown = [render(plan, "text", columns), diff.render(diff.diff(plans.rich(), plan), "text", columns)]
    shown += [draw(view, "text", columns) for view in sheets(name, other)]
    for line in "".join(shown).split("\n"):
        assert width.columns(line) <= columns, line


@pytest.mark.parametrize(("asked", "given_"), [(1, text.NARROWEST), (59, 60), (161, 160), (10_000, text.WIDEST)])
def test_a_page_is_60_to_160_wide(asked: int, given_: int) -> None:
    assert render(plans.rich(), "text", asked) == render(plans.rich(), "text", given_)


@QUICK
@given(st.text(max_size=200), st.integers(2, 40))
def test_wrapping_loses_nothing(words: str, columns: int) -> None:
    lines = width.wrap(width.plain(words), columns)
    assert "".join("".join(lines).split()) == "".join(width.plain(words).split())
    assert all(width.columns(line) <= columns for line in lines)


@QUICK
@given(st.lists(st.tuples(NAMES, NAMES, st.integers(0, 10**9)), min_size=1, max_size=5), WIDTHS)
def test_columns_stand_below_each_other(cells: list[tuple[str, str, int]], columns: int) -> None:
    """Between two columns, as the rule below the heads marks them, every row is blank."""
    heads = (Column("a", "First", wrap=8), Column("b", "Second", wrap=8), Column("n", "Number", "Gb/s", right=True))
    rows = tuple((Cell(a, a), Cell(b, b), Cell(f"{n:,}", n)) for a, b, n in cells)
    lines = text.draw_table(Table("t", "Title", heads, rows), text.Page(columns))
    rule = next(line for line in lines if "─" in line)
    gaps = [i for i, char in enumerate(rule) if char == " "]
    for line in lines[lines.index(rule) + 1 :]:
        if line.startswith(" " * (text.INDENT + text.DEEPER)):
            continue  # what does not fit beside stands below, indented
        grid = "".join(char + "\0" * (width.columns(char) - 1) for char in line if width.columns(char))
        assert all(i >= len(grid) or grid[i] == " " for i in gaps), line


def test_numbers_of_a_column_end_in_the_same_place() -> None:
    heads = (Column("a", "Name", wrap=8), Column("n", "Number", right=True))
    rows = tuple((Cell(name, name), Cell(n, n)) for name, n in [("東京", "1"), ("a", "1,000"), ("é", "27")])
    lines = text.draw_table(Table("t", "Title", heads, rows), text.Page(80))[3:]
    assert {width.columns(line) for line in lines} == {width.columns(lines[0])}


@pytest.mark.parametrize(
    ("shown", "columns"),
    [("", 0), ("abc", 3), ("東京", 4), ("é", 1), ("e\u0301", 1), ("\u200b", 0), ("한", 2), ("–", 1)],
)
def test_columns_of_text(shown: str, columns: int) -> None:
    assert width.columns(shown) == columns


@pytest.mark.parametrize(
    "block",
    [
        (0x20, 0x7E),
        (0xA1, 0x24F),
        (0x301, 0x36F),
        (0x3041, 0x30FF),
        (0x4E00, 0x4FFF),
        (0xAC00, 0xAFFF),
        (0xFF01, 0xFF60),
    ],
)
def test_columns_agree_with_rich(block: tuple[int, int]) -> None:
    from rich.cells import cell_len

    for code in range(block[0], block[1] + 1):
        if code != 0xAD:  # a soft hyphen is not shown by terminals; rich counts it
            assert width.columns("a" + chr(code)) == cell_len("a" + chr(code)), hex(code)


def test_a_name_cannot_steer_the_terminal() -> None:
    shown = render(named("\x1b]0;title\x07", "a\u202eb\rc\x9b"), "text")
    assert not set(shown) & set("\x1b\x07\u202e\r\x9b")


def test_colour_repeats_what_words_say() -> None:
    plain = render(plans.rich(), "text", 80)
    coloured = render(plans.rich(), "text", 80, colour=True)
    assert coloured != plain
    assert SGR.sub("", coloured) == plain


def test_a_narrow_page_shows_every_figure_of_a_wide_one() -> None:
    """What does not fit beside goes below its row, or into a note: nothing is left out."""

    def figures(shown: str) -> set[str]:
        return set(re.findall(r"\d[\d,.]*\d", shown))

    for view in [*sheets("a", "b"), *sheets("long-name-of-a-site", "another-long-name")]:
        assert figures(draw(view, "text", 60)) >= figures(draw(view, "text", 160))
    assert figures(render(plans.rich(), "text", 60)) >= figures(render(plans.rich(), "text", 160))
