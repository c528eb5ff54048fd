"""Memory of many plans at once, with numpy: the sums of `memory` over arrays. Tests hold them against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.training.memory import gathered_bytes, layer_bytes
from dcplan.training.pipeline.schedules import copies, in_flight, splits_backward
from dcplan.training.pipeline.stages import device_layers, layer_sizes, stage_parameters
from dcplan.training.plans.columns import KINDS_OF_STAGE
from dcplan.training.site.offload import KEPT_BYTES
from dcplan.training.state import adam_bytes, gradient_bytes, weight_bytes

if TYPE_CHECKING:
    from dcplan.training.plans.columns import Columns
    from dcplan.training.step import Tile, Workload

    Array = Any


def memory_gb(workload: Workload, at: Columns) -> tuple[Array, Array]:
    """Memory of the fullest accelerator, and of its host, with no more microbatches in flight than given [GB].

    As `memory.memory`, on the share with the least memory; see there for the formula.
    """
    import numpy as np

    base = at.base
    if base is None or not len(at.tp):
        return np.zeros(0), np.zeros(0)
    weight, gradient, adam = weight_bytes(base, workload.precision), gradient_bytes(base), adam_bytes(base)

    def kinds_of(pp: int, v: int, schedule: str) -> list[float]:
        kinds = device_layers(workload.model, pp, v, schedule)
        held = stage_parameters(workload, pp, v, schedule)
        each = [(1, one.dense, one.moe, one.head, *of) for one, of in zip(kinds, held, strict=True)]
        each += [(0, 0.0, 0.0, False, 0.0, 0.0)] * (KINDS_OF_STAGE - len(each))
        return [value for one in each for value in one]

    def bytes_of(tile: Tile) -> list[float]:
        (dense, dense_again), (moe, moe_again) = layer_bytes(workload, tile)
        gathered = gathered_bytes(workload, tile) if tile.cp > 1 and tile.cp_exchange == "all-gather" else 0.0
        return [dense, dense_again, moe, moe_again, gathered]

    dense, dense_again, moe, moe_again, gathered = at.by_tile(bytes_of)
    each_copies = at.by_stages(lambda _pp, _v, schedule: [copies(schedule)])[0]
    stages = at.by_stages(kinds_of).reshape(KINDS_OF_STAGE, 6, -1)
    group = at.shard_size * at.cp * each_copies
    expert_group = np.maximum(1, group // at.ep)
    logits = 6 * at.microbatch * workload.sequence_length / at.cp * workload.model.vocab / at.tp
    layers = layer_sizes(workload)
    most = np.full(len(at.tp), -np.inf)
    host = np.zeros(len(at.tp))
    for (there, of_dense, of_moe, head, shared_held, experts_held), flights in zip(
        stages, _flights(at, each_copies), strict=True
    ):
        shared, experts = shared_held / at.tp, experts_held / (at.ep * at.tp)
        whole, spread = shared + experts, shared / group + experts / expert_group
        weights = weight * np.where(at.sharding >= 3, spread, whole)
        layer = np.where(
            of_moe > 0,
            layers[1].shared + layers[1].experts / at.ep,
            layers[0].shared + layers[0].experts / at.ep,
        )
        weights = np.where(at.sharding == 3, weights + 2 * weight * layer / at.tp, weights)
        activations = (of_dense * dense + of_moe * moe) * flights
        working = np.where(of_moe > 0, moe_again, dense_again) + gathered + np.where(head > 0, logits, 0.0)
        stepped = np.where(at.sharding >= 1, spread, whole)
        gradients = gradient * np.where(at.sharding >= 2, spread, whole)
        optimizer = (adam * (1 - at.offloaded) + at.state_bytes) * stepped
        total = weights / 1e9 + gradients / 1e9 + optimizer / 1e9 + (activations + working) / 1e9
        fuller = (there > 0) & (total > most)
        most = np.where(fuller, total, most)
        host = np.where(fuller, ((KEPT_BYTES + gradient) * at.offloaded + at.host_bytes) * stepped / 1e9, host)
    return most, host


def _flights(at: Columns, each_copies: Array) -> list[Array]:
    """Microbatches whose activations first, inner and last stages hold; see `memory.held_microbatches`."""
    import numpy as np

    split, limit = at.by_stages(lambda pp, _v, schedule: [splits_backward(schedule), in_flight(schedule, pp, 10**9)])
    p, m, v = at.pp, at.microbatches, at.virtual_stages
    ahead = np.where(v > 1, (p - 1) / v, 0.0) + at.paired / v
    alone = np.minimum(m, 1 + at.paired)
    by_schedule = np.minimum(m, limit) / each_copies
    upstream = np.minimum(m, by_schedule + at.extra)
    first, second = np.minimum(m, p + ahead + at.extra), np.minimum(m, p - 1 + ahead + at.extra)
    last = np.minimum(m, 1 + ahead)
    return [
        np.where(p == 1, alone, np.where(split > 0, late, plain))
        for plain, late in (
            (first, upstream),
            (np.where(p > 2, second, last), np.where(p > 2, upstream, by_schedule)),
            (last, by_schedule),
        )
    ]
