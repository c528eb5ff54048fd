"""Checks that no demand takes more routes at a time than it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.design.result import Demand, Design


def too_many_routes(demands: Sequence[Demand], design: Design) -> Iterator[str]:
    """Demands that take more chains of lightpaths in a state than they may, or twice as many on two ways.

    Which wavelengths of a lightpath a route rides on makes no other route of it.
    """
    counted = {demand.id: demand.max_paths for demand in demands if demand.max_paths is not None}
    protected = {demand.id for demand in demands if demand.protected}
    for routing in design.routing:
        routes: dict[str, list[tuple[str, ...]]] = {name: [] for name in counted}
        for flow in routing.flows:
            if flow.demand in routes:
                routes[flow.demand].append(flow.lightpaths)
        for name, taken in routes.items():
            many, most = len(set(taken)), counted[name] * (2 if name in protected else 1)
            if many > most:
                yield f"{routing.state}: {name} takes {many} routes, it may take {most}"
