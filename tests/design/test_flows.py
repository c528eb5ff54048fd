"""Flows of a state cost no more than over every path that there is: by a second program, another simplex."""

from __future__ import annotations

import random
from itertools import count
from math import inf
from types import SimpleNamespace

import pytest

from dcplan.design.routing import flows
from dcplan.design.routing.flows import Column, Flows, Room
from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from dcplan.errors import SolverError

MOVE = 100.0


def chains(ends, start, stop):
    """Every chain of lightpaths without a site twice."""

    def walk(site, seen, taken):
        if site == stop:
            yield taken
            return
        for i, (a, b) in ends.items():
            other = b if site == a else a if site == b else None
            if other is not None and other not in seen:
                yield from walk(other, seen | {other}, (*taken, i))

    return list(walk(start, {start}, ()))


def least(problem, room, asked, kept, listed=(), free=None):
    """The least cost with all paths written out, and what stays short [Gb/s]."""
    program, on = Program(), {i: {} for i in room.ends}
    serving = {d: {program.column(f"u{d}", flows.SHORT): 1.0} for d in asked}
    every = [
        (Column(d, tuple((i, 0) for i in chain), room.extra + sum(room.price[i] for i in chain)), inf)
        for d in asked
        if free is None or d in free
        for chain in chains(room.ends, *problem.demands[d].ends)
    ]
    for one, most in [*every, *((one, inf) for one in listed), *kept]:
        column = program.column("x", one.price, most)
        serving[one.demand][column] = 1.0
        for i, _ in one.path:
            on[i][column] = 1.0
    for d, gbps in asked.items():
        program.row(f"d{d}", serving[d], gbps, gbps)
    for i, terms in on.items():
        program.row(f"r{i}", terms, upper=room.gbps[i, 0])
        never = {column: 1.0 for d in problem.anchored & asked.keys() for column in serving[d] if column in terms}
        program.row(f"n{i}", never, upper=room.anchored.get((i, 0), 0.0))
    simplex = Simplex(program)
    assert simplex.solve() == "optimal"
    return sum(c.cost * v for c, v in zip(program.columns, simplex.values, strict=True)), max(
        simplex.values[: len(asked)]
    )


def drawn(seed):
    """Five sites, a healthy network with its traffic, and what is left of it: less room or fewer lightpaths."""
    pick = random.Random(seed)
    sites = "abcde"
    pairs = [(a, b) for k, a in enumerate(sites) for b in sites[k + 1 :] if pick.random() < 0.7]
    pairs += pick.sample(pairs, min(2, len(pairs)))
    ends = dict(zip(count(), pairs, strict=False))
    demands = [SimpleNamespace(ends=tuple(sorted(pick.sample(sites, 2)))) for _ in range(6)]
    some = frozenset(range(seed % 3))
    problem = SimpleNamespace(demands=demands, top=lambda i: (i, 0), tiers=[[1.0]] * len(ends), anchored=some)
    price = {i: round(pick.uniform(1, 9), 3) for i in ends}
    asked = {d: float(pick.randint(1, 9)) for d in range(6)}
    return pick, problem, ends, price, asked


def roomy(pick, ends, price):
    """A room, some of which no failure retunes."""
    gbps = {(i, 0): float(pick.randint(3, 14)) for i in ends}
    part = random.Random(len(ends))
    never = {hop: most * part.choice([0.0, 0.5, 1.0, 1.0]) for hop, most in gbps.items()}
    return Room(ends, gbps, price, anchored=never)


def cost(used):
    return sum(one.price * gbps for one, gbps in used)


def held(problem, room, asked, used):
    """Nothing is overfull, neither all that is lit nor what no failure retunes, and everything is carried."""
    for i in room.ends:
        mine = [gbps for one, gbps in used if one.demand in problem.anchored for hop in one.path if hop[0] == i]
        assert sum(mine) <= room.anchored.get((i, 0), 0.0) + 1e-6
    for i in room.ends:
        assert sum(gbps for one, gbps in used for hop in one.path if hop[0] == i) <= room.gbps[i, 0] + 1e-6
    for d, gbps in asked.items():
        assert sum(mine for one, mine in used if one.demand == d) == pytest.approx(gbps, abs=1e-5)
    assert all(gbps >= -1e-9 for _, gbps in used)


@pytest.mark.parametrize("seed", range(40))
def test_cheapest_of_all_paths(seed):
    pick, problem, ends, price, asked = drawn(seed)
    free = frozenset(asked)
    healthy = roomy(pick, ends, price)
    expected, short = least(problem, healthy, asked, ())
    if short > 1e-6:
        with pytest.raises(SolverError, match="cannot be routed"):
            Flows(problem, healthy, asked, (), free).cheapest()
        return
    before = Flows(problem, healthy, asked, (), free).cheapest()
    held(problem, healthy, asked, before)
    assert cost(before) == pytest.approx(expected, rel=1e-5)

    gone = set(pick.sample(sorted(ends), 1))
    left = {i: pair for i, pair in ends.items() if i not in gone}
    thinner = {(i, 0): healthy.gbps[i, 0] * pick.choice([1, 1, 1, 1.5, 0.6]) for i in left}
    fewer = {d: gbps * pick.choice([1, 1, 0.5]) for d, gbps in asked.items()}
    room = Room(
        left,
        thinner,
        price,
        extra=MOVE,
        anchored={hop: min(most, healthy.anchored[hop]) for hop, most in thinner.items()},
    )
    kept = [
        (Column(one.demand, one.path, sum(price[i] for i, _ in one.path)), gbps)
        for one, gbps in before
        if gbps > 0 and gone.isdisjoint(i for i, _ in one.path)
    ]
    for open_to in (free, frozenset(d for d in free if d % 2)):
        listed = [
            Column(d, tuple((i, 0) for i in chain), MOVE + sum(price[i] for i in chain))
            for d in sorted(free - open_to)
            for chain in chains(left, *problem.demands[d].ends)[:2]
        ]
        expected, short = least(problem, room, fewer, kept, listed, open_to)
        state = Flows(problem, room, fewer, listed, open_to, kept)
        if short > 1e-6:
            with pytest.raises(SolverError, match="cannot be routed"):
                state.cheapest()
            continue
        used = state.cheapest()
        held(problem, room, fewer, used)
        assert cost(used) == pytest.approx(expected, rel=1e-5)


def test_drawn_cases_are_of_every_kind():
    kinds = {"too little": 0, "all stays": 0, "moves": 0}
    for seed in range(40):
        pick, problem, ends, price, asked = drawn(seed)
        healthy = roomy(pick, ends, price)
        _, short = least(problem, healthy, asked, ())
        if short > 1e-6:
            kinds["too little"] += 1
            continue
        before = Flows(problem, healthy, asked, (), frozenset(asked)).cheapest()
        gone = set(pick.sample(sorted(ends), 1))
        hit = any(not gone.isdisjoint(i for i, _ in one.path) for one, gbps in before if gbps > 0)
        kinds["moves" if hit else "all stays"] += 1
    assert min(kinds.values()) >= 5
