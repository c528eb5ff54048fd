"""Checks that demands on two ways are protected: pairs of ways that no promised failure breaks together."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from dcplan.design.problem import rate, whole_rate
from dcplan.design.tolerance import CLOSE
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Demand, Design, Flow
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath


def faults(
    paths: Mapping[str, Lightpath], states: Sequence[State], demands: Sequence[Demand], design: Design
) -> Iterator[str]:
    """A demand on two ways rides on pairs; no promised failure breaks both, and both carry all of the pair's share."""
    routing = {state.state: state.flows for state in design.routing}
    healthy = routing.get(HEALTHY.name, ())
    for demand in demands:
        if not demand.protected:
            continue
        mine = [flow for flow in healthy if flow.demand == demand.id]
        couples = list(zip(mine[::2], mine[1::2], strict=False))
        need = whole_rate(demand, states)
        if not isclose(sum(one.gbps for one, _ in couples), need, rel_tol=CLOSE, abs_tol=CLOSE) or len(mine) % 2:
            yield f"{demand.id} asks {need:g} Gb/s on two ways, its pairs do not add up to it"
        for one, other in couples:
            if not isclose(one.gbps, other.gbps, rel_tol=CLOSE) or one.lightpaths == other.lightpaths:
                yield f"{demand.id}: {way(one)} and {way(other)} do not protect each other"
            for state in states:
                if rate(demand, state) > 0 and not (alive(paths, state, one) or alive(paths, state, other)):
                    yield f"{state.name} breaks both ways of {demand.id}: {way(one)} and {way(other)}"
        for state in states:
            stand = [flow for flow in mine if rate(demand, state) > 0 and alive(paths, state, flow)]
            listed = [flow for flow in routing.get(state.name, ()) if flow.demand == demand.id]
            if stand != listed and not state.healthy:
                yield f"{state.name}: the flows of {demand.id} are not those that survive"


def alive(paths: Mapping[str, Lightpath], state: State, flow: Flow) -> bool:
    """No lightpath of the flow is broken."""
    return not any(name in paths and state.breaks(paths[name].route) for name in flow.lightpaths)


def way(flow: Flow) -> str:
    """The lightpaths of a flow."""
    return " + ".join(flow.lightpaths)
