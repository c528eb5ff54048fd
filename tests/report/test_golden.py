"""Whole reports, as they were looked at and found good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dcplan.optics.line import NoLine
from dcplan.planfile import dumps, loads
from dcplan.report import diff, optics, steps
from dcplan.report.render import draw, render
from tests.report import plans

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, str], None]


@pytest.mark.parametrize("width", [80, 160])
def test_report_as_text(golden: Golden, width: int) -> None:
    golden(f"report-{width}.txt", render(plans.rich(), "text", width))


def test_report_as_markdown(golden: Golden) -> None:
    golden("report.md", render(plans.rich(), "markdown"))


def test_report_as_json(golden: Golden) -> None:
    golden("report.json", render(plans.rich(), "json"))


def test_report_at_a_glance(golden: Golden) -> None:
    golden("show.txt", render(plans.calm(), "text", main=True))


def test_report_of_a_bare_plan(golden: Golden) -> None:
    golden("bare.txt", render(plans.bare(), "text"))


def test_optics(golden: Golden) -> None:
    plan = plans.rich()
    fibers = [*plan.lines, NoLine("west", "31.0 dB of loss, no allowed amplifier gives more than 27 dB", 3)]
    view = optics.view(plan.name, fibers, plan.lightpaths)
    golden("optics.txt", draw(view, "text"))
    golden("optics.md", draw(view, "markdown"))


def test_steps(golden: Golden) -> None:
    view = steps.view("Two campuses", plans.plan_rows())
    golden("steps.txt", draw(view, "text"))
    golden("steps.md", draw(view, "markdown"))


def test_diff(golden: Golden) -> None:
    changed = diff.diff(plans.rich(), plans.grown())
    golden("diff.txt", diff.render(changed, "text"))
    golden("diff.md", diff.render(changed, "markdown"))
    golden("diff.json", diff.render(changed, "json"))


def test_a_plan_read_from_its_file_has_the_same_report() -> None:
    plan = plans.rich()
    assert render(loads(dumps(plan), "plan.json"), "text") == render(plan, "text")
