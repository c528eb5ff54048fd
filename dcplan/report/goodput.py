"""Tables of lost time: what is left of each parallelism plan's speed, and what a whole run takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import NOTHING, Cell, Table, fixed, number, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.planfile import PlanRow
    from dcplan.report.sheet import Column, Row
    from dcplan.training.goodput.chain import Goodput

LOST = (
    number_column("goodput_percent", "Goodput", "%"),
    number_column("checkpoint_percent", "Ckpt.", "%"),
    number_column("failure_percent", "Fails", "%"),
    number_column("spares_percent", "Spares", "%"),
    number_column("straggler_percent", "Slow", "%"),
    number_column("corruption_percent", "Silent", "%"),
)
"""What is left, and the shares that are lost."""
RUN = (
    number_column("effective_tokens_per_s", "Tokens", "1/s"),
    number_column("train_days", "Run", "days"),
    number_column("accelerator_hours", "Accel.", "h"),
    number_column("train_usd", "Price", "US$"),
)
"""What a whole run takes."""
ETTR = (
    number_column("mtbf_h", "MTBF", "h"),
    number_column("interval_steps", "Every", "steps"),
    number_column("interval_s", "", "s"),
    number_column("ettr_percent", "ETTR", "%"),
    number_column("ettr_by_hand_percent", "by hand", "%"),
    number_column("checkpoint_gb", "Saves", "GB"),
    number_column("write_s", "Stored in", "s"),
    number_column("local_s", "beside", "s"),
    number_column("remote_every", "Stored 1 in"),
)
"""How checkpoints meet failures."""
NOTE = (
    "Lost, each of what is left by those before: waiting for checkpoints; failures: detection, restart, work done "
    "twice; hosts without a spare; slow hosts; silent corruption. ETTR: time that is neither checkpoint nor failure; "
    "by hand: (1 - (D + R + every/2)/MTBF) / (1 + checkpoint/every), good while little is lost."
)
ONLY_TOKENS = "Nothing is lost: the job says nothing under `reliability`."


def tables(rows: Sequence[PlanRow], *, main: bool = False) -> Iterator[Table]:
    """A table for each job that says what it loses time to, or how many tokens it trains."""
    for job in dict.fromkeys(row.job for row in rows):
        own = [(row, row.goodput) for row in rows if row.job == job and row.goodput is not None]
        if own:
            yield _table(job, own, main=main)


def _table(job: str, own: Sequence[tuple[PlanRow, Goodput]], *, main: bool) -> Table:
    run = any(about.train_days is not None for _, about in own)
    fails = any(about.mtbf_h is not None for _, about in own)
    columns: list[Column] = [text_column("chosen", ""), text_column("plan", "Plan", 8)]
    columns += [*(LOST if fails else LOST[:1]), *(RUN if run else RUN[:1]), *(ETTR if fails else ())]
    wanted = {column.key for column in columns}
    cells = tuple(_row(row, about, wanted) for row, about in own)
    note = f"{NOTE} Failures of sites and network come on top." if fails else ONLY_TOKENS
    return Table(f"goodput {job}", f"Goodput of {job}", tuple(columns), cells, note=note, main=main)


def _row(row: PlanRow, about: Goodput, wanted: set[str]) -> Row:
    named = {"chosen": Cell("*" if row.chosen else "", row.chosen, "strong"), "plan": say(row.plan)}
    return tuple(cell for key, cell in (named | cells_of(about)).items() if key in wanted)


def cells_of(about: Goodput) -> dict[str, Cell]:
    """All cells by key, in the order of the columns."""
    lost = {column.key: percent(getattr(about, column.key)) for column in LOST}
    return lost | {
        "effective_tokens_per_s": number(about.tokens_per_s),
        "train_days": number(about.train_days),
        "accelerator_hours": number(about.accelerator_hours),
        "train_usd": number(about.train_usd),
        "mtbf_h": number(about.mtbf_h),
        "interval_steps": Cell(NOTHING, None) if about.interval_steps is None else whole(about.interval_steps),
        "interval_s": number(about.interval_s),
        "ettr_percent": percent(about.ettr_percent),
        "ettr_by_hand_percent": percent(about.ettr_by_hand_percent),
        "checkpoint_gb": number(about.checkpoint_gb),
        "write_s": number(about.write_s),
        "local_s": number(about.local_s),
        "remote_every": whole(about.remote_every),
    }


def percent(value: float) -> Cell:
    """Two decimals, an exact nothing as such."""
    return fixed(value, 2) if abs(value) > 1e-9 else Cell(NOTHING, 0.0)
