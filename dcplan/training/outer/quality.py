"""What a plan costs in learning, beside what it costs in time: sites that agree less often learn less from a token.

Never folded into a step time. A loss law holds where it was measured; outside, the figure stands with its doubts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.training.outer.exchange import Outer
    from dcplan.training.step import Workload

LOSS_SCALE, LOSS_SIZE, LOSS_WORKERS = 19.226, -0.0985, 0.0116
"""L(N, M) = 19.226 N^−0.0985 M^0.0116 (Charles et al. 2025, arXiv 2503.09799, joint fit)."""
BATCH_SCALE, BATCH_SIZE, BATCH_WORKERS = 14.521, 0.4695, 0.3399
"""Optimal batch 14.521 N^0.4695 M^0.3399 tokens (the same)."""
FITTED_EVERY = 30
FITTED_PARAMETERS, CHECKED_PARAMETERS = 2.4e9, 10e9
FITTED_WORKERS = 8
"""From memory: the fit has 1, 2, 4 and 8 workers."""
SERVER_BYTES = 12
"""Bytes per parameter on a server: fp32 master weight and two moments."""
LOW_BIT_PARAMETERS = 15e9
"""Outer gradients of less than 16 bits have been trained with up to here."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What is known of how well a plan learns that does not synchronise every step."""

    workers: int
    """Sites that train by themselves."""
    every_steps: int
    """Own steps of a site from one exchange of a parameter to the next."""
    loss_percent: float | None
    """Final loss over that of one worker, at the best batch of each, by the law [%]; none where there is no law."""
    optimal_batch_tokens: float | None
    batch_over_optimal: float | None
    staleness: float | None
    """Mean age of what a site learns from others: updates of others (parameter server), own steps (streaming); none
    without a path."""
    staleness_worst: float | None
    progress: float | None
    """What an update is worth, 1 / (1 + κ staleness), by the κ that the user gives; none where none is given."""
    server_gb: float | None
    """Memory of each parameter server, outside the accelerators [GB]; none without servers."""
    doubts: tuple[str, ...]
    """Why the law, or the method, has not been seen to hold for this job; empty where it has."""


def loss(parameters: float, workers: int) -> float:
    """Evaluation loss of DiLoCo at 20 tokens per parameter: 19.226 N^−0.0985 M^0.0116, H = 30."""
    return LOSS_SCALE * math.pow(parameters, LOSS_SIZE) * math.pow(workers, LOSS_WORKERS)


def optimal_batch_tokens(parameters: float, workers: int) -> float:
    """Best batch of all workers together [tokens]: 14.521 N^0.4695 M^0.3399."""
    return BATCH_SCALE * math.pow(parameters, BATCH_SIZE) * math.pow(workers, BATCH_WORKERS)


def discount(kappa: float, staleness: float) -> float:
    """Worth of an update that is `staleness` updates old: 1 / (1 + κ τ). No κ of a large model is known."""
    return 1 / (1 + kappa * staleness)


@remembered
def of_outer_steps(workload: Workload, outer: Outer, workers: int) -> Quality:
    """Local SGD and streaming: the loss law, its range, and outer gradients that come `overlap_steps` late."""
    size = shapes.parameters(workload.model)
    best = optimal_batch_tokens(size, workers)
    kappa, late = outer.staleness_kappa, float(outer.overlap_steps)
    return Quality(
        workers=workers,
        every_steps=outer.every_steps,
        loss_percent=100 * (loss(size, workers) / loss(size, 1) - 1),
        optimal_batch_tokens=best,
        batch_over_optimal=workload.batch * workload.sequence_length / best,
        staleness=late,
        staleness_worst=late,
        progress=None if kappa is None else discount(kappa, late),
        server_gb=None,
        doubts=tuple(_doubts(workload, outer, workers)),
    )


def of_servers(workload: Workload, outer: Outer, workers: int, staleness: tuple[float, float]) -> Quality:
    """Parameter servers: mean and worst staleness, and the user's discount. There is no loss law to go by."""
    mean, worst = (age if math.isfinite(age) else None for age in staleness)
    kappa = outer.staleness_kappa
    doubts = ["no loss law is known for asynchronous servers", *_low_bits(workload, outer)]
    return Quality(
        workers=workers,
        every_steps=outer.every_steps,
        loss_percent=None,
        optimal_batch_tokens=None,
        batch_over_optimal=None,
        staleness=mean,
        staleness_worst=worst,
        progress=None if kappa is None or mean is None else discount(kappa, mean),
        server_gb=SERVER_BYTES * shapes.parameters(workload.model) / 1e9,
        doubts=tuple(doubts),
    )


def _doubts(workload: Workload, outer: Outer, workers: int) -> list[str]:
    size = shapes.parameters(workload.model)
    doubts = []
    if outer.every_steps > FITTED_EVERY:
        doubts.append(f"H {outer.every_steps:,}, the law was fitted at {FITTED_EVERY}")
    if size > CHECKED_PARAMETERS:
        doubts.append(f"{size / 1e9:,.4g} billion parameters, fitted to 2.4 and checked to 10")
    elif size > FITTED_PARAMETERS:
        doubts.append(f"{size / 1e9:,.4g} billion parameters, fitted to 2.4, though checked to 10")
    if workers > FITTED_WORKERS:
        doubts.append(f"{workers} sites, fitted to {FITTED_WORKERS}")
    if shapes.is_moe(workload.model):
        doubts.append("experts, fitted on dense models")
    return [*doubts, *_low_bits(workload, outer)]


def _low_bits(workload: Workload, outer: Outer) -> list[str]:
    if outer.bits < 16 and shapes.parameters(workload.model) > LOW_BIT_PARAMETERS:
        return [f"{outer.bits} bit on the wire, trained with to 15 billion parameters"]
    return []
