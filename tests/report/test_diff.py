"""A diff is empty for equal plans, mirrors itself, and says what changed by the names of the field."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.planfile import dumps, loads
from dcplan.report.diff import SHOWN, Change, diff, render
from tests.report import plans

if TYPE_CHECKING:
    from dcplan.planfile import Plan

QUICK = settings(max_examples=40, deadline=None, derandomize=True)


@st.composite
def variants(draw: st.DrawFn) -> Plan:
    """The rich plan with some things changed, added or taken away."""
    plan = draw(st.sampled_from([plans.rich(), plans.calm(), plans.grown(), plans.bare()]))
    design = plan.design
    counts = draw(st.lists(st.integers(1, 20), min_size=len(design.wavelengths), max_size=len(design.wavelengths)))
    waves = tuple(replace(group, count=n) for group, n in zip(design.wavelengths, counts, strict=True))
    keep = draw(st.sets(st.sampled_from(range(8))))
    bill = tuple(replace(item, total_usd=draw(st.floats(0, 1e7))) for i, item in enumerate(design.bill) if i in keep)
    gap = draw(st.one_of(st.none(), st.floats(0, 1)))
    proof = replace(design.proof, gap=gap, status=draw(st.sampled_from(["optimal", "feasible"])))
    rows = tuple(replace(row, chosen=draw(st.booleans())) for row in plan.plans)
    return replace(plan, design=replace(design, wavelengths=waves, bill=bill, proof=proof), plans=rows)


def mirrored(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    return tuple(replace(change, old=change.new, new=change.old) for change in changes)


@QUICK
@given(variants())
def test_a_plan_does_not_differ_from_itself(plan: Plan) -> None:
    changed = diff(plan, plan)
    assert not changed
    assert changed.changes == ()
    assert render(changed, "text") == render(changed, "markdown") == ""
    assert json.loads(render(changed, "json"))["tables"]["changes"]["rows"] == []


@QUICK
@given(variants(), variants())
def test_the_other_way_round_before_and_after_change_places(old: Plan, new: Plan) -> None:
    there, back = diff(old, new), diff(new, old)
    assert back.changes == mirrored(there.changes)
    assert bool(there) == bool(back)
    for form in ("text", "markdown", "json"):
        assert bool(render(there, form)) == bool(render(back, form))


@QUICK
@given(variants())
def test_a_plan_does_not_differ_from_what_its_file_says(plan: Plan) -> None:
    assert not diff(plan, loads(dumps(plan), "plan.json"))


def test_what_changed_is_named() -> None:
    changes = {(c.area, c.what, c.unit): (c.old, c.new) for c in diff(plans.rich(), plans.grown()).changes}
    assert changes["cost", "", "US$"] == (1467642.56, 1570842.56)
    assert changes["capacity", "", "Gb/s"] == (8800, 11600)
    assert changes["proof", "status", ""] == ("feasible", "optimal")
    assert changes["lit pairs", "north", ""] == (1, 2)
    assert changes["wavelengths", "800zr+ 800g-16qam on lincoln [north] papillion", ""] == (8, 12)
    assert changes["bill", "800zr+: transponder", ""] == (16, 24)
    assert changes["bill", "800zr+: transponder", "US$"] == (152_000, 228_000)
    assert changes["overhead", "pretrain, worst failure", "%"] == (21.71, 2.0)
    assert changes["overhead", "tune, healthy", "%"] == (0.42, 2.0)
    assert changes["step in", "healthy: tune", "s"] == (0.8123, 17.27)
    assert changes["promises", "missed", ""] == (5, 4)
    assert ("bill", "roadm: terminal gear", "US$") not in changes


def test_other_ids_of_the_same_lightpaths_are_no_difference() -> None:
    plan = plans.rich()
    new = {path.id: f"L{9 - i}" for i, path in enumerate(plan.lightpaths)}
    design = plan.design
    routing = tuple(
        replace(
            state,
            flows=tuple(replace(flow, lightpaths=tuple(new[path] for path in flow.lightpaths)) for flow in state.flows),
        )
        for state in design.routing
    )
    again = replace(
        plan,
        lightpaths=tuple(replace(path, id=new[path.id]) for path in plan.lightpaths),
        design=replace(
            design,
            routing=routing,
            wavelengths=tuple(replace(group, lightpath=new[group.lightpath]) for group in design.wavelengths),
            channels=tuple(replace(channel, lightpath=new[channel.lightpath]) for channel in design.channels),
        ),
    )
    assert not diff(plan, again)


def test_a_comment_opens_with_its_mark_a_sentence_and_ten_rows() -> None:
    lines = render(diff(plans.rich(), plans.grown()), "markdown").splitlines()
    assert lines[0] == "<!-- dcplan -->"
    assert lines[1].startswith("**FAIL** Two campuses costs US$ 1.57 M, US$ 103 k (7.03 %) more than before")
    head = lines[: lines.index("<details>")]
    assert sum(line.startswith("|") for line in head) == SHOWN + 2
    assert lines[-1] == "</details>"


def test_a_small_change_folds_nothing_away() -> None:
    plan = plans.calm()
    cheaper = tuple(replace(item, total_usd=item.total_usd / 2) for item in plan.design.bill[:1])
    new = replace(plan, design=replace(plan.design, bill=(*cheaper, *plan.design.bill[1:])))
    shown = render(diff(plan, new), "markdown")
    assert "<details>" not in shown
    assert "less than before" in shown
    assert "missed" not in shown


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_numbers_that_differ_are_shown_different(form: str) -> None:
    plan = plans.rich()
    proof = replace(plan.design.proof, gap=(plan.design.proof.gap or 0) + 1e-6)
    shown = render(diff(plan, replace(plan, design=replace(plan.design, proof=proof))), form, 160)
    assert "3.0068 %" in shown
    assert "3.0069 %" in shown
