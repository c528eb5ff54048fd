"""Adds a certificate up: everything that follows from its states, weights, divisors and multipliers, by arithmetic."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from dcplan.design.certificate.book import distances, need_gbps, row_of
from dcplan.design.certificate.record import (
    COUPLES,
    PAIRS,
    TRAFFIC,
    TRANSPONDERS,
    WAVELENGTHS,
    Certificate,
    Counted,
    Flawed,
)
from dcplan.design.formulation import USD
from dcplan.design.reasons.words import Words
from dcplan.design.tolerance import FINE
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.design.certificate.book import Book
    from dcplan.design.certificate.record import OwnRow, StateCut, Term
    from dcplan.design.solver.program import Column, Row

NOTHING = 1e-6
"""Share of a price by which it may be overcounted for rounding alone: such columns are counted but not listed apart."""
CENT = 1e-9
"""US$ that are nothing."""


def reckon(book: Book, said: Certificate) -> Certificate:
    """The certificate with everything that follows from it worked out anew.

    Flawed where it names what is not there, where a multiplier of a ≥ is negative, or that of a ≤ positive.
    """
    counted: dict[int, list[float]] = {}
    _once(said)
    terms = tuple(_term(book, term, counted) for term in said.terms)
    by_name = {row.name: row for row in book.program.rows}
    words = Words(book.problem, book.ways)
    rows = tuple(_own_row(words, own, by_name.get(own.name), counted) for own in said.rows)
    left, columns = [], []
    for i, column in enumerate(book.program.columns):
        total = math.fsum(counted.get(i, ()))
        over = column.cost / USD - total
        left.append(over * (column.lower if over >= 0 else column.upper) if over else 0.0)
        if i in counted:
            columns.append(_listed(words, column, total))
    bound_usd = math.fsum([*(term.usd for term in terms), *(row.usd for row in rows), *left])
    return Certificate(bound_usd, terms, rows, tuple(columns), said.held)


def _term(book: Book, term: Term, counted: dict[int, list[float]]) -> Term:
    left, right = row_of(book, term)
    if term.multiplier_usd < 0:
        raise Flawed(f"a multiplier of {term.multiplier_usd}")
    _count(counted, left, term.multiplier_usd)
    cuts = tuple(_worked_out(book, cut) for cut in term.cuts)
    return replace(term, cuts=cuts, right=right, usd=term.multiplier_usd * right)


def _own_row(words: Words, own: OwnRow, row: Row | None, counted: dict[int, list[float]]) -> OwnRow:
    if row is None:
        raise Flawed(f"there is no row {own.name}")
    right = row.lower if own.multiplier_usd > 0 else row.upper
    if not math.isfinite(right):
        raise Flawed(f"row {own.name} with a multiplier of the wrong sign")
    _count(counted, row.terms, own.multiplier_usd)
    about, usd = words.row(own.name), own.multiplier_usd * right
    return replace(own, right=float(right), usd=usd + 0.0, about=about)


def _once(said: Certificate) -> None:
    """The traffic has its price only once: in one inequality, which is taken as it is, of the healthy state."""
    priced = [term for term in said.terms if any(cut.over == TRAFFIC for cut in term.cuts)]
    alone = all(len(term.cuts) == 1 and term.divisors == (None, None) and term.multiplier_usd == 1 for term in priced)
    healthy = all(cut.state == HEALTHY.name for term in priced for cut in term.cuts)
    if len(priced) > 1 or not alone or not healthy:
        raise Flawed("the price of the traffic is counted more than once")


def _count(counted: dict[int, list[float]], left: Mapping[int, float], multiplier_usd: float) -> None:
    for column, value in left.items():
        counted.setdefault(column, []).append(value * multiplier_usd)


def _listed(words: Words, column: Column, counted_usd: float) -> Counted:
    """A column with its price; where price and count are the same but for rounding, that counts as nothing here."""
    price_usd = column.cost / USD
    left = price_usd - counted_usd
    if abs(left) <= NOTHING * max(abs(price_usd), abs(counted_usd)):
        left = 0.0
    bought = 0.0 if left == 0 else float(column.lower if left > 0 else column.upper)
    return Counted(column.name, words.column(column.name), price_usd, counted_usd, bought, left * bought)


def _worked_out(book: Book, cut: StateCut) -> StateCut:
    between_shores = cut.over in (PAIRS, TRANSPONDERS)
    known = cut.over in (WAVELENGTHS, COUPLES, TRAFFIC) or between_shores
    if not known or between_shores > bool(cut.shore) or (cut.over == TRANSPONDERS) > bool(book.lit):
        raise Flawed(f"a cut over {cut.over}")
    if cut.shore and (cut.weights or cut.faster):
        raise Flawed("weights beside a shore")
    apart = {} if cut.shore else {book.problem.demands[d].id: far for d, far in distances(book, cut).items()}
    return replace(cut, distances=apart, need_gbps=need_gbps(book, cut))


def differences(said: Certificate, anew: Certificate) -> Iterator[str]:
    """Where two certificates are not the same but for the rounding of a plan file."""
    one, other = (dict(_leaves(each, "certificate")) for each in (said, anew))
    for where in (*one, *(key for key in other if key not in one)):
        mine, its = one.get(where), other.get(where)
        if isinstance(mine, float | int) and isinstance(its, float | int):
            if not math.isclose(mine, its, rel_tol=FINE, abs_tol=CENT):
                yield f"{where} is {mine:.9g}, it adds up to {its:.9g}"
        elif mine != its:
            yield f"{where} is {mine}, it should be {its}"


def _leaves(whole: Any, where: str) -> Iterator[tuple[str, Any]]:
    if is_dataclass(whole):
        for each in fields(whole):
            yield from _leaves(getattr(whole, each.name), f"{where}.{each.name}")
    elif isinstance(whole, dict | tuple | list) and whole:
        for key, part in whole.items() if isinstance(whole, dict) else enumerate(whole):
            yield from _leaves(part, f"{where}.{key}")
    else:
        yield where, whole
