"""Light that is lit already: its routes, and link budgets of its modes, also of parts that may no longer be bought."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.model.graph import walk
from dcplan.optics.allowed import allowed_transponders
from dcplan.optics.lightpath import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.model.existing import ExistingWavelengths
    from dcplan.model.network import FiberId, Network, Route
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.line import NoLine


def existing_routes(network: Network) -> tuple[Route, ...]:
    """The routes of wavelengths that are lit already, each once."""
    return tuple(dict.fromkeys(route for route, _, _ in existing_modes(network)))


def existing_modes(network: Network) -> dict[tuple[Route, str, str], int]:
    """(route, transponder, mode) of wavelengths that are lit already, and how many there are."""
    existing = network.topology.existing
    found: dict[tuple[Route, str, str], int] = {}
    for lit in existing.wavelengths if existing else ():
        route = walk(network, lit.route)
        if route is not None:
            key = (route, lit.transponder, lit.mode)
            found[key] = found.get(key, 0) + lit.count
    return found


def pairs_along(lit: ExistingWavelengths, route: Route) -> tuple[int, ...]:
    """The pair that wavelengths take on each fiber of their route, from 0; the first where the file names none."""
    named = lit.on_pairs or [1] * len(lit.route)
    return tuple(pair - 1 for pair in (named if tuple(lit.route) == route.fibers else named[::-1]))


def buyable(network: Network) -> frozenset[str]:
    """Transponders and appliances that may be bought."""
    return frozenset((*allowed_transponders(network), *network.topology.gear.allow.appliances))


def with_existing_parts(network: Network) -> Network:
    """The network as if every part that is lit already could be bought as well."""
    boxes = network.catalog.appliances
    parts = [part for part in dict.fromkeys(part for _, part, _ in existing_modes(network)) if part not in boxes]
    older = [box for _, box, _ in existing_modes(network) if box in boxes]
    gear = network.topology.gear
    allow = gear.allow.model_copy(
        update={
            "transponders": list(dict.fromkeys((*allowed_transponders(network), *parts))),
            "appliances": list(dict.fromkeys((*gear.allow.appliances, *older))),
        }
    )
    topology = network.topology.model_copy(update={"gear": gear.model_copy(update={"allow": allow})})
    return replace(network, topology=topology)


def with_existing_light(
    network: Network, lines: Mapping[FiberId, Line | NoLine], lightpaths: Sequence[Lightpath]
) -> tuple[Lightpath, ...]:
    """The lightpaths, those with light on them with a budget of each mode that is lit there."""
    lit = existing_modes(network)
    routes = existing_routes(network)
    may_buy = buyable(network)
    judged = {path.route: path for path in evaluate(with_existing_parts(network), lines, routes)} if routes else {}
    return tuple(
        replace(
            path,
            budgets=tuple(
                budget
                for budget in judged[path.route].budgets
                if budget.transponder in may_buy or (path.route, budget.transponder, budget.mode) in lit
            ),
        )
        if path.route in judged
        else path
        for path in lightpaths
    )
