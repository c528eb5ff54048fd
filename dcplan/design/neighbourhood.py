"""Better purchases near a known one: all but a neighbourhood of sites stays as it is, and that is bought anew.

Large neighbourhood search (Shaw, CP 1998). Every solve is limited by nodes, so that it leads to the same everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.cuts.loop import cost, separate, whole
from dcplan.design.routing.check import UncheckedError
from dcplan.design.solver.direct import solve_again
from dcplan.design.solver.program import Program

if TYPE_CHECKING:
    from dcplan.design.cuts.loop import Loop

SITES = 8
"""Of a neighbourhood, at first."""
NODES = 200
GAP = 1e-3
ROUNDS = 6
QUICK_ROUNDS = 30
"""Times that a neighbourhood is bought anew, each time with the cuts that the last purchase broke; of a single state,
which is checked quickly, more."""
WORTH = 1e-6
"""Share of the cost that must be saved."""


def improved(loop: Loop, values: tuple[float, ...], sites: int = SITES) -> tuple[float, ...] | None:
    """A cheaper purchase that every state can carry, other in one neighbourhood drawn by chance; none if not found.

    Other between its sites; of a single state also on what leads out of it.
    """
    kept = _beyond(loop, _neighbourhood(loop, loop.chance.randrange(len(loop.table.sites)), sites))
    columns = [
        replace(column, lower=values[i], upper=values[i]) if i in kept else column
        for i, column in enumerate(loop.program.columns)
    ]
    most = cost(loop, values) * (1 - WORTH)
    for _ in range(QUICK_ROUNDS if loop.quick else ROUNDS):
        until = loop.task.until
        if until.over:
            break
        solved = solve_again(loop.task.solver, Program(columns, loop.program.rows), until.limits(GAP, NODES), values)
        found = whole(loop, solved.values) if solved.values else values
        if cost(loop, found) > most:
            break
        try:
            if not separate(loop, found, every=loop.quick, until=until):
                return found
        except UncheckedError:
            break
    return None


def _neighbourhood(loop: Loop, centre: int, sites: int) -> set[int]:
    """The sites that are nearest to one by the number of links; of equally near ones some, by chance."""
    near: dict[int, list[int]] = {}
    for a, b in loop.table.links.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    inside, front = {centre}, [centre]
    while front and len(inside) < sites:
        site = front.pop(0)
        beside = [other for other in near.get(site, ()) if other not in inside]
        loop.chance.shuffle(beside)
        front += beside[: sites - len(inside)]
        inside.update(beside[: sites - len(inside)])
    return inside


def _beyond(loop: Loop, inside: set[int]) -> set[int]:
    """The columns of what is bought outside of a neighbourhood: not between its sites; of a single state at none."""
    table, bought, problem = loop.table, loop.bought, loop.task.problem
    ends = any if loop.quick else all
    links = [ends(site in inside for site in pair) for pair in table.links.tolist()]
    kept = {bought.wavelengths[j] for j, i in enumerate(table.owner.tolist()) if not links[table.link_of[i]]}
    apart = {
        fiber
        for fiber, pair in zip(problem.fibers, table.fibers.tolist(), strict=True)
        if not ends(site in inside for site in pair)
    }
    kept |= {column for which in (bought.pairs, bought.opened) for name, column in which.items() if name in apart}
    return kept
