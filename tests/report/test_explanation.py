"""What `dcplan steps --explain` prints suffices to work the step out again."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.cli.app import run
from dcplan.errors import UsageError
from dcplan.model.rules.examples import adding
from dcplan.report import explanation
from dcplan.report.render import draw
from tests.training.evaluate import evaluate

if TYPE_CHECKING:
    from pathlib import Path

    from dcplan.report.sheet import Table, View

PLANS = "    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}, over: {tp: 8, cp: 2, pp: 16, across: pp}}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "example.yaml"
    path.write_text(adding(PLANS + "    transport: {packet_loss: 1.0e-7, encryption: macsec}\n"), encoding="utf-8")
    return path


def tables(view: View) -> dict[str, Table]:
    return {table.id.split()[0]: table for table in view.tables}


@pytest.mark.parametrize("plan", ["deep", "over"])
def test_the_step_follows_from_the_numbers_as_printed(file: Path, plan: str) -> None:
    """Rounded as they are, formulas and inputs give every term within 10⁻⁴ of the step, and their sum the step."""
    (found,) = api.explain_step(api.load(file), plan, gbps=8000)
    shown = tables(explanation.view("example", (found,)))
    inputs: dict[str, dict[str, float]] = {}
    for of, symbol, value, _, _ in shown["inputs"].rows:
        inputs.setdefault(str(of.value), {})[symbol.text] = float(value.text.replace(",", ""))
    step_s, total = found.explained.step.step_s, 0.0
    for term, takes, _, formula, *_ in shown["terms"].rows:
        again = evaluate(formula.text, inputs.get(str(term.value), {}))
        assert again == pytest.approx(float(takes.text.replace(",", "")), abs=1e-4 * step_s)
        total += again
    assert total == pytest.approx(step_s, rel=1e-4)
    for kind in ("memory", "between"):
        for part, takes, formula, *_ in shown[kind].rows:
            again = evaluate(formula.text, inputs.get(str(part.value), {}))
            assert again == pytest.approx(float(takes.text.replace(",", "")), rel=1e-4)


def test_as_json_text_and_markdown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", str(file), "--explain", "deep", "--gbps", "8000", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["kind"] == "explanation"
    inputs: dict[str, dict[str, float]] = {}
    for row in data["tables"]["inputs pretrain"]["rows"]:
        inputs.setdefault(row["of"], {})[row["symbol"]] = row["value"]
    terms = data["tables"]["terms pretrain"]["rows"]
    assert math.fsum(evaluate(row["formula"], inputs.get(row["term"], {})) for row in terms) == pytest.approx(
        data["facts"][0]["step_s"], rel=1e-12
    )
    for form in ("text", "markdown"):
        assert run(["steps", str(file), "--explain", "deep", "--format", form]) == 0
        shown = capsys.readouterr().out
        assert "m × n × (f + b)" in shown
        assert "Transport of pretrain, plan deep" in shown


def test_without_a_rate_nothing_is_divided_by_nothing(file: Path) -> None:
    (found,) = api.explain_step(api.load(file), "deep")
    text = draw(explanation.view("example", (found,)), "text")
    assert "without a limit of rate" in text
    assert "∞" in text
    assert "n/a" not in text
    assert json.loads(draw(explanation.view("example", (found,)), "json"))["facts"][0]["gbps"] is None


def test_names_that_no_plan_has(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", str(file), "--explain", "depe"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "did you mean `deep`?" in shown.err
    assert "over" in shown.err
    with pytest.raises(UsageError, match="no plan `nothing-like-it`"):
        api.explain_step(api.load(file), "nothing-like-it")


def test_plans_that_cannot_run_say_why(tmp_path: Path) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(adding("    plans: auto\n"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"plan `auto: memory` cannot run: .* do not fit"):
        api.explain_step(api.load(path), "auto: memory")
