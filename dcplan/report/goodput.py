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
    number_column("interval_s", "that is", "s"),
    number_column("ettr_percent", "ETTR", "%"),
    number_column("ettr_by_hand_percent", "by hand", "%"),
    number_column("checkpoint_gb", "Saves", "GB"),
    number_column("write_s", "Write", "s"),
    number_column("local_s", "beside", "s"),
    number_column("remote_every", "one in"),
)
"""How checkpoints meet failures."""
NOTE = (
    "Lost, each of what is left by those before: waiting for checkpoints; failures: detection, restart, work done "
    "twice; hosts without a spare; slow hosts; silent corruption."
)
ETTR_NOTE = (
    "ETTR: time that is neither checkpoint nor failure, exact; by hand: (1 - (D + R + every/2)/MTBF) / (1 + "
    "checkpoint/every), D detection and R restart, good while little is lost. Saves: weights and optimizer. Write: to "
    "storage; beside the accelerators, where work waits for that copy only and one in so many goes on to storage."
)
ONLY_TOKENS = "Nothing is lost: the job says nothing under `reliability`."


def tables(rows: Sequence[PlanRow], *, main: bool = False) -> Iterator[Table]:
    """Two tables for each job that says what it loses time to, or how many tokens it trains."""
    for job in dict.fromkeys(row.job for row in rows):
        own = [(row, row.goodput) for row in rows if row.job == job and row.goodput is not None]
        found = [about for _, about in own]
        if not own:
            continue
        fails = any(about.mtbf_h is not None for about in found)
        head = (text_column("chosen", ""), text_column("plan", "Plan", 8))
        names = [(Cell("*" if row.chosen else "", row.chosen, "strong"), say(row.plan)) for row, _ in own]
        columns = (*(LOST if fails else LOST[:1]), *run_columns(found))
        note = f"{NOTE} Failures of sites and network come on top." if fails else ONLY_TOKENS
        rows_of = tuple((*name, *cells(about, columns)) for name, about in zip(names, found, strict=True))
        yield Table(f"goodput {job}", f"Goodput of {job}", (*head, *columns), rows_of, note=note, main=main)
        if fails:
            rows_of = tuple((*name, *cells(about, ETTR)) for name, about in zip(names, found, strict=True))
            title = f"Checkpoints and failures of {job}"
            yield Table(f"ettr {job}", title, (*head, *ETTR), rows_of, note=ETTR_NOTE)


def run_columns(found: Sequence[Goodput]) -> tuple[Column, ...]:
    """What a whole run takes, as far as anybody says how long it is and what it costs."""
    known = [any(getattr(about, key) is not None for about in found) for key in ("train_days", "train_usd")]
    return RUN if all(known) else RUN[:3] if known[0] else RUN[:1]


def cells(about: Goodput, columns: Sequence[Column]) -> Row:
    """A cell for each of these columns."""
    return tuple(_cell(about, column.key) for column in columns)


def _cell(about: Goodput, key: str) -> Cell:
    if key.endswith("_percent"):
        return percent(getattr(about, key))
    if key == "effective_tokens_per_s":
        return number(about.tokens_per_s)
    if key in {"interval_steps", "remote_every"}:
        value = getattr(about, key)
        return Cell(NOTHING, None) if value is None else whole(value)
    return number(getattr(about, key))


def percent(value: float) -> Cell:
    """Two decimals, an exact nothing as such."""
    return fixed(value, 2) if abs(value) > 1e-9 else Cell(NOTHING, 0.0)
