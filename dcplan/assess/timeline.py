"""What a failure does to a job, in order: it is noticed, traffic is switched or the job restarts, it runs degraded
until the repair; and the steps that all of it costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.assess.result import Timeline
from dcplan.training.goodput.failures import HOURS

if TYPE_CHECKING:
    from dcplan.assess.result import JobInState
    from dcplan.model.reliability import Reliability
    from dcplan.model.states import State
    from dcplan.training.goodput.chain import Goodput

SWITCH_S = {"one-plus-one": 0.05, "reroute": 1.0, "relight": 8.0, "none": 0.0}
"""From a failure in the network until traffic is on its other routes, by scheme [s].

one-plus-one: 50 ms, the rule of protected transport (ITU-T G.841, from memory); reroute: of routers or a controller,
seconds at most (from memory); relight: 8 s on amplifiers kept loaded (ARROW, SIGCOMM 2021).
"""


def timeline(
    about: Reliability,
    scheme: str,
    state: State,
    found: JobInState,
    *,
    touched: bool,
    lost_site: bool,
    speed: float,
    step_s: float,
    goodput: Goodput,
    repair_h: float | None,
) -> Timeline:
    """A failure of a site that the job uses ends its collectives: detection, restart, rework; back again likewise.

    A failure of the network stops traffic until it is switched. If that is within `collective_timeout_s`, or the
    failure takes nothing that is lit (`touched` is false), the job waits and no more; else it fails and restarts.
    Where nothing joins its sites it waits for the repair and then restarts, or goes on in one of them and restarts
    twice. Lost steps = lost time / healthy step.
    """
    switch_s = SWITCH_S[scheme] if about.switch_s is None else about.switch_s
    parted = touched and not found.running and not lost_site
    fails = lost_site or parted or (touched and switch_s > about.collective_timeout_s)
    detection_s = (about.detection_s if lost_site else about.collective_timeout_s) if fails else 0.0
    down_s = detection_s + (about.restart_s if fails else 0.0)
    waits_s = max(0.0, switch_s - down_s) if touched and not parted and not lost_site else 0.0
    rework_s = _rework_s(goodput, far=lost_site) if fails else 0.0
    back_s = about.restart_s if (lost_site or parted) and speed > 0 else 0.0
    once = (down_s + waits_s + rework_s + back_s) / step_s
    hourly = (1 - speed) * HOURS / step_s
    return Timeline(
        state=state.name,
        job=found.job,
        running=speed > 0,
        detection_s=detection_s,
        switch_s=waits_s,
        restart_s=about.restart_s if fails else 0.0,
        rework_s=rework_s,
        speed_percent=100 * speed,
        repair_h=repair_h,
        back_s=back_s,
        lost_once_steps=once,
        lost_per_hour_steps=hourly,
        lost_steps=None if repair_h is None else once + hourly * repair_h,
    )


def _rework_s(goodput: Goodput, *, far: bool) -> float:
    """Half of the work between two checkpoints; for a lost site, between two in storage, and until one is there."""
    if not far or goodput.local_s is None:
        return (goodput.interval_s or 0.0) / 2
    return (goodput.interval_s or 0.0) * goodput.remote_every / 2 + goodput.write_s
