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
    from dcplan.model.network import FiberId, Network, Route
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.line import NoLine


def whole(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    lightpaths: Sequence[Lightpath],
    meant: Callable[[Lightpath], bool],
) -> tuple[Lightpath, ...]:
    """The lightpaths, of which those that are meant have the budget of every allowed mode, line by line."""

    def full(routes: Sequence[Route]) -> Sequence[Lightpath]:
        return with_existing_light(network, lines, evaluate(network, lines, routes))

    return _written(network, lightpaths, meant, full)


def _written(
    network: Network,
    lightpaths: Sequence[Lightpath],
    meant: Callable[[Lightpath], bool],
    full: Callable[[Sequence[Route]], Sequence[Lightpath]],
) -> tuple[Lightpath, ...]:
    """The lightpaths, those over fibers that are meant with the budgets that `full` finds on their routes."""
    some = [path for path in lightpaths if path.route.fibers[0] in network.fibers and meant(path)]
    found = full([path.route for path in some])
    written = {path.id: replace(mine, id=path.id) for path, mine in zip(some, found, strict=True)}
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
    named = lit | also
    return _written(
        decided,
        lightpaths,
        lambda path: path.id in named or tuple(sorted(path.route.fibers)) in joined,
        lambda routes: rated(decided, routes, decided.roadms or frozenset(), whole=True)[1],
    )
