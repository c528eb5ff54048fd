"""The plan file: versioned, with a JSON Schema that is current, refused with a reason when it is not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcplan import planfile
from dcplan.errors import UsageError
from tests.report.plans import rich

ROOT = Path(__file__).parent.parent


def test_the_committed_schema_is_current() -> None:
    committed = json.loads((ROOT / "plan.schema.json").read_text(encoding="utf-8"))
    assert committed == planfile.json_schema(), "make schema"


def test_the_schema_names_every_part_of_a_plan() -> None:
    assert set(planfile.json_schema()["properties"]) == set(planfile.Plan.__dataclass_fields__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a plan file"),
        ("[]", "is not a plan file"),
        ("[" * 100_000, "is not a plan file"),
        ("{}", "is not a plan file"),
        ('{"format": 99}', "has plan format 99"),
        ('{"format": 1}', "is not a whole plan file"),
        ('{"format": 1, "dcplan": 3}', "is not a whole plan file"),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        planfile.loads(text, "x.json")


def test_a_route_that_lacks_a_site_is_refused() -> None:
    whole = json.loads(planfile.dumps(rich()))
    planfile.loads(json.dumps(whole), "x.json")
    whole["lightpaths"][0]["route"]["sites"].pop()
    with pytest.raises(UsageError, match=r"is not a whole plan file: the route of L1 has a site or fiber too few"):
        planfile.loads(json.dumps(whole), "x.json")


def test_numbers_are_rounded_once_and_stay() -> None:
    once = planfile.rounded([1 / 3, 2.0, float("inf"), (1e-12, 5)])
    assert once == [0.333333333, 2, None, [1e-12, 5]]
    assert planfile.rounded(once) == once
