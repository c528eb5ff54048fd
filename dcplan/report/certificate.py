"""The table of why no design costs less: the dearest terms of the certificate, as lines that add up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.design.certificate.record import COUPLES, PAIRS, TRAFFIC
from dcplan.model.states import HEALTHY
from dcplan.report.sheet import Cell, Table, number_column, say, text_column, whole
from dcplan.units import rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.certificate.record import StateCut, Term
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row

SHOWN = 10
"""Terms that are shown; the others stand in the plan file, and are summed up in one line."""
NAMED = 4
"""Sites, or states, that are named of one term."""
CENT = 0.005


def table(plan: Plan) -> Iterator[Table]:
    """Terms, what they ask for, at what price; one table, or none where the plan has no certificate."""
    said = plan.design.certificate
    if said is None:
        return
    rows = [_row(term) for term in said.terms[:SHOWN]]
    rest = said.terms[SHOWN:]
    if rest:
        rows.append(_summed(f"{len(rest)} smaller terms", math.fsum(term.usd for term in rest)))
    limits = math.fsum([*(row.usd for row in said.rows), *(column.usd for column in said.columns)])
    if abs(limits) > CENT:
        rows.append(_summed("limits of what can be bought", limits))
    columns = (
        text_column("what", "Every design keeps", 30),
        text_column("asks", "which asks for", 12),
        number_column("multiplier_usd", "Each", "US$"),
        number_column("usd", "Counts", "US$"),
    )
    total = (say("no design costs less than"), say(""), say(""), whole(said.bound_usd))
    note = (
        f"Adds up by hand: {_share(plan, said.bound_usd)} The solver's proof: "
        f"{_share(plan, plan.design.proof.bound_usd)} "
        "No design is counted for more than it costs. All terms, weights and counts stand in the plan file; `dcplan "
        "verify` adds them up."
    )
    yield Table("certificate", "Why no design costs less", columns, tuple(rows), total, note)


def _share(plan: Plan, bound_usd: float | None) -> str:
    """A bound as a share of the cost, in words."""
    cost = plan.design.cost_usd
    if bound_usd is None:
        return "none."
    return f"{100 * bound_usd / cost:.4g} % of the cost." if cost > 0 else "nothing costs anything."


def _summed(what: str, usd: float) -> Row:
    return (say(what), say(""), Cell("", None), whole(usd))


def _row(term: Term) -> Row:
    price = Cell(f"{term.multiplier_usd:,.0f}", term.multiplier_usd)
    return (say(_what(term)), say(_asks(term)), price, whole(term.usd))


def _what(term: Term) -> str:
    """`after losing F3, {a, b} need 12.8 Tb/s to the rest`."""
    cut = term.cuts[0]
    if _halved(term):
        rest = ", ".join(f"{_sites(one)} {rate(one.need_gbps)}" for one in term.cuts[1:])
        return f"{_sites(cut)} need {rate(cut.need_gbps)} to the rest, {rest}; what crosses two of these counts once"
    if len(term.cuts) > 1:
        states = [one.state for one in term.cuts]
        shown = [*states[:NAMED], f"{len(states) - NAMED} others"] if len(states) > NAMED + 1 else states
        most = max(one.need_gbps for one in term.cuts)
        return f"{_sites(cut)} need up to {rate(most)} to the rest after losing any of {', '.join(shown)}"
    when = "" if cut.state == HEALTHY.name else f"after losing {cut.state}, "
    if cut.over == COUPLES:
        return f"both ways of {_demands(cut)} need {rate(cut.need_gbps)}, each times the weight of its ways"
    if cut.over == TRAFFIC:
        return f"{_demands(cut)} cost what their ways weigh, and the price of traffic"
    if cut.shore:
        return f"{when}{_sites(cut)} need {rate(cut.need_gbps)} to the rest"
    return f"{when}{_demands(cut)} need {rate(cut.need_gbps)}, each times the weight of its way"


def _halved(term: Term) -> bool:
    """Cuts of the same state are added up, not the same cut after several failures (see `design.halves`)."""
    return len(term.cuts) > 1 and len({one.state for one in term.cuts}) == 1


def _asks(term: Term) -> str:
    """`17 × 800 Gb/s`, `1 fiber pair`, `12.8 Tb/s`."""
    first, second = term.divisors
    built = f", or building {' or '.join(term.built)}" if term.built else ""
    if term.cuts[0].over == TRAFFIC:
        return f"US$ {term.right:,.0f}"
    if second is not None and not _halved(term):
        return f"{term.right:g} {'fiber pairs' if term.cuts[0].over == PAIRS else 'wavelengths'} in all{built}"
    if first is None:
        return f"{rate(1000 * term.right)}{built}"
    if term.cuts[0].over == PAIRS:
        pairs = "fiber pair" if term.right == 1 else "fiber pairs"
        return f"{term.right:g} {pairs} of {rate(1000 * first)}{built}"
    return f"{term.right:g} × {rate(1000 * first)}{built}"


def _sites(cut: StateCut) -> str:
    names = list(cut.shore)
    shown = [*names[:NAMED], f"{len(names) - NAMED} others"] if len(names) > NAMED + 1 else names
    return "{" + ", ".join(shown) + "}"


def _demands(cut: StateCut) -> str:
    names = list(cut.distances)
    return names[0] if len(names) == 1 else f"{len(names)} demands"
