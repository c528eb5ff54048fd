"""By which scheme a design is made. Demands say so, whatever the policy says to those without a scheme of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.design.result import Demand
    from dcplan.model.network import Network


def retunes(demands: Iterable[Demand]) -> bool:
    """Some demand is under relight, so that transponders are bought by site and each failure lights its own."""
    return any(demand.scheme == "relight" and max(demand.gbps.values(), default=0.0) > 0 for demand in demands)


def scheme_of_all(network: Network, demands: Iterable[Demand]) -> str:
    """Relight where it is somebody's scheme; else the policy's, or reroute where that is relight and nobody's."""
    if retunes(demands):
        return "relight"
    return "reroute" if network.policy.scheme == "relight" else network.policy.scheme
