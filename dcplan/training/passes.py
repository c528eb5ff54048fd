"""All microbatches of a stage one after another: what they take, and what pairs of passes hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.pipeline.schedules import hidden_exchange_s, overlapped

if TYPE_CHECKING:
    from dcplan.training.compute import Pass
    from dcplan.training.step import Layout


class Pairs(NamedTuple):
    """Forward and backward passes that run at the same time in a stage."""

    many: float
    """How many of the step do."""
    hidden_s: float
    """Expert exchange that each of them hides [s]."""
    waits_s: float
    """Each of them waits so long for the host [s]."""


def pairs_of(layout: Layout, both: Pass) -> Pairs:
    """Those of a stage with these two passes together; see `schedules.overlapped` and `hidden_exchange_s` there."""
    count = overlapped(layout.schedule, layout.pp, layout.virtual_stages, layout.microbatches, paired=layout.paired)
    hidden_s = hidden_exchange_s(both.device_s - both.ep_s, both.ep_s) if count else 0.0
    return Pairs(count, hidden_s, max(0.0, both.host_s - both.device_s + hidden_s))


def repeated(layout: Layout, both: Pass, alone_s: float) -> dict[str, float]:
    """Terms of a stage's own work on all microbatches: passes in both directions, and waiting for the host in each."""
    m, pairs = layout.microbatches, pairs_of(layout, both)
    return {
        "compute_s": m * both.compute_s,
        "tp_s": m * both.tp_s,
        "cp_s": m * both.cp_s,
        "ep_s": m * both.ep_s - pairs.many * pairs.hidden_s,
        "host_s": (m - pairs.many) * alone_s + pairs.many * pairs.waits_s,
    }
