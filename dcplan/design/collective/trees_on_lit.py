"""The collective that a network as it stands carries fastest: trees over its sites, each link of a tree on lit ways.

Sites of a job stand apart on a network whose links are shared by the ways between them. Columns are trees with a way
for each of their links, x of each [Gb/s], rows the lit capacity, each way:
    maximise Σ x,  Σ over trees of x × (links of the tree that go over an arc) ≤ capacity of the arc.
A tree pays where its links, each by its shortest way at the dual prices of capacity and within the latency that its job
was promised, cost less than 1 together; Kruskal finds the cheapest. No other collective gets gradients through faster
on the healthy network, beside which nothing else is asked for.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.collective.optimal import MOST_ROUNDS, NOTHING, cheapest_tree
from dcplan.design.given.concurrent import Asked, concurrent
from dcplan.design.given.network import alive, arcs_of
from dcplan.design.problem import problem
from dcplan.design.result import Infeasible
from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from dcplan.design.traffic import fixed_demands, job_plans
from dcplan.design.ways.labels import near_of, within
from dcplan.errors import DcplanError
from dcplan.model.network import Pair, pair
from dcplan.model.states import HEALTHY
from dcplan.training.across.packing import Packing, as_written, rooted
from dcplan.training.across.patterns import KINDS, OPEN, OPTIMAL, Collective, pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.ways.labels import Arc
    from dcplan.model.network import Network, SiteId
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

PAYS = 1e-7
"""By how much a tree must cost less than 1."""


def on_lit(
    network: Network,
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    states: Sequence[State],
    known: Mapping[str, Collective],
) -> dict[str, Collective]:
    """The collective of each job that leaves its own open, as known or by what is lit.

    auto: direct exchange, ring, tree or hub where one of them is as fast as any trees.
    """
    found = dict(known)
    left = [
        job
        for job, about in network.jobs.items()
        if about.collective in OPEN and len(about.accelerators) > 2 and job not in known
    ]
    if not left:
        return found
    made = problem(network, lines, lightpaths, fixed_demands(network, states), states)
    lit = arcs_of(made, [choice.most if choice.existing else 0 for choice in made.choices])
    arcs = alive(made, lit, HEALTHY)
    for job in left:
        plans = job_plans(network, job, states)
        if isinstance(plans, Infeasible):
            continue
        sites = tuple(dict.fromkeys(share.site for share in plans.workload.shares))
        best = trees_on(arcs, sites, plans.latency_ms)
        if best is None:
            continue
        simple = KINDS if network.jobs[job].collective == "auto" else ()
        ms = plans.workload.collective.latency_ms
        as_fast = [kind for kind in simple if _gbps(arcs, sites, Collective(kind, ms)) >= best[0] * (1 - 1e-6)]
        found[job] = Collective(as_fast[0]) if as_fast else Collective(OPTIMAL, packing=best[1])
    return found


def trees_on(
    arcs: Mapping[int, Arc], sites: Sequence[SiteId], limit_ms: Mapping[Pair, float]
) -> tuple[float, Packing] | None:
    """Rate at which gradients get through, and the trees; none where lit ways do not join the sites in time [Gb/s]."""
    near, size = near_of(arcs), 1 + max(arcs, default=-1)
    pairs = [pair(a, b) for a, b in itertools.combinations(sites, 2)]
    columns: list[tuple[tuple[Pair, ...], dict[int, int]]] = []
    rates, prices = list[float](), {e: arc.latency_ms + 1e-6 for e, arc in arcs.items()}
    for _ in range(MOST_ROUNDS):
        lengths = [prices.get(e, math.inf) for e in range(size)]
        ways = {ends: way for ends in pairs if (way := within(near, arcs, lengths, ends, limit_ms[ends]))}
        cost = {ends: way[0] for ends, way in ways.items()}
        links = cheapest_tree(cost, cost, len(sites))
        if links is None:
            return None
        if columns and math.fsum(cost[ends] for ends in links) >= 1 - PAYS:
            break
        used: dict[int, int] = {}
        for e in itertools.chain.from_iterable(ways[ends][1] for ends in links):
            used[e] = used.get(e, 0) + 1
        columns.append((tuple(sorted(links)), used))
        rates, prices = _packed(columns, arcs)
    whole, shares = math.fsum(rates), dict[tuple[Pair, ...], float]()
    for (links_, _), rate in zip(columns, rates, strict=True):
        if rate > NOTHING * whole:
            shares[links_] = shares.get(links_, 0.0) + rate
    most, ms = math.fsum(shares.values()), {ends: way[0] for ends, way in _quickest(arcs, pairs, limit_ms).items()}
    return whole, as_written(tuple(replace(rooted(links_, ms), share=rate / most) for links_, rate in shares.items()))


def _quickest(
    arcs: Mapping[int, Arc], pairs: Sequence[Pair], limit_ms: Mapping[Pair, float]
) -> dict[Pair, tuple[float, tuple[int, ...]]]:
    """The way of least latency between two sites, by which trees are rooted."""
    lengths = [arcs[e].latency_ms if e in arcs else math.inf for e in range(1 + max(arcs, default=-1))]
    near = near_of(arcs)
    return {ends: way for ends in pairs if (way := within(near, arcs, lengths, ends, limit_ms[ends]))}


def _packed(
    columns: Sequence[tuple[tuple[Pair, ...], Mapping[int, int]]], arcs: Mapping[int, Arc]
) -> tuple[list[float], dict[int, float]]:
    """Rates of trees, and the prices of capacity."""
    scale, program = max(arc.gbps for arc in arcs.values()), Program()
    for i in range(len(columns)):
        program.column(f"x{i}", -1.0)
    numbers = sorted(arcs)
    for e in numbers:
        over = {i: float(used[e]) for i, (_, used) in enumerate(columns) if e in used}
        program.row(f"arc{e}", over, upper=arcs[e].gbps / scale)
    simplex = Simplex(program)
    if simplex.solve() != "optimal":
        raise DcplanError("the linear program of a collective was not solved; please report this")
    prices = {e: max(0.0, -dual) for e, dual in zip(numbers, simplex.duals, strict=True)}
    return [value * scale for value in simplex.values], prices


def _gbps(arcs: Mapping[int, Arc], sites: tuple[SiteId, ...], collective: Collective) -> float:
    """Rate at which gradients get through by another collective."""
    share = pattern(collective, sites).share
    limit_ms = dict(collective.latency_ms)
    asked = [Asked(i, ends, size, limit_ms.get(ends)) for i, (ends, size) in enumerate(share.items())]
    answer = concurrent(arcs, asked)
    return 0.0 if answer.apart else answer.fraction
