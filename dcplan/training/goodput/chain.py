"""The goodput of a job: its step times every share of time that is not lost, and what that makes of a whole run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training.goodput.checkpoint import Writing, cycle
from dcplan.training.goodput.corruption import Corruption, kept
from dcplan.training.goodput.failures import HOURS, missing, speed_with_spares
from dcplan.training.goodput.renewal import Cycle, by_hand, efficiency
from dcplan.training.goodput.stragglers import Apart, Stragglers, Waiting, waiting

if TYPE_CHECKING:
    from dcplan.training.step import Layout, StepTime, Terms

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Losses:
    """What makes a job lose time, joined with the rest of the file, in seconds and shares."""

    accelerators: int
    sites: int
    mtbf_s: float
    """Between failures of its accelerators, hosts and software [s]."""
    detection_s: float
    restart_s: float
    host_accelerators: int
    hardware: float
    """Share of failures that take a host away."""
    host_repair_s: float
    """0: there is always another host."""
    spare_hosts: int
    elastic: bool
    interval: str | float
    """daly, young, or seconds of work between two checkpoints."""
    far_interval_s: float | None
    writing: Writing
    stragglers: Stragglers
    corruption: Corruption | None
    train_tokens: float | None
    usd_per_h: float | None
    """Price of one accelerator [US$/h]."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What failures of sites and of the network add to those of the job's own accelerators."""

    restarts_per_s: float = 0.0
    """Failures after which the job restarts from its last checkpoint [1/s]."""
    far_restarts_per_s: float = 0.0
    """Those after which only what is in storage is left [1/s]."""
    paused: float = 0.0
    """Share of time in which the job waits for traffic to be switched, or to take a site back."""
    speed: float = 1.0
    """Mean tokens per second over the states of the network, over those of the healthy one; 0 where the job stops."""


ALONE = Outside()


@dataclass(frozen=True, slots=True)
class Goodput:
    """What is left of a job's speed, and where the rest goes. Percentages of time that multiply, each of what is left
    by those before: goodput = Π (1 − lost).
    """

    mtbf_h: float | None
    """Between failures that make it restart, of whatever kind; none where nothing fails [h]."""
    checkpoint_gb: float
    write_s: float
    """Writing a checkpoint to storage [s]."""
    local_s: float | None
    """Copying it beside the accelerators, in whose place storage is written meanwhile [s]."""
    interval_s: float | None
    """Work between two checkpoints [s]; none where nothing fails."""
    interval_steps: int | None
    remote_every: int
    """Every how many checkpoints one goes to storage."""
    checkpoint_percent: float
    """Lost to waiting for checkpoints [%]."""
    failure_percent: float
    """Lost to detection, restart and work done twice [%]."""
    spares_percent: float
    """Lost to hosts that are in repair and have no spare [%]."""
    straggler_percent: float
    """Lost to waiting for slow hosts, and to ranks that are dropped [%]."""
    corruption_percent: float
    """Lost to silent corruption and the checks that look for it [%]."""
    network_percent: float
    """Lost to failures of sites and network: switching, running slower or not at all [%]."""
    goodput_percent: float
    """What is left of all [%]."""
    ettr_percent: float
    """Of time, what is neither checkpoint nor failure: exact [%]."""
    ettr_by_hand_percent: float
    """The same by Meta's form, to check by hand; good while less than 20 % is lost [%]."""
    tokens_per_s: float
    """Effective [1/s]."""
    train_days: float | None
    """For the tokens to train [days]."""
    accelerator_hours: float | None
    """Of the whole run, spares included."""
    train_usd: float | None


def goodput(losses: Losses, layout: Layout, step: StepTime, outside: Outside = ALONE) -> Goodput | None:
    """Goodput = (1 − checkpoints) (1 − failures) (1 − spares) (1 − stragglers) (1 − corruption) (1 − network).

    Checkpoints and failures by the exact renewal form (see `renewal.efficiency`), of which checkpoints are what a run
    without failures would lose. None where the step has no end, or waits for no rank. Source: the chain of Llama 3's
    effective training time, Meta's ETTR (HPCA 2025), MegaScale's stragglers; formulas stand where they are made.
    """
    if not math.isfinite(step.step_s) or losses.stragglers.dropped >= layout.dp:
        return None
    found, writing = pieces(losses, layout, step, outside), losses.writing.under(layout)
    about, step_s, ettr = found.cycle, found.step_s, efficiency(found.cycle)
    written = 1 / (1 + about.stall_share)
    parts = {
        "checkpoint_percent": written,
        "failure_percent": ettr / written,
        "spares_percent": found.with_spares,
        "straggler_percent": step.step_s / step_s * found.waiting.used,
        "corruption_percent": 1.0 if found.back_s is None or losses.corruption is None
        else kept(losses.corruption, found.back_s, losses.restart_s),
        "network_percent": outside.speed * (1 - outside.paused),
    }  # fmt: skip
    left = math.prod(parts.values())
    tokens_per_s = step.tokens_per_s * left
    run_s = losses.train_tokens / tokens_per_s if losses.train_tokens and tokens_per_s > 0 else None
    held = losses.accelerators + losses.spare_hosts * losses.host_accelerators
    hours = None if run_s is None else held * run_s / HOURS
    endless = math.isinf(about.interval_s)
    return Goodput(
        mtbf_h=1 / rate / HOURS if (rate := about.rate_per_s + about.far_rate_per_s) else None,
        checkpoint_gb=writing.size_gb,
        write_s=writing.far_s,
        local_s=writing.near_s,
        interval_s=None if endless else about.interval_s,
        interval_steps=None if endless else round(about.interval_s / step_s),
        remote_every=about.far_every,
        **{name: 100 * (1 - part) for name, part in parts.items()},
        goodput_percent=100 * left,
        ettr_percent=100 * ettr,
        ettr_by_hand_percent=100 * by_hand(about),
        tokens_per_s=tokens_per_s,
        train_days=None if run_s is None else run_s / DAY,
        accelerator_hours=hours,
        train_usd=None if hours is None or losses.usd_per_h is None else hours * losses.usd_per_h,
    )


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the chain is made of, for one step."""

    waiting: Waiting
    own_work_s: float
    """What each rank does by itself between two exchanges of gradients [s]."""
    step_s: float
    """With the wait for slow hosts [s]."""
    cycle: Cycle
    with_spares: float
    """Mean speed over the hosts that are in repair at a time."""
    back_s: float | None
    """Work between two checkpoints in storage, to which a corruption leads back; none where there are none [s]."""


def pieces(losses: Losses, layout: Layout, step: StepTime, outside: Outside = ALONE) -> Pieces:
    """Stragglers lengthen the step, checkpoints come between whole ones of these, failures meet both."""
    hosts = losses.accelerators / losses.host_accelerators
    slower = waiting(losses.stragglers, layout.dp, hosts / layout.dp, _apart(losses, layout))
    own_s = own_work_s(step.terms)
    step_s = step.step_s + (slower.longer - 1) * own_s
    near, far = 1 / losses.mtbf_s + outside.restarts_per_s, outside.far_restarts_per_s
    about = cycle(losses.interval, losses.far_interval_s, losses.writing.under(layout), near, far, losses.detection_s,
                  losses.restart_s, step_s)  # fmt: skip
    spare = 1.0
    if losses.host_repair_s:
        gone = missing(losses.hardware / losses.mtbf_s, losses.host_repair_s, math.ceil(hosts) + losses.spare_hosts)
        spare = speed_with_spares(gone, losses.spare_hosts, layout.dp, hosts / layout.dp, elastic=losses.elastic)
    back_s = None if math.isinf(about.interval_s) else about.interval_s * about.far_every
    return Pieces(slower, own_s, step_s, about, spare, back_s)


def _apart(losses: Losses, layout: Layout) -> Apart | None:
    """Where sites train by themselves."""
    if layout.outer is None:
        return None
    return Apart(losses.sites, math.inf if layout.sync == "parameter-server" else layout.outer.every_steps)


def own_work_s(terms: Terms) -> float:
    """All of a step but the exchange of gradients, waiting and what is fixed [s]."""
    return terms.total_s - terms.dp_s - terms.sync_s - terms.straggler_s - terms.fixed_s
