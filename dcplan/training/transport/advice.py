"""Where the flows of a job carry too little for its target, whatever is lit: how much, and what would do."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.training.engine import needed_rates
from dcplan.training.step import Links
from dcplan.training.transport.links import on_pairs
from dcplan.units import rate, significant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.model.network import Pair
    from dcplan.model.transport import Transport
    from dcplan.training.step import Layout, Workload
    from dcplan.training.transport.carried import Carried

STEP, MOST_STEPS = 1.02, 100
"""What would do is looked for in steps of this factor, so many at most."""


@dataclass(frozen=True, slots=True)
class TooSlow:
    """Flows that hold a job back, on the pair of sites that lacks most."""

    plan: str
    """The parallelism plan that would need least without windows, and with a flow for each accelerator."""
    needs_gbps: float
    """What it then needs between the two sites, payload."""
    pair: Carried
    """The pair with the flows as they are, at an infinite rate."""
    enough: Transport | None
    """With which the plan meets its target; none where nothing near was found."""

    @property
    def key(self) -> str:
        """The key of the file that limits."""
        return "window_mb" if self.pair.limit == "window" else "flows"

    @property
    def in_words(self) -> str:
        """A sentence without a full stop."""
        a, b = self.pair.ends
        verb = "carries" if self.pair.flows == 1 else "carry"
        return (
            f"{_flows(self.pair.flows, self.pair.window_mb)} {verb} at most {rate(self.pair.usable_gbps)} between {a} "
            f"and {b} at a round trip of {significant(self.pair.rtt_ms)} ms, whatever is lit; {self.plan} needs "
            f"{rate(self.needs_gbps)} there"
        ) + (f": {_flows(self.enough.flows or self.pair.flows, self.enough.window_mb)} would do" if self.enough else "")


def _flows(many: int, window_mb: float | None) -> str:
    """In words."""
    window = f" of {window_mb:g} MB{'' if many == 1 else ' each'}" if window_mb is not None else ""
    return f"{many:,} flow{'' if many == 1 else 's'}{window}"


def too_slow(
    workload: Workload, layouts: Sequence[Layout], latency_ms: Mapping[Pair, float], overhead_percent: float
) -> TooSlow | None:
    """Where no plan keeps its target with the windows and flows of the file, and one does without them; else None."""
    transport = workload.transport
    if transport is None or (transport.window_mb is None and transport.flows is None):
        return None
    if any(needed_rates(workload, layout, latency_ms, overhead_percent) is not None for layout in layouts):
        return None
    free = _with(workload, window_mb=None, flows=None)
    found = [
        (math.fsum(rates.values()), layout.name, layout, rates)
        for layout in layouts
        if (rates := needed_rates(free, layout, latency_ms, overhead_percent))
    ]
    if not found:
        return None
    _, plan, layout, rates = min(found)
    needs = {one.ends: one.usable_gbps for one in on_pairs(free, layout, Links(rates, latency_ms))}
    unlimited = Links(dict.fromkeys(rates, math.inf), latency_ms)
    pair = max(on_pairs(workload, layout, unlimited), key=lambda one: needs[one.ends] / one.usable_gbps)
    (open_,) = (one for one in on_pairs(_with(workload, window_mb=None), layout, unlimited) if one.ends == pair.ends)
    flows, window_mb = float(pair.flows), pair.window_mb
    flows *= max(1.0, needs[pair.ends] / open_.usable_gbps)
    for _ in range(MOST_STEPS):
        if window_mb is not None:
            window_mb = max(window_mb, needs[pair.ends] / flows * pair.rtt_ms / 8)
        changed: dict[str, float | None] = {"window_mb": None if window_mb is None else _up(window_mb)}
        if flows > pair.flows:
            changed["flows"] = math.ceil(flows)
        if needed_rates(_with(workload, **changed), layout, latency_ms, overhead_percent) is not None:
            return TooSlow(plan, needs[pair.ends], pair, transport.model_copy(update=changed))
        flows, window_mb = (flows * STEP, window_mb) if window_mb is None else (flows, window_mb * STEP)
    return TooSlow(plan, needs[pair.ends], pair, None)


def _with(workload: Workload, **changed: float | None) -> Workload:
    """The job with some of its transport changed."""
    return replace(workload, transport=workload.transport and workload.transport.model_copy(update=changed))


def _up(value: float) -> float:
    """The next number of three significant digits."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / digit - 1e-9) * digit:.3g}")
