"""A part of low confidence is marked wherever it is named."""

from __future__ import annotations

from dataclasses import replace

from dcplan.planfile import Assumption
from dcplan.report import optics
from dcplan.report.doubt import doubtful_in, flagged
from dcplan.report.render import draw, render
from tests.report import plans

WHY = {"400zr+": "from memory", "edfa-15": "an estimate"}


def test_parts_are_marked_in_every_table_that_names_them() -> None:
    plan = plans.rich()
    shown = flagged(optics.view(plan.name, plan.lines, plan.lightpaths), WHY)
    text = draw(shown, "text", 160)
    assert "~400zr+" in text
    assert "~edfa-15" in text
    assert "~edfa-25" not in text
    assert "~800zr+" not in text
    for table in shown.tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if column.key in ("amplifier", "transponder", "mode") and cell.value:
                    assert cell.text.startswith("~") == str(cell.value).startswith(("400zr+", "edfa-15"))
    told = [notice.text for notice in shown.notices if "low confidence" in notice.text]
    assert sorted(told) == [
        "400zr+ is of low confidence: from memory",
        "edfa-15 is of low confidence: an estimate",
    ]


def test_values_for_programs_stay_as_they_are() -> None:
    plan = plans.rich()
    view = optics.view(plan.name, plan.lines, plan.lightpaths)
    bare = [[cell.value for cell in row] for table in view.tables for row in table.rows]
    assert [[cell.value for cell in row] for table in flagged(view, WHY).tables for row in table.rows] == bare


def test_a_site_or_fiber_with_the_name_of_a_part_is_not_marked() -> None:
    view = optics.view("x", plans.rich().lines, plans.rich().lightpaths)
    assert flagged(view, {"north": "x", "lincoln": "y"}) == view


def test_a_plan_marks_what_its_assumptions_doubt() -> None:
    plan = plans.rich()
    doubted = replace(plan, assumptions=(Assumption("fiber g654e", "0.17 dB/km", "memory", "low"), *plan.assumptions))
    assert doubtful_in(doubted) == {"g654e": "0.17 dB/km"}
    assert "~g654e" in render(doubted, "text", 160)
    assert "~g654e" not in render(plan, "text", 160)
