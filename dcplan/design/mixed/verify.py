"""Checks what is said to be retuned in no failure. Without the program or the solver, as all of `design.verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Design
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath


def faults(paths: Mapping[str, Lightpath], states: Sequence[State], design: Design) -> Iterator[str]:
    """Channels that are not lit when healthy, or not in their places in a failure that their fibers survive."""
    if design.anchored and (design.scheme != "relight" or all(demand.waits for demand in design.demands)):
        yield "channels are kept from being retuned, for nobody"
    if len(set(design.anchored)) < len(design.anchored):
        yield "channels that no failure retunes are listed twice"
    for state in states:
        lit = set(design.lit_in(state.name).channels)
        for channel in design.anchored:
            gone = channel.lightpath in paths and state.breaks(paths[channel.lightpath].route)
            if channel not in lit and not gone:
                yield f"{state.name}: a channel of {channel.lightpath} is retuned that never should be"


def anchored_gbps(design: Design) -> dict[str, dict[float, float]]:
    """Of each lightpath, by latency [ms]: what no failure retunes [Gb/s], modules of circuits with it."""
    about = {(lit.lightpath, lit.transponder, lit.mode): lit for lit in design.wavelengths}
    placed = {(one.lightpath, one.transponder, one.mode) for one in design.channels}
    found: dict[str, dict[float, float]] = {}
    leased = [(lit, lit.count) for kind, lit in about.items() if kind not in placed]
    stays = ((about.get((one.lightpath, one.transponder, one.mode)), 1) for one in design.anchored)
    for lit, count in (*leased, *stays):
        if lit is not None:
            by_latency = found.setdefault(lit.lightpath, {})
            by_latency[lit.latency_ms] = by_latency.get(lit.latency_ms, 0.0) + count * lit.rate_gbps
    return found
