"""Capacity that is set aside for demands on two ways, and what it leaves for all others in every state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcplan.design.problem import rate, whole_rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.arrays import Arrays
    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.resources import Resources
    from dcplan.model.states import State

Aside = dict["Hop", float]
"""What is set aside on a lightpath for traffic that must fit its wavelengths up to a tier."""


def aside_of(bought: Bought, values: Sequence[float]) -> Aside:
    """What an answer of the master sets aside [Tb/s]."""
    return {hop: max(0.0, float(values[column])) for hop, column in sorted(bought.aside.items())}


def shared(problem: Problem, table: Arrays) -> Arrays:
    """The same with the rates of demands on two ways taken out: they do not move in a failure."""
    rates = table.rates.copy()
    rates[:, sorted(problem.protected)] = 0.0
    return replace(table, rates=rates)


def across(problem: Problem, table: Arrays) -> Arrays:
    """The same with rates as they must cross any set of sites that holds one end of the demand.

    Of a demand on two ways both cross when healthy, and one at least in each failure in which it is promised anything.
    """
    rates = table.rates.copy()
    for d in sorted(problem.protected):
        whole_tbps = rates[:, d].max()
        rates[:, d] = [
            (2.0 if state.healthy else 1.0) * whole_tbps if asked > 0 else 0.0
            for state, asked in zip(problem.states, rates[:, d], strict=True)
        ]
    return replace(table, rates=rates)


def times_across(problem: Problem, d: int, state: State) -> float:
    """How often the rate of a demand must be able to cross any set of sites that holds one of its ends."""
    demand = problem.demands[d]
    asked = rate(demand, state)
    if not demand.protected or asked <= 0:
        return 1.0
    return (2.0 if state.healthy else 1.0) * whole_rate(demand, problem.states) / asked


def taken(resources: Resources, hop: Hop) -> list[int]:
    """The resources that traffic on a hop takes up: its link, and hops of the lightpath that are no faster."""
    lightpath, tier = hop
    first = len(resources.table.links)
    slower = (first + h for h, other in enumerate(resources.hops) if other[0] == lightpath and other[1] >= tier)
    return [int(resources.table.link_of[lightpath]), *slower]


def left_over(resources: Resources, rooms: Any, aside: Mapping[Hop, float]) -> Any:
    """(states, resources) what is left of the room of each state where capacity is set aside [Tb/s]."""
    import numpy as np

    left = rooms.copy()
    for hop, tbps in aside.items():
        if tbps > 0:
            alive = resources.table.alive[:, hop[0]]
            for resource in taken(resources, hop):
                left[alive, resource] -= tbps
    return np.maximum(left, 0.0)


def both_ways(problem: Problem, cut: Cut) -> str:
    """In words, where what must cross counts demands on two ways twice; else nothing."""
    twice = problem.states[cut.state].healthy and not problem.protected.isdisjoint(cut.distances)
    if not twice:
        return ""
    return ", both ways of each demand," if not problem.shared else ", twice what goes two ways,"
