"""What the steps of many plans take at least inside sites, all at once with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dcplan.training.compute import costs
from dcplan.training.pipeline.line import may_be_by_speed
from dcplan.training.pipeline.schedules import CONTROLLED, copies
from dcplan.training.pipeline.stages import device_layers
from dcplan.training.plans.columns import KINDS_OF_STAGE
from dcplan.training.site.machine import machines

if TYPE_CHECKING:
    from dcplan.training.plans.columns import Columns
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Tile, Workload

    Array = Any


class Near(NamedTuple):
    """Times of plans without distance [s]."""

    own_s: Array
    """No step is shorter."""
    forward_s: Array
    """Of the slowest stage, one microbatch."""
    backward_s: Array
    all_s: Array
    """All stages together, one microbatch."""


def least_step_s(workload: Workload, at: Columns) -> Near:
    """No step is shorter without distance: work of the slowest stage on all microbatches, and the bubble.

    Without any exchange outside of stages, with expert exchange hidden where some of it may be. By speed 0, for each
    rank has its own number of microbatches.
    """
    import numpy as np

    each = [_on(workload, at, box) for box in dict.fromkeys(machines(workload))]
    own_s = [one.own_s for one in each]
    served = at.has("sync", "parameter-server")
    return Near(
        np.where(served, np.min(own_s, axis=0), np.max(own_s, axis=0)) * (0.0 if may_be_by_speed(workload) else 1.0),
        np.max([one.forward_s for one in each], axis=0),
        np.max([one.backward_s for one in each], axis=0),
        np.min([one.all_s for one in each], axis=0),
    )


def _on(workload: Workload, at: Columns, box: Machine) -> Near:
    """On accelerators of one kind."""
    import numpy as np

    def of_tile(tile: Tile) -> list[float]:
        parts = costs(workload, box, tile)
        return [
            value
            for part in (parts.dense, parts.moe, parts.embedding, parts.head)
            for value in (
                part.forward.device_s, part.forward.host_s, part.backward.device_s, part.backward.host_s,
                part.weights_s, part.forward.ep_s + part.backward.ep_s,
            )
        ]  # fmt: skip

    def of_stages(pp: int, v: int, schedule: str) -> list[float]:
        kinds, visited = device_layers(workload.model, pp, v, schedule), 1 / copies(schedule)
        each = [(one.stages, *(visited * n for n in (one.dense, one.moe, one.embedding, one.head))) for one in kinds]
        each += [(0.0,) * 5] * (KINDS_OF_STAGE - len(each))
        return [value for one in each for value in one]

    parts = at.by_tile(of_tile).reshape(4, 6, -1)
    counts = at.by_stages(of_stages).reshape(KINDS_OF_STAGE, 5, -1)
    device_f, host_f, device_b, host_b, weights, exchange = (
        np.einsum("kpn,pn->kn", counts[:, 1:], parts[:, i]) for i in range(6)
    )
    forward, backward = np.maximum(device_f, host_f), np.maximum(device_b, host_b)
    total = forward + backward
    slowest = np.argmax(total, axis=0)[None]
    forward_s, backward_s, weights_s = (np.take_along_axis(one, slowest, 0)[0] for one in (forward, backward, weights))
    others_f, others_b, others_w = (
        (one * counts[:, 0]).sum(axis=0) - own
        for one, own in ((forward, forward_s), (backward, backward_s), (weights, weights_s))
    )
    idle_s = _idle_s(at, others_f, others_b - others_w, others_w)
    plain = at.has("schedule", "1f1b") & ~at.paired
    own_s = at.microbatches * (forward_s + backward_s - np.where(plain, 0.0, exchange.max(axis=0)))
    kept = np.where(at.has("schedule", "1f1b"), 0.0, weights)  # gradients of weights need not be waited for
    all_s = ((total - kept) * counts[:, 0]).sum(axis=0)
    return Near(own_s + idle_s + box.step_s, forward_s, backward_s, all_s)


def _idle_s(at: Columns, forward_s: Array, inputs_s: Array, weights_s: Array) -> Array:
    """No bubble is shorter; see `schedules.bubble_s`. Times of all stages but the slowest together.

    Of dualpipe 0. Over pp 0 as well: see `far.over_stages_s`.
    """
    import numpy as np

    both_s = forward_s + inputs_s
    found = np.where(at.has("schedule", "1f1b"), (both_s + weights_s) / at.virtual_stages, 0.0)
    for schedule, least in (
        ("zb-h1", np.maximum(np.maximum(forward_s, inputs_s), both_s - weights_s)),
        ("zb-h2", both_s - 2 * weights_s),
        ("zbv", np.maximum(inputs_s / 2, inputs_s - weights_s)),
        *((each, forward_s / 2) for each in CONTROLLED),  # the last device waits for the first forward pass
    ):
        found = np.where(at.has("schedule", schedule), least, found)
    return np.where(at.has("across", "pp"), 0.0, np.maximum(found, 0.0))
