"""What goodput rests on: figures of the file, or the defaults in their place with how far to trust them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.assess.timeline import SWITCH_S
from dcplan.training.goodput.joined import accelerator_mtbf_h, storage_gb_per_s
from dcplan.training.workload import workload
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.network import Network
    from dcplan.model.reliability import Reliability

FILE = ("the topology file", "high")
PUBLISHED = {
    "llama3": "419 interruptions in 54 days on 16,384 H100 (arXiv 2407.21783, 3.3.4)",
    "meta-rsc-1": "6.5 failures per 1,000 node-days, A100 (HPCA 2025, arXiv 2410.21680)",
    "meta-rsc-2": "2.34 failures per 1,000 node-days, A100 (HPCA 2025, arXiv 2410.21680)",
}


def about_losses(network: Network, job: str, scheme: str) -> Iterator[tuple[str, str, str, str]]:
    """What, value, source and confidence of each; nothing for a job without `reliability`."""
    about = network.jobs[job].reliability
    if about is None:
        return
    hours = f"one accelerator fails in {accelerator_mtbf_h(about):,.0f} h"
    if about.infant_factor > 1:
        hours += f", {about.infant_factor:g} times as often while new"
    given = about.accelerator_mtbf_h
    yield (f"failures of {job}", hours, *((PUBLISHED[given], "medium") if isinstance(given, str) else FILE))
    yield _stated(about, "detection_s", f"detection of {job}", f"{about.detection_s:g} s", "an estimate", "low")
    source = "5 to 20 minutes in Meta's clusters (HPCA 2025)"
    yield _stated(about, "restart_s", f"restart of {job}", f"{about.restart_s:g} s", source, "medium")
    rate = storage_gb_per_s(network, about.checkpoint, workload(network, job).accelerators)
    value = f"{significant(rate)} GB/s for all of it"
    if about.checkpoint.gb_per_s is None and about.checkpoint.over is None:
        yield (f"storage of {job}", value, "2 TB/s for 16,384 accelerators (Llama 3, 3.3.1, from memory)", "low")
    else:
        yield (f"storage of {job}", value, *FILE)
    if len(network.jobs[job].accelerators) > 1:
        switch_s = SWITCH_S[scheme] if about.switch_s is None else about.switch_s
        value = f"{switch_s:g} s until traffic is on other routes ({scheme})"
        yield _stated(about, "switch_s", f"switch of {job}", value, "an estimate for the scheme", "low")
        value = f"{about.collective_timeout_s:g} s until a collective fails"
        yield _stated(about, "collective_timeout_s", f"timeout of {job}", value, "PyTorch's default for NCCL", "medium")


def _stated(
    about: Reliability, key: str, what: str, value: str, source: str, confidence: str
) -> tuple[str, str, str, str]:
    """From the file where it gives the key, else a default."""
    return (what, value, *(FILE if key in about.model_fields_set else (source, confidence)))
