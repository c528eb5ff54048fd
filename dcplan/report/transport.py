"""What transport leaves of the links of each job: round trips, windows, losses, lossless ports, and what limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.states import HEALTHY
from dcplan.report.sheet import Table, again, number, number_column, say, text_column
from dcplan.report.sheet import whole as amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Column, Row
    from dcplan.training.transport.carried import Carried

NANOSECONDS = 6
"""Decimals of a tail in ms: what is less is none."""
_NOTE = (
    "Lit: in bytes on the wire; usable: payload. BDP: lit × round trip. In flight: payload of a flow under way at its "
    "share; a smaller window limits. Loss limits where without it a tenth more were usable. Waits for: what the sites "
    "wait for at a time, payload; wire: with headers, encryption and parity. Tail: what losses add to it on average."
)
_PAUSES = " Headroom: what a lossless port must hold; reach: fiber over which its buffer does, at full rate."


def tables(rows: Iterable[PlanRow]) -> Iterator[Table]:
    """One table for each job that says how its bytes travel: for the plan the network is sized for, or the fastest."""
    shown: dict[str, PlanRow] = {}
    for row in rows:
        if row.transport and (row.job not in shown or row.chosen):
            shown[row.job] = row
    for i, (job, row) in enumerate(shown.items()):
        yield of_plan(job, row.plan, row.transport, explained=i == 0)


def of_plan(job: str, plan: str, pairs: Sequence[Carried], *, explained: bool) -> Table:
    """What each pair of sites carries for one plan, in each state that is given."""
    pauses = any(one.headroom_mb is not None for one in pairs)
    columns: list[Column] = [
        text_column("pair", "Between", 12),
        text_column("state", "State", 10),
        text_column("limit", "Limit"),
        number_column("rate_gbps", "Lit", "Gb/s"),
        number_column("usable_gbps", "Usable", "Gb/s"),
        number_column("goodput_percent", "Goodput", "%"),
        number_column("rtt_ms", "Round trip", "ms"),
        number_column("bdp_mb", "BDP", "MB"),
        number_column("flows", "Flows"),
        number_column("window_mb", "Window", "MB"),
        number_column("window_needed_mb", "In flight", "MB"),
        number_column("tail_ms", "Tail", "ms"),
        number_column("message_gb", "Waits for", "GB"),
        number_column("wire_gb", "Wire", "GB"),
    ]
    if pauses:
        columns += [number_column("headroom_mb", "Headroom", "MB"), number_column("reach_km", "Reach", "km")]
    cells: list[Row] = []
    before = ""
    for one in pairs:
        name = " – ".join(one.ends)
        pair = again(say(name)) if name == before else say(name)
        cells.append((pair, *_row(one, pauses=pauses)))
        before = name
    note = _NOTE + (_PAUSES if pauses else "") if explained else ""
    return Table(
        f"transport {job}", f"Transport of {job}, plan {plan}", tuple(columns), tuple(cells), note=note, main=True
    )


def _row(one: Carried, *, pauses: bool) -> Row:
    cells = (
        say(HEALTHY.name if not one.state else one.state),
        say(one.limit, "" if one.limit == "line" else "warn"),
        number(one.rate_gbps, 4),
        number(one.usable_gbps, 4),
        number(one.goodput_percent),
        number(one.rtt_ms),
        number(one.bdp_mb),
        amount(one.flows),
        number(one.window_mb),
        number(one.window_needed_mb),
        number(round(one.tail_ms, NANOSECONDS)),
        number(one.message_gb),
        number(one.wire_gb),
    )
    return (*cells, number(one.headroom_mb), number(one.reach_km)) if pauses else cells
