"""Every rule has a bad example that it finds and a good one in which nothing is wrong by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.api import reference
from dcplan.model.rules.connection import LONELY
from dcplan.model.rules.examples import GOOD, WITH_JOB, with_change
from tests.model.factory import network, valid

if TYPE_CHECKING:
    from dcplan.diagnostics import Rule

RULES = reference.all_rules()


def codes(text: str, folder: Path) -> set[str]:
    file = folder / "x.yaml"
    file.write_text(text, encoding="utf-8")
    return {finding.rule.code for finding in api.check([file])}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_examples(rule: Rule, tmp_path: Path) -> None:
    assert rule.code in codes(rule.bad, tmp_path)
    assert rule.code not in codes(rule.good, tmp_path)


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert [rule.code for rule in RULES] == sorted(rule.code for rule in RULES)


@pytest.mark.parametrize("text", [GOOD, WITH_JOB])
def test_the_example_is_clean(text: str, tmp_path: Path) -> None:
    assert codes(text, tmp_path) == set()


def test_an_example_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no passage"):
        with_change("not in the file", "x")


def test_power_is_count_times_all_in_power_at_the_pue_of_the_site() -> None:
    from dcplan.model.rules.capacity import site_power_mw

    # 16,384 x 1,400 W at a PUE of 1.2 is 22.9 MW, and at 1.25 it is 1.25 / 1.2 as much
    made = valid(WITH_JOB)
    assert made.catalog.accelerators["h100-sxm"].all_in_w == 1400
    assert site_power_mw(made, "papillion") == pytest.approx(16384 * 1400e-6 * 1.25 / 1.2)


def test_a_group_of_one_names_the_group_that_is_spelt_alike() -> None:
    _, found = network(
        with_change(
            "length_km: 64, type: g652d",
            "length_km: 64, type: g652d, shared_risk: [I-80]",
            with_change("length_km: 58, type: g652d", "length_km: 58, type: g652d, shared_risk: [i80]"),
        )
    )
    assert [finding.hint for finding in found if finding.rule is LONELY] == [
        "did you mean `I-80`?",
        "did you mean `i80`?",
    ]


def test_a_price_of_an_own_part_that_another_overrides_has_no_effect() -> None:
    own = "gear: {equipment: {mux: {loss_db: 6, price_usd: 2}}, prices_usd: {mux: 3}}\n"
    _, found = network(GOOD + own)
    assert "`price_usd` has no effect: `gear.prices_usd` has another price of it" in {one.message for one in found}
