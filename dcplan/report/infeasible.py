"""Why there is no plan: the limit that binds, in words, and what is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Cell, Fact, Table, View, fixed, number_column, say, text_column
from dcplan.units import rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.design.result import Infeasible, Irreducible

ADVICE = {
    "fiber pairs": "give a fiber more pairs, add a fiber, allow a faster transponder, or promise less",
    "spectrum": "widen the band, add pairs or a fiber, allow a mode that carries more per GHz, or promise less",
    "reach": "allow a transponder that reaches further, end wavelengths at a site on the way, or shorten the spans",
    "disjointness": "add a fiber that shares no risk with another, ask for `scheme: reroute`, or promise less",
    "bridge": "add a fiber that avoids the failure, or promise to survive less",
    "no route": "add a fiber, or let light pass or start again at the sites between",
    "existing": "allow it to be taken out (`existing.removable: true`), or give its fibers more pairs",
    "latency": "relax max_latency_ms or the overhead target, or find a shorter route",
    "layout": "see `dcplan steps FILE` for every plan and why it does not fit",
}
"""Limit -> what a planner can do about it."""


def view(answer: Infeasible, name: str) -> View:
    """The reason first, then each demand that is short."""
    worst = max(answer.shortages, key=lambda one: (one.short_gbps, one.demand), default=None)
    short = f"{worst.demand} by {rate(worst.short_gbps)} in {worst.state}" if worst else "not measured in Gb/s"
    facts = (
        Fact("answer", "infeasible: no plan keeps every promise", {"status": "infeasible"}, "FAIL"),
        Fact("limit", answer.limit, {"limit": answer.limit}),
        Fact("reason", answer.reason, {"reason": answer.reason}),
        Fact("short", short, {"short_gbps": worst.short_gbps if worst else None}),
        Fact("what helps", ADVICE.get(answer.limit, "relax a promise"), {}),
    )
    columns = (
        text_column("state", "state"),
        text_column("demand", "demand"),
        number_column("asked_gbps", "asked", "Gb/s"),
        number_column("short_gbps", "short", "Gb/s"),
    )
    rows = tuple(
        (say(one.state), say(one.demand), fixed(one.asked_gbps, 0), fixed(one.short_gbps, 0))
        for one in answer.shortages
    )
    tables = (
        (
            Table(
                "shortages", "What is short", columns, rows, note="the least total shortage over all states", main=True
            ),
        )
        if rows
        else ()
    )
    return View("infeasible", name, facts, (), (*tables, *_reasons(answer.irreducible)))


def _reasons(found: Irreducible | None) -> tuple[Table, ...]:
    """The irreducible set, and what would suffice."""
    if found is None:
        return ()
    note = "Whatever else is dropped from the file, these have no plan together; "
    note += (
        "without any one of them the others have one."
        if found.complete
        else "time ran out before it was shown that each of them is needed: allow more with --time-limit."
    )
    if found.ending:
        note += (
            f" Wavelengths may still end at {', '.join(found.ending)}: who leaves out all traffic of such a site "
            "writes `regenerate: true` there."
        )
    members = Table(
        "irreducible",
        "What has no plan together",
        (text_column("what", "each of these is needed", 30),),
        tuple((Cell(one.what, one.what),) for one in found.members),
        note=f"{note} {found.tried} designs were tried.",
        main=True,
    )
    words = {True: "yes", False: "not by itself", None: "not known"}
    changes = Table(
        "changes",
        "What would suffice, one change at a time",
        (text_column("what", "change", 30), text_column("suffices", "enough")),
        tuple((say(change.what), Cell(words[change.suffices], change.suffices)) for change in found.changes),
        note="The least change of each that was found, with everything else as it is in the file.",
        main=True,
    )
    return (members, changes, *([_couples(found, words)] if found.couples else []))


def _couples(found: Irreducible, words: Mapping[bool | None, str]) -> Table:
    return Table(
        "couples",
        "What would suffice, two changes together",
        (text_column("what", "changes", 30), text_column("suffices", "enough")),
        tuple((say(each.what), Cell(words[each.suffices], each.suffices)) for each in found.couples),
        note="No single change does. Each is taken as far as it goes: less of it may be enough.",
        main=True,
    )
