"""Fibers, and circuits, alike in everything: the first in the file comes first, so that equal designs are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design.problem import Problem, rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.formulation import Bought
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId


def in_file_order(
    program: Program,
    problem: Problem,
    bought: Bought,
    slots: Mapping[FiberId, int],
    ways: Mapping[int, Sequence[Way]],
) -> None:
    """Per fiber and the next one that is its twin: pairs lit on the first ≥ on the other; of circuits, capacity.

    Takes no design away but such as are another with twins swapped (Margot, 50 Years of Integer Programming, 2010,
    chapter 17), and keeps the solver from proving the same thing once for each of them.
    """
    for first, second in twins(problem, slots, ways):
        terms = _amount(problem, bought, first) | {i: -value for i, value in _amount(problem, bought, second).items()}
        program.row(f"order{max(terms)}", terms, lower=0)


def _amount(problem: Problem, bought: Bought, edge: FiberId) -> dict[int, float]:
    """Pairs lit on a fiber, or capacity of a circuit in its smallest module, as terms."""
    if edge in bought.pairs:
        return {bought.pairs[edge]: 1.0}
    modules = problem.offered[problem.circuits[edge]]
    smallest = min(problem.choices[j].gbps for j in modules)
    return {bought.wavelengths[j]: problem.choices[j].gbps / smallest for j in modules}


def twins(
    problem: Problem, slots: Mapping[FiberId, int], ways: Mapping[int, Sequence[Way]]
) -> list[tuple[FiberId, FiberId]]:
    """Each fiber or circuit with the next in file order that can be swapped for it, where there is one.

    Swapped means: the same kind, ends, pairs, prices and band, and for each lightpath, state and listed way one that
    has the other fiber in place of the first and is the same in all else.
    """
    found = []
    groups: list[list[FiberId]] = []
    for fiber in (*problem.fibers, *problem.circuits):
        group = next((one for one in groups if _alike(problem, slots, ways, one[-1], fiber)), None)
        if group is None:
            groups.append([fiber])
        else:
            found.append((group[-1], fiber))
            group.append(fiber)
    return found


def _alike(
    problem: Problem,
    slots: Mapping[FiberId, int],
    ways: Mapping[int, Sequence[Way]],
    one: FiberId,
    other: FiberId,
) -> bool:
    edges = problem.network.edges

    def about(edge: FiberId) -> tuple[object, ...]:
        kind = getattr(edges[edge], "pairs", None), getattr(edges[edge], "pick", None)
        price = problem.pair_usd.get(edge), problem.build_usd.get(edge), problem.pair_saved_usd.get(edge)
        return kind, slots.get(edge), price, problem.patterns.get(edge), problem.pairs_lit.get(edge)

    standing = {edge for j in problem.places for edge in problem.glass(problem.choices[j].lightpath)}
    same = edges[one].ends == edges[other].ends and about(one) == about(other) and standing.isdisjoint((one, other))
    return same and _swapped_states(problem, one, other) and _swapped_ways(problem, ways, one, other)


def _swapped_states(problem: Problem, one: FiberId, other: FiberId) -> bool:
    """Swapping both fibers in all states gives the same states with the same rates."""
    swap = {one: other, other: one}
    asked = {
        (state.fibers, state.sites): tuple(rate(demand, state) for demand in problem.demands)
        for state in problem.states
    }
    return all(
        asked.get((frozenset(swap.get(fiber, fiber) for fiber in lost), sites)) == rates
        for (lost, sites), rates in asked.items()
    )


def _swapped_ways(problem: Problem, ways: Mapping[int, Sequence[Way]], one: FiberId, other: FiberId) -> bool:
    """Swapping both fibers in all lightpaths gives the same lightpaths with the same choices; in ways the same ways."""
    swap = {one: other, other: one}
    index = {lightpath.route.fibers: i for i, lightpath in enumerate(problem.lightpaths)}
    image: dict[int, int | None] = {
        i: index.get(tuple(swap.get(fiber, fiber) for fiber in route)) for route, i in index.items()
    }
    offered: dict[int, list[object]] = {i: [] for i in index.values()}
    for choice in problem.choices:
        part = "" if problem.circuit(choice.lightpath) else choice.part
        about = (part, choice.mode, choice.slots, choice.latency_ms, choice.usd)
        offered[choice.lightpath].append((*about, choice.gbps, choice.most, choice.least, choice.existing))
    if any(there is None or offered[here] != offered[there] for here, there in image.items()):
        return False
    return all(
        {way.hops for way in listed} == {tuple((image[i], tier) for i, tier in way.hops) for way in listed}
        for listed in ways.values()
    )
