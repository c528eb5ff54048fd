"""Every format tells the same: totals, promises, proof."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dcplan.errors import UsageError
from dcplan.report.render import FORMATS, check_format, format_of, render
from dcplan.units import money, rate
from tests.report import plans

QUICK = settings(max_examples=25, deadline=None, derandomize=True)


def with_bill(numbers: list[int]) -> plans.Plan:
    plan = plans.rich()
    items = tuple(
        replace(plan.design.bill[0], part=f"part {i}", quantity=n, unit_usd=100, total_usd=100 * n, source="a list")
        for i, n in enumerate(numbers)
    )
    return replace(plan, design=replace(plan.design, bill=items))


def amounts_in_text(shown: str) -> tuple[list[int], int]:
    """The totals of the bill's rows, and its total. Before each stand quantity and price, after it words."""
    table = shown.split("Bill of materials\n")[1].split("\n\n", maxsplit=1)[0]
    rows = [line.split() for line in table.splitlines() if re.match(r"  (part \d|total)", line)]
    numbers = [
        [int(word.lstrip("~").replace(",", "")) for word in row if re.fullmatch(r"~?[\d,]+", word)] for row in rows
    ]
    return [row[-1] for row in numbers[:-1]], numbers[-1][-1]


def amounts_in_markdown(shown: str) -> tuple[list[int], int]:
    table = shown.split("## Bill of materials\n\n")[1].split("\n\n", maxsplit=1)[0].splitlines()
    cells = [[cell.strip(" *") for cell in row.split("|")[1:-1]] for row in table]
    column = next(i for i, head in enumerate(cells[0]) if head.startswith("Total"))
    found = [int(row[column].removeprefix("\\~").replace(",", "")) for row in cells[2:]]
    return found[:-1], found[-1]


@QUICK
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6))
def test_every_format_shows_the_same_bill_and_its_sum_is_the_cost(numbers: list[int]) -> None:
    plan = with_bill(numbers)
    rows, total = amounts_in_text(render(plan, "text", 160))
    assert (rows, total) == ([100 * n for n in numbers], 100 * sum(numbers))
    assert amounts_in_markdown(render(plan, "markdown")) == (rows, total)
    data = json.loads(render(plan, "json"))
    assert [row["total_usd"] for row in data["tables"]["bill"]["rows"]] == rows
    assert data["tables"]["bill"]["total"]["total_usd"] == data["facts"][0]["cost_usd"] == total
    for form in FORMATS:
        assert money(total) in render(plan, form)


def test_every_format_opens_with_the_same_five_lines() -> None:
    plan = plans.rich()
    facts = json.loads(render(plan, "json"))["facts"]
    assert [fact["label"] for fact in facts] == ["cost", "capacity", "overhead", "weakest state", "proof"]
    text = render(plan, "text", 160).split("\n\n")[1].splitlines()
    assert len(text) == 5
    shown = MarkdownIt("commonmark").enable("table").parse(render(plan, "markdown"))
    cells = [token.content.strip("*") for token in shown if token.type == "inline"][1:19]
    for fact, line in zip(facts, text, strict=True):
        assert line.split(maxsplit=1)[0] == fact["label"].split()[0]
        assert line.endswith(fact["text"])
        assert fact["label"] in cells
    assert rate(8800) in text[1]


def test_five_lines_are_five_lines_at_80_columns() -> None:
    for plan in (plans.rich(), plans.calm(), plans.bare()):
        assert len(render(plan, "text", 80).split("\n\n")[1].splitlines()) == 5


def test_capacity_is_the_sum_over_links() -> None:
    data = json.loads(render(plans.rich(), "json"))
    links = data["tables"]["links"]["rows"]
    assert data["facts"][1]["capacity_gbps"] == sum(row["capacity_gbps"] for row in links) == 8 * 800 + 6 * 400
    assert data["facts"][1]["wavelengths"] == sum(row["wavelengths"] for row in links) == 14


def test_terms_of_a_step_add_up_to_it() -> None:
    from dcplan.report import steps
    from dcplan.report.json import data

    for name, table in data(steps.view("x", plans.plan_rows()))["tables"].items():
        if name.startswith("terms"):
            for row in table["rows"]:
                terms = [value for key, value in row.items() if key not in {"plan", "step_s", "one_site_s"}]
                assert len(terms) == 12
                assert math.isclose(math.fsum(terms), row["step_s"])


@pytest.mark.parametrize("form", FORMATS)
def test_what_must_not_be_overlooked_stands_before_the_first_table(form: str) -> None:
    top = re.split(r"Links and wavelengths|\"tables\"", render(plans.rich(), form))[0].replace("\n      ", " ")
    assert "pretrain is 21.7 % slower, promised 20.0 %, in fiber north" in top
    assert "gets 26.9 % of its promise, in fiber north" in top
    assert "not proven optimal: time limit" in top
    assert "cheaper, 3.01 % of the cost" in top
    assert "2 prices and 1 assumption are estimates of low confidence" in top
    assert "step times of tune are extrapolated" in top


@pytest.mark.parametrize("form", FORMATS)
def test_a_plan_that_keeps_its_promises_warns_of_nothing(form: str) -> None:
    shown = render(plans.calm(), form)
    assert "FAIL" not in shown
    assert "not proven" not in shown
    assert "~" not in shown


def test_a_promise_missed_by_a_hair_shows_two_different_numbers() -> None:
    plan = plans.calm()
    first, *others = plan.assessment.states
    late = replace(first.jobs[0], overhead_percent=20.00004)
    states = (replace(first, jobs=(late, first.jobs[1])), *others)
    shown = render(replace(plan, assessment=replace(plan.assessment, states=states)), "text", 160)
    assert "pretrain is 20.00004 % slower, promised 20.00000 %, healthy" in shown


def test_a_job_that_stops_is_said_at_the_top() -> None:
    plan = plans.calm()
    first, second, *others = plan.assessment.states
    stopped = replace(plans.in_state("tune", None, None, 25.0, 0.0), rate_fraction=None)
    states = (first, replace(second, jobs=(second.jobs[0], stopped)), *others)
    shown = render(replace(plan, assessment=replace(plan.assessment, states=states)), "text", 160)
    assert "FAIL  tune stops (site lincoln is gone), in fiber north" in shown


def test_estimates_are_counted() -> None:
    plan = plans.calm()
    first, *others = plan.design.bill
    guessed = replace(plan, design=replace(plan.design, bill=(replace(first, confidence="low"), *others)))
    shown = render(guessed, "text", 160)
    assert "1 price is an estimate of low confidence" in shown
    assert "US$ 1.47 M, of which US$ 152 k is estimated" in shown


def test_an_estimate_is_flagged_where_it_stands() -> None:
    shown = render(plans.rich(), "text", 160)
    assert "~152,000" in shown
    assert "~ low confidence" in shown
    assert "~0.8123" in shown


def test_json_has_no_number_that_json_has_not() -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    data = json.loads(render(plans.rich(), "json"), parse_constant=refuse)
    assert data["format"] == 1
    assert data["kind"] == "plan"


def test_names_pass_through_markdown_unharmed() -> None:
    evil = "a|b *c* _d_ `e` <f> [g](h) ~i~ $j$ # & \\ @k"
    plan = replace(plans.rich(), fibers=(replace(plans.rich().fibers[0], type=evil),))
    tokens = MarkdownIt("commonmark").enable("table").parse(render(plan, "markdown"))
    shown = [
        "".join(child.content for child in token.children or () if child.type != "html_inline")
        for token in tokens
        if token.type == "inline"
    ]
    assert evil in shown


def test_rows_of_a_markdown_table_have_the_same_number_of_cells() -> None:
    plan = replace(plans.rich(), name="| a |")
    for block in render(plan, "markdown").split("\n\n"):
        rows = [re.sub(r"\\.", "", line).count("|") for line in block.splitlines() if line.startswith("|")]
        assert len(set(rows)) <= 1


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no format `xml`.*text, markdown, json"):
        check_format("xml")
    with pytest.raises(UsageError):
        render(plans.rich(), "xml")


@pytest.mark.parametrize(
    ("name", "form"),
    [("plan.md", "markdown"), ("plan.JSON", "json"), ("plan.txt", "text"), ("-", "text"), ("x", "text")],
)
def test_the_format_that_a_file_name_asks_for(name: str, form: str) -> None:
    assert format_of(name) == form


def test_a_job_that_no_plan_fits_is_said_at_the_top() -> None:
    from dcplan.report import steps
    from dcplan.report.render import draw

    misfits = [row for row in plans.plan_rows() if not row.fits]
    shown = draw(steps.view("x", misfits), "text")
    assert "pretrain  FAIL  no parallelism plan fits" in shown
    assert "131 GB needed" in shown


def test_a_channel_of_an_odd_number_of_slots_keeps_its_half_gigahertz() -> None:
    plan = plans.rich()
    first, *others = plan.design.channels
    plan = replace(plan, design=replace(plan.design, channels=(replace(first, slots=13), *others)))
    table = render(plan, "text", 80).split("Spectrum\n")[1].split("\n\n", maxsplit=1)[0]
    assert "162.5" in table
