"""Tables of what an answer costs and rests on: bill of materials, what binds, assumptions, inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Cell, Column, Table, number_column, quantity, say, text_column, whole

if TYPE_CHECKING:
    from dcplan.planfile import Plan

FLAG = "~ low confidence: an estimate, or from memory."


def bill(plan: Plan) -> Table:
    """What is bought and paid, with the source of each price, and what of it is there already."""
    items = plan.design.bill
    rows = tuple(
        (
            say(item.part),
            say(item.what),
            quantity(item.quantity),
            quantity(item.existing) if item.existing else Cell("", item.existing),
            quantity(item.unit_usd),
            whole(item.total_usd, flag=item.confidence == "low"),
            say(item.confidence),
            say(item.source),
        )
        for item in items
    )
    columns = (
        text_column("part", "Part", 10),
        text_column("what", "What", 16),
        number_column("quantity", "Quantity"),
        number_column("existing", "There"),
        number_column("unit_usd", "Each", "US$"),
        number_column("total_usd", "Total", "US$"),
        text_column("confidence", "Trust", 6),
        Column("source", "Price from", wrap=24, footnote=True),
    )
    total = (say("total"), say(""), say(""), say(""), say(""), whole(plan.design.cost_usd), say(""), say(""))
    notes = ["There: lit already, beside the quantity, and free."] if any(item.existing for item in items) else []
    notes += [FLAG] if any(item.confidence == "low" for item in items) else []
    note = " ".join(notes)
    return Table("bill", "Bill of materials", columns, rows, total, note)


def binding(plan: Plan) -> Table:
    """The limits that are met, and what relaxing them is worth."""
    rows = tuple((say(limit.what), say(limit.worth)) for limit in plan.design.binding)
    columns = (text_column("what", "Limit", 20), text_column("worth", "Worth", 20))
    return Table("binding", "What binds", columns, rows, main=True)


def assumptions(plan: Plan) -> Table:
    """What the answer rests on."""
    rows = [
        (
            Cell("~" if assumption.confidence == "low" else "", assumption.confidence, "warn"),
            say(assumption.what),
            say(assumption.value),
            say(assumption.source),
        )
        for assumption in plan.assumptions
    ]
    said = {assumption.value for assumption in plan.assumptions}
    own = [text for text in plan.design.assumptions if text not in said]
    rows += [(Cell("", None), say("design"), say(text), say("dcplan")) for text in own]
    columns = (
        text_column("confidence", ""),
        text_column("what", "Assumption", 18),
        text_column("value", "Value", 18),
        Column("source", "From", wrap=44, footnote=True),
    )
    note = FLAG if any(assumption.confidence == "low" for assumption in plan.assumptions) else ""
    return Table("assumptions", "Assumptions", columns, tuple(rows), note=note)


def inputs(plan: Plan) -> Table:
    """What was read and with which options, so that the same answer can be had again."""
    proof = plan.design.proof
    rows = [(say("file"), say(name), Cell(digest[:16], digest)) for name, digest in plan.inputs.items()]
    rows += [(say("option"), say(name), say(value)) for name, value in plan.options.items()]
    rows += [
        (say("program"), say("dcplan"), say(plan.dcplan)),
        (say("program"), say(proof.solver), say(proof.solver_version)),
        (say("proof"), say("candidates"), whole(proof.candidates)),
        (say("proof"), say("states"), whole(proof.states)),
    ]
    if proof.bound_usd is not None:
        bound = Cell(f"US$ {proof.bound_usd:,.0f}", proof.bound_usd)
        rows.append((say("proof"), say("no design costs less than"), bound))
    if plan.design.certificate is not None:
        certified_usd = plan.design.certificate.bound_usd
        rows.append((say("proof"), say("adds up by hand to"), Cell(f"US$ {certified_usd:,.0f}", certified_usd)))
    if proof.spectrum:
        rows.append((say("proof"), say("places in the spectrum"), say(proof.spectrum)))
    columns = (
        text_column("kind", "Kind", 7),
        text_column("name", "Name", 12),
        text_column("value", "Value", 16),
    )
    note = "Files by the first 16 digits of their SHA-256." if plan.inputs else ""
    return Table("inputs", "Inputs and proof", columns, tuple(rows), note=note)
