"""What `dcplan steps --explain` prints of losses suffices to work goodput out again."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings

from dcplan import api
from dcplan.report import explanation
from dcplan.report.render import draw
from dcplan.training.explain.losses import LOSSES, explained_losses
from dcplan.training.goodput.chain import Goodput, Losses, goodput

from .evaluate import evaluate
from .test_goodput import PLAN, reliabilities, step

quiet = settings(derandomize=True, deadline=None, max_examples=60)
EXAMPLE = Path(__file__).parents[2] / "topologies" / "goodput" / "two-campus.yaml"


def test_every_loss_is_explained() -> None:
    """All shares of goodput but that of the network, which needs a designed one."""
    names = [field.name for field in fields(Goodput) if field.name.endswith("_percent")]
    assert names[: names.index("network_percent")] == list(LOSSES)


@given(reliabilities)
@quiet
def test_formulas_give_the_shares_and_their_product_the_goodput(about: Losses) -> None:
    found, parts = goodput(about, PLAN, step()), explained_losses(about, PLAN, step())
    assert found is not None
    for part in parts:
        again = evaluate(part.worked.formula, {one.symbol: one.value for one in part.worked.inputs})
        if found.ettr_percent or part.key != "failure_percent":  # a run that never gets on has no mean time
            assert again == pytest.approx(part.percent, abs=1e-6)
        left = found.goodput_percent * (part.percent < 100)
        assert part.without_percent * (1 - part.percent / 100) == pytest.approx(left, abs=1e-9)
    assert 100 * math.prod(1 - part.percent / 100 for part in parts) == pytest.approx(found.goodput_percent)


@pytest.mark.parametrize("plan", ["pipeline-in-campus", "pipeline-across"])
def test_as_printed(plan: str) -> None:
    (found,) = api.explain_step(api.load(EXAMPLE), plan, gbps=8000)
    shown = {table.id.split()[0]: table for table in explanation.view("example", (found,)).tables}
    inputs: dict[str, dict[str, float]] = {}
    for of, symbol, value, _, _ in shown["inputs"].rows:
        inputs.setdefault(str(of.value), {})[symbol.text] = float(value.text.replace(",", ""))
    left = 1.0
    for loss, takes, formula, *_ in shown["losses"].rows:
        again = evaluate(formula.text, inputs[str(loss.value)])
        assert again == pytest.approx(float(takes.text), abs=1e-3)
        left *= 1 - again / 100
    total = shown["losses"].total
    assert total is not None
    assert 100 * left == pytest.approx(float(total[1].text), abs=3e-3)
    (row,) = [row for row in api.steps(api.load(EXAMPLE), gbps=8000) if row.plan == plan]
    assert row.goodput is not None
    assert float(total[1].text) == pytest.approx(row.goodput.goodput_percent, rel=1e-5)


def test_a_job_that_says_nothing_has_no_losses() -> None:
    (found,) = api.explain_step(api.load(EXAMPLE.parents[1] / "two-campus.yaml"), "pipeline-across")
    assert found.losses == ()
    assert "loss by loss" not in draw(explanation.view("example", (found,)), "text")
