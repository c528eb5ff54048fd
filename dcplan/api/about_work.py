"""What the work of a job rests on, where it is not as it is by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.planfile import Assumption
from dcplan.training.site.offload import HOST_EFFICIENCY, host_of, is_assumed
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.training.step import Layout, Workload


OUTER = {
    "local-sgd": "leave layer by layer behind the last backward pass: no optimizer waits for the norm of all gradients",
    "streaming": "leave layer by layer behind the backward pass: no optimizer waits for the norm of all gradients",
    "parameter-server": "what changed in weights comes back in as many bits; links and servers alone can hold it up",
}
"""What the time of an exchange of outer gradients rests on, by way to synchronise."""


def about_work(load: Workload, file: str) -> Iterator[Assumption]:
    """What of a job's work is not as it is by default."""
    if load.attention == "full":
        yield Assumption(f"attention of {load.job}", "every token attends to all; MFU counts all of it", file, "high")
    if load.expert_imbalance > 1:
        text = f"the fullest expert parallel rank gets {significant(load.expert_imbalance)} times the mean"
        yield Assumption(f"experts of {load.job}", text, file, "medium")
    for site, share in {share.site: share for share in load.shares}.items():
        if share.fabric:
            text = ", ".join(f"1:{tier.oversubscription:g} beyond {tier.accelerators:,}" for tier in share.fabric)
            yield Assumption(f"fabric of {site}", f"{text} accelerators", file, "high")
        if share.all_reduce != "auto":
            yield Assumption(f"all-reduce in {site}", share.all_reduce, file, "high")
    if load.precision == "fp4":
        text = "5 of 6 linear products in nvfp4; weights kept in bf16 and two nvfp4 copies, tokens dispatched in fp8"
        yield Assumption(f"fp4 of {load.job}", text, "NVIDIA 2025, Pretraining LLMs with NVFP4", "low")


def about_layout(load: Workload, layout: Layout) -> Iterator[Assumption]:
    """What the plan of a job rests on: bubbles of its schedule, outer steps, the hosts that hold its optimizer."""
    if layout.outer and layout.across == "dp":
        source = "Streaming DiLoCo, arXiv 2501.18512, section 3.1, a simulation; elsewhere they wait for the whole step"
        if layout.sync == "parameter-server":
            source = "Dean et al. 2012 (DistBelief), without the bits"
        yield Assumption(f"outer gradients of {load.job}", OUTER[layout.sync], source, "low")
    if layout.schedule == "zb-h2":
        text = "stages do not wait for each other's optimizer step; the norm of gradients is checked afterwards"
        yield Assumption(f"schedule of {load.job}", text, "Qi et al. 2024, section 4", "medium")
    if layout.paired or (layout.schedule == "dualpipe" and layout.ep > 1):
        text = "20 of 132 cores drive expert exchange while the others compute"
        yield Assumption(f"schedule of {load.job}", text, "DeepSeek-V3 report, section 3.2.2, for H800", "medium")
    if layout.optimizer_offload_percent or (layout.outer and layout.outer.state_in_host):
        for name, part in {share.accelerator_id: share.accelerator for share in load.shares}.items():
            host = host_of(part)
            text = (
                f"{significant(host.link / 1e9)} GB/s to the host, {significant(host.memory / 1e9)} GB/s of its memory"
            )
            source = "assumption: PCIe 4 and DDR4" if is_assumed(part) else "catalog"
            yield Assumption(f"host of {name}", text, f"{source}, {HOST_EFFICIENCY:.0%} of it reached", "low")
