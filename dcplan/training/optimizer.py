"""The optimizer step: Adam through the memory of the accelerator, of the host, and the outer optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training.across.sync import local_parameters
from dcplan.training.outer.exchange import traffic_bytes
from dcplan.training.pipeline.schedules import copies
from dcplan.training.remember import remembered
from dcplan.training.site.offload import host_step_s
from dcplan.training.state import adam_traffic, gradient_bytes

if TYPE_CHECKING:
    from dcplan.training.site.machine import Machine
    from dcplan.training.step import Layout, Spread, Workload


@remembered
def optimizer_s(workload: Workload, spread: Spread, box: Machine, own: tuple[float, float] | None) -> float:
    """Adam on the parameters of one accelerator: so many bytes each through its memory, over the sharding group [s].

    Bytes: see `state.adam_traffic`.
    And once in H steps the outer optimizer, see `outer.traffic_bytes`. What is offloaded is stepped in the host at the
    same time, see `offload.host_step_s`. own: parameters of the fullest stage, met by every token and in experts, where
    they are not those of `sync.local_parameters`.
    """
    offloaded = spread.optimizer_offload_percent / 100
    traffic = adam_traffic(spread) * (1 - offloaded) + traffic_bytes(spread.sync, spread.outer)
    parameters = stepped_here(workload, spread, own)
    return max(traffic * parameters / box.hbm, host_step_s(box.host, offloaded * parameters, gradient_bytes(spread)))


def stepped_here(workload: Workload, layout: Layout | Spread, own: tuple[float, float] | None = None) -> float:
    """Parameters whose optimizer state one accelerator has: those that it holds over the ranks that share them."""
    shared, experts = own or local_parameters(workload, layout)
    shards = layout.shard_size * layout.cp * copies(layout.schedule) if layout.sharding else 1
    return shared / shards + experts / max(1, shards // layout.ep)
