"""Refuses a plan that was edited into pieces, before a report trips over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.planfile import Plan


def check(plan: Plan) -> None:
    """UsageError when the parts of a plan do not fit together."""
    for fault in _faults(plan):
        raise UsageError(f"plan `{plan.name}` is not whole: {fault}; plan it again")


def _faults(plan: Plan) -> Iterator[str]:
    if not plan.assessment.states:
        yield "it has no healthy state"
    known = {path.id: len(path.route.fibers) for path in plan.lightpaths}
    channels = [*plan.design.channels, *(channel for relit in plan.design.relit for channel in relit.channels)]
    used = {group.lightpath: "wavelengths" for group in plan.design.ever_lit}
    used |= {name: "traffic" for routing in plan.design.routing for flow in routing.flows for name in flow.lightpaths}
    used |= {channel.lightpath: "spectrum" for channel in channels}
    for name, where in used.items():
        if name not in known:
            yield f"{where} on lightpath {name}, which it does not have"
    for channel in channels:
        if len(channel.pairs) != known.get(channel.lightpath):
            yield f"a channel of lightpath {channel.lightpath} does not name one pair on each fiber"
