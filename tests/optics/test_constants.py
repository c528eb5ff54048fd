"""Every constant of optics is explained from where it stands: value, unit, formula, source, confidence."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from dcplan.api import reference
from dcplan.model.schema import Policy
from dcplan.optics.constants import CONSTANTS, explained

OPTICS = Path(__file__).parents[2] / "dcplan" / "optics"
NUMERICAL = {"SETTLING", "BLOCK", "STEP_DB", "SPAN_DB"}
"""How something is computed or drawn, not what is assumed."""


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.name)
def test_each_says_what_it_is_and_where_it_comes_from(constant) -> None:
    found = explained(constant)
    assert found.meaning
    assert found.source
    assert found.confidence in {"high", "medium", "low"}
    assert bool(found.value) != bool(found.about)
    assert "Source:" not in found.meaning


def test_names_are_unique_and_no_rule_or_part_has_them() -> None:
    names = [constant.name for constant in CONSTANTS]
    assert len(set(names)) == len(names)
    taken = {rule.name for rule in reference.all_rules()} | {
        part for parts in reference.catalog().values() for part in parts
    }
    assert not taken & set(names)


def test_values_are_those_that_the_code_uses() -> None:
    values = {one.name: (one.value, one.unit) for one in reference.all_constants()}
    assert values["n2"] == ("2.6e-20", "m²/W")
    assert values["osnr-bandwidth"] == ("12.5", "GHz")
    assert values["planck"] == ("6.62607015e-34", "J s")
    assert values["connector-loss"] == (f"{Policy().connector_db:g}", "dB")
    assert values["guard-band"] == ("0", "GHz")
    assert values["gsnr"][0] == ""
    for one, constant in zip(reference.all_constants(), CONSTANTS, strict=True):
        module, _, path = constant.where.partition(":")
        held = getattr(import_module(f"dcplan.{module}"), path, None)
        if isinstance(held, float):
            assert float(one.value) == held


def test_formulas_are_those_of_the_docstrings() -> None:
    meaning = {one.name: one for one in reference.all_constants()}
    assert "2π n2 / (λ Aeff)" in meaning["gamma"].meaning
    assert "asinh" in meaning["gn"].meaning
    assert meaning["gn"].source.startswith("Poggiolini, arXiv:1209.0394")
    assert "1/GSNR = 1/OSNR_tx" in meaning["gsnr"].meaning
    assert "NF G h f B" in meaning["ase"].meaning


def test_no_number_of_optics_is_left_without_a_name() -> None:
    """A number at the top of a module of optics is explained, or is one of those that only say how to compute."""
    named = {tuple(constant.where.split(":")) for constant in CONSTANTS}
    unnamed = [
        f"{file.stem}:{target.id}"
        for file in sorted(OPTICS.glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.UnaryOp))
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.isupper() and not target.id.startswith("_")
        if not isinstance(getattr(node.value, "value", 0), str)
        if (f"optics.{file.stem}", target.id) not in named and target.id not in NUMERICAL
    ]
    assert unnamed == []


def test_every_loss_and_margin_of_the_policy_is_explained() -> None:
    named = {constant.where for constant in CONSTANTS}
    keys = [key for key in Policy.model_fields if re.search(r"_db($|_per_)", key) or key.endswith(("_km", "_ghz"))]
    assert [key for key in keys if f"model.schema:Policy.{key}" not in named] == []
