"""What a job loses time to, joined: its `reliability` with its model, its accelerators and the demands of the file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.model.reliability import Reliability
from dcplan.training.goodput.chain import Losses
from dcplan.training.goodput.checkpoint import STORE_GB_PER_S, Writing, size_gb
from dcplan.training.goodput.corruption import Corruption, best_every_s
from dcplan.training.goodput.failures import HOURS, PUBLISHED_H, mtbf_s
from dcplan.training.goodput.stragglers import Stragglers

if TYPE_CHECKING:
    from dcplan.model.network import Network
    from dcplan.model.reliability import Checkpoints, CorruptionOfJob, StragglersOfJob
    from dcplan.training.step import Workload


def losses_of(network: Network, workload: Workload) -> Losses | None:
    """What the job loses time to: nothing where it only says how many tokens it trains, none where it says neither."""
    job = network.jobs[workload.job]
    if job.reliability is None and job.train_tokens is None:
        return None
    about, many = job.reliability or Reliability(), workload.accelerators
    never = job.reliability is None
    slow, wrong = about.stragglers, about.corruption
    return Losses(
        accelerators=many,
        sites=len({share.site for share in workload.shares}),
        mtbf_s=math.inf if never else mtbf_s(many, accelerator_mtbf_h(about), about.infant_factor),
        detection_s=about.detection_s,
        restart_s=about.restart_s,
        host_accelerators=about.host_accelerators,
        hardware=about.hardware_percent / 100,
        host_repair_s=(about.host_repair_h or 0.0) * HOURS,
        spare_hosts=about.spare_hosts,
        elastic=about.elastic,
        interval=about.checkpoint.interval_s,
        far_interval_s=about.checkpoint.remote_interval_s,
        writing=_writing(network, workload, about.checkpoint),
        stragglers=Stragglers() if slow is None else _stragglers(slow),
        corruption=None if wrong is None else _corruption(wrong, many),
        train_tokens=job.train_tokens,
        usd_per_h=job.accelerator_usd_per_h,
    )


def _stragglers(about: StragglersOfJob) -> Stragglers:
    return Stragglers(
        about.tail, about.sigma_percent / 100, about.slow_percent / 100, about.slow_hosts, about.dropped_ranks
    )


def accelerator_mtbf_h(about: Reliability) -> float:
    """Hours between failures of one accelerator: as given, or of a published cluster [h]."""
    given = about.accelerator_mtbf_h
    return PUBLISHED_H[given] if isinstance(given, str) else given


def storage_gb_per_s(network: Network, about: Checkpoints, accelerators: int) -> float:
    """Rate at which a checkpoint goes to storage: that of a demand, as given, or in proportion to Llama 3's [GB/s]."""
    if about.over is not None:
        return network.topology.demands[about.over].gbps * network.policy.demand_percent / 100 / 8
    return about.gb_per_s or STORE_GB_PER_S * accelerators


def _writing(network: Network, workload: Workload, about: Checkpoints) -> Writing:
    given, local = about.bytes_per_parameter, about.local_gb_per_s
    size = size_gb(workload.model) if given is None else size_gb(workload.model, given)
    near_s = None if local is None else size / workload.accelerators / local
    return Writing(size, size / storage_gb_per_s(network, about, workload.accelerators), near_s, by_plan=given is None)


def _corruption(about: CorruptionOfJob, accelerators: int) -> Corruption:
    rate = 1 / mtbf_s(accelerators, about.accelerator_mtbf_h)
    latency_s, caught = (about.latency_h or 0.0) * HOURS, about.caught_percent / 100
    if about.check_s is None:
        return Corruption(rate, latency_s)
    given = about.check_interval_s
    every_s = best_every_s(about.check_s, rate, caught) if isinstance(given, str) else given
    return Corruption(rate, latency_s, about.check_s, every_s, caught)
