"""Link budgets written out whole, line by line and of every mode, for the lightpaths that somebody reads about."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from dcplan.optics.ends import rated
from dcplan.optics.existing import with_existing_light
from dcplan.optics.lightpath import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.design.result import Design
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.line import NoLine


def whole(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    lightpaths: Sequence[Lightpath],
    meant: Callable[[Lightpath], bool],
) -> tuple[Lightpath, ...]:
    """The lightpaths, of which those that are meant have the budget of every allowed mode, line by line."""
    some = [path for path in lightpaths if path.route.fibers[0] in network.fibers and meant(path)]
    budgets = evaluate(network, lines, [path.route for path in some])
    full = [replace(path, budgets=found.budgets) for path, found in zip(some, budgets, strict=True)]
    written = {path.id: path for path in with_existing_light(network, lines, full)}
    return tuple(written.get(path.id, path) for path in lightpaths)


def whole_in(lightpaths: Sequence[Lightpath]) -> frozenset[str]:
    """Those that are whole, by id."""
    return frozenset(path.id for path in lightpaths if any(budget.items for budget in path.budgets))


def in_plan(
    decided: Network, lightpaths: Sequence[Lightpath], design: Design, also: frozenset[str] = frozenset()
) -> tuple[Lightpath, ...]:
    """The lightpaths as a plan tells of them: whole where they are lit, or run through where traffic is passed on.

    decided: the network with the ROADMs of the design. also: further lightpaths that are to be whole, by id.
    """
    route_of = {path.id: path.route.fibers for path in lightpaths}
    lit = {group.lightpath for group in design.ever_lit}
    chains = {flow.lightpaths for routing in design.routing for flow in routing.flows}
    joined = {
        tuple(sorted((*route_of[one], *route_of[other])))
        for chain in chains
        for one, other in pairwise(chain)
        if one in route_of and other in route_of
    }
    some = [
        path
        for path in lightpaths
        if path.route.fibers[0] in decided.fibers
        and (path.id in lit | also or tuple(sorted(path.route.fibers)) in joined)
    ]
    _, full = rated(decided, [path.route for path in some], decided.roadms or frozenset(), whole=True)
    written = {path.id: replace(found, id=path.id) for path, found in zip(some, full, strict=True)}
    return tuple(written.get(path.id, path) for path in lightpaths)
