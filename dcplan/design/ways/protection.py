"""One-plus-one: a demand is split over pairs of ways that no promised failure breaks together; both carry it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from dcplan.design.formulation import TBPS, Bought, hop_name, installed_on
from dcplan.design.problem import Hop, Problem, rate, whole_rate
from dcplan.design.ways.chains import nested

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way

Risk = tuple[int, ...]
"""The states that break a way, of those in which its demand asks for something; sorted."""


@dataclass(frozen=True, slots=True)
class Protected:
    """The columns of one-plus-one."""

    shares: Mapping[tuple[int, Risk, Risk], int]
    """(demand, risk of one way, risk of the other) -> share of the demand."""
    flows: Mapping[tuple[int, int], int]
    """(demand, way) -> traffic [Tb/s]."""
    aside: Mapping[Hop, int]
    """What is set aside on a hop [Tb/s]; only where other demands share what is left."""


def risk(problem: Problem, demand: Demand, way: Way) -> Risk:
    """The states that break a way although the demand asks for something in them."""
    return tuple(sorted(k for k in way.broken if rate(demand, problem.states[k]) > 0))


def risk_pairs(risks: Sequence[Risk]) -> list[tuple[Risk, Risk]]:
    """Pairs of risks without a common state; two different ways without any risk are such a pair."""
    distinct = sorted(set(risks))
    pairs = [(one, other) for one, other in combinations(distinct, 2) if set(one).isdisjoint(other)]
    if risks.count(()) > 1:
        pairs.append(((), ()))
    return pairs


def chain_risks(problem: Problem, demand: Demand, ways: Sequence[Way]) -> list[Risk]:
    """The risk of each chain of lightpaths once, whatever wavelengths it may ride on."""
    return list({way.lightpaths: risk(problem, demand, way) for way in ways}.values())


def protect(
    program: Program,
    problem: Problem,
    bought: Bought,
    ways: Mapping[int, Sequence[Way]],
    latency_cost: float = 0.0,
    short: Mapping[int, int] | None = None,
    *,
    every: bool = False,
) -> Protected:
    """Shares x of risk pairs, traffic y on ways, and one capacity per lightpath. ways: of each demand on two ways.

    Per demand: Σ x = 1. Per demand and risk: Σ y over its ways = rate × Σ x over the pairs that hold it (twice for a
    pair of two ways that nothing breaks; each of those carries at most its demand, so that they are two). Per
    hop: Σ y ≤ Σ rate × wavelengths. `latency_cost` per Tb/s and ms; `short`: column of the share that may be left out.
    Where other demands share what is left: Σ y ≤ a per hop, what is set aside there, and Σ a ≤ Σ rate × wavelengths.
    `every`: hops on which nothing rides have their rows too, so that each has a price.
    """
    shares: dict[tuple[int, Risk, Risk], int] = {}
    flows: dict[tuple[int, int], int] = {}
    load: dict[Hop, dict[int, float]] = {
        (i, tier): {}
        for i, tiers in enumerate(problem.tiers)
        for tier in range(0 if every else len(tiers) - 1, len(tiers))
    }
    spare = {d: (column,) for d, column in (short or {}).items()}
    for d, listed in ways.items():
        demand = problem.demands[d]
        risks = [risk(problem, demand, way) for way in listed]
        pairs = risk_pairs(chain_risks(problem, demand, listed))
        mine = {pair: program.column(f"x{d}i{i}") for i, pair in enumerate(pairs)}
        program.row(f"split{d}", dict.fromkeys([*mine.values(), *spare.get(d, ())], 1.0), 1, 1)
        shares |= {(d, *pair): column for pair, column in mine.items()}
        carried: dict[Risk, dict[int, float]] = {one: {} for pair in mine for one in pair}
        chains: dict[tuple[int, ...], dict[int, float]] = {}
        for w, way in enumerate(listed):
            if risks[w] in carried:
                column = flows[d, w] = program.column(f"y{d}w{w}", latency_cost * way.latency_ms)
                carried[risks[w]][column] = 1.0
                if not risks[w]:
                    chains.setdefault(way.lightpaths, {})[column] = 1.0
                for hop in way.hops:
                    load.setdefault(hop, {})[column] = 1.0
        _both(program, d, whole_rate(demand, problem.states) * TBPS, mine, carried, list(chains.values()))
    aside = _set_aside(program, problem, load, every=every) if problem.shared else {}
    for hop, terms in nested({hop: {aside[hop]: 1.0} for hop in aside} or load).items():
        program.row(f"path{hop_name(problem, hop)}", terms | installed_on(problem, bought, hop), upper=0)
    return Protected(shares, flows, aside)


def _set_aside(
    program: Program, problem: Problem, load: Mapping[Hop, Mapping[int, float]], *, every: bool
) -> dict[Hop, int]:
    """Per hop that carries any, or `every` one: what is set aside is no less than what rides there."""
    aside: dict[Hop, int] = {}
    for hop, terms in sorted(load.items()):
        if terms or every:
            name = hop_name(problem, hop)
            aside[hop] = program.column(f"a{name}")
            program.row(f"aside{name}", {**terms, aside[hop]: -1.0}, upper=0)
    return aside


def _both(
    program: Program,
    demand: int,
    whole: float,
    shares: Mapping[tuple[Risk, Risk], int],
    carried: Mapping[Risk, Mapping[int, float]],
    safe: Sequence[Mapping[int, float]],
) -> None:
    """Both ways of a pair carry its share of the whole rate [Tb/s]. safe: the flows of each chain without a risk."""
    for r, (one, flows) in enumerate(carried.items()):
        held = {column: -whole * pair.count(one) for pair, column in shares.items() if one in pair}
        program.row(f"both{demand}r{r}", held | dict(flows), 0, 0)
        if not one:
            for chain in safe:
                once = dict.fromkeys(held, -whole)
                program.row(f"two{demand}c{min(chain)}", once | dict(chain), upper=0)
