"""A plan whose parts do not fit together is refused in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dcplan.errors import UsageError
from dcplan.report.diff import diff
from dcplan.report.view import view
from tests.report import plans

if TYPE_CHECKING:
    from dcplan.planfile import Plan


def torn(**parts: Any) -> Plan:
    plan = plans.rich()
    return replace(plan, design=replace(plan.design, **parts))


DESIGN = plans.rich().design
FLOW = DESIGN.routing[0].flows[0]
CASES = [
    (replace(plans.rich(), lightpaths=()), "lightpath L1, which it does not have"),
    (torn(wavelengths=(replace(plans.WAVES[0], lightpath="L9"),)), "wavelengths on lightpath L9"),
    (torn(channels=(replace(DESIGN.channels[0], lightpath="L9"),)), "spectrum on lightpath L9"),
    (torn(channels=(replace(DESIGN.channels[0], pairs=(0, 0)),)), "lightpath L1 does not name one pair on each fiber"),
    (
        torn(routing=(replace(DESIGN.routing[0], flows=(replace(FLOW, lightpaths=("L8",)),)),)),
        "traffic on lightpath L8",
    ),
    (replace(plans.rich(), assessment=replace(plans.rich().assessment, states=())), "no healthy state"),
]


@pytest.mark.parametrize(("plan", "said"), CASES)
def test_a_torn_plan_is_refused(plan: Plan, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        view(plan)
    with pytest.raises(UsageError, match=said):
        diff(plans.rich(), plan)


def test_a_whole_plan_is_not() -> None:
    for plan in (plans.rich(), plans.calm(), plans.bare(), plans.grown()):
        view(plan)
