"""What a job loses time to, part by part: the shares of goodput with formulas over named quantities."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, seconds, used
from dcplan.training.goodput.chain import Goodput, goodput, pieces
from dcplan.training.goodput.corruption import spent, state_kept, waited_s
from dcplan.training.goodput.renewal import efficiency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dcplan.training.goodput.chain import Losses, Pieces
    from dcplan.training.step import Layout, StepTime


@dataclass(frozen=True, slots=True)
class Picture:
    """What formulas of losses are about."""

    losses: Losses
    of: Pieces
    step_s: float
    """Without waits for slow hosts [s]."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One share of `chain.Goodput`."""

    what: str
    source: str
    work: Callable[[Picture], Worked]


@dataclass(frozen=True, slots=True)
class ExplainedLoss:
    """One share that is lost, of what those before leave."""

    key: str
    percent: float
    worked: Worked
    what: str
    source: str
    without_percent: float
    """Goodput if it were nothing [%]."""


def _checkpoints(about: Picture) -> Worked:
    cycle = about.of.cycle
    if about.of.back_s is None:
        return NOTHING
    stall_s = cycle.stall_share * cycle.interval_s
    return Worked(
        "100 × delta / (tau + delta)",
        (_every(about), seconds("delta", stall_s, "how long a checkpoint stops the work")),
    )


def _failures(about: Picture) -> Worked:
    cycle = about.of.cycle
    if about.of.back_s is None or not (ettr := efficiency(cycle)):
        return NOTHING
    stall_s = cycle.stall_share * cycle.interval_s
    what = (
        f"mean time of that much work with its checkpoint, where the job fails every "
        f"{1 / (cycle.rate_per_s + cycle.far_rate_per_s):.6g} s, knows after {cycle.detection_s:g} s and restarts in "
        f"{cycle.restart_s:g} s"
    )
    return Worked(
        "100 × (1 − (tau + delta) / E)",
        (
            _every(about),
            seconds("delta", stall_s, "how long a checkpoint stops the work"),
            seconds("E", cycle.interval_s / ettr, what),
        ),
    )


def _spares(about: Picture) -> Worked:
    losses = about.losses
    if not losses.host_repair_s:
        return NOTHING
    mean = losses.hardware / losses.mtbf_s * losses.host_repair_s
    what = f"mean speed with {mean:.6g} hosts in repair on average and {losses.spare_hosts} spares"
    return Worked("100 × (1 − s)", (number("s", about.of.with_spares, what),))


def _stragglers(about: Picture) -> Worked:
    found = about.of.waiting
    inputs = (
        seconds("T", about.step_s, "step of sound hosts"),
        seconds("o", about.of.own_work_s, "of it, work between two exchanges of gradients"),
        number("w", found.longer, "how many times as long the slowest host that is waited for takes"),
        number("u", found.used, "share of the batch that is waited for"),
    )
    return used("100 × (1 − u × T / (T + (w − 1) × o))", inputs)


def _corruption(about: Picture) -> Worked:
    wrong, back_s = about.losses.corruption, about.of.back_s
    if wrong is None or back_s is None:
        return NOTHING
    inputs: list[Quantity] = [
        number("k", state_kept(wrong, back_s), "clean work that is in storage when a corruption comes, over all of it"),
        seconds("v", waited_s(wrong), "from a corruption until it is noticed"),
        seconds("R", about.losses.restart_s, "restart"),
        seconds("M", 1 / wrong.rate_per_s, "between two corruptions"),
        number("c", spent(wrong), "time of a check over the work between two"),
    ]
    return used("100 × (1 − k / (1 + (v + R) / M) / (1 + c))", inputs)


def _every(about: Picture) -> Quantity:
    cycle = about.of.cycle
    steps = round(cycle.interval_s / about.of.step_s)
    return seconds("tau", cycle.interval_s, f"work between two checkpoints, {steps} steps with their waits")


LOSSES: Mapping[str, Loss] = {
    "checkpoint_percent": Loss("waiting for checkpoints", "Young 1974; Daly 2006", _checkpoints),
    "failure_percent": Loss(
        "failures: detection, restart, work done twice",
        "Daly 2006, complete model; two kinds of checkpoint: dcplan",
        _failures,
    ),
    "spares_percent": Loss("hosts in repair without a spare", "M/G/∞: Palm's theorem", _spares),
    "straggler_percent": Loss(
        "slow hosts, and ranks that are not waited for", "order statistics: David and Nagaraja, 2.1", _stragglers
    ),
    "corruption_percent": Loss("silent corruption and its checks", "renewal argument (dcplan)", _corruption),
}
"""Field of `Goodput` -> what it is and how it is worked out; failures of the network need a designed one."""


def explained_losses(losses: Losses, layout: Layout, step: StepTime) -> tuple[ExplainedLoss, ...]:
    """Each share that a plan loses on the healthy network, largest or not; nothing where its step has no end."""
    found = goodput(losses, layout, step)
    if found is None:
        return ()
    about = Picture(losses, pieces(losses, layout, step), step.step_s)
    names = [field.name for field in fields(Goodput) if field.name in LOSSES]
    return tuple(_explained(name, found, about) for name in names)


def _explained(name: str, found: Goodput, about: Picture) -> ExplainedLoss:
    percent, loss = getattr(found, name), LOSSES[name]
    left = 1 - percent / 100
    without = found.goodput_percent / left if left > 0 else 0.0
    return ExplainedLoss(name, percent, loss.work(about), loss.what, loss.source, without)
