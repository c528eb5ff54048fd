"""A network as it stands: what it carries without buying anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.api import optical
from dcplan.api.stated import NOTHING_BOUGHT
from dcplan.errors import UsageError
from dcplan.model.promises import asking

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.design.given.fixed import Given
    from dcplan.design.result import Infeasible
    from dcplan.model.network import Network
    from dcplan.optics.budget import Lightpath
    from dcplan.planfile import Plan


@dataclass(frozen=True, slots=True)
class AsItIs:
    """What a network carries as it is, and its plan where that is everything."""

    name: str
    given: Given
    lightpaths: tuple[Lightpath, ...]
    plan: Plan | None


def as_it_is(
    network: Network,
    *,
    objective: str = "fraction",
    existing: Plan | None = None,
    progress: Callable[[str], None] | None = None,
) -> AsItIs | Infeasible:
    """Route on what is lit, in each state; nothing is bought. The exact answer of linear programs, no heuristic.

    objective: fraction, utilisation or latency (see `design.given.route_given`). existing: a plan that has been built,
    in place of what the file says to be lit. A collective that the file leaves open is that of the plan, else the one
    that gets gradients through fastest on what is lit, healthy (see `design.trees_on_lit`). Infeasible where no
    parallelism plan of a job fits at all. UsageError for another objective, where nothing is lit, and where a demand is
    promised two ways at once.
    """
    from dcplan.api.inherit import inherited
    from dcplan.api.pipeline import planned
    from dcplan.design.circuits import lightpaths_of
    from dcplan.design.collective.choice import kinds_in
    from dcplan.design.collective.trees_on_lit import on_lit
    from dcplan.design.given.fixed import as_it_is as routed
    from dcplan.design.given.network import OBJECTIVES
    from dcplan.design.result import Infeasible
    from dcplan.design.schemes import scheme_of_all
    from dcplan.design.traffic import traffic_of
    from dcplan.model.states import promised_states

    if objective not in OBJECTIVES:
        raise UsageError(f"there is no objective `{objective}`: choose {', '.join(OBJECTIVES)}")
    tell = progress or (lambda _line: None)
    network = _kept(network if existing is None else inherited(network, existing))
    states = promised_states(network)
    tell("link budgets")
    light = optical.candidates(network)
    lightpaths = (*light.lightpaths, *lightpaths_of(network))
    tell("parallelism plans")
    known = kinds_in(network, existing.collectives if existing else ())
    kinds = on_lit(network, light.lines, lightpaths, states, known)
    _split_freely(network)
    traffic = traffic_of(network, states, kinds)
    if isinstance(traffic, Infeasible):
        return traffic
    jobs, demands = traffic
    found = routed(network, light.lines, lightpaths, demands, states, objective, tell)
    stated = {
        "fixed": NOTHING_BOUGHT,
        "objective": objective,
        "scheme": scheme_of_all(network, demands),
        "survive": ", ".join(network.policy.survive),
        "existing": "the topology file" if existing is None else f"plan `{existing.name}`",
    }
    plan = None
    if found.design is not None:
        tell("assessment")
        lit = optical.as_designed(network, lightpaths, found.design)
        plan = planned(network, stated, lit, found.design, states, jobs, {}, light.searched)
    return AsItIs(network.topology.name, found, lightpaths, plan)


def _split_freely(network: Network) -> None:
    held = [name for _, name, about in asking(network) if about.max_paths]
    if held:
        names = ", ".join(held)
        raise UsageError(f"on a network as it is traffic splits freely, max_paths is not kept: leave it out of {names}")


def _kept(network: Network) -> Network:
    """The network in which all that is lit stays."""
    existing = network.topology.existing
    if existing is None or not existing.removable:
        return network
    kept = existing.model_copy(update={"removable": False})
    return replace(network, topology=network.topology.model_copy(update={"existing": kept}))
