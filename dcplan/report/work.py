"""Tables of what training jobs feel: failures with their step times, parallelism plans side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.report.sheet import (
    NOTHING,
    Cell,
    Table,
    again,
    fixed,
    inserted,
    number,
    number_column,
    say,
    text_column,
    verdict,
    whole,
)
from dcplan.report.summary import kept, served

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.assess.result import JobInState, StateResult
    from dcplan.planfile import Plan, PlanRow
    from dcplan.report.sheet import Row


MOST_SHOWN = 40
"""Of more failures than this a first reading has the hardest only."""
HARDEST = 12


def failures(plan: Plan) -> Iterator[Table]:
    """Each state: what is left, what reroutes, and what the step of each job becomes; of many, first the hardest."""
    states = plan.assessment.states
    retuned = {relit.state: relit.retuned for relit in plan.design.relit}
    if len(states) - 1 > MOST_SHOWN:
        hardest = (*states[:1], *sorted(states[1:], key=_hardness)[:HARDEST])
        title = f"Healthy and in the {HARDEST} hardest of {len(states) - 1} failures"
        yield _failures("hardest", title, hardest, retuned, main=True)
    all_shown = len(states) - 1 <= MOST_SHOWN
    yield _failures("failures", "Healthy and in each failure", states, retuned, main=all_shown)


def _hardness(state: StateResult) -> tuple[bool, float, float, float]:
    """Promises that are missed first, then the slowest step of a promised job, then the least served and left."""
    slowest = max((job.overhead_percent or 0.0 for job in state.jobs if job.promised), default=0.0)
    return kept(state), -slowest, state.served_percent, state.left_gbps


def _failures(name: str, title: str, states: Sequence[StateResult], retuned: Mapping[str, int], *, main: bool) -> Table:
    rows = tuple(row for state in states for row in _state(state))
    columns = (
        text_column("state", "State", 10),
        text_column("kept", ""),
        number_column("left_gbps", "Left", "Gb/s"),
        number_column("served_percent", "Served", "%"),
        text_column("job", "Job", 6),
        number_column("step_s", "Step", "s"),
        number_column("overhead_percent", "Overhead", "%"),
        number_column("target_percent", "At most", "%"),
        number_column("latency_ms", "One way", "ms"),
        number_column("rate_percent", "Rate", "%"),
        number_column("lost_gbps", "Lost", "Gb/s"),
        text_column("rerouted", "Reroutes", 16),
        text_column("why", "Why", 24),
    )
    note = "Served: the worst demand's rate over what it is promised. Overhead: over the same job in one site. "
    note += "Rate: what the job gets over what it asks in that state."
    table = Table(name, title, columns, rows, note=note, main=main)
    if not retuned:
        return table
    note += " Left: with what is retuned; retunes: wavelengths that are lit anew or otherwise."
    column = number_column("retuned", "Retunes")
    return inserted(replace(table, note=note), "job", column, [_retunes(row, retuned) for row in rows])


def _retunes(row: Row, retuned: Mapping[str, int]) -> Cell:
    count = retuned.get(str(row[0].value))
    if count is None:
        return number(None)
    return whole(count) if row[0].text else again(whole(count))


def _state(state: StateResult) -> Iterable[Row]:
    mark = verdict(good=kept(state))
    share = fixed(state.served_percent, 0 if served(state) else 1, tone="" if served(state) else "bad")
    head = (say(state.state), mark, whole(state.left_gbps), share)
    lost, moved = whole(state.lost_gbps), say(", ".join(state.rerouted))
    if not state.jobs:
        yield (*head, say(""), *[number(None)] * 5, lost, moved, say(""))
    for i, job in enumerate(state.jobs):
        last = i == len(state.jobs) - 1
        yield (*head, say(job.job), *_job(job), lost, moved if last else again(moved), say(job.why))
        head, lost = (again(head[0]), again(head[1]), again(head[2]), again(head[3])), again(lost)


def _job(job: JobInState) -> Row:
    return (
        number(job.step_s, 4) if job.running else Cell("stops", None),
        fixed(job.overhead_percent, 2, tone="" if job.met else "bad"),
        fixed(job.target_percent, 2),
        fixed(job.latency_ms, 3),
        fixed(None if job.rate_fraction is None else 100 * job.rate_fraction, 0),
    )


def best_first(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Jobs in their order, within a job those that fit by step time, then the others by name.

    Plans whose sites train by themselves stand behind those that synchronise in every step, however fast they are.
    """
    rows = list(rows)
    jobs = {job: i for i, job in enumerate(dict.fromkeys(row.job for row in rows))}
    return sorted(rows, key=lambda row: (jobs[row.job], not row.fits, row.quality is not None, _seconds(row), row.plan))


def _seconds(row: PlanRow) -> float:
    return math.inf if row.step_s is None else row.step_s


def plans(plan: Plan) -> Iterator[Table]:
    """Parallelism plans, a table for each job."""
    rows = best_first(plan.plans)
    for i, job in enumerate(dict.fromkeys(row.job for row in rows)):
        own = [row for row in rows if row.job == job]
        yield replace(side_by_side(job, own, legend(rows) if i == 0 else ""), main=True)


def side_by_side(job: str, rows: Sequence[PlanRow], note: str) -> Table:
    """The parallelism plans of a job; how its sites sum gradients where that is not by direct exchange alone."""
    table = Table(f"plans {job}", f"Parallelism plans of {job}", COMPARED, tuple(map(compared, rows)), note=note)
    if not {row.collective for row in rows} - {"", "direct"}:
        return table
    column = text_column("collective", "Collective", 8)
    return inserted(table, "layout", column, [say(row.collective or NOTHING) for row in rows])


def legend(rows: Iterable[PlanRow]) -> str:
    """What the heads of a comparison mean, as far as they are used."""
    rows = list(rows)
    star = "* the network is sized for this one. " if any(row.chosen for row in rows) else ""
    worst = "; worst: in a promised failure" if any(row.overhead_worst_percent is not None for row in rows) else ""
    return (
        f"{star}Slower: than the same job in one site{worst}. Needs, sends: between two sites, each way; GB per step. "
        "MFU: causal attention counted half, full attention whole; no recompute."
    )


COMPARED = (
    text_column("chosen", ""),
    text_column("plan", "Plan", 8),
    number_column("step_s", "Step", "s"),
    number_column("overhead_percent", "Slower", "%"),
    number_column("overhead_worst_percent", "worst", "%"),
    number_column("needed_gbps", "Needs", "Gb/s"),
    number_column("cross_site_gb", "Sends", "GB"),
    number_column("memory_gb", "Memory", "GB"),
    number_column("mfu_percent", "MFU", "%"),
    text_column("across", "Across", 6),
    text_column("layout", "Layout", 24),
    text_column("evidence", "Evidence", 10),
    text_column("why_not", "Does not fit:", 30),
)
"""Columns that compare parallelism plans."""


def compared(row: PlanRow) -> Row:
    """One parallelism plan beside the others."""
    guess = row.evidence == "extrapolated"
    return (
        Cell("*" if row.chosen else "", row.chosen, "strong"),
        say(row.plan),
        number(row.step_s, 4, flag=guess and row.step_s is not None),
        fixed(row.overhead_percent, 2),
        fixed(row.overhead_worst_percent, 1),
        number(row.needed_gbps),
        number(row.cross_site_gb),
        fixed(row.memory.total_gb if row.memory else None, 1),
        fixed(row.mfu_percent, 1),
        say(row.across or NOTHING),
        say(row.layout),
        say(row.evidence if row.fits else ""),
        say(row.why_not),
    )
