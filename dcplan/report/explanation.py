"""`dcplan steps --explain`: each term of a step with its formula, its inputs, its source, and the step without it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.report import transport
from dcplan.report.goodput import LOST
from dcplan.report.sheet import (
    Cell,
    Column,
    Fact,
    Table,
    View,
    again,
    fixed,
    number,
    number_column,
    say,
    text_column,
)
from dcplan.report.steps import HEADS
from dcplan.training.explain.quantities import NOTHING
from dcplan.units import duration, rate, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.api.exploring import PlanExplained
    from dcplan.report.sheet import Row
    from dcplan.training.explain.losses import ExplainedLoss
    from dcplan.training.explain.quantities import Quantity
    from dcplan.training.explain.terms import Explained, ExplainedLayer, ExplainedPart

LOSS_HEADS = {column.key: column.head for column in LOST}
DIGITS = 6
"""Significant digits of inputs and results: enough to work a term out again by hand."""
_FORMULA = Column("formula", "Formula", wrap=24)
_SOURCE = Column("source", "Source", wrap=20, footnote=True)


def exact(value: float) -> Cell:
    """A number to six significant digits, without zeros at its end."""
    cell = number(value, DIGITS)
    return Cell(cell.text.rstrip("0").rstrip("."), cell.value) if "." in cell.text else cell


def view(name: str, plans: Sequence[PlanExplained]) -> View:
    """One plan, of every job that has it."""
    return View(
        "explanation",
        name,
        tuple(_fact(one) for one in plans),
        (),
        tuple(table for one in plans for table in _tables(one)),
    )


def _fact(one: PlanExplained) -> Fact:
    step_s, alone_s = one.explained.step.step_s, one.explained.alone.step_s
    where = "without a limit of rate" if math.isinf(one.gbps) else f"at {rate(one.gbps)} between sites"
    overhead = 100 * (step_s / alone_s - 1)
    text = f"{one.plan} ({one.layout}): {duration(step_s)} a step {where}, {duration(alone_s)} in one site"
    if math.isfinite(step_s):
        text += f", {significant(overhead)} % slower"
    values = {"plan": one.plan, "layout": one.layout, "gbps": _finite(one.gbps), "step_s": _finite(step_s)}
    return Fact(one.job, text, {**values, "one_site_s": alone_s, "overhead_percent": _finite(overhead)})


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _tables(one: PlanExplained) -> Iterator[Table]:
    found = one.explained
    yield _terms(one.job, found)
    if found.layers:
        yield _layers(one.job, found.layers)
    yield _memory(one.job, found.memory)
    if found.between:
        yield _between(one.job, found.between)
    if one.losses:
        yield _losses(one.job, one.losses)
    yield _inputs(one.job, one)
    if found.transport:
        yield transport.of_plan(one.job, one.plan, found.transport, explained=True)


def _terms(job: str, found: Explained) -> Table:
    columns = (
        text_column("term", "Term"),
        number_column("value_s", "Takes", "s"),
        number_column("share_percent", "Share", "%"),
        _FORMULA,
        number_column("without_s", "Without", "s"),
        number_column("without_overhead_percent", "Slower", "%"),
        text_column("what", "What it is", 20),
        _SOURCE,
    )
    step_s = found.step.step_s
    rows: list[Row] = [
        (
            say(HEADS[term.term]),
            exact(term.value_s),
            fixed(100 * term.value_s / step_s if math.isfinite(step_s) else None, 1),
            say(term.worked.formula),
            exact(term.without_s),
            fixed(term.without_overhead_percent, 2),
            say(term.what),
            say(term.source),
        )
        for term in found.terms
    ]
    total = (
        Cell("Step", "step"),
        exact(step_s),
        *(Cell("", None) for _ in range(3)),
        fixed(100 * (step_s / found.alone.step_s - 1), 2),
        *(Cell("", None) for _ in range(2)),
    )
    note = (
        "Exposed time only; terms add up to the step. Without: the step if the term were zero; slower: than in one "
        "site, where the term then is zero as well. Symbols: see the inputs below."
    )
    return Table(f"terms {job}", f"Step of {job}, term by term", columns, tuple(rows), total=total, note=note)


def _layers(job: str, layers: Sequence[ExplainedLayer]) -> Table:
    columns = (text_column("part", "Part"), number_column("value_s", "Takes", "s"), _FORMULA)
    rows = tuple((say(one.what), exact(one.value_s), say(one.worked.formula)) for one in layers)
    note = "Of one microbatch on one accelerator, in the fullest stage; compute is made of these, embedding and logits."
    return Table(f"layers {job}", f"Compute of one layer of {job}", columns, rows, note=note)


def _memory(job: str, parts: Sequence[ExplainedPart]) -> Table:
    columns = (text_column("part", "Part"), number_column("value_gb", "Takes", "GB"), _FORMULA, _SOURCE)
    rows = tuple(
        (say(part.what), exact(part.value_gb), say(part.worked.formula), say(part.source))
        for part in parts
        if part.worked != NOTHING
    )
    return Table(f"memory {job}", f"Memory of {job}, fullest accelerator", columns, rows)


def _between(job: str, parts: Sequence[ExplainedPart]) -> Table:
    columns = (
        text_column("pair", "Between"),
        number_column("value_gb", "Sends", "GB"),
        _FORMULA,
        text_column("what", "What it is", 20),
        _SOURCE,
    )
    rows = tuple(
        (
            say(part.part),
            exact(part.value_gb),
            say(part.worked.formula),
            say(part.what),
            say(part.source),
        )
        for part in parts
    )
    note = "In each direction, per step, payload: headers and what is sent again come on top."
    return Table(f"between {job}", f"Bytes of {job} between sites", columns, rows, note=note)


def _losses(job: str, losses: Sequence[ExplainedLoss]) -> Table:
    columns = (
        text_column("loss", "Loss"),
        number_column("percent", "Takes", "%"),
        _FORMULA,
        number_column("without_percent", "Without", "%"),
        text_column("what", "What it is", 20),
        _SOURCE,
    )
    left = math.prod(1 - loss.percent / 100 for loss in losses)
    rows = tuple(
        (
            say(LOSS_HEADS[loss.key]),
            exact(loss.percent),
            say(loss.worked.formula),
            fixed(loss.without_percent, 2),
            say(loss.what),
            say(loss.source),
        )
        for loss in losses
    )
    total = (Cell("Goodput", "goodput"), exact(100 * left), *(Cell("", None) for _ in range(4)))
    note = "Each of what is left by those before, 100 × Π (1 − loss/100). Without: goodput if it were nothing."
    return Table(f"losses {job}", f"Goodput of {job}, loss by loss", columns, rows, total=total, note=note)


def _inputs(job: str, one: PlanExplained) -> Table:
    found = one.explained
    columns = (
        text_column("of", "Of"),
        text_column("symbol", "Symbol"),
        number_column("value", "Value"),
        text_column("unit", "Unit"),
        text_column("what", "What it is", 24),
    )
    rows: list[Row] = []
    for term in found.terms:
        rows += _symbols(HEADS[term.term], term.worked.inputs)
    for layer in found.layers:
        rows += _symbols(layer.what, layer.worked.inputs)
    for part in found.memory:
        rows += _symbols(part.what, part.worked.inputs)
    for part in found.between:
        rows += _symbols(part.part, part.worked.inputs)
    for loss in one.losses:
        rows += _symbols(LOSS_HEADS[loss.key], loss.worked.inputs)
    return Table(f"inputs {job}", f"Inputs of these formulas, {job}", columns, tuple(rows))


def _symbols(of: str, inputs: Sequence[Quantity]) -> Iterator[Row]:
    for i, one in enumerate(inputs):
        name = again(say(of)) if i else say(of)
        yield (name, say(one.symbol), exact(one.value), say(one.unit), say(one.what))
