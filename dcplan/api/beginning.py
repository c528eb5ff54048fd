"""What a design begins from: light, promised failures, and what jobs and services ask in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dcplan.api.optical import candidates
from dcplan.design.circuits import lightpaths_of
from dcplan.design.collective.choice import traffic_by_cost
from dcplan.design.engine import Options, least_usd
from dcplan.design.limits import longest_s
from dcplan.model.states import promised_states

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.design.result import CollectiveTried, Demand, Infeasible
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line


@dataclass(frozen=True, slots=True)
class Begun:
    """What a design begins from."""

    lines: tuple[Line, ...]
    lightpaths: tuple[Lightpath, ...]
    """With circuits."""
    states: tuple[State, ...]
    searched: str
    """Which routes light may take, in words."""
    traffic: tuple[tuple[JobTraffic, ...], tuple[Demand, ...], dict[str, tuple[CollectiveTried, ...]]] | Infeasible


def light_of(network: Network) -> tuple[tuple[Line, ...], tuple[Lightpath, ...]]:
    """Lines of the fibers that can be lit, and every lightpath candidate, circuits among them; ROADMs still open."""
    light = candidates(network)
    return light.lines, (*light.lightpaths, *lightpaths_of(network))


def begin(network: Network, options: Options) -> Begun:
    """Link budgets, promised failures and traffic of a network."""
    tell = options.progress or (lambda _line: None)
    states = promised_states(network)
    tell("link budgets")
    light = candidates(network)
    lines, lightpaths = light.lines, (*light.lightpaths, *lightpaths_of(network))
    tell("parallelism plans")
    cost = partial(least_usd, network, lines, lightpaths, states=states, options=options)
    return Begun(lines, lightpaths, states, light.searched, traffic_by_cost(network, states, cost, tell))


def options_of(
    network: Network,
    solver: str,
    time_limit_s: float | None,
    max_nodes: int | None,
    gap: float | None,
    progress: Callable[[str], None] | None,
) -> Options:
    """How to solve: limits as asked, else those of the file."""
    limits = network.policy.solver
    most = limits.max_nodes if max_nodes is None else max_nodes
    return Options(
        solver=solver,
        time_limit_s=longest_s(limits.time_limit_s if time_limit_s is None else time_limit_s, most),
        max_nodes=most,
        gap=limits.gap if gap is None else gap,
        progress=progress,
    )
