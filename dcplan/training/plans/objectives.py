"""What parallelism plans are weighed by, and those of which none is better in everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training.memory import USABLE
from dcplan.training.pipeline.line import memory_of
from dcplan.training.terms import cross_site_gb, step_terms
from dcplan.training.transport.links import usable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.training.step import Layout, Links, Workload

OBJECTIVES = {
    "step": "step time",
    "cost": "tokens per US$",
    "memory": "memory that is left",
    "bytes": "bytes across sites",
}
"""Objective -> what it is called. The least step time and bytes are best, the most tokens and memory."""
DIGITS = 4
"""Figures that agree to so many digits are equal: nobody chooses a plan for less."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a plan is weighed by."""

    step_s: float
    tokens_per_usd: float | None
    """Tokens a second over what all accelerators of the job cost a second; none where they have no price."""
    headroom_gb: float
    """Memory of the fullest accelerator that is left of what can be filled [GB]."""
    cross_site_gb: float
    """Largest over pairs of sites, each direction [GB per step]."""

    @property
    def losses(self) -> dict[str, float]:
        """The figure of each objective to `DIGITS` digits, so that less is better."""
        exact = (self.step_s, -(self.tokens_per_usd or 0.0), -self.headroom_gb, self.cross_site_gb)
        return {name: float(f"{loss:.{DIGITS}g}") for name, loss in zip(OBJECTIVES, exact, strict=True)}


def figures(workload: Workload, layout: Layout, links: Links, usd_per_h: float | None) -> Figures:
    """The figures of a layout on a view of the network. usd_per_h: price of one accelerator [US$/h]."""
    terms, extra = step_terms(workload, layout, usable(workload, layout, links))
    step_s, used = terms.total_s, memory_of(workload, layout, extra)
    return Figures(
        step_s=step_s,
        tokens_per_usd=tokens_per_usd(workload, step_s, usd_per_h) if usd_per_h else None,
        headroom_gb=USABLE * used.capacity_gb - used.total_gb,
        cross_site_gb=max(cross_site_gb(workload, layout).values(), default=0.0),
    )


def tokens_per_usd(workload: Workload, step_s: float, usd_per_h: float) -> float:
    """Tokens that a US$ of accelerators trains: 3600 × tokens/s / (accelerators × usd_per_h).

    tokens/s = tokens of a step / step time; usd_per_h: price of one accelerator [US$/h].
    """
    tokens = workload.batch * workload.sequence_length
    return tokens / step_s / (workload.accelerators * usd_per_h / 3600)


def front[Plan](weighed: Iterable[tuple[tuple[float, ...], Plan]]) -> list[Plan]:
    """The Pareto front: plans that no other one beats, which is as good in all losses and better in one.

    Of plans with equal losses the first is taken. In the order of their losses.
    """
    first: dict[tuple[float, ...], Plan] = {}
    for losses, plan in weighed:
        if all(map(math.isfinite, losses)):
            first.setdefault(losses, plan)
    found: list[tuple[float, ...]] = []
    for losses in sorted(first):  # what beats another one comes before it
        if not any(all(a <= b for a, b in zip(other, losses, strict=True)) for other in found):
            found.append(losses)
    return [first[losses] for losses in found]
